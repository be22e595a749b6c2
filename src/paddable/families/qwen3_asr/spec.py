"""Qwen3-ASR, for all that need no torch."""

from __future__ import annotations

from paddable.families.spec import Ability, FamilySpec, Mark, Option

__all__ = ["QWEN3_ASR"]

QWEN3_ASR = FamilySpec(
    name="qwen3-asr",
    summary="audio encoder of a language model",
    files="config.json, model.safetensors or shards",
    marks=(Mark("config.json", r'"(thinker_config|audio_config)"'),),
    length={"in-graph": "audio:1=S", "numpy": "mel:2=T"},
    abilities=(Ability("encode"),),
    downloads=(("config.json", "model.safetensors*", "model-*.safetensors"),),
    options=(
        Option(
            "front_end",
            "in-graph: the graph takes a waveform; numpy: it takes log-mel frames",
            ("in-graph", "numpy"),
        ),
        Option("attention", "windowed: as trained; global: over the whole clip", ("windowed", "global")),
        Option("short_clips", "clips under a second keep their own width, or are padded", ("own", "padded")),
    ),
    one_row="its windows are folded into the rows",
)
