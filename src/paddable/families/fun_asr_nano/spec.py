"""Fun-ASR-Nano, for all that need no torch."""

from __future__ import annotations

from paddable.families.spec import Ability, FamilySpec, Mark, Option

__all__ = ["FUN_ASR_NANO"]

FUN_ASR_NANO = FamilySpec(
    name="fun-asr-nano",
    summary="encoder, adaptor to a language model, CTC branch",
    files="model.pt, config.yaml, am.mvn, multilingual.tiktoken; or the transformers port",
    marks=(
        Mark("config.yaml", r"^model: *['\"]?FunASRNano\b"),
        Mark("config.json", r'"model_type": *"fun_asr_nano"'),
    ),
    length={"in-graph": "audio:1=S", "numpy": "speech:1=T", "early": "audio:1=S"},
    abilities=(Ability("transcribe", settings=("ctc",), labels=True),),  # MLT-Nano has no CTC branch
    labels=("*.tiktoken", "tokens.json"),
    downloads=(
        ("model.pt", "config.yaml", "configuration.json", "am.mvn"),
        ("config.json", "model.safetensors*", "model-*.safetensors"),
    ),
    options=(
        Option(
            "front_end",
            "in-graph: the graph takes a waveform; numpy: it takes features; early: as in the first public exports",
            ("in-graph", "numpy", "early"),
        ),
    ),
)
