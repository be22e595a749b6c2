"""What a bundle says about the sound of a model of Kaldi log-mels: sample rate, front end, unit of each length."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paddable.audio.cmvn import read_am_mvn
from paddable.audio.kaldi import SAMPLE_RATE
from paddable.families.checkpoints.folder import CheckpointFolder
from paddable.families.layers.front_end import FrontEndKind

__all__ = ["KINDS", "about_sound", "steps_a_second"]

KINDS: dict[str, FrontEndKind] = {"in-graph": "kaldi", "numpy": "none", "early": "early"}
"""The front end that a model is built with, for each word of the option ``front_end``."""

_FUNASR = ("config.yaml", "configuration.json")


def about_sound(
    folder: Path, front_end: str, outputs: Sequence[str], *, stack: int, stride: int, subsampling: int = 1
) -> dict[str, Any]:
    """``sample_rate``, ``front_end`` and ``units`` of a bundle.

    Args:
        folder: the checkpoint. One of another layout than FunASR's has no CMVN.
        front_end: a word of the option.
        outputs: of the graph, each with one row for ``subsampling`` features.
        stack: log-mel frames in one feature.
        stride: log-mel frames between two features.
        subsampling: features in one row of the outputs.
    """
    frame = f"frames of {10 * stride} ms"
    units = {f"{name}_length": f"frames of {10 * stride * subsampling} ms" for name in outputs}
    if front_end == "numpy":
        said = {"kind": "kaldi", "in_graph": False, "stack": stack, "stride": stride, "cmvn": _cmvn(folder)}
        return {"sample_rate": SAMPLE_RATE, "units": units | {"T": frame}, "front_end": said}
    said = {"kind": KINDS[front_end], "in_graph": True}
    return {"sample_rate": SAMPLE_RATE, "units": units | {"S": f"samples at {SAMPLE_RATE} Hz"}, "front_end": said}


def steps_a_second(front_end: str, stride: int) -> float:
    """Steps a second of the ragged axis: samples, or features."""
    # rounded down: 100 / 6 is 16.67, and 30 s rounded up would be 501 features
    return int(100e6 / stride) / 1e6 if front_end == "numpy" else SAMPLE_RATE


def _cmvn(folder: Path) -> dict[str, Any] | None:
    if (folder / "config.json").is_file() or not any((folder / name).is_file() for name in _FUNASR):
        return None
    file = CheckpointFolder.open(folder).file("frontend_conf", "cmvn_file", default="am.mvn")
    if file is None:
        return None
    read = read_am_mvn(file)
    return {"shift": read.shift.tolist(), "scale": read.scale.tolist()}
