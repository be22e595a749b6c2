"""TensorRT RTX, NVIDIA's compiling provider for PCs: what is known of it."""

from __future__ import annotations

from paddable.linter.evidence import Fact, reported
from paddable.linter.provider_facts import ProviderFacts
from paddable.providers.provider import Provider
from paddable.providers.tensorrt_rtx.advice import ADVICE

__all__ = ["PROVIDER"]

_RTX = reported("the TensorRT RTX documentation of ONNX Runtime")
_OPSET_UNKNOWN = Fact("the highest opset that loads")

FACTS = ProviderFacts(
    "tensorrt-rtx",
    "preferred",
    Fact("engines take free shapes by default; ranges named in the options, or fixed shapes, are faster", _RTX),
    others=(
        Fact("a range needs all three of nv_profile_min_shapes, _opt_shapes and _max_shapes", _RTX),
        Fact("enable_cuda_graph pays when shapes never change", _RTX),
        Fact("a compiled model above 2 GB needs embed mode 0", _RTX),
        _OPSET_UNKNOWN,
    ),
)

PROVIDER = Provider(FACTS, ADVICE)
