"""What a caller hands over, checked and taken apart into rows of unequal length. numpy only.

A *row* keeps its batch axis with size 1, so that every array of a row has the rank that the graph declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle import Metadata
from paddable.errors import MisuseError
from paddable.runtime.session.dtypes import as_declared
from paddable.runtime.session.expressions import evaluate

__all__ = ["Request", "Row", "read_request"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Row:
    """One row of a request.

    Attributes:
        arrays: of each input with a batch axis, this row's part.
        steps: the valid steps of each symbol.
    """

    arrays: Mapping[str, Array]
    steps: Mapping[str, int]


@dataclass(frozen=True)
class Request:
    """What a caller handed over.

    Attributes:
        rows: its rows; one when the model has no batch axis.
        shared: inputs without a batch axis.
        listed: whether the caller gave a list of rows, and so gets lists back.
        together: of each input with a batch axis, all rows, where the caller gave them as one array.
    """

    rows: Sequence[Row]
    shared: Mapping[str, Array]
    listed: bool
    together: Mapping[str, Array]


def read_request(
    inputs: Mapping[str, Any],
    metadata: Metadata,
    dtypes: Mapping[str, np.dtype[Any]],
    shapes: Mapping[str, Sequence[Any]],
) -> Request:
    """Check the inputs and take them apart into rows.

    Args:
        inputs: by name: an array in the graph's layout, or a list with one array per row, with or without a batch
            axis of size 1. Inputs that hold lengths may be left out; then every row is valid to its end.
        metadata: what is ragged.
        dtypes: declared type of each input of the graph.
        shapes: declared shape of each input of the graph; what is not an integer varies.

    Raises:
        MisuseError: an unknown or missing input, a wrong type, shape, number of rows or length; the message names it.
    """
    ranks = {name: len(shape) for name, shape in shapes.items()}
    _refuse_wrong_names(inputs, metadata, dtypes)
    batch_axes = metadata.batch.inputs if metadata.batch else {}
    taken_apart: dict[str, list[Array]] = {}
    shared: dict[str, Array] = {}
    together: dict[str, Array] = {}
    listed = False
    for name, value in inputs.items():
        if name in metadata.length_inputs:
            continue
        if name not in batch_axes:
            shared[name] = _with_rank(name, as_declared(name, value, dtypes[name]), ranks[name])
        elif isinstance(value, (list, tuple)) and not value:
            raise MisuseError(f"input {name!r} is an empty list", fix="give one array a row")
        elif isinstance(value, (list, tuple)) and all(isinstance(row, np.ndarray) for row in value):
            listed = True
            taken_apart[name] = [
                _row(name, as_declared(name, row, dtypes[name]), batch_axes[name], ranks[name]) for row in value
            ]
        else:
            together[name] = array = _with_rank(name, as_declared(name, value, dtypes[name]), ranks[name])
            axis = batch_axes[name] % ranks[name]
            every = (slice(None),) * axis
            taken_apart[name] = [array[(*every, slice(row, row + 1))] for row in range(array.shape[axis])]
    for name, parts in {**{name: [array] for name, array in shared.items()}, **taken_apart}.items():
        for part in parts:
            _refuse_wrong_shape(name, part, shapes[name], {*metadata.inputs.get(name, ()), batch_axes.get(name)})
    count = _same_count(taken_apart) if taken_apart else 1
    given = {
        name: _numbers(name, inputs[name], dtypes[name], count) for name in metadata.length_inputs if name in inputs
    }
    rows = [
        _checked_row(index, {name: parts[index] for name, parts in taken_apart.items()}, shared, given, metadata)
        for index in range(count)
    ]
    return Request(rows, shared, listed, together)


def _refuse_wrong_names(inputs: Any, metadata: Metadata, dtypes: Mapping[str, Any]) -> None:
    if not isinstance(inputs, Mapping):
        first = next(name for name in (*metadata.inputs, *dtypes, "x") if name not in metadata.length_inputs)
        raise MisuseError(
            f"inputs come by name, and this is one {type(inputs).__name__}",
            why=f"the model's inputs are {', '.join(dtypes)}",
            fix=f"write run({{{first!r}: array}})",
        )
    if unknown := [name for name in inputs if name not in dtypes]:
        raise MisuseError(f"the model has no input {unknown[0]!r}", fix=f"its inputs are {', '.join(dtypes)}")
    missing = [name for name in dtypes if name not in inputs and name not in metadata.length_inputs]
    if missing:
        raise MisuseError(f"no value for input {missing[0]!r}", fix=f"the model needs {', '.join(missing)}")


def _row(name: str, array: Array, batch_axis: int, rank: int) -> Array:
    if array.ndim == rank - 1:
        return np.expand_dims(array, batch_axis)
    if array.ndim == rank and array.shape[batch_axis] == 1:
        return array
    raise MisuseError(
        f"a row of shape {array.shape}",
        where=f"input {name!r}",
        fix=f"give rows of {rank - 1} axes, or of {rank} axes with size 1 along axis {batch_axis}",
    )


def _with_rank(name: str, array: Array, rank: int) -> Array:
    if array.ndim == 0 and rank == 1:
        return array.reshape(1)
    if array.ndim != rank:
        raise MisuseError(f"shape {array.shape} has {array.ndim} axes, the model wants {rank}", where=f"input {name!r}")
    return array


def _refuse_wrong_shape(name: str, array: Array, shape: Sequence[Any], free: set[int | None]) -> None:
    for axis, size in enumerate(shape):
        if isinstance(size, int) and axis not in free and array.shape[axis] != size:
            raise MisuseError(
                f"axis {axis} is {array.shape[axis]} long, the model wants {size}",
                where=f"input {name!r}",
                why=f"its shape is {array.shape}, the model's {tuple(shape)}",
            )


def _same_count(taken_apart: Mapping[str, list[Array]]) -> int:
    counts = {name: len(parts) for name, parts in taken_apart.items()}
    if len(set(counts.values())) > 1 or 0 in counts.values():
        told = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise MisuseError("the inputs have no equal, positive number of rows", where=told)
    return next(iter(counts.values()))


def _numbers(name: str, value: Any, dtype: np.dtype[Any], count: int) -> list[int]:
    numbers = as_declared(name, value, dtype).reshape(-1).tolist()
    if len(numbers) not in (1, count):
        raise MisuseError(f"{len(numbers)} lengths for {count} rows", where=f"input {name!r}")
    return [int(number) for number in (numbers if len(numbers) == count else numbers * count)]


def _checked_row(
    index: int,
    arrays: Mapping[str, Array],
    shared: Mapping[str, Array],
    given: Mapping[str, list[int]],
    metadata: Metadata,
) -> Row:
    """The row with its valid steps: as an input says that holds them, else to the row's end."""
    every = {**shared, **arrays}
    steps = {name: every[symbol.input].shape[symbol.axis] for name, symbol in metadata.symbols.items()}
    for name, text in metadata.length_inputs.items():
        if name in given and text in steps:
            steps[text] = max(0, given[name][index])
    for name, axes in metadata.inputs.items():
        for axis, text in axes.items():
            needed = evaluate(text, steps)
            if every[name].shape[axis] < needed:
                raise MisuseError(
                    f"row {index} is {every[name].shape[axis]} long on axis {axis}, its valid part is {needed}",
                    where=f"input {name!r}",
                    why=f"{text} at {_told(steps)}",
                    fix="give all of the row, or its true length",
                )
    for name, text in metadata.length_inputs.items():
        if name in given and text not in steps and given[name][index] != (needed := evaluate(text, steps)):
            raise MisuseError(
                f"row {index} is {given[name][index]}, but {text} is {needed} at {_told(steps)}",
                where=f"input {name!r}",
            )
    return Row(arrays, steps)


def _told(steps: Mapping[str, int]) -> str:
    return ", ".join(f"{symbol}={count}" for symbol, count in steps.items())
