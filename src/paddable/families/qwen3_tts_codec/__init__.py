"""Decoder of the Qwen3-TTS 12 Hz codec: codes to 24 kHz audio, whole or streamed."""
