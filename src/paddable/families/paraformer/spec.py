"""Paraformer, for all that need no torch."""

from __future__ import annotations

from paddable.families.spec import Ability, FamilySpec, Mark, Option

__all__ = ["PARAFORMER"]

PARAFORMER = FamilySpec(
    name="paraformer",
    summary="speech in one pass (CIF), with time stamps (BiCIF)",
    files="model.pt, config.yaml, am.mvn, tokens.json",
    marks=(Mark("config.yaml", r"^model: *['\"]?(BiCif|Seaco)?Paraformer\b"),),
    length={"in-graph": "audio:1=S", "numpy": "speech:1=T"},
    abilities=(Ability("transcribe", settings=("cif",), labels=True),),
    labels=("tokens.json",),
    options=(
        Option("front_end", "in-graph: the graph takes a waveform; numpy: it takes features", ("in-graph", "numpy")),
    ),
)
