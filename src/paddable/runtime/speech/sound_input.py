"""How a graph takes sound: which input, in which layout, as samples or as features."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paddable.audio.features import FrontEnd
from paddable.audio.front_ends import Features, Waveform
from paddable.audio.kaldi import SAMPLE_RATE

__all__ = ["SoundInput"]


@dataclass(frozen=True)
class SoundInput:
    """The input that sound goes into.

    Attributes:
        name: of the graph's input.
        axes: its layout, a letter an axis: B batch and 1, both of size 1; S samples, or T steps and C channels.
        features: makes the steps of a waveform.
        rate: samples per second of the waveform.
        fewest: steps that the graph accepts.
    """

    name: str = "audio"
    axes: str = "BS"
    features: Features = field(default_factory=Waveform)
    rate: int = SAMPLE_RATE
    fewest: int = 0

    @classmethod
    def of_features(cls, front_end: FrontEnd) -> SoundInput:
        """The input ``speech`` [1, T, C] of the FunASR families."""
        return cls("speech", "BTC", front_end)

    @property
    def shortest(self) -> int:
        """Samples of 25 ms, or of the fewest steps: less holds no frame, and nothing is heard in it."""
        return max(self.rate // 40, self.features.most_samples(self.fewest - 1) + 1)

    def __call__(self, audio: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """The input of one stretch of sound, float32 [S] at ``rate``."""
        steps = self.features(audio)
        if "C" in self.axes and self.axes.index("C") < self.axes.index("T"):
            steps = steps.T
        alone = tuple(i for i, axis in enumerate(self.axes) if axis in "B1")
        return {self.name: np.ascontiguousarray(np.expand_dims(steps, alone))}
