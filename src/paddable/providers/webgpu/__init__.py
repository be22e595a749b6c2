"""WebGPU, the provider for browsers and any GPU."""
