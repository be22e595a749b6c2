"""DirectML, the provider for every GPU on Windows: what is known of it."""

from __future__ import annotations

from paddable.linter.evidence import Fact, measured
from paddable.linter.provider_facts import ProviderFacts
from paddable.providers.directml.advice import ADVICE
from paddable.providers.directml.fixes import FIXES
from paddable.providers.directml.placement import place
from paddable.providers.directml.rules import RULES
from paddable.providers.provider import Provider

__all__ = ["PROVIDER"]

_DIRECTML = measured("onnxruntime-directml 1.24.4")

FACTS = ProviderFacts(
    "directml",
    "preferred",
    Fact("with a free dim nothing is fused and every other length rebuilds its kernels", _DIRECTML),
    minus_one_is_a_size=Fact("with allowzero=1 a Reshape takes a -1 in its target for a size of 4294967295", _DIRECTML),
    others=(
        Fact("opset 17 to 21 have the most kernels; 17 when the graph scatters", _DIRECTML),
        Fact("speed on a real GPU"),
    ),
)

PROVIDER = Provider(FACTS, ADVICE, rules=RULES, fixes=FIXES, place=place)
