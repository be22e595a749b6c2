"""Native, the graph before it was padded, as one more form of a model: each row alone, at its own length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle import Metadata
from paddable.lengths.accepted import nearest_accepted
from paddable.runtime.session.expressions import evaluate
from paddable.runtime.session.graph import GraphSession
from paddable.runtime.session.request import Request, Row

__all__ = ["accepts", "misfit", "native_feeds", "signature", "with_lengths"]

Array = NDArray[Any]


def accepts(row: Row, metadata: Metadata) -> bool:
    """Whether native has an answer for a row; a container gives zeros for the others."""
    return all(
        nearest_accepted(row.steps[name], symbol.min, symbol.max, symbol.step) == [row.steps[name]]
        for name, symbol in metadata.symbols.items()
    )


def signature(
    graph: GraphSession, metadata: Metadata
) -> tuple[dict[str, np.dtype[Any]], dict[str, list[int | str | None]]]:
    """Type and shape of each input of the padded model: native's without its masks, and the lengths that were added."""
    dtypes = {name: dtype for name, dtype in graph.dtypes.items() if name not in metadata.mask_inputs}
    shapes = {name: graph.shapes[name] for name in dtypes}
    for name in metadata.length_inputs:
        dtypes.setdefault(name, np.dtype(np.int64))
        shapes.setdefault(name, [None])
    return dtypes, shapes


def misfit(graph: GraphSession, metadata: Metadata) -> str:
    """Why native cannot take the place of its containers; empty where it can."""
    for name, axis in (metadata.batch.inputs if metadata.batch else {}).items():
        if name in graph.shapes and graph.shapes[name][axis] != 1 and isinstance(graph.shapes[name][axis], int):
            return f"native takes {graph.shapes[name][axis]} rows at a time"
    return ""


def native_feeds(row: Row, request: Request, metadata: Metadata, graph: GraphSession) -> dict[str, Array]:
    """Native's inputs for one row: its valid part, lengths that native takes itself, and masks that mask nothing."""
    given, feeds = {**request.shared, **row.arrays}, {}
    for name, shape in graph.shapes.items():
        ragged = metadata.inputs.get(name) or metadata.mask_inputs.get(name, {})
        if name in metadata.length_inputs:
            sizes = [size if isinstance(size, int) else 1 for size in shape]
            feeds[name] = np.full(sizes, evaluate(metadata.length_inputs[name], row.steps), graph.dtypes[name])
        elif name in metadata.mask_inputs:
            sizes = [
                evaluate(ragged[axis], row.steps) if axis in ragged else size if isinstance(size, int) else 1
                for axis, size in enumerate(shape)
            ]
            feeds[name] = np.full(sizes, name not in metadata.padding_masks, graph.dtypes[name])
        else:
            valid = [
                slice(evaluate(ragged[axis], row.steps)) if axis in ragged else slice(None)
                for axis in range(len(shape))
            ]
            feeds[name] = given[name][tuple(valid)]
    return feeds


def with_lengths(outputs: Mapping[str, Array], row: Row, metadata: Metadata) -> dict[str, Array]:
    """Native's outputs and, as a container gives them, the length of each ragged one."""
    lengths = {
        f"{name}_length": np.array([evaluate(axes[min(axes)], row.steps)], np.int64)
        for name, axes in metadata.lengths.items()
    }
    return {**outputs, **lengths}
