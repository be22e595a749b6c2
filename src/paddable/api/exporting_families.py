"""The families that ``export`` knows: a checkpoint folder to the native graph and what its bundle has to say.

One function a family. It loads, exports and describes; it neither converts nor writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddable.api.exporting_labels import labels_of
from paddable.errors import MisuseError

if TYPE_CHECKING:
    import onnx
    import onnx_ir as ir

__all__ = ["FAMILIES", "FRONT_ENDS", "Choices", "Exported"]

FRONT_ENDS = ("in-graph", "numpy", "early")
"""Features inside the graph, in numpy before it, or those of the first public exports (recognisers only)."""

_FEATURES_A_SECOND = 16.666666  # 100 / 6, rounded down: rounded up, 30 s would be 501 steps


@dataclass(frozen=True)
class Choices:
    """What a family can be asked for; None is the family's default.

    Attributes:
        front_end: one of ``FRONT_ENDS``.
        attention: ``windowed`` or ``global`` (qwen3-asr).
        short_clips: ``own`` or ``padded`` (qwen3-asr).
        chunks: frames of each step graph (qwen3-tts-codec).
    """

    front_end: str | None = None
    attention: str | None = None
    short_clips: str | None = None
    chunks: Sequence[int] | None = None


@dataclass(frozen=True)
class Exported:
    """A family's native graph, and what belongs to it.

    Attributes:
        native: one row, any length, no masks; None once it lies on disk.
        length: its ragged axis, as ``convert`` takes it.
        rate: steps of that axis a second.
        about: fields of ``Bundle``.
        assets: files to copy, by their name in the bundle.
        step_graphs: graphs of a stream by file name.
    """

    native: onnx.ModelProto | None
    length: str
    rate: float
    about: Mapping[str, Any]
    assets: Mapping[str, Path] = field(default_factory=dict)
    step_graphs: Mapping[str, ir.Model] = field(default_factory=dict)


def _sense_voice(folder: Path, choices: Choices) -> Exported:
    from paddable.families.sense_voice.config import LANGUAGES, TEXT_NORMS
    from paddable.families.sense_voice.export import export_sense_voice
    from paddable.families.sense_voice.weights import sense_voice_from_folder

    model = sense_voice_from_folder(folder, _kind(choices))
    labels = labels_of(folder, ("tokens.json", "*.bpe.model"), model.ctc.ctc_lo.out_features)
    ctc = {"blank": 0, "tag_rows": 4, "languages": dict(LANGUAGES), "text_norms": dict(TEXT_NORMS)}
    return Exported(
        export_sense_voice(model),
        **_sound(choices),
        about=_about(folder, choices, ("enc_output", "ctc_logits")) | {"labels": labels.name, "settings": {"ctc": ctc}},
        assets={labels.name: labels},
    )


def _fun_asr_nano(folder: Path, choices: Choices) -> Exported:
    from paddable.families.fun_asr_nano.export import export_fun_asr_nano
    from paddable.families.fun_asr_nano.weights import fun_asr_nano_from_folder

    model = fun_asr_nano_from_folder(folder, _kind(choices))
    outputs = ("enc_output", "adaptor_output", *(("ctc_logits",) if model.ctc else ()))
    about, assets = _about(folder, choices, outputs), {}
    if model.ctc:  # MLT-Nano and the transformers port have no CTC branch: they make embeddings, not text
        labels = labels_of(folder, ("*.tiktoken", "tokens.json"), model.ctc.ctc_lo.out_features)
        about |= {"labels": labels.name, "settings": {"ctc": {"blank": -1}}}
        assets[labels.name] = labels
    return Exported(export_fun_asr_nano(model), **_sound(choices), about=about, assets=assets)


def _fsmn_vad(folder: Path, choices: Choices) -> Exported:
    from paddable.families.checkpoints.folder import CheckpointFolder
    from paddable.families.fsmn_vad.config import FsmnVadConfig
    from paddable.families.fsmn_vad.export import export_fsmn_vad
    from paddable.families.fsmn_vad.weights import fsmn_vad_from_folder
    from paddable.runtime.speech.vad import VadOptions, refuse_other_classes

    if choices.front_end == "early":
        raise MisuseError("fsmn-vad never had the early front end", fix="choose in-graph or numpy")
    model = fsmn_vad_from_folder(folder, features=choices.front_end == "numpy")
    checkpoint = CheckpointFolder.open(folder)
    said = checkpoint.config.get("model_conf", {})
    config = FsmnVadConfig.from_funasr(checkpoint.config)
    options = VadOptions.from_funasr(said, where=str(checkpoint.config_file))
    refuse_other_classes(options, config.classes, where=str(checkpoint.config_file))
    about = _about(folder, choices, ("posteriors",), stack=config.stack, stride=config.stride)
    # what the memories look back, and the left neighbours of a stacked feature
    context = config.blocks * (config.order - 1) + (config.stack - 1) // 2
    settings = {"vad": dict(said), "context": context}
    return Exported(
        export_fsmn_vad(model), **_sound(choices, features_a_second=100), about=about | {"settings": settings}
    )


def _qwen3_asr(folder: Path, choices: Choices) -> Exported:
    from paddable.families.qwen3_asr.export import export_qwen3_asr
    from paddable.families.qwen3_asr.front_end import WhisperFrontEnd
    from paddable.families.qwen3_asr.weights import qwen3_asr_from_folder

    if choices.front_end == "early":
        raise MisuseError("qwen3-asr never had the early front end", fix="choose in-graph or numpy")
    in_graph = choices.front_end != "numpy"
    model = qwen3_asr_from_folder(
        folder,
        choices.attention or "windowed",  # type: ignore[arg-type]  # the loader refuses other words
        choices.short_clips or "own",  # type: ignore[arg-type]
        WhisperFrontEnd() if in_graph else None,
    )
    length, rate = ("audio:1=S", 16_000) if in_graph else ("mel:2=T", 100)
    units = {"last_hidden_length": "tokens, 13 a second", "embeddings_length": "tokens, 13 a second"}
    front_end = {"kind": "whisper", "in_graph": in_graph}
    about = {"sample_rate": 16_000, "front_end": front_end, "units": units | _unit_of(length)}
    return Exported(export_qwen3_asr(model), length, rate, about)


def _qwen3_tts_codec(folder: Path, choices: Choices) -> Exported:
    from paddable.families.qwen3_tts_codec.export import export_step, export_whole
    from paddable.families.qwen3_tts_codec.weights import decoder_from_checkpoint

    decoder = decoder_from_checkpoint(folder)
    config = decoder.config
    chunks = sorted(set(choices.chunks or (4, 12)))
    step_graphs = {f"step-{frames}.onnx": export_step(decoder, frames).model for frames in chunks}
    about = {
        "sample_rate": config.sample_rate,
        "step_graphs": tuple(step_graphs),
        "units": {"wav_length": f"samples at {config.sample_rate} Hz", "F": f"frames of {config.samples_per_frame}"},
    }
    rate = config.sample_rate / config.samples_per_frame
    return Exported(export_whole(decoder).model_proto, "codes:1=F", rate, about, step_graphs=step_graphs)


FAMILIES: Mapping[str, tuple[Callable[[Path, Choices], Exported], frozenset[str]]] = {
    "sense-voice": (_sense_voice, frozenset({"front_end"})),
    "fun-asr-nano": (_fun_asr_nano, frozenset({"front_end"})),
    "fsmn-vad": (_fsmn_vad, frozenset({"front_end"})),
    "qwen3-asr": (_qwen3_asr, frozenset({"front_end", "attention", "short_clips"})),
    "qwen3-tts-codec": (_qwen3_tts_codec, frozenset({"chunks"})),
}
"""By name: the function that exports it, and the choices that it offers."""


def _kind(choices: Choices) -> Any:
    """Our choice as the loaders of the FunASR family call it."""
    return {None: "kaldi", "in-graph": "kaldi", "numpy": "none", "early": "early"}[choices.front_end]


def _sound(choices: Choices, features_a_second: float = _FEATURES_A_SECOND) -> dict[str, Any]:
    if choices.front_end == "numpy":
        return {"length": "speech:1=T", "rate": features_a_second}
    return {"length": "audio:1=S", "rate": 16_000}


def _about(
    folder: Path, choices: Choices, outputs: Sequence[str], *, stack: int = 7, stride: int = 6
) -> dict[str, Any]:
    """Sample rate, units and front end of a FunASR folder; the transformers port has neither config.yaml nor CMVN."""
    length = str(_sound(choices)["length"])
    frame = f"frames of {10 * stride} ms"
    about = {"sample_rate": 16_000, "units": {f"{name}_length": frame for name in outputs} | _unit_of(length, frame)}
    if choices.front_end != "numpy":
        return about | {"front_end": {"kind": "early" if choices.front_end == "early" else "kaldi", "in_graph": True}}
    return about | {"front_end": {"kind": "kaldi", "in_graph": False, **_features(folder, stack, stride)}}


def _features(folder: Path, stack: int, stride: int) -> dict[str, Any]:
    from paddable.audio.cmvn import read_am_mvn
    from paddable.families.checkpoints.folder import CheckpointFolder

    if (folder / "config.json").is_file():
        return {"stack": stack, "stride": stride, "cmvn": None}
    checkpoint = CheckpointFolder.open(folder)
    conf = checkpoint.config.get("frontend_conf") or {}
    file = checkpoint.file("frontend_conf", "cmvn_file", default="am.mvn")
    cmvn = None
    if file is not None:
        read = read_am_mvn(file)
        cmvn = {"shift": read.shift.tolist(), "scale": read.scale.tolist()}
    return {"stack": int(conf.get("lfr_m", stack)), "stride": int(conf.get("lfr_n", stride)), "cmvn": cmvn}


def _unit_of(length: str, frame: str = "log-mel frames of 10 ms") -> dict[str, str]:
    """What one step of the input is."""
    return {"S": "samples at 16000 Hz"} if length.endswith("=S") else {"T": frame}
