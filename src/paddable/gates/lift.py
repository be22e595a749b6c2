"""A half-precision graph in float, and in half to the letter: what its rounding is measured with.

A graph in half rounds each value to 11 bits, so that two right forms of one sum differ by 1e-3 of scale, and a small
fault hides among them. *Lifted* (every half tensor, constant and Cast target made float), native and padded compute
the same thing in float, where 1e-5 tells them apart; or 3 times what the answer moves by when every weight and input
is *moved* by at most its last place, where a normalisation over two equal frames leaves less than that to know.

What is made of sizes and constants alone, such as the angles of rotary positions, is rounded in the lift where the file
rounds it: a graph of fixed sizes holds it computed, in half, and no lift takes that rounding back.

ONNX Runtime has few half kernels on the CPU. It puts casts around the float ones and removes the pairs between two of
them, with the optimiser or without, so that a half graph is rounded where it happens to have a half kernel, and a mask
moves that place. *Rounded*, every value is in half as ONNX says: its float form, with each value cast to half and back,
which it leaves alone. (An Identity in half between two float kernels it computes in float, and takes the casts away.)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from numpy.typing import NDArray

from paddable.errors import PaddableError
from paddable.graph.io.read import read_model
from paddable.graph.io.write import write_model
from paddable.graph.lift import HALF, lift
from paddable.graph.sized import made_of_sizes, round_to_half
from paddable.precision.widen import widened

__all__ = ["HALF", "Twins", "computes_in_half", "lift", "lifted", "moved", "nudged", "read_source", "rounded", "twins"]


@dataclass(frozen=True)
class Twins:
    """Forms of a half model: in float, the same with its weights moved, and in half to the letter."""

    lift: Path | bytes
    moved: Path | bytes
    rounded: Path | bytes


def twins(native: Path | bytes, folder: Path) -> Twins | None:
    """Write them into a folder; None where the model does not compute in half."""
    lift = lifted(native, folder / "lift.onnx")
    if lift is None:
        return None
    return Twins(lift, moved(lift, folder / "moved.onnx"), rounded(native, folder / "rounded.onnx"))


def nudged(array: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """A float array with each element moved by one last place up, down or not at all."""
    step = rng.integers(-1, 2, array.shape) * np.finfo(array.dtype).eps
    return np.asarray(array * (1 + step)).astype(array.dtype)


def moved(lift: Path, path: Path) -> Path:
    """Write a model with every float weight moved.

    Tensors of two axes and more: what has fewer may be a scale that decides a size.
    """
    model = read_model(lift)
    rng = np.random.default_rng(0)
    for value in model.graph.initializers.values():
        tensor = value.const_value
        if tensor is not None and tensor.dtype == ir.DataType.FLOAT and len(tensor.shape) > 1:
            value.const_value = ir.tensor(nudged(tensor.numpy(), rng), name=tensor.name)
    return write_model(model, path)


def computes_in_half(source: Path | bytes) -> bool:
    """Whether any value of a file or serialised model is half; False for what cannot be read."""
    try:
        return lift(read_source(source))
    except PaddableError:
        return False


def lifted(source: Path | bytes, path: Path) -> Path | None:
    """Write the lift of a model; None, and nothing is written, where no value of it is half.

    Args:
        source: a file, or a serialised model.
        path: where the lift goes; large weights lie beside it.
    """
    model = read_source(source)
    sized = made_of_sizes(model)
    if not lift(model):
        return None
    round_to_half(model.graph, sized)
    return write_model(model, path)


def rounded(source: Path | bytes, path: Path) -> Path:
    """Write a model in float with every value that it computes in half rounded to it. Inputs and outputs keep types."""
    return write_model(widened(read_source(source), rounded=True), path)


def read_source(source: Path | bytes) -> ir.Model:
    """A file, or a serialised model."""
    return read_model(onnx.load_from_string(source) if isinstance(source, bytes) else source, older=True)
