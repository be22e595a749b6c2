"""CoreML, Apple's provider: what is known of it."""

from __future__ import annotations

from paddable.linter.evidence import Fact, reported
from paddable.linter.provider_facts import ProviderFacts
from paddable.providers.coreml.advice import ADVICE
from paddable.providers.provider import Provider

__all__ = ["PROVIDER"]

_COREML = reported("the CoreML documentation of ONNX Runtime")
_OPSET_UNKNOWN = Fact("the highest opset that loads")
_STATIC_ONLY = "every inner shape has to be fixed, not only the inputs"

FACTS = ProviderFacts(
    "coreml",
    "required",
    Fact(_STATIC_ONLY, reported("microsoft/onnxruntime#26355: it fails in the run")),
    unsupported={
        op: Fact("is not in the provider's list of operators", _COREML)
        for op in ("LSTM", "GRU", "RNN", "DynamicQuantizeLinear", "QuantizeLinear", "DequantizeLinear")
    },
    others=(
        Fact("Conv and pooling run in one and two, respectively two dimensions; Pad is constant only", _COREML),
        Fact("bodies of If, Loop and Scan are taken only with the option EnableOnSubgraphs", _COREML),
        _OPSET_UNKNOWN,
    ),
)

PROVIDER = Provider(FACTS, ADVICE)
