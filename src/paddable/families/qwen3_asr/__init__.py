"""Qwen3-ASR's audio encoder (Qwen): 0.6B, 1.7B and the forced aligner's."""
