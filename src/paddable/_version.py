"""The version of the package, for every layer."""

__version__ = "0.1.0"
