"""SenseVoiceSmall (FunAudioLLM)."""

from __future__ import annotations

from paddable.models.sense_voice.config import LANGUAGES, TEXT_NORMS, SenseVoiceConfig
from paddable.models.sense_voice.model import SenseVoice
from paddable.models.sense_voice.weights import sense_voice_from_folder

__all__ = ["LANGUAGES", "TEXT_NORMS", "SenseVoice", "SenseVoiceConfig", "sense_voice_from_folder"]
