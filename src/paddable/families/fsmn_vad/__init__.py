"""FSMN-VAD (FunASR)."""
