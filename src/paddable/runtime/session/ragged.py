"""Rows of unequal length, padded to a container, and cut out of the outputs again. numpy only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle import Metadata
from paddable.runtime.session.expressions import evaluate
from paddable.runtime.session.request import Request, Row

__all__ = ["cut", "output_axes", "pad"]

Array = NDArray[Any]


def pad(
    rows: Sequence[Row], request: Request, metadata: Metadata, container: Mapping[str, int], dtypes: Mapping[str, Any]
) -> dict[str, Array]:
    """The graph's inputs for some rows of a request, in one container.

    Rows that a fixed batch size needs beyond ``rows`` have length 0, which makes their outputs 0.

    Args:
        rows: at most as many as the graph takes.
        request: where they come from.
        metadata: what is ragged; its batch size is the number of rows that the graph takes.
        container: steps of each symbol.
        dtypes: declared type of each input of the graph.

    Returns:
        Arrays whose ragged axes have the container's size: the valid part, then zeros.
    """
    size = (metadata.batch.size if metadata.batch else None) or len(rows)
    filled = [*rows, *[Row(rows[0].arrays, dict.fromkeys(rows[0].steps, 0))] * (size - len(rows))]
    feeds = {}
    for name in rows[0].arrays:
        assert metadata.batch is not None  # only a batch has rows of arrays
        parts = [_padded(name, row.arrays[name], row.steps, metadata, container) for row in filled]
        feeds[name] = parts[0] if len(parts) == 1 else np.concatenate(parts, metadata.batch.inputs[name])
    for name, array in request.shared.items():
        feeds[name] = _padded(name, array, filled[0].steps, metadata, container)
    for name, text in metadata.length_inputs.items():
        numbers = [evaluate(text, row.steps) for row in filled]
        feeds[name] = np.array(numbers, dtypes[name])
    return feeds


def cut(outputs: Mapping[str, Array], rows: Sequence[Row], metadata: Metadata) -> list[dict[str, Array]]:
    """The valid part of each row.

    Args:
        outputs: what the graph returned.
        rows: the rows it was given, without those that only filled the batch.
        metadata: what is ragged.

    Returns:
        For each row, by output: the part of that row, cut to ``<output>_length`` along its ragged axes.
    """
    batch_axes = output_axes(metadata)
    result: list[dict[str, Array]] = []
    for index, row in enumerate(rows):
        parts = {
            name: array[_at(batch_axes[name], array.ndim, slice(index, index + 1))] if name in batch_axes else array
            for name, array in outputs.items()
        }
        for name, axes in metadata.lengths.items():
            if name in parts:
                parts[name] = _cut_row(parts[name], axes, int(parts[f"{name}_length"].reshape(-1)[0]), row.steps)
        result.append({name: part.copy() for name, part in parts.items()})  # what is kept is the valid part alone
    return result


def output_axes(metadata: Metadata) -> dict[str, int]:
    """The batch axis of each output that has one; every ``<output>_length`` holds one number a row."""
    if metadata.batch is None:
        return {}
    return {**metadata.batch.outputs, **{f"{name}_length": 0 for name in metadata.lengths}}


def _cut_row(array: Array, axes: Mapping[int, str], valid: int, steps: Mapping[str, int]) -> Array:
    """``<output>_length`` is the length along the first ragged axis, and along every axis of equal length."""
    first = axes[min(axes)]
    for axis, text in axes.items():
        stop = valid if text == first or not valid else evaluate(text, steps)
        array = array[_at(axis, array.ndim, slice(stop))]
    return array


def _at(axis: int, rank: int, part: slice) -> tuple[slice, ...]:
    return (*(slice(None),) * (axis % rank), part)


def _padded(
    name: str, array: Array, steps: Mapping[str, int], metadata: Metadata, container: Mapping[str, int]
) -> Array:
    axes = metadata.inputs.get(name)
    if not axes:
        return array
    shape, valid = list(array.shape), [slice(None)] * array.ndim
    for axis, text in axes.items():
        shape[axis] = evaluate(text, container)
        valid[axis] = slice(evaluate(text, steps))
    padded = np.zeros(shape, array.dtype)
    padded[tuple(valid)] = array[tuple(valid)]
    return padded
