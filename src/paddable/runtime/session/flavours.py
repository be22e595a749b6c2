"""The one onnxruntime that has to be installed. Every flavour is a package of its own that writes the same folder."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module, metadata
from typing import Any

from paddable.errors import MissingExtraError

__all__ = ["FLAVOURS", "import_onnxruntime"]

FLAVOURS = {
    "onnxruntime": "cpu",
    "onnxruntime-directml": "directml",
    "onnxruntime-gpu": "gpu",
    "onnxruntime-openvino": "openvino",
    "onnxruntime-windowsml": "windowsml",
    "onnxruntime-webgpu": "webgpu",
    "onnxruntime-qnn": "windowsml",
    "onnxruntime-rocm": "gpu",
    "onnxruntime-migraphx": "gpu",
    "onnxruntime-silicon": "cpu",
    "onnxruntime-training": "cpu",
}
"""Packages that write the folder ``onnxruntime``, and the extra that takes their place."""


def import_onnxruntime() -> Any:
    """The module ``onnxruntime``.

    Raises:
        MissingExtraError: none is installed, or more than one: then each has overwritten files of the other.
    """
    found = installed_flavours()
    if len(found) > 1:
        raise MissingExtraError(
            f"{len(found)} flavours of onnxruntime are installed: {', '.join(found)}",
            why="each overwrites files of the other",
            fix=f'pip uninstall -y {" ".join(found)}; pip install "paddable[{FLAVOURS[found[-1]]}]"',
        )
    try:
        return import_module("onnxruntime")
    except ImportError as error:
        reason = "" if isinstance(error, ModuleNotFoundError) and error.name == "onnxruntime" else f" ({error})"
        raise MissingExtraError(
            f"no onnxruntime can be imported{reason}",
            fix='pip install "paddable[cpu]", or one of directml, gpu, openvino, windowsml, webgpu in place of cpu',
        ) from error


def installed_flavours(distributions: Iterable[metadata.Distribution] | None = None) -> list[str]:
    """Names of the installed packages that write the folder ``onnxruntime``, sorted."""
    names = {
        str(distribution.metadata["Name"]).lower().replace("_", "-")
        for distribution in (metadata.distributions() if distributions is None else distributions)
    }
    return sorted(names & FLAVOURS.keys())
