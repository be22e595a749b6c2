"""SenseVoice, for all that need no torch."""

from __future__ import annotations

from paddable.families.spec import Ability, FamilySpec, Mark, Option

__all__ = ["SENSE_VOICE"]

SENSE_VOICE = FamilySpec(
    name="sense-voice",
    summary="speech, language, emotion and events (CTC)",
    files="model.pt, config.yaml, am.mvn, tokens.json or *.bpe.model",
    marks=(Mark("config.yaml", r"^model: *['\"]?SenseVoiceSmall\b"),),
    length={"in-graph": "audio:1=S", "numpy": "speech:1=T", "early": "audio:1=S"},
    abilities=(Ability("transcribe", settings=("ctc",), labels=True),),
    labels=("tokens.json", "*.bpe.model"),
    options=(
        Option(
            "front_end",
            "in-graph: the graph takes a waveform; numpy: it takes features; early: as in the first public exports",
            ("in-graph", "numpy", "early"),
        ),
    ),
)
