"""The constants that a module's forward reads, paired with those that the nodes exported from it read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.api.probing_trace import Use
from paddable.divergence.constants import made_of
from paddable.divergence.plain import Plain
from paddable.gates.engine import Array
from paddable.graph.trace import module_path

__all__ = ["Twin", "pair_uses"]


@dataclass(frozen=True)
class Twin:
    """What the graph has for a constant.

    Attributes:
        value: it.
        array: its numbers, as the node reads them: turned where the node turns them.
        operator: of the first node that reads it, in small letters.
    """

    value: ir.Value
    array: Array
    operator: str


def pair_uses(plain: Plain, uses: Sequence[Use]) -> Iterator[tuple[Use, Twin]]:
    """Pairs in the order of the run: by the name of the parameter that is read or that a constant is computed of, else
    of one size in their order, else the equal ones and what is left. A weight that two modules share has one name in
    the graph, and each compares its own place. A number without an axis is paired by name alone: it may be one that the
    code has, where an exporter left out a factor of one.

    Args:
        plain: the graph.
        uses: of constants in the module.
    """
    held = _held(plain)
    named = {twin.value.name: twin for twins in held.values() for twin in twins}
    groups: dict[tuple[str, int], list[Use]] = {}
    taken: set[tuple[str, str | None]] = set()
    for use in uses:
        here = [each for each in held.get(use.path, ()) if each.array.size == use.array.size]
        twin = (named.get(use.origins[0]) if use.whole else _computed(use, here)) if len(use.origins) == 1 else None
        there = here and all(each.value is not twin.value for each in here) if twin is not None else True
        if twin is not None and twin.array.size == use.array.size and not there:
            taken.add((use.path, twin.value.name))
            yield use, twin
        else:
            groups.setdefault((use.path, use.array.size), []).append(use)
    for (path, size), group in groups.items():
        twins = [
            each
            for each in held.get(path, ())
            if each.array.size == size and each.array.ndim and (path, each.value.name) not in taken
        ]
        if len(group) != len(twins):
            equal = [(use, twin) for use in group for twin in twins if _equal(use.array, twin.array)]
            yield from equal
            group = [use for use in group if all(use is not each for each, _ in equal)]
            twins = [twin for twin in twins if all(twin is not each for _, each in equal)]
        if len(group) == len(twins):
            yield from zip(group, twins, strict=True)


def _computed(use: Use, here: Sequence[Twin]) -> Twin | None:
    """The only constant of a forward that its graph computes of the parameter that a use is computed of; of a number
    without an axis, which exporters compute themselves, the only one that the same operator reads."""
    found = [each for each in here if made_of(each.value) == use.origins[0]]
    if not found and not use.array.ndim and use.array not in (0, 1):
        found = [each for each in here if each.operator == use.operator and not each.array.ndim]
    return found[0] if len(found) == 1 else None


def _held(plain: Plain) -> dict[str, list[Twin]]:
    """By path of a module, the constants that its nodes read, in their order."""
    found: dict[str, dict[ir.Value, Twin]] = {}
    for node in plain.nodes:
        for value in plain.weights(node):
            if value.const_value is None or (
                value.const_value.size < 2 and not value.const_value.dtype.is_floating_point()
            ):
                continue
            turned = node.attributes.get("transB") if node.op_type == "Gemm" and value is node.inputs[1] else None
            array = value.const_value.numpy()
            twin = Twin(value, array.T if turned is not None and turned.as_int() else array, node.op_type.lower())
            found.setdefault(module_path(node) or "", {}).setdefault(value, twin)
    return {path: list(twins.values()) for path, twins in found.items()}


def _equal(mine: Array, theirs: Array) -> bool:
    return [n for n in mine.shape if n != 1] == [n for n in theirs.shape if n != 1] and np.array_equal(
        mine.ravel(), theirs.ravel()
    )
