"""OpenVINO, Intel's provider: what is known of it."""

from __future__ import annotations

from paddable.linter.evidence import Fact, measured, reported
from paddable.linter.provider_facts import ProviderFacts
from paddable.providers.fixes.compare_with_itself import CompareWithItself
from paddable.providers.openvino.advice import ADVICE
from paddable.providers.provider import Provider

__all__ = ["PROVIDER"]

_OPENVINO = measured("onnxruntime-openvino 1.24.1 and openvino 2026.4.1 on the same CPU")
_OPENVINO_ZOO = measured("onnxruntime-openvino 1.24.1 on a CPU, docs/targets/openvino.md")

FACTS = ProviderFacts(
    "openvino",
    "preferred",
    Fact("a new length costs 11 to 22 ms, and about as much at each switch back; none when static", _OPENVINO),
    is_nan_cuts_graph=Fact("IsNaN runs on the CPU and cuts the graph", _OPENVINO_ZOO),
    others=(
        Fact("one static model for each container holds 1.9 GB each at 70 blocks", _OPENVINO),
        Fact("a graph of dynamic int8 runs 1.5 times slower than fp32; use bf16", _OPENVINO),
        Fact("twelve converted graphs run wholly there, 1.2e-6 of scale from the CPU", _OPENVINO_ZOO),
        Fact("the NPU refuses dynamic shapes", reported("openvinotoolkit/openvino.genai#895")),
    ),
)

PROVIDER = Provider(FACTS, ADVICE, fixes=(CompareWithItself,))
