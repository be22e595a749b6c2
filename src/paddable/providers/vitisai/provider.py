"""VitisAI, AMD's provider for NPUs: what is known of it."""

from __future__ import annotations

from paddable.linter.evidence import Fact, reported
from paddable.linter.provider_facts import ProviderFacts
from paddable.providers.provider import Provider
from paddable.providers.vitisai.advice import ADVICE

__all__ = ["PROVIDER"]

_RYZEN = reported("AMD's Ryzen AI documentation 1.4")
_STATIC_ONLY = "every inner shape has to be fixed, not only the inputs"

FACTS = ProviderFacts(
    "vitisai",
    "required",
    Fact(_STATIC_ONLY),
    others=(
        Fact("opset 17 is recommended", _RYZEN),
        Fact("what the NPU does not take runs on the CPU; fp32 models are computed in bf16", _RYZEN),
    ),
)

PROVIDER = Provider(FACTS, ADVICE)
