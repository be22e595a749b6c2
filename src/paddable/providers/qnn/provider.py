"""QNN, Qualcomm's provider: what is known of it."""

from __future__ import annotations

from paddable.linter.evidence import Fact, reported
from paddable.linter.provider_facts import ProviderFacts
from paddable.providers.provider import Provider
from paddable.providers.qnn.advice import ADVICE

__all__ = ["PROVIDER"]

_QNN = reported("the QNN documentation of ONNX Runtime")
_QNN_240 = reported("the release notes of onnxruntime-qnn 2.4.0")
_STATIC_ONLY = "every inner shape has to be fixed, not only the inputs"

FACTS = ProviderFacts(
    "qnn",
    "required",
    Fact(f"dynamic shapes are not supported; {_STATIC_ONLY} (microsoft/onnxruntime#22439)", _QNN),
    unsupported={op: Fact("not supported", _QNN) for op in ("If", "Loop")},
    others=(
        Fact("the HTP backend (NPU) wants a quantised model; the GPU backend takes fp32 and fp16", _QNN),
        Fact("GRU is unrolled, with default activations and layout 0 only", _QNN_240),
        Fact("reads up to opset 26", _QNN_240),
    ),
)

PROVIDER = Provider(FACTS, ADVICE)
