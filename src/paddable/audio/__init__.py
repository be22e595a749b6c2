"""Audio files in, features out: numpy, soundfile and soxr only."""

from __future__ import annotations

from paddable.audio.cmvn import Cmvn, read_am_mvn
from paddable.audio.features import FrontEnd
from paddable.audio.read import Waveform, as_waveform, read_audio

__all__ = ["Cmvn", "FrontEnd", "Waveform", "as_waveform", "read_am_mvn", "read_audio"]
