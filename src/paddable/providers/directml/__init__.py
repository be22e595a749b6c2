"""DirectML, the provider for every GPU on Windows."""
