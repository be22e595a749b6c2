"""FSMN-VAD (FunASR)."""

from __future__ import annotations

from paddable.models.fsmn_vad.config import FsmnVadConfig
from paddable.models.fsmn_vad.model import FsmnVad
from paddable.models.fsmn_vad.weights import fsmn_vad_from_folder

__all__ = ["FsmnVad", "FsmnVadConfig", "fsmn_vad_from_folder"]
