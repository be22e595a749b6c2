"""Fun-ASR-Nano (FunAudioLLM), audio side."""

from __future__ import annotations

from paddable.models.fun_asr_nano.config import AdaptorConfig, FunAsrNanoConfig
from paddable.models.fun_asr_nano.model import FunAsrNano, speech_tokens
from paddable.models.fun_asr_nano.weights import fun_asr_nano_from_folder

__all__ = ["AdaptorConfig", "FunAsrNano", "FunAsrNanoConfig", "fun_asr_nano_from_folder", "speech_tokens"]
