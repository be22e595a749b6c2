"""Padded graphs of a bundle against its native graph, with junk in the padding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime

__all__ = ["CONTAINERS", "RATE", "SECONDS", "PaddingError", "padding_errors", "prompts_of"]

RATE = 16_000
SECONDS = (0.3, 1.0, 5.0, 12.34, 29.99)
CONTAINERS = (5, 30, 60)
"""Seconds too."""

JUNK = (3.7, np.nan)


class PaddingError(NamedTuple):
    """The largest difference of one output over the scale of native's; infinite where it is not a number."""

    seconds: float
    container: int
    output: str
    error: float


def padding_errors(bundle: Path, prompts: dict[str, np.ndarray]) -> Iterator[PaddingError]:
    """Every clip in every container that holds it, filled with each kind of junk; one session is open at a time."""
    audio = (0.1 * np.random.default_rng(0).standard_normal(30 * RATE)).astype(np.float32)
    native = _opened(bundle / "native.onnx")
    names = [output.name for output in native.get_outputs()]
    answers = {s: native.run(names, {"audio": audio[None, : round(s * RATE)], **prompts}) for s in SECONDS}
    del native
    for container in CONTAINERS:
        padded = _opened(bundle / f"cpu-fp32-{container * RATE}.onnx")
        for seconds in (s for s in SECONDS if s <= container):
            samples = round(seconds * RATE)
            for junk in JUNK:
                box = np.full((1, container * RATE), junk, np.float32)
                box[0, :samples] = audio[:samples]
                got = padded.run(names, {"audio": box, "ilens": np.array([samples]), **prompts})
                for name, mine, wanted in zip(names, got, answers[seconds], strict=True):
                    error = _distance(mine, wanted)
                    yield PaddingError(seconds, container, name, error if np.isfinite(error) else np.inf)


def prompts_of(family: str) -> dict[str, np.ndarray]:
    """What a family's graph takes besides the sound: Chinese, with punctuation."""
    return {"language": np.array([3]), "textnorm": np.array([14])} if family == "sense-voice" else {}


def _distance(padded: np.ndarray, native: np.ndarray) -> float:
    rows = native.shape[1]
    valid = np.abs(padded[:, :rows] - native).max()
    # a row behind the valid ones has to be 0, so it counts like any other difference
    behind = np.abs(padded[:, rows:]).max(initial=0.0)
    return float(np.maximum(valid, behind) / np.abs(native).max())


def _opened(file: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
