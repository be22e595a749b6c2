"""Torch modules to native ONNX."""
