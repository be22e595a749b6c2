"""Paddable: a compiler for padding."""

__version__ = "0.1.0"
