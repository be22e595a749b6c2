"""Weights and constants that differ between two nodes that are one: which number, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import onnx_ir as ir

from paddable.divergence.constants import made_of_constants
from paddable.divergence.folds import Fold
from paddable.divergence.matching import Matching
from paddable.divergence.plain import Plain
from paddable.divergence.weights import fingerprint
from paddable.gates.engine import Array

__all__ = ["Changed", "Numbers", "changed_between", "changed_weights", "counted", "held", "is_weight", "numbers_apart"]

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


Numbers = Callable[[Plain, ir.Value], "Array | None"]
"""The numbers of a value of a graph that no input changes; None for another."""


def held(_: Plain, value: ir.Value) -> Array | None:
    """The numbers of a weight or constant."""
    return value.const_value.numpy() if value.const_value is not None else None


_UNFOLDED: Mapping[ir.Node, Fold] = MappingProxyType({})


def changed_between(
    one: Plain,
    other: Plain,
    pairs: Sequence[tuple[ir.Node, ir.Node]],
    *,
    exact: bool,
    numbers: Numbers = held,
    folds: Mapping[ir.Node, Fold] = _UNFOLDED,
) -> Iterator[Changed]:
    """The weights that differ between paired nodes, those that their bodies read among them.

    Axes of size 1 are no difference: one graph may keep a kernel as the other's Unsqueeze makes it.

    Args:
        one: the first graph.
        other: the second.
        pairs: nodes of both.
        exact: both are of one precision; else what rounding to half changes is allowed.
        numbers: of what counts as constant.
        folds: of layers that one graph has folded, which are compared as one.
    """
    inner = {node for fold in folds.values() for node in fold.one.behind}
    for node, partner in pairs:
        if node in inner:
            continue
        if node in folds:
            yield from _changed_folded(one, folds[node])
            continue
        for place, a, b in _places(one, node, other, partner):
            x, y = numbers(one, a), numbers(other, b)
            if x is None or y is None or x.dtype.kind not in "fiub" or y.dtype.kind not in "fiub":
                continue
            told = f"{place} ({_named(one, a)}) of {node.op_type}"
            if [n for n in x.shape if n != 1] != [n for n in y.shape if n != 1]:
                if x.size != y.size or fingerprint(ir.tensor(x)) != fingerprint(ir.tensor(y)):
                    shapes = f"{list(x.shape)} in the first graph and {list(y.shape)} in the second"
                    yield Changed(node, f"{told} is {shapes}", 0)
                continue
            apart = numbers_apart(x, y.reshape(x.shape), exact and None not in (a.const_value, b.const_value))
            if apart is not None:
                yield Changed(node, f"{told} differs from the second graph's {apart[1]}", apart[0])


def _changed_folded(one: Plain, fold: Fold) -> Iterator[Changed]:
    """The weight and the shift of a layer, compared as if both graphs had everything folded in."""
    weight = fold.one.node, fold.one.node.inputs[1]
    for place, both in ((weight, fold.weights()), (fold.one.bias, fold.shifts())):
        apart = numbers_apart(*both, exact=True)
        if apart is not None:
            node, value = place if place is not None else (fold.one.node, None)
            told = f"input {list(node.inputs).index(value)} ({_named(one, value)})" if value is not None else "the bias"
            told += f" of {node.op_type}, with {fold.folded} folded in,"
            yield Changed(node, f"{told} differs from the second graph's {apart[1]}", apart[0])


def numbers_apart(x: Array, y: Array, exact: bool) -> tuple[int, str] | None:
    """How many numbers differ, and the text of how many, where most, and what lies there; None where none does.

    Args:
        x: the numbers of the first.
        y: those of the second, of one shape.
        exact: both are of one precision; else what rounding to half changes is allowed.
    """
    wrong = _differing(x, y, exact)
    if wrong is None:
        return None
    gap = np.abs(x.astype(np.float64) - y.astype(np.float64))
    at = np.unravel_index(int(np.nan_to_num(np.where(wrong, gap, -1.0), nan=np.inf).argmax()), x.shape)
    count, place = int(wrong.sum()), [int(n) for n in at]
    return count, f"in {count} of {x.size} numbers, most at {place}: {float(x[at]):.4g} and {float(y[at]):.4g}"


def _named(plain: Plain, value: ir.Value) -> str:
    """A constant's name; where nodes make it, that of the weight that they make it of."""
    if value.const_value is not None:
        return str(value.name)
    nodes = made_of_constants(plain, value)
    tensors = [w.const_value for node in nodes for w in plain.weights(node) if w.const_value is not None]
    made_of = max(tensors, key=lambda tensor: tensor.size, default=None)
    return f"{value.name}, made of {made_of.name}" if made_of is not None else str(value.name)


def changed_weights(matching: Matching, *, exact: bool, folds: Mapping[ir.Node, Fold] = _UNFOLDED) -> list[Changed]:
    """The weights of paired nodes that differ, in graph order; one that only lies elsewhere in the other is none."""
    inner = {node for fold in folds.values() for node in fold.one.behind}
    one, other = matching.one, matching.other
    mine, theirs = (
        {plain.fingerprint(value) for node in plain.nodes for value in plain.weights(node)} for plain in (one, other)
    )
    found: list[Changed] = []
    for node in one.nodes:
        partner = matching.pairs.get(node)
        if partner is None or node in inner:
            continue
        if node in folds:
            found += _changed_folded(one, folds[node])
            continue
        for _, a, b in _places(one, node, other, partner):
            if not (is_weight(a) and is_weight(b)):
                continue
            left, right = one.fingerprint(a), other.fingerprint(b)
            if (left == right and exact) or (left != right and left not in theirs and right not in mine):
                changes = changed_between(one, other, [(node, partner)], exact=exact)
                found += [change for change in changes if change.numbers]
                break
    return found


def counted(texts: Sequence[str]) -> str:
    """How many weights differ, and the first; empty where none does."""
    if not texts:
        return ""
    return f"{'1 weight differs' if len(texts) == 1 else f'{len(texts)} weights differ, the first'}: {texts[0]}"


def is_weight(value: ir.Value) -> bool:
    """Whether a value is a constant that is large enough to be a weight."""
    tensor = value.const_value
    return tensor is not None and tensor.size >= _WEIGHT and tensor.dtype.is_floating_point()


def _places(one: Plain, node: ir.Node, other: Plain, partner: ir.Node) -> Iterator[tuple[str, ir.Value, ir.Value]]:
    """Values of both at one place: an input, or the same place among what the bodies read."""
    for index, (a, b) in enumerate(zip(node.inputs, partner.inputs, strict=False)):
        if a is not None and b is not None:
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
