"""``model_conf`` of FunASR's fsmn-vad, read so that whatever is wrong in it is told by file and key."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from paddable.errors import UnreadableError

__all__ = ["read_options"]

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


def read_options(conf: object, where: str, path: str) -> dict[str, Any]:
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
