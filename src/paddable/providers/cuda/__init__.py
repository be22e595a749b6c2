"""CUDA, the provider for NVIDIA's GPUs."""
