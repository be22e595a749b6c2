"""Where the elements of a value come from, through nodes that only move them: found by running these on labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from paddable.forms.form import only_reader, scalar_of, sizes

__all__ = ["Labels", "Source", "carried", "sources"]

Labels = npt.NDArray[np.int64]

_MOVES = ("Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")


class Source:
    """A value from which another is made by moving its elements and scaling them all alike.

    Attributes:
        value: the source.
        labels: for each element of the other value, the flat index in the source.
        scale: what the elements are multiplied by on the way.
    """

    def __init__(self, value: ir.Value, labels: Labels, scale: float) -> None:
        self.value, self.labels, self.scale = value, labels, scale


def sources(value: ir.Value) -> Iterator[Source]:
    """Every source of a value with a static shape, the value itself first, the farthest last."""
    way: list[ir.Node] = []
    scale = 1.0
    while sizes(value):
        yield Source(value, _run(way, value), scale)
        node = value.producer()
        if node is None or node.domain:
            return
        if node.op_type in _MOVES:
            way.append(node)
            step = node.inputs[0]
        else:
            found = _scaled(node)
            if found is None:
                return
            step, factor = found
            scale *= factor
        if step is None:
            return
        value = step


def carried(value: ir.Value) -> Iterator[tuple[ir.Value, Labels]]:
    """The values to which the elements of one are moved, each read by nobody else on the way, with their labels."""
    labels = np.arange(int(np.prod(sizes(value))), dtype=np.int64).reshape(sizes(value))
    while True:
        yield value, labels
        node = only_reader(value)
        if node is None or node.domain or node.op_type not in _MOVES or node.inputs[0] is not value:
            return
        value = node.outputs[0]
        if not sizes(value):
            return
        labels = _moved(node, labels)


def _scaled(node: ir.Node) -> tuple[ir.Value | None, float] | None:
    """The operand of a product or quotient with one number, and the factor."""
    if node.op_type == "Mul":
        for position in (0, 1):
            factor = scalar_of(node.inputs[position])
            if factor is not None and sizes(node.inputs[1 - position]) == sizes(node.outputs[0]):
                return node.inputs[1 - position], factor
    if node.op_type == "Div":
        divisor = scalar_of(node.inputs[1])
        if divisor and sizes(node.inputs[0]) == sizes(node.outputs[0]):
            return node.inputs[0], 1 / divisor
    return None


def _run(way: list[ir.Node], value: ir.Value) -> Labels:
    labels: Labels = np.arange(int(np.prod(sizes(value))), dtype=np.int64).reshape(sizes(value))
    for node in reversed(way):
        labels = _moved(node, labels)
    return labels


def _moved(node: ir.Node, labels: Labels) -> Labels:
    if node.op_type == "Transpose":
        perm = node.attributes.get("perm")
        return labels.transpose(None if perm is None else perm.as_ints())
    return labels.reshape(sizes(node.outputs[0]))  # the others keep the order of the elements
