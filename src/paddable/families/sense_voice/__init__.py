"""SenseVoiceSmall (FunAudioLLM)."""
