"""Qwen3-ASR's audio encoder (Qwen): 0.6B, 1.7B and the forced aligner's."""

from __future__ import annotations

from paddable.models.qwen3_asr.config import PRESETS, Qwen3AsrConfig, token_count
from paddable.models.qwen3_asr.front_end import WhisperFrontEnd
from paddable.models.qwen3_asr.model import Attention, Qwen3AsrEncoder, ShortClips
from paddable.models.qwen3_asr.weights import qwen3_asr_from_folder

__all__ = [
    "PRESETS",
    "Attention",
    "Qwen3AsrConfig",
    "Qwen3AsrEncoder",
    "ShortClips",
    "WhisperFrontEnd",
    "qwen3_asr_from_folder",
    "token_count",
]
