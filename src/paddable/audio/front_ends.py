"""Front ends by the name that ``bundle.json`` gives them: sound to what a published recogniser takes.

Each is a record with its settings as fields: ``front_end.options`` of bundle.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from paddable.audio import gigaam, kaldi, nemo, whisper

__all__ = ["FRONT_ENDS", "Features", "GigaAm", "Kaldi", "Nemo", "Waveform", "Whisper"]


class Features(Protocol):
    """One waveform to the steps of a model."""

    def most_samples(self, steps: int) -> int:
        """Longest waveform that gives at most so many steps."""
        ...

    def __call__(self, audio: NDArray[np.float32], /) -> NDArray[np.float32]:
        """Features float32 [T, C] of a waveform float32 [S], or a waveform [S] of it."""
        ...


@dataclass(frozen=True)
class Waveform:
    """The samples themselves.

    Attributes:
        normalise: to mean 0 and deviation 1 over the clip, as transformers' ``Wav2Vec2FeatureExtractor`` does.
    """

    normalise: bool = False

    def most_samples(self, steps: int) -> int:
        """A step is a sample."""
        return steps

    def __call__(self, audio: NDArray[np.float32], /) -> NDArray[np.float32]:
        """The clip, float32 [S]."""
        if not self.normalise or len(audio) == 0:
            return audio
        wide = audio.astype(np.float64)
        normalised: NDArray[np.float32] = ((wide - wide.mean()) / np.sqrt(wide.var() + 1e-7)).astype(np.float32)
        return normalised


@dataclass(frozen=True)
class Kaldi:
    """Kaldi's filter bank in a dialect of ``kaldi.DIALECTS``, with so many mels."""

    dialect: str = "k2"
    mels: int = 80

    def __post_init__(self) -> None:
        if self.dialect not in kaldi.DIALECTS:
            raise ValueError(f"no Kaldi features are called {self.dialect!r}")

    def most_samples(self, steps: int) -> int:
        """One sample more would begin another frame."""
        whole = kaldi.DIALECTS[self.dialect].snip_edges
        return steps * kaldi.SHIFT + (kaldi.FRAME if whole else kaldi.SHIFT // 2) - 1

    def __call__(self, audio: NDArray[np.float32], /) -> NDArray[np.float32]:
        """Log-mel energies, float32 [T, mels]."""
        return kaldi.log_mel(audio, kaldi.DIALECTS[self.dialect], self.mels)


@dataclass(frozen=True)
class Whisper:
    """Whisper's log-mel features, with so many mels; a clip is not made 30 s long."""

    mels: int = 80

    def most_samples(self, steps: int) -> int:
        """A frame every 160 samples."""
        return steps * whisper.HOP + whisper.HOP - 1

    def __call__(self, audio: NDArray[np.float32], /) -> NDArray[np.float32]:
        """Log-mel features, float32 [T, mels]."""
        return whisper.log_mel(audio, self.mels).T


@dataclass(frozen=True)
class Nemo:
    """NeMo's log-mel features, with so many mels, normalised per feature or not."""

    mels: int = 80
    normalise: bool = True

    def most_samples(self, steps: int) -> int:
        """A frame every 160 samples."""
        return steps * kaldi.SHIFT + kaldi.SHIFT - 1

    def __call__(self, audio: NDArray[np.float32], /) -> NDArray[np.float32]:
        """Log-mel features, float32 [T, mels]."""
        return nemo.log_mel(audio, self.mels, normalise=self.normalise)


@dataclass(frozen=True)
class GigaAm:
    """GigaAM's 64 log-mel features, of version 2 or 3."""

    version: int = 2

    def most_samples(self, steps: int) -> int:
        """One sample more would begin another frame."""
        return steps * kaldi.SHIFT + 319 if self.version == 3 else steps * kaldi.SHIFT - 1

    def __call__(self, audio: NDArray[np.float32], /) -> NDArray[np.float32]:
        """Log-mel features, float32 [T, 64]."""
        return gigaam.log_mel(audio, self.version)


FRONT_ENDS: Mapping[str, type[Waveform | Kaldi | Whisper | Nemo | GigaAm]] = {
    "waveform": Waveform,
    "kaldi": Kaldi,
    "whisper": Whisper,
    "nemo": Nemo,
    "gigaam": GigaAm,
}
