"""The outputs of two runs: which of them are one, and how far they are apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import onnx_ir as ir

from paddable.divergence.matching import Matching
from paddable.divergence.measure import Measure, measure
from paddable.divergence.plain import Plain
from paddable.divergence.regions import Block, of_output
from paddable.divergence.side import Side
from paddable.gates.engine import Array

__all__ = ["flat", "outputs_apart", "partners", "told_alone"]


def flat(answer: Mapping[str, Array | list[Array]]) -> dict[str, Array]:
    """By output, its numbers; those of all its elements where it is a sequence."""
    return {
        name: np.concatenate([np.zeros(0, np.float32), *(np.ravel(each) for each in found)])
        if isinstance(found, list)
        else found
        for name, found in answer.items()
    }


def outputs_apart(
    mine: Mapping[str, Array],
    theirs: Mapping[str, Array],
    partners: Mapping[str, str],
    one: Side,
    other: Side,
    classes: Collection[str] = (),
) -> dict[str, Measure]:
    """By name of the second's outputs, how far the first's are on the valid part.

    Outputs without a partner, such as ``<output>_length``, are left out, and those that are texts, of another rank, or
    of another number of valid steps.

    Args:
        mine: the first run's outputs.
        theirs: the second's.
        partners: by name of the second's, the first's.
        one: the first run.
        other: the second.
        classes: the first's outputs that hold classes.
    """
    apart = {}
    for name, partner in partners.items():
        if name not in theirs or partner not in mine:
            continue
        left = of_output(partner, mine[partner], one.metadata, one.container, one.steps)
        right = of_output(name, theirs[name], other.metadata, other.container, other.steps)
        if left.ndim == right.ndim:
            axes = _of_one_length(partner, name, left.ndim, one, other)
            if any(left.shape[axis] != right.shape[axis] for axis in axes):
                continue
            inside = tuple(slice(min(n, m)) for n, m in zip(left.shape, right.shape, strict=True))
            left, right = left[inside], right[inside]
        found = measure(Block(left, None, 1), Block(right, None, 1), classes=partner in classes)
        if found is not None:
            apart[name] = found
    return apart


def _of_one_length(mine: str, theirs: str, rank: int, one: Side, other: Side) -> list[int]:
    """The axes along which two outputs have as many valid steps: those with a stated length where a graph is padded,
    all where none is; none where a native graph runs with zeros behind its input, whose output nobody cuts."""
    sides = one, other
    if any(side.metadata is None and side.container != side.steps for side in sides):
        return []
    if all(side.metadata is None for side in sides):
        return list(range(rank))
    stated = [
        side.metadata.lengths.get(name, {}) for side, name in zip(sides, (mine, theirs), strict=True) if side.metadata
    ]
    return sorted({axis for axes in stated for axis in axes if axis < rank})


def partners(
    mine: Mapping[str, Array], theirs: Mapping[str, Array], matching: Matching, one: Side, other: Side, tolerance: float
) -> dict[str, str]:
    """By name of the second's outputs, the first's: of the same name. Where no name is shared, what paired nodes make;
    then what has the same numbers; then, where both graphs have as many left, what is at the same place.

    Args:
        mine: the first run's outputs.
        theirs: the second's.
        matching: pairs of nodes.
        one: the first run.
        other: the second.
        tolerance: the error from which values differ.
    """
    shared = {name: name for name in theirs if name in mine}
    if shared:
        return shared
    values = matching.values()
    found = {
        str(partner.name): str(value.name)
        for value in one.plain.model.graph.outputs
        if (partner := values.get(value)) is not None and partner.is_graph_output()
    }
    left = [name for name in mine if not name.endswith("_length") and name not in found.values()]
    right = [name for name in theirs if name not in found]
    for name in list(right):
        equal = (n for n in left if _error(mine, theirs, {name: n}, one, other) <= tolerance)
        twin = next(equal, None)
        if twin is not None:
            found[name] = twin
            left.remove(twin)
            right.remove(name)
    if len(left) == len(right):
        found |= {n: m for n, m in zip(right, left, strict=True) if mine[m].dtype.kind == theirs[n].dtype.kind}
    return {name: found[name] for name in theirs if name in found}


def _error(
    mine: Mapping[str, Array], theirs: Mapping[str, Array], pair: dict[str, str], one: Side, other: Side
) -> float:
    return max((found.error for found in outputs_apart(mine, theirs, pair, one, other).values()), default=np.inf)


def told_alone(one: Plain, other: Plain, ends: Mapping[ir.Value, ir.Value]) -> list[str]:
    """What is to be said of outputs that are compared under two names, and of those that are compared with none.

    Args:
        one: the first graph.
        other: the second.
        ends: outputs of the first, each with the second's.
    """
    told = [
        f"output {theirs.name} of the second graph was compared with {mine.name} of the first"
        for mine, theirs in ends.items()
        if mine.name != theirs.name
    ]
    for number, plain, compared in (("first", one, set(ends)), ("second", other, set(ends.values()))):
        names = {value.name for value in plain.model.graph.outputs}
        told += [
            f"output {value.name}, which only the {number} graph has, was not compared"
            for value in plain.model.graph.outputs
            if value not in compared and (value.name or "").removesuffix("_length") not in names - {value.name}
        ]
    return told
