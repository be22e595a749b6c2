"""The CUDA provider: its kernels, where it runs a graph, and what keeps a graph from being captured."""
