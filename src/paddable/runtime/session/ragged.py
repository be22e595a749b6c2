"""Rows of unequal length, padded to a container, and cut out of the outputs again. numpy only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle import Metadata
from paddable.errors import MisuseError
from paddable.runtime.session.expressions import evaluate
from paddable.runtime.session.request import Request, Row

__all__ = ["cut", "output_axes", "pad"]

Array = NDArray[Any]


def pad(
    rows: Sequence[Row],
    request: Request,
    metadata: Metadata,
    container: Mapping[str, int],
    dtypes: Mapping[str, Any],
    into: Mapping[str, Array],
) -> dict[str, Array]:
    """The graph's inputs for some rows of a request, in one container.

    Rows that a fixed batch size needs beyond ``rows`` have length 0, which makes their outputs 0.

    Args:
        rows: at most as many as the graph takes.
        request: where they come from.
        metadata: what is ragged; its batch size is the number of rows that the graph takes.
        container: steps of each symbol.
        dtypes: declared type of each input of the graph.
        into: arrays of the container's size to write to, by name; what is not there is made. Behind the valid part they
            keep what earlier calls left, if the graph was judged with junk there, else they are cleared.

    Returns:
        Arrays whose ragged axes have the container's size, the valid part first.
    """
    size = metadata.rows or len(rows)
    filled = [*rows, *[Row(rows[0].arrays, dict.fromkeys(rows[0].steps, 0))] * (size - len(rows))]
    feeds = {}
    for name in rows[0].arrays:
        assert metadata.batch is not None  # only a batch has rows of arrays
        axis, parts = metadata.batch.inputs[name], [(row.arrays[name], row.steps) for row in filled]
        together = request.together.get(name)
        feeds[name] = _together(name, parts, axis, metadata, container, into.get(name), together)
    for name, array in request.shared.items():
        feeds[name] = _together(name, [(array, filled[0].steps)], None, metadata, container, into.get(name), None)
    for name, text in metadata.length_inputs.items():
        numbers = [evaluate(text, row.steps) for row in filled]
        feeds[name] = np.array(numbers, dtypes[name])
    return feeds


def cut(
    outputs: Mapping[str, Array], rows: Sequence[Row], metadata: Metadata, *, apart: bool, reused: bool = False
) -> list[dict[str, Array]]:
    """The valid part of the rows, in memory that is the caller's own.

    Args:
        outputs: what the graph returned: 0 behind the valid part of a row.
        rows: the rows it was given, without those that only filled the batch.
        metadata: what is ragged.
        apart: whether each row is cut out alone, or all of them together at the end of the longest.
        reused: whether a later run writes over the outputs.

    Returns:
        For each row, or once for all of them, by output: that part, cut along its ragged axes.

    Raises:
        MisuseError: an output of several rows has no batch axis.
    """
    batch_axes = output_axes(metadata)
    result: list[dict[str, Array]] = []
    for group in [slice(i, i + 1) for i in range(len(rows))] if apart else [slice(len(rows))]:
        parts = {}
        for name, array in outputs.items():
            if name in batch_axes:
                array = array[_at(batch_axes[name], array.ndim, group)]
            elif not apart and len(rows) > 1:
                raise MisuseError("it has no batch axis, so it cannot tell the rows apart", where=f"output {name!r}")
            parts[name] = array
        for name, axes in metadata.lengths.items():
            if name in parts:
                lengths = parts[f"{name}_length"].reshape(-1).tolist()
                parts[name] = _cut_rows(parts[name], axes, lengths, rows[group])
        # a view of less than the whole would keep the container alive for a valid part of one second
        result.append({n: part.copy() if reused or part.size < outputs[n].size else part for n, part in parts.items()})
    return result


def output_axes(metadata: Metadata) -> dict[str, int]:
    """The batch axis of each output that has one; every ``<output>_length`` holds one number a row."""
    if metadata.batch is None:
        return {}
    return {**metadata.batch.outputs, **{f"{name}_length": 0 for name in metadata.lengths}}


def _cut_rows(array: Array, axes: Mapping[int, str], lengths: Sequence[int], rows: Sequence[Row]) -> Array:
    """``<output>_length`` is the length along the first ragged axis, and along every axis of equal length."""
    first = axes[min(axes)]
    for axis, text in axes.items():
        stops = [
            valid if text == first or not valid else evaluate(text, row.steps)
            for valid, row in zip(lengths, rows, strict=False)
        ]
        array = array[_at(axis, array.ndim, slice(max(stops)))]
    return array


def _at(axis: int, rank: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * (axis % rank), part)


def _together(
    name: str,
    parts: Sequence[tuple[Array, Mapping[str, int]]],
    batch_axis: int | None,
    metadata: Metadata,
    container: Mapping[str, int],
    buffer: Array | None,
    together: Array | None,
) -> Array:
    """The valid parts of all rows in one array; where they fill it, the one that the caller handed over."""
    axes, (first, _) = metadata.inputs.get(name, {}), parts[0]
    shape = [evaluate(axes[axis], container) if axis in axes else size for axis, size in enumerate(first.shape)]
    if batch_axis is not None:
        shape[batch_axis] = len(parts)
    if len(parts) == 1:
        together = first
    full = all(evaluate(text, steps) == shape[axis] for _, steps in parts for axis, text in axes.items())
    if together is not None and full and list(together.shape) == shape:
        return together
    if buffer is None:
        buffer = np.zeros(shape, first.dtype)
    elif axes and not metadata.verified.get("J"):  # judged with junk there, it may keep what earlier calls left
        buffer.fill(0)
    for index, (array, steps) in enumerate(parts):
        valid = tuple(slice(evaluate(axes[axis], steps)) if axis in axes else slice(None) for axis in range(array.ndim))
        row = () if batch_axis is None else _at(batch_axis, array.ndim, slice(index, index + 1))
        buffer[row][valid] = array[valid]
    return buffer
