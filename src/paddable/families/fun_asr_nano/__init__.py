"""Fun-ASR-Nano (FunAudioLLM), audio side."""
