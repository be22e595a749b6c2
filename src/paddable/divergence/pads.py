"""Zeros around what a convolution reads: one exporter has them in a Pad in front of it, another in its ``pads``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from paddable.gates.engine import Array

__all__ = ["Pads", "pads_of"]

Pads = tuple[tuple[int, ...], tuple[ir.Node, ...]]
"""Zeros at the beginning of each axis and at the end of each, and the Pads that put some of them there."""


def pads_of(node: ir.Node) -> Pads | None:
    """What a convolution computes with, the Pads in front of it included; None where that is not known.

    Args:
        node: a Conv.
    """
    weight = node.inputs[1] if len(node.inputs) > 1 else None
    if weight is None or weight.shape is None or _text(node, "auto_pad", "NOTSET") != "NOTSET":
        return None
    axes = len(weight.shape) - 2
    own = node.attributes.get("pads")
    total = np.array(own.as_ints() if own is not None else [0] * 2 * axes, dtype=np.int64)
    front: list[ir.Node] = []
    maker = node.inputs[0].producer() if node.inputs[0] is not None else None
    while maker is not None and maker.op_type == "Pad" and not maker.domain:
        zeros = _zeros(maker, axes)
        if zeros is None:
            break
        total += zeros
        front.append(maker)
        maker = maker.inputs[0].producer() if maker.inputs[0] is not None else None
    return tuple(int(n) for n in total), tuple(front)


def _zeros(node: ir.Node, axes: int) -> Sequence[int] | None:
    """The zeros that a Pad puts around the last axes; None where it does anything else."""
    if _text(node, "mode", "constant") != "constant":
        return None
    if any(value is not None and value.const_value is None for value in node.inputs[1:]):
        return None  # it is computed
    sizes, number, along = (_constant(node, index) for index in (1, 2, 3))
    if sizes is None or (number is not None and number.any()):
        return None
    places = np.arange(axes + 2) if along is None else along % (axes + 2)
    found = np.zeros((2, axes + 2), dtype=np.int64)
    if sizes.size != 2 * places.size:
        return None
    found[:, places] = sizes.reshape(2, -1)
    if (found < 0).any() or found[:, :2].any():
        return None
    return [int(n) for n in found[:, 2:].ravel()]


def _constant(node: ir.Node, index: int) -> Array | None:
    value = node.inputs[index] if index < len(node.inputs) else None
    return value.const_value.numpy().ravel() if value is not None and value.const_value is not None else None


def _text(node: ir.Node, name: str, otherwise: str) -> str:
    return str(node.attributes[name].value) if name in node.attributes else otherwise
