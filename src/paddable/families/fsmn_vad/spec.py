"""FSMN-VAD, for all that need no torch: the family, and FunASR's thresholds for its segments.

``settings.vad`` of a bundle is ``model_conf`` of FunASR's config.yaml, read so that whatever is wrong in it is told by
file and key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from paddable.errors import UnreadableError
from paddable.families.spec import Ability, FamilySpec, Mark, Option

__all__ = ["DYNAMIC_SCHEDULE", "FSMN_VAD", "VadOptions", "refuse_other_classes"]

FSMN_VAD = FamilySpec(
    name="fsmn-vad",
    summary="voice activity detection",
    files="model.pt, config.yaml, am.mvn",
    marks=(Mark("config.yaml", r"^encoder: *['\"]?FSMN\b"),),
    length={"in-graph": "audio:1=S", "numpy": "speech:1=T"},
    abilities=(Ability("speech_segments", settings=("vad", "context")),),
    options=(
        Option("front_end", "in-graph: the graph takes a waveform; numpy: it takes features", ("in-graph", "numpy")),
    ),
    one_row="a detector reads one recording, window by window",
)

DYNAMIC_SCHEDULE = (
    (10_000, 2_000), (20_000, 1_000), (30_000, 800), (40_000, 600), (50_000, 400), (60_000, 200), (float("inf"), 100),
)  # fmt: skip
"""Milliseconds of speech so far, and the silence that then ends a segment: FunASR's default unless a silence is
given."""

_FRAME = 10  # milliseconds
_ONLY = {"sample_rate": 16_000, "detect_mode": 1, "frame_in_ms": _FRAME, "frame_length_ms": 25}
_TIMES = {
    "max_end_silence_time": "max_end_silence",
    "lookback_time_start_point": "look_back",
    "lookahead_time_end_point": "look_ahead",
}
_SPANS = {
    "window_size_ms": "window",
    "sil_to_speech_time_thres": "open_votes",
    "speech_to_sil_time_thres": "close_votes",
    "max_single_segment_time": "max_segment",
}
_COUNTS = {"noise_frame_num_used_for_snr": "noise_frames"}
_NUMBERS = {
    "speech_noise_thres": "threshold",
    "speech_2_noise_ratio": "ratio",
    "decibel_thres": "least_decibel",
    "snr_thres": "least_snr",
}


@dataclass(frozen=True)
class VadOptions:
    """Thresholds; times in milliseconds. The defaults are those of FunASR's fsmn-vad.

    Attributes:
        frame: from one posterior to the next.
        window: sliding window of votes.
        open_votes: speech in the window that opens a segment.
        close_votes: speech in the window at or below which silence begins.
        max_end_silence: silence that ends a segment.
        look_back: speech kept in front of the window.
        look_ahead: silence kept at the end.
        max_segment: longest segment.
        extend: whether look_back and look_ahead are used.
        threshold: by how much P(speech) must exceed P(silence).
        ratio: exponent of P(silence).
        silence_classes: classes whose posteriors add up to P(silence).
        least_decibel: frames below are silence.
        least_snr: frames nearer to the noise floor are silence.
        noise_frames: frames over which the noise floor is averaged.
        schedule: None for fixed thresholds, else as DYNAMIC_SCHEDULE (it also sets the threshold to 0.5, as FunASR
            does).
    """

    frame: int = 10
    window: int = 200
    open_votes: int = 150
    close_votes: int = 150
    max_end_silence: int = 800
    look_back: int = 200
    look_ahead: int = 100
    max_segment: int = 60_000
    extend: bool = True
    threshold: float = 0.6
    ratio: float = 1.0
    silence_classes: tuple[int, ...] = (0,)
    least_decibel: float = -100.0
    least_snr: float = -100.0
    noise_frames: int = 100
    schedule: tuple[tuple[float, int], ...] | None = DYNAMIC_SCHEDULE

    @classmethod
    def from_funasr(
        cls, conf: Mapping[str, Any], *, where: str = "config.yaml", path: str = "model_conf"
    ) -> VadOptions:
        """Reads ``model_conf`` of FunASR's config.yaml.

        Args:
            conf: the section.
            where: the file.
            path: the keys that lead to the section, with dots.

        Raises:
            UnreadableError: a value of another kind than FunASR's, or a way of detecting that is not implemented.
        """
        return cls(**_read(conf, where, path))


def refuse_other_classes(options: VadOptions, classes: int, *, where: str) -> None:
    """Raise ``UnreadableError`` where a class of silence is beyond the ``classes`` of a model."""
    if max(options.silence_classes) >= classes:
        raise UnreadableError(
            f"sil_pdf_ids is {list(options.silence_classes)}, expected numbers below {classes}",
            where=where,
            why="the model has no other classes",
            fix="take config.yaml from the release that the weights are from",
        )


def _read(conf: object, where: str, path: str) -> dict[str, Any]:
    """Arguments of ``VadOptions``; a key that is not there is left to its defaults.

    Args:
        conf: the section.
        where: the file.
        path: the keys that lead to the section, with dots.

    Raises:
        UnreadableError: no mapping, a value of another kind, or a way of detecting that is not implemented.
    """
    if not isinstance(conf, Mapping):
        raise _wrong(path, conf, "a mapping of settings", where)
    for key, only in _ONLY.items():
        if conf.get(key, only) != only:
            raise _wrong(f"{path}.{key}", conf[key], f"{only}: nothing else is implemented", where)
    options: dict[str, Any] = {}

    def take(names: Mapping[str, str], fits: Callable[[Any], bool], expected: str) -> None:
        for key in names:
            if key in conf:
                if not fits(conf[key]):
                    raise _wrong(f"{path}.{key}", conf[key], expected, where)
                options[names[key]] = conf[key]

    for names, least in ((_TIMES, 0), (_SPANS, _FRAME), (_COUNTS, 1)):
        take(names, partial(_is_whole, least=least), f"a whole number of at least {least}")
    take(_NUMBERS, _is_finite, "a finite number")
    take({"do_extend": "extend"}, lambda value: value in (0, 1), "0 or 1")
    take({"sil_pdf_ids": "silence_classes"}, _are_classes, "a list of classes, not empty")
    if "silence_classes" in options:
        options["silence_classes"] = tuple(options["silence_classes"])
    return options


def _is_whole(value: Any, least: int = 0) -> bool:
    return type(value) is int and value >= least


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _are_classes(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(map(_is_whole, value))


def _wrong(key: str, value: object, expected: str, where: str) -> UnreadableError:
    text = repr(value)
    return UnreadableError(
        f"{key} is {text if len(text) <= 60 else f'{text[:57]}...'}, expected {expected}",
        where=where,
        why="the segments follow from it",
        fix="take the file from the release that the weights are from",
    )
