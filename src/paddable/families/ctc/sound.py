"""What stands between a recording and the model: found beside the model, or asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddable.audio.kaldi import SAMPLE_RATE, SHIFT
from paddable.errors import MisuseError, UnreadableError, arguments
from paddable.families.ctc.graph import CtcGraph
from paddable.families.ctc.spec import CTC, FOUND

__all__ = ["HeardAs", "heard_as"]

_EXTRACTORS = {
    "Wav2Vec2FeatureExtractor": "waveform",
    "WhisperFeatureExtractor": "whisper",
    "ParakeetFeatureExtractor": "nemo",
}
"""transformers' feature extractors by the front end that does the same."""

_MAKERS = {"zipformer": ("kaldi", "k2"), "wenet": ("kaldi", "wenet"), "encdecctc": ("nemo", "")}
"""What sherpa-onnx writes as ``model_type``, by how it begins."""


@dataclass(frozen=True)
class HeardAs:
    """How a recording becomes input.

    Attributes:
        kind: a name of ``audio.front_ends``.
        options: of it.
        sample_rate: samples a second.
        step_rate: steps of the input a second.
        found: a sentence each, with its evidence.
    """

    kind: str
    options: Mapping[str, Any]
    sample_rate: int
    step_rate: float
    found: tuple[str, ...]


_CHANNELS = {"whisper": (80, 128), "gigaam": (64,), "gigaam-v3": (64,)}
"""Of the front ends that have not any number of them."""


def heard_as(graph: CtcGraph, choices: Mapping[str, Any]) -> HeardAs:
    """The front end of a model and its settings.

    Args:
        graph: the model.
        choices: of the options ``front_end``, ``fbank``, ``normalise`` and ``sample_rate``.

    Raises:
        MisuseError: a choice that does not fit the model, or nothing tells what it takes.
        UnreadableError: a file beside the model is damaged.
    """
    extractor = _beside(graph.path)
    waveform = graph.sound.channels is None
    kind, dialect, why = _kind(graph, extractor, choices["front_end"])
    if waveform != (kind == "waveform"):
        takes = "samples" if waveform else f"{graph.sound.channels} channels a step"
        raise MisuseError(
            f"the front end {kind} does not fit",
            where=f"{graph.path}: input {graph.sound.name!r}",
            why=f"it takes {takes}, of the layout {graph.sound.axes}",
            fix=f"say {arguments(front_end='waveform')}" if waveform else f"choose {', '.join(_OF_FEATURES)}",
        )
    found = [f"front end: {kind}, {why}"]
    if waveform:
        return _waveform(graph, extractor, choices, found)
    rate = _rate(choices["sample_rate"])
    if rate not in (None, SAMPLE_RATE):
        raise MisuseError(
            f"{arguments(sample_rate=rate)} with features",
            why=f"they are those of {SAMPLE_RATE} Hz",
            fix="leave it out",
        )
    mels = graph.sound.channels
    options: dict[str, Any] = {"mels": mels}
    if kind == "kaldi":
        options["dialect"] = _dialect(choices["fbank"], dialect, found)
    elif kind == "nemo":
        options["normalise"] = _normalised(graph, choices["normalise"], found)
    elif kind.startswith("gigaam"):
        options = {"version": 3 if kind == "gigaam-v3" else 2}
    if mels == 560 or mels not in _CHANNELS.get(kind, (mels,)):
        raise MisuseError(
            f"the front end {kind} does not give {mels} channels",
            where=f"{graph.path}: input {graph.sound.name!r}",
            why="Whisper has 80 or 128, GigaAM 64, and 560 are seven stacked frames of 80",
            fix=f"choose {', '.join(_OF_FEATURES)}" if mels != 560 else "FunASR's own checkpoints have families",
        )
    for option in ("fbank", "normalise"):
        if choices[option] != FOUND and (kind, option) not in (("kaldi", "fbank"), ("nemo", "normalise")):
            raise MisuseError(f"{arguments(**{option: choices[option]})} with the front end {kind}", fix="leave it out")
    return HeardAs(kind.partition("-")[0], options, SAMPLE_RATE, SAMPLE_RATE / SHIFT, tuple(found))


_OF_FEATURES = [
    word
    for option in CTC.options
    if option.name == "front_end"
    for word in option.words
    if word not in (FOUND, "waveform")
]


def _kind(graph: CtcGraph, extractor: Mapping[str, Any], asked: str) -> tuple[str, str, str]:
    """The front end, its dialect, and how they are known."""
    maker = str(graph.about.get("model_type", "")).lower()
    kind, dialect = next((found for name, found in _MAKERS.items() if maker.startswith(name)), ("", ""))
    if asked != FOUND:
        return asked, dialect, "as asked"
    if graph.sound.channels is None:
        return "waveform", "", f"as input {graph.sound.name!r} has no channels"
    named = extractor.get("feature_extractor_type")
    if named in _EXTRACTORS:
        return _EXTRACTORS[str(named)], "", f"as preprocessor_config.json says {named}"
    if kind:
        return kind, dialect, f"as the model's metadata says {graph.about['model_type']}"
    raise MisuseError(
        f"which features does it take, {graph.sound.channels} channels a step?",
        where=f"{graph.path}: input {graph.sound.name!r}",
        why="with others it would write nonsense, and nothing beside it tells",
        fix=f"say {arguments(front_end='kaldi')}, or another of {', '.join(_OF_FEATURES)}",
    )


def _waveform(graph: CtcGraph, extractor: Mapping[str, Any], choices: Mapping[str, Any], found: list[str]) -> HeardAs:
    if choices["fbank"] != FOUND:
        raise MisuseError(f"{arguments(fbank=choices['fbank'])} with a waveform", fix="leave it out")
    rate = _rate(choices["sample_rate"])
    said, by = graph.about.get("sample_rate"), "the metadata says"
    if "sampling_rate" in extractor:
        said, by = str(extractor["sampling_rate"]), "preprocessor_config.json says"
    if rate is not None:
        by = (
            "asked"
            if said in (None, str(rate))
            else f"asked, though {by} {said}: it is the rate of training that counts"
        )
    elif said is not None:
        rate = _rate(said)
    if rate is None:
        raise MisuseError(
            "which sample rate was it trained on?",
            where=str(graph.path),
            why="sound of another would be too fast or too slow, and nothing beside the model tells",
            fix=f"say {arguments(sample_rate=SAMPLE_RATE)}",
        )
    found.append(f"sample rate: {rate} Hz, as {by}")
    normalise = choices["normalise"] == "yes"
    if choices["normalise"] == FOUND:
        if "do_normalize" not in extractor and graph.sound.name == "input_values":
            raise MisuseError(
                "is the waveform brought to mean 0 and deviation 1?",
                where=f"{graph.path}: input {graph.sound.name!r}",
                why="wav2vec2 and its like have both kinds, and there is no preprocessor_config.json beside it",
                fix=f"put that file there, or say {arguments(normalise='yes')}, as most large models want it, or "
                f"{arguments(normalise='no')}",
            )
        normalise = bool(extractor.get("do_normalize", False))
        by = "preprocessor_config.json says" if "do_normalize" in extractor else "nothing asks for more"
    else:
        by = "asked"
    found.append(f"waveform: {'normalised' if normalise else 'as it is'}, as {by}")
    return HeardAs("waveform", {"normalise": normalise}, rate, rate, tuple(found))


def _rate(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or not 4_000 <= int(text) <= 192_000:
        raise MisuseError(f"{arguments(sample_rate=text)} is not a sample rate", fix="give samples a second, as 16000")
    return int(text)


def _dialect(asked: str, known: str, found: list[str]) -> str:
    if asked == FOUND and not known:
        raise MisuseError(
            "whose Kaldi features does it take?",
            why="window, level and edges differ, and so does the text",
            fix=f"say {arguments(fbank='k2')} for icefall and sherpa-onnx, {arguments(fbank='wenet')} or "
            f"{arguments(fbank='funasr')}",
        )
    dialect = known if asked == FOUND else asked
    found.append(f"filter bank: {dialect}, {'as the metadata says' if asked == FOUND else 'as asked'}")
    return dialect


def _normalised(graph: CtcGraph, asked: str, found: list[str]) -> bool:
    if asked != FOUND:
        found.append(f"features: {'normalised' if asked == 'yes' else 'not normalised'}, as asked")
        return asked == "yes"
    said = graph.about.get("normalize_type")
    normalise = said in (None, "per_feature")
    why = "NeMo's own default" if said is None else f"as the metadata says {said!r}"
    found.append(f"features: {'normalised' if normalise else 'not normalised'}, {why}")
    return normalise


def _beside(path: Path) -> Mapping[str, Any]:
    """transformers' settings of the feature extractor, beside the model or in the folder above it (as ``onnx/``)."""
    for folder in (path.parent, path.parent.parent):
        file = folder / "preprocessor_config.json"
        if file.is_file():
            try:
                said = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise UnreadableError("no readable JSON", where=str(file), why=str(error)) from error
            return said if isinstance(said, dict) else {}
    return {}
