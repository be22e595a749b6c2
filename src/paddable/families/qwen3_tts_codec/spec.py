"""The codec of Qwen3-TTS, for all that need no torch."""

from __future__ import annotations

from paddable.families.spec import Ability, FamilySpec, Mark, Option

__all__ = ["QWEN3_TTS_CODEC"]

QWEN3_TTS_CODEC = FamilySpec(
    name="qwen3-tts-codec",
    summary="codes to sound, whole or in a stream",
    files="speech_tokenizer/: config.json, model.safetensors",
    marks=(
        Mark("speech_tokenizer/config.json", r'"decoder_config"'),
        Mark("config.json", r'"decoder_config"'),
    ),
    length={"": "codes:1=F"},
    abilities=(Ability("stream", step_graphs=True),),
    downloads=(
        ("speech_tokenizer/config.json", "speech_tokenizer/model.safetensors*"),
        ("config.json", "model.safetensors*"),
    ),
    options=(Option("chunks", "frames of each step graph", numbers=(4, 12)),),
    one_row="its step graphs carry the state of one stream",
)
