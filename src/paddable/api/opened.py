"""A model and what was declared about it: the text of the command line, read and checked against the graph."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeAlias

import onnx
import onnx_ir as ir

from paddable import __version__
from paddable.bundle import KEY
from paddable.errors import MisuseError
from paddable.graph.io.read import read_model
from paddable.lengths.declare import parse_batch, parse_length, parse_length_input, parse_mask_input, parse_shortest
from paddable.padding.analysis import Analysis, analyse
from paddable.padding.declaration import Declarations, resolve

__all__ = ["Model", "Opened", "Progress", "open_model", "versions"]

Model: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto"
Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Opened:
    """A native model with its declarations.

    Attributes:
        model: the model as it was read; analyses work on clones, which share its weights.
        declarations: checked against the model's inputs.
        rates: steps a second of each symbol whose rate is known.
        source: the file, None for a model in memory.
    """

    model: ir.Model
    declarations: Declarations
    rates: Mapping[str, float]
    source: Path | None

    def analyse(self) -> Analysis:
        """A fresh analysis of a fresh copy of the graph; ``rewrite`` may use it up.

        Raises:
            RefusedError: no proof was found at some node.
        """
        return analyse(self.model.clone(), self.declarations)


def open_model(
    model: Model,
    lengths: Sequence[str],
    *,
    length_inputs: Sequence[str] = (),
    mask_inputs: Sequence[str] = (),
    batch: str | None = None,
    batch_size: int | None = None,
    keep_dynamic: bool = False,
    rate: float | None = None,
    shortest: Sequence[str] = (),
) -> Opened:
    """Read a model and its declarations, in the forms of ``paddable.lengths.declare``.

    Raises:
        UnreadableError: not a model.
        MisuseError: a declaration that does not fit it; the message lists the dynamic axes and suggests one that does.
    """
    found = read_model(model)
    if KEY in found.metadata_props and not length_inputs:
        raise MisuseError(
            "it is padded already",
            where="model" if isinstance(model, onnx.ModelProto) else str(model),
            why="its length input would be taken for data",
            fix="give the native model, or name its length input, such as --length-input ilens=T",
        )
    declarations = resolve(
        found,
        [parse_length(text) for text in lengths],
        [parse_length_input(text) for text in length_inputs],
        [parse_mask_input(text) for text in mask_inputs],
        [parse_batch(part) for part in batch.split(",")] if batch else (),
        batch_size,
        keep_dynamic,
        dict(parse_shortest(text) for text in shortest),
    )
    if rate is not None and not (math.isfinite(rate) and rate > 0):
        raise MisuseError(f"--rate {rate} is no rate", fix="give the steps a second, such as --rate 16000")
    rates = {next(iter(declarations.symbols)): rate} if rate else {}
    return Opened(found, declarations, rates, None if isinstance(model, onnx.ModelProto) else Path(model))


def versions() -> dict[str, str]:
    """Versions of the packages that decide what a converted file looks like."""
    found = {"paddable": __version__}
    for package in ("onnx", "onnx-ir"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
