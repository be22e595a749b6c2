"""Weights and constants that differ between two nodes that are one: which number, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.divergence.matching import Matching
from paddable.divergence.plain import Plain
from paddable.gates.engine import Array

__all__ = ["Changed", "changed_between", "changed_weights"]

_WEIGHT = 16
"""Elements from which a constant counts as a weight: smaller ones are sizes, axes and epsilons."""


@dataclass(frozen=True)
class Changed:
    """One weight that differs.

    Attributes:
        node: of the first graph, which reads it.
        text: which, where and by how much.
        numbers: how many of its numbers differ; 0 where the shapes do.
    """

    node: ir.Node
    text: str
    numbers: int


def changed_between(
    one: Plain, other: Plain, pairs: Sequence[tuple[ir.Node, ir.Node]], *, exact: bool
) -> Iterator[Changed]:
    """The weights that differ between paired nodes, those that their bodies read among them.

    Args:
        one: the first graph.
        other: the second.
        pairs: nodes of both.
        exact: both are of one precision; else what rounding to half changes is allowed.
    """
    for node, partner in pairs:
        for place, a, b in _constants(one, node, other, partner):
            assert a.const_value is not None and b.const_value is not None
            x, y = a.const_value.numpy(), b.const_value.numpy()
            if x.dtype.kind not in "fiub" or y.dtype.kind not in "fiub":
                continue
            told = f"{place} ({a.name}) of {node.op_type}"
            if x.shape != y.shape:
                if x.size != y.size or one.fingerprint(a) != other.fingerprint(b):
                    shapes = f"{list(x.shape)} in the first graph and {list(y.shape)} in the second"
                    yield Changed(node, f"{told} is {shapes}", 0)
                continue
            wrong = _differing(x, y, exact)
            if wrong is not None:
                gap = np.abs(x.astype(np.float64) - y.astype(np.float64))
                at = np.unravel_index(int(np.nan_to_num(np.where(wrong, gap, -1.0), nan=np.inf).argmax()), x.shape)
                yield Changed(
                    node,
                    f"{told} differs from the second graph's in {int(wrong.sum())} of {x.size} numbers, most at "
                    f"{[int(n) for n in at]}: {float(x[at]):.4g} and {float(y[at]):.4g}",
                    int(wrong.sum()),
                )


def changed_weights(matching: Matching, *, exact: bool) -> list[Changed]:
    """The weights of paired nodes that differ, in graph order; one that only lies elsewhere in the other is none."""
    one, other = matching.one, matching.other
    mine, theirs = (
        {plain.fingerprint(value) for node in plain.nodes for value in plain.weights(node)} for plain in (one, other)
    )
    found = []
    for node in one.nodes:
        partner = matching.pairs.get(node)
        if partner is None:
            continue
        for _, a, b in _constants(one, node, other, partner):
            if not (_is_weight(a) and _is_weight(b)):
                continue
            left, right = one.fingerprint(a), other.fingerprint(b)
            if (left == right and exact) or (left != right and left not in theirs and right not in mine):
                changes = changed_between(one, other, [(node, partner)], exact=exact)
                found += [change for change in changes if change.numbers]
                break
    return found


def _is_weight(value: ir.Value) -> bool:
    tensor = value.const_value
    return tensor is not None and tensor.size >= _WEIGHT and tensor.dtype.is_floating_point()


def _constants(one: Plain, node: ir.Node, other: Plain, partner: ir.Node) -> Iterator[tuple[str, ir.Value, ir.Value]]:
    """Constants of both at one place: an input, or the same place among what the bodies read."""
    for index, (a, b) in enumerate(zip(node.inputs, partner.inputs, strict=False)):
        if a is not None and b is not None and a.const_value is not None and b.const_value is not None:
            yield f"input {index}", a, b
    mine, theirs = (
        [value for value in plain.weights(each) if value not in each.inputs]
        for plain, each in ((one, node), (other, partner))
    )
    if len(mine) == len(theirs):
        yield from (("the weight", a, b) for a, b in zip(mine, theirs, strict=True))


def _differing(x: Array, y: Array, exact: bool) -> Array | None:
    """Which numbers differ; None where none does."""
    if x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
        return None
    wide, right = x.astype(np.float64), y.astype(np.float64)
    allowed = 0.0 if exact else 2.0**-10 * np.abs(right) + 1e-7
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(wide - right) <= allowed) & ~((wide == right) | (np.isnan(wide) & np.isnan(right)))
    return wrong if wrong.any() else None
