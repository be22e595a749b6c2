"""Decoder of the Qwen3-TTS 12 Hz codec: codes to 24 kHz audio, whole or streamed."""

from paddable.models.qwen3_tts_codec.config import CodecConfig
from paddable.models.qwen3_tts_codec.model import Decoder
from paddable.models.qwen3_tts_codec.weights import decoder_from_arrays, decoder_from_checkpoint

__all__ = ["CodecConfig", "Decoder", "decoder_from_arrays", "decoder_from_checkpoint"]
