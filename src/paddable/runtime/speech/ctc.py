"""Greedy CTC decoding in numpy.

Legend: T frames, V classes, K best classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CtcToken", "greedy", "log_softmax", "top_k"]


_BLOCK = 16
"""Frames at a time: of 25,000 classes these fit a cache, those of 30 s do not."""


class CtcToken(NamedTuple):
    """One emitted class.

    Attributes:
        id: the class.
        start: its first frame.
        end: the frame after its last one.
        probability: largest posterior over those frames.
    """

    id: int
    start: int
    end: int
    probability: float


def greedy(logits: NDArray[np.float32], blank: int) -> list[CtcToken]:
    """Best class of each frame, repeats joined, blanks dropped.

    Where the text is spelled with the same classes again, this is also the best forced alignment: no path is better
    than the one that takes the best class everywhere.

    Args:
        logits: float [T, V]; any T, 0 included.
        blank: the blank class.
    """
    if len(logits) == 0:
        return []
    best = logits.argmax(axis=1)
    starts = np.flatnonzero(np.r_[True, best[1:] != best[:-1]])
    ends = np.r_[starts[1:], len(best)]
    blocks = [logits[frame : frame + _BLOCK] for frame in range(0, len(logits), _BLOCK)]
    posterior = np.concatenate([1 / np.exp(block - block.max(axis=1, keepdims=True)).sum(axis=1) for block in blocks])
    return [
        CtcToken(int(best[start]), int(start), int(end), float(posterior[start:end].max()))
        for start, end in zip(starts, ends, strict=True)
        if best[start] != blank
    ]


def top_k(logits: NDArray[np.float32], k: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The k best classes of each frame, best first.

    Args:
        logits: float [T, V].
        k: at most V.

    Returns:
        Log-probabilities float32 [T, K] and classes int64 [T, K].
    """
    classes = np.argpartition(-logits, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(logits, classes, 1), axis=1, kind="stable")
    classes = np.take_along_axis(classes, order, 1)
    return np.take_along_axis(log_softmax(logits), classes, 1), classes.astype(np.int64)


def log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Logarithm of the softmax over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    normalised: NDArray[np.float32] = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalised.astype(np.float32)
