"""How many steps of an input are read: a loop over windows, unrolled by an exporter, reads what its example had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.site import Site
from paddable.linter.subject import RaggedInput
from paddable.linter.view.graph import NodeView

__all__ = ["steps_read"]

_FRAMEWISE = {"Cast", "Identity", "Neg", "Abs", "Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Clip", "Dropout"}
_TO_THE_END = 1 << 31
"""No axis is longer: exporters write "to the end" as a number from here up."""


def steps_read(site: Site[Any], ragged: RaggedInput) -> int | None:
    """The step of an input behind the last one that any node reads, whatever the input's length.

    Args:
        site: the main graph.
        ragged: the input and its axis of time.

    Returns:
        None where the whole axis is read, or where that cannot be told from constant slices and indices alone.
    """
    ends = list(_ends(site, ragged.name, ragged.axis))
    return None if not ends or None in ends else max(end for end in ends if end is not None)


def _ends(site: Site[Any], name: str, axis: int) -> Iterator[int | None]:
    """For each read of the value: the end of the steps that it takes, None for all of them."""
    if name in {output.name for output in site.view.proto.output} or any(
        name in site.view.captured(node) for node in site.view.nodes
    ):
        yield None
    for node in site.view.readers(name):
        if node.op in ("Shape", "Size") or not site.subject.is_alive(node):
            continue
        if node.inputs[0] != name or name in node.inputs[1:]:
            yield None
        elif node.op in _FRAMEWISE:
            yield from _ends(site, node.outputs[0], axis)
        elif node.op == "Transpose" and node.attribute("perm"):
            yield from _ends(site, node.outputs[0], list(node.attribute("perm")).index(axis))
        elif node.op == "Slice":
            yield from _of_slice(site, node, axis)
        elif node.op == "Gather":
            yield _of_gather(site, node, axis)
        else:
            yield None


def _of_slice(site: Site[Any], node: NodeView, axis: int) -> Iterator[int | None]:
    rank = len(site.shape(node.inputs[0]) or ())
    starts, ends = (site.constant(node.input(i)) for i in (1, 2))
    if not rank or starts is None or ends is None:
        yield None
        return
    axes, steps = (site.constant(node.input(i)) for i in (3, 4))
    listed = [int(a) % rank for a in axes] if axes is not None else list(range(len(starts)))
    if axis not in listed:
        yield from _ends(site, node.outputs[0], axis)
        return
    place = listed.index(axis)
    start, end, step = int(starts[place]), int(ends[place]), int(steps[place]) if steps is not None else 1
    yield end if step > 0 and 0 <= start <= end < _TO_THE_END else None


def _of_gather(site: Site[Any], node: NodeView, axis: int) -> int | None:
    rank, index = len(site.shape(node.inputs[0]) or ()), site.constant(node.inputs[1])
    if not rank or index is None or not index.size or node.attribute("axis", 0) % rank != axis or index.min() < 0:
        return None
    return int(index.max()) + 1
