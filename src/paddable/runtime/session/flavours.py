"""The one onnxruntime that has to be installed. Every flavour is a package of its own that writes the same folder."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from paddable.errors import MissingExtraError, with_extra
from paddable.extras import why_not_imported

__all__ = ["FLAVOURS", "import_onnxruntime", "installed_flavours", "runtime_version"]

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


def import_onnxruntime(*, allow_mixed: bool = False) -> Any:
    """The module ``onnxruntime``.

    Args:
        allow_mixed: take what is there when more than one flavour is installed, for those who know that it is whole.

    Raises:
        MissingExtraError: none is installed, or more than one: then each has overwritten files of the other. Or the one
            that is there cannot be imported.
    """
    found = installed_flavours()
    if len(found) > 1 and not allow_mixed:
        raise MissingExtraError(
            f"{len(found)} flavours of onnxruntime are installed: {', '.join(found)}",
            why="each overwrites files of the other",
            fix=f"pip uninstall -y {' '.join(found)}, then {with_extra(FLAVOURS[found[-1]])}; or, if you know that the "
            "folder is whole, allow it: `allow_mixed=True`",
        )
    try:
        return import_module("onnxruntime")
    except (ImportError, OSError) as error:
        if found or getattr(error, "name", None) != "onnxruntime":
            raise why_not_imported("onnxruntime", error, extra=FLAVOURS[found[0]] if found else "cpu") from error
        raise MissingExtraError(
            "no onnxruntime can be imported",
            fix=f"{with_extra('cpu')}, or one of directml, gpu, openvino, windowsml, webgpu in place of cpu",
        ) from error


def runtime_version() -> str:
    """Version of the onnxruntime that is imported, whichever package it came with."""
    return str(import_module("onnxruntime").__version__)


def installed_flavours(distributions: Iterable[metadata.Distribution] | None = None) -> list[str]:
    """Names of the installed packages that write the folder ``onnxruntime``, sorted.

    Beside one whose files are there, a package that is only metadata (an empty one that satisfies another's
    requirement, or what an unfinished removal left) is not counted.
    """
    if distributions is None:  # asked for by name, since reading what every package says of itself takes long
        distributions = (found for name in FLAVOURS for found in metadata.distributions(name=name))
    found = {
        name: _has_files(distribution)
        for distribution in distributions
        if (name := str(distribution.metadata["Name"]).lower().replace("_", "-")) in FLAVOURS
    }
    return sorted([name for name, there in found.items() if there] or found)


def _has_files(distribution: metadata.Distribution) -> bool:
    """Whether files of the folder ``onnxruntime`` came with the package and are there."""
    recorded = (file for file in distribution.files or () if file.parts[0] == "onnxruntime")
    return any(Path(str(file.locate())).is_file() for file in recorded)
