"""Versions of what makes a file."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from paddable._version import __version__

__all__ = ["versions"]


def versions() -> dict[str, str]:
    """Versions of the packages that decide what a converted file looks like."""
    found = {"paddable": __version__}
    for package in ("onnx", "onnx-ir"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
