"""CT-Transformer, for all that need no torch."""

from __future__ import annotations

from paddable.families.spec import Ability, FamilySpec, Mark

__all__ = ["CT_PUNC"]

CT_PUNC = FamilySpec(
    name="ct-punc",
    summary="punctuation for recognised text (CT-Transformer)",
    files="model.pt, config.yaml, tokens.json",
    marks=(Mark("config.yaml", r"^model: *['\"]?CTTransformer\b"),),
    length={"": "text:1=N"},
    abilities=(Ability("punctuate", settings=("punctuation",), labels=True),),
    labels=("tokens.json",),
    containers=("64", "256"),
    one_row="a text is punctuated piece by piece, each after the one before",
)
