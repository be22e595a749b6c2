"""Runs converted models: numpy and onnxruntime, nothing else."""
