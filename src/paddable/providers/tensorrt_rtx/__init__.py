"""TensorRT RTX, NVIDIA's compiling provider for PCs."""
