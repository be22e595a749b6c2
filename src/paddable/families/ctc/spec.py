"""Any CTC model, for all that need no torch."""

from __future__ import annotations

from paddable.families.spec import Ability, FamilySpec, Mark, Option

__all__ = ["CTC", "FOUND", "REDUCED"]

FOUND = "found"
"""What an option says where the answer is to be found in the model, its labels and the files beside it."""

REDUCED = ("int8", "fp16", "q4", "bnb4", "quantized")
"""What the names of published files in another precision hold."""

_FILES = (
    "*.onnx",
    "*.onnx_data",
    "*.onnx.data",
    "preprocessor_config.json",
    "tokenizer_config.json",
    "added_tokens.json",
)

CTC = FamilySpec(
    name="ctc",
    summary="any CTC recogniser: a .onnx and its labels",
    files="a .onnx of dynamic length; tokens.txt, vocab.json, tokens.json or *.model",
    marks=(Mark("tokens.txt", r"^<(blk|blank)>( \d+)?$"),),
    length={},
    abilities=(Ability("transcribe", settings=("ctc",), labels=True),),
    labels=(
        "tokens.txt",
        "vocab.json",
        "tokens.json",
        "vocab.txt",
        "*_vocab.txt",
        "tokenizer.json",
        "*.model",
        "*.vocab",
    ),
    downloads=((*_FILES, *(f"!*{word}*" for word in REDUCED)), _FILES),
    options=(
        Option("labels", "what the classes write: tokens.txt, vocab.json, tokens.json or *.model", text="FILE"),
        Option(
            "front_end",
            "what the model takes: samples, or features as Kaldi, Whisper, NeMo or GigaAM compute them",
            (FOUND, "waveform", "kaldi", "whisper", "nemo", "gigaam", "gigaam-v3"),
        ),
        Option("fbank", "whose Kaldi features: icefall's (k2), WeNet's or FunASR's", (FOUND, "k2", "wenet", "funasr")),
        Option(
            "normalise",
            "waveform: to mean 0 and deviation 1, as wav2vec2 wants it; nemo: each mel",
            (FOUND, "yes", "no"),
        ),
        Option("sample_rate", "samples a second that a waveform model was trained on", text="N"),
        Option("blank", "the blank: its class, or its label", text="N|LABEL"),
        Option("word_boundary", "the label that stands between words, or none", text="LABEL|none"),
        Option("logits", "the output that holds a score for each label", text="OUTPUT"),
        Option("length", "the time axis of the sound, as x:1=T", text="INPUT:AXIS=T"),
        Option("batch", "the batch axis of the sound, as x:0", text="INPUT:AXIS|none"),
    ),
)
