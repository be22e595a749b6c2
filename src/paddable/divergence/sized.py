"""Tables that are cut to the length: a padded graph has them as a constant, native makes them of sizes as it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import onnx_ir as ir

from paddable.divergence.changed import Changed, numbers_apart
from paddable.divergence.flow import in_one_order
from paddable.divergence.fork import region
from paddable.divergence.measure import measure
from paddable.divergence.parting import Parting
from paddable.divergence.plain import Plain
from paddable.divergence.quantised import in_codes
from paddable.divergence.regions import Block, made_of_sizes
from paddable.errors import PaddableError
from paddable.gates.engine import Array

__all__ = ["changed_tables"]

_WEIGHT = 16
"""Elements from which what sizes make is a table, and no size itself."""


def changed_tables(parting: Parting, pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Changed]:
    """Inputs of paired nodes that constants and sizes alone make, at least one of them as it runs, and that differ.

    Where one is longer, its beginning is compared: unless its middle or its end is the other, as where positions count
    from there.

    Args:
        parting: both runs.
        pairs: nodes of both.
    """
    plains = parting.one.plain, parting.other.plain
    sizes = [made_of_sizes(plain, constants=True) for plain in plains]
    exact = parting.one.precision == parting.other.precision
    for node, partner in pairs:
        for both in in_one_order(node, partner):
            a, b = both
            if a is None or b is None or (a.const_value is not None and b.const_value is not None):
                continue
            if any(value.const_value is None and value not in held for value, held in zip((a, b), sizes, strict=True)):
                continue
            x, y = (_numbers(parting, side, value) for side, value in enumerate((a, b)))
            if x is None or y is None or x.ndim != y.ndim or x.dtype.kind != "f" or y.dtype.kind != "f":
                continue
            inside = tuple(slice(min(n, m)) for n, m in zip(x.shape, y.shape, strict=True))
            longer = sum(n != m for n, m in zip(x.shape, y.shape, strict=True))
            centred = _aligned(x, y, parting.tolerance)
            x, y = x[inside], y[inside]
            if longer > 1 or x.size < _WEIGHT or _error(x, y) <= parting.tolerance:
                continue  # rounded otherwise: a sine that one graph has computed when it was made
            apart = numbers_apart(x, y, exact)
            if apart is None or centred:
                continue
            where = f"input {list(node.inputs).index(a)} ({_told(plains[0], a)}) of {node.op_type}"
            yield Changed(
                node, f"{where} differs from the second graph's ({_told(plains[1], b)}) {apart[1]}", apart[0], x.size
            )


def _aligned(x: Array, y: Array, tolerance: float) -> bool:
    """Whether the middle or the end of the longer of two tables is the shorter."""
    long, short = (x, y) if x.size > y.size else (y, x)
    axis = next((k for k, (n, m) in enumerate(zip(long.shape, short.shape, strict=True)) if n != m), None)
    if axis is None or any(n < m for n, m in zip(long.shape, short.shape, strict=True)):
        return False
    more, size = long.shape[axis] - short.shape[axis], short.shape[axis]
    parts = (np.take(long, range(start, start + size), axis) for start in (more // 2, more))
    return any(part.shape == short.shape and _error(part, short) <= tolerance for part in parts)


def _numbers(parting: Parting, side: int, value: ir.Value) -> Array | None:
    if value.const_value is not None:
        return value.const_value.numpy()
    made, _ = region((parting.one, parting.other)[side].plain, value, lambda _: False)
    if any(map(in_codes, made)):
        return None  # it is compared with its scale and zero point
    try:
        return parting.ran[side].again([value]).get(value)
    except PaddableError:  # it does not run alone
        return None


def _error(x: Array, y: Array) -> float:
    found = measure(Block(x, None, 1), Block(y, None, 1))
    return 0.0 if found is None else found.error


def _told(plain: Plain, value: ir.Value) -> str:
    """Its name, and that of the largest weight that it is made of."""
    nodes, _ = region(plain, value, _is_size)
    tensors = [tensor for node in nodes for each in plain.weights(node) if (tensor := each.const_value) is not None]
    held = [tensor for tensor in tensors if tensor.dtype.is_floating_point() and tensor.size > 1]
    return f"{value.name}, made of {max(held, key=lambda each: each.size).name}" if held else str(value.name)


def _is_size(value: ir.Value) -> bool:
    maker = value.producer()
    return maker is not None and maker.op_type in ("Shape", "Size")
