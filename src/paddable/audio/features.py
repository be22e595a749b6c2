"""The official front end of the FunASR family in numpy: log-mel, low frame rate, normalisation.

The same function as ``paddable.families.layers.front_end`` puts inside a graph, computed in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paddable.audio import kaldi
from paddable.audio.cmvn import Cmvn

__all__ = ["FrontEnd", "stack_frames"]


@dataclass(frozen=True)
class FrontEnd:
    """Waveform to features.

    Attributes:
        stack: log-mel frames in one feature (7 for recognisers, 5 for FSMN-VAD).
        stride: log-mel frames between two features (6, or 1).
        cmvn: normalisation from am.mvn, if the model has one.
    """

    stack: int = 7
    stride: int = 6
    cmvn: Cmvn | None = None

    @property
    def step_seconds(self) -> float:
        """Seconds from one feature to the next."""
        return self.stride * kaldi.SHIFT / kaldi.SAMPLE_RATE

    def length(self, samples: int) -> int:
        """Number of features of so many samples; 0 below 400 samples."""
        if samples < kaldi.FRAME:
            return 0
        return -(-((samples - kaldi.FRAME) // kaldi.SHIFT + 1) // self.stride)

    def most_samples(self, steps: int) -> int:
        """Longest waveform of so many features: its last frame is whole, and one sample more would begin another."""
        return steps * self.stride * kaldi.SHIFT + kaldi.FRAME - 1

    def __call__(self, audio: NDArray[np.float32]) -> NDArray[np.float32]:
        """Features of one waveform.

        Args:
            audio: float32 [S] in [-1, 1] at 16 kHz.

        Returns:
            float32 [T, 80 * stack] with T = ``length(S)``.
        """
        features = stack_frames(kaldi.log_mel(audio), self.stack, self.stride)
        return features if self.cmvn is None else (features + self.cmvn.shift) * self.cmvn.scale


def stack_frames(frames: NDArray[np.float32], stack: int, stride: int) -> NDArray[np.float32]:
    """Low frame rate: feature i joins ``stack`` frames from stride*i - (stack-1)//2 on, clamped to the ends.

    Args:
        frames: float32 [F, M].
        stack: frames in one feature.
        stride: frames between two features.

    Returns:
        float32 [ceil(F / stride), stack * M].
    """
    count, bins = frames.shape
    starts = np.arange(0, count, stride)[:, None] - (stack - 1) // 2
    index = np.clip(starts + np.arange(stack), 0, max(count - 1, 0))
    stacked: NDArray[np.float32] = frames[index].reshape(len(starts), stack * bins)
    return stacked
