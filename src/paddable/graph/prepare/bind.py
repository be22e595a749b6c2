"""Inputs that are bound to a value and axes that are given a size, before anything else looks at the graph.

``sr=16000`` makes the input ``sr`` a constant: what it decides is then decided in the graph. ``x:1=512`` gives axis 1
of the input ``x`` a size, and ``batch=1`` every axis that the model calls ``batch``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from paddable.errors import MisuseError, arguments

__all__ = ["bind"]

_AXIS = re.compile(r"(?P<input>.+):(?P<axis>-?\d+)")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def bind(model: ir.Model, settings: Sequence[str]) -> list[ir.Value]:
    """Bind inputs and sizes, in place; the inputs that are bound.

    Args:
        model: the model; a bound input leaves its signature.
        settings: ``INPUT=VALUE`` (numbers separated by commas for more than one element), ``INPUT:AXIS=SIZE`` or
            ``DIMENSION=SIZE``.

    Raises:
        MisuseError: another form, nothing of that name, or a value that the input cannot hold; the message lists what
            there is.
    """
    bound = []
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name or not text:
            raise MisuseError(
                f"{setting!r} is not NAME=VALUE", where="`bindings`", fix="write it as in `bindings=['sr=16000']`"
            )
        inputs = {value.name or "": value for value in model.graph.inputs}
        axis = _AXIS.fullmatch(name)
        named = [
            (value, i)
            for value in inputs.values()
            for i, size in enumerate(value.shape or ())
            if isinstance(size, ir.SymbolicDim) and size.value == name
        ]
        if name in inputs:
            _bind_input(model, inputs[name], text)
            bound.append(inputs[name])
        elif axis is not None and axis["input"] in inputs:
            _give_size(inputs[axis["input"]], int(axis["axis"]), text)
        elif named:
            for value, i in named:
                _give_size(value, i, text)
        else:
            raise MisuseError(
                f"there is no input {name!r}", where="`bindings`", why=_listed(model.graph), fix="use one of these"
            )
    return bound


def _bind_input(model: ir.Model, value: ir.Value, text: str) -> None:
    dtype, shape = value.dtype, value.shape
    if dtype is None or shape is None:
        raise MisuseError("its type is not known", where=f"`bindings` of {value.name}", fix="export the model again")
    words = [word.strip() for word in text.split(",")]
    wanted = tuple(size if isinstance(size, int) else 1 if len(words) == 1 else -1 for size in shape)
    kind = dtype.numpy()
    try:
        if kind == np.bool_:
            numbers = np.array([_TRUTH[word.lower()] for word in words])
        elif np.issubdtype(kind, np.integer):
            numbers = np.array([int(word) for word in words], np.int64)
        else:
            numbers = np.array([float(word) for word in words])
        array = numbers.astype(kind)
        if np.issubdtype(kind, np.integer) and not np.array_equal(array, numbers):
            raise ValueError(f"{text} does not fit into {dtype.name}")
        array = np.full(wanted, array[0]) if len(words) == 1 else array.reshape(wanted)
    except (ValueError, KeyError, OverflowError) as error:
        raise MisuseError(
            f"{text!r} is not a value of the input {value.name}, which is {dtype.name}{list(map(str, shape))}",
            where="`bindings`",
            why=str(error) if isinstance(error, ValueError) else "",
            fix="give numbers of that type, separated by commas",
        ) from None
    model.graph.inputs.remove(value)
    value.const_value = ir.tensor(array, name=value.name)
    value.shape = ir.Shape(array.shape)
    model.graph.register_initializer(value)


def _give_size(value: ir.Value, axis: int, text: str) -> None:
    shape = value.shape
    rank = 0 if shape is None else len(shape)
    where = arguments(bindings=[f"{value.name}:{axis}={text}"])
    if shape is None or not -rank <= axis < rank:
        raise MisuseError(f"{value.name} has no axis {axis}", where=where, fix=f"its axes are 0 to {rank - 1}")
    if not text.isdecimal() or int(text) < 1:
        raise MisuseError(f"{text!r} is not a size", where=where, fix="give a whole number of at least 1")
    size, wanted = shape[axis], int(text)
    if isinstance(size, int) and size != wanted:
        raise MisuseError(f"axis {axis} of {value.name} has the fixed size {size}", where=where, fix="leave it out")
    sizes = list(shape)
    sizes[axis] = wanted
    value.shape = ir.Shape(sizes)


def _listed(graph: ir.Graph) -> str:
    return "the inputs are " + ", ".join(
        f"{value.name} {value.dtype and value.dtype.name}{value.shape}" for value in graph.inputs
    )
