"""Which integers are valid inputs: one that indexes a table must stay inside it, and samples of sound are loud."""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir

from paddable.gates.examples import is_waveform
from paddable.gates.signals import Numbers
from paddable.graph.types import know_types
from paddable.lengths import Length, constant
from paddable.padding.analysis import Analysis
from paddable.padding.deduce.scope import BATCH
from paddable.precision.samples import full_scale, takes_samples

__all__ = ["index_limits"]

_THROUGH = {
    "Cast",
    "Identity",
    "Reshape",
    "Squeeze",
    "Unsqueeze",
    "Transpose",
    "Expand",
    "Flatten",
    "Split",
    "Slice",
    "Where",
    "Concat",
    "Clip",
}


_SELECTS = {"Gather", "GatherElements", "GatherND"}
"""Operators that look up in their first input what their second one names."""


def index_limits(analysis: Analysis) -> Numbers:
    """For each input that indexes something, the sizes of the axes that it indexes: constants, or lengths.

    For each integer one that takes samples, full scale.
    """
    limits = {}
    for value in analysis.model.graph.inputs:
        found = _indexed(value, analysis)
        if found:
            limits[value.name or ""] = found
    return Numbers(limits, sounds=_sounds(analysis, limits))


def _sounds(analysis: Analysis, indices: Collection[str]) -> dict[str, float]:
    """The integer inputs that take samples, each with the amplitude of full scale."""
    declared = analysis.declarations
    made = {*declared.masks, *declared.length_inputs, *indices}
    integers = [value for value in analysis.model.graph.inputs if value.dtype is not None and value.dtype.is_integer()]
    waves = {str(value.name) for value in integers if value.name not in made and _is_long(value, analysis)}
    if not waves:
        return {}
    typed = analysis.model.clone()
    know_types(typed)
    found = [value for value in typed.graph.inputs if value.name in waves and takes_samples(value)]
    return {str(value.name): full_scale(value) for value in found}


def _is_long(value: ir.Value, analysis: Analysis) -> bool:
    facts, declared = analysis.values.get(str(value.name)), analysis.declarations
    if facts is None:
        return False
    sizes = [facts.size(axis) for axis in range(facts.rank)]
    shape = [size.constant if isinstance(size, Length) and size.is_constant else str(size) for size in sizes]
    rows = [axis for axis, size in enumerate(sizes) if isinstance(size, Length) and BATCH in size.symbols]
    return is_waveform(shape, declared.axes.get(str(value.name), {}), rows[0] if rows else None)


def _indexed(value: ir.Value, analysis: Analysis) -> list[Length]:
    found: dict[Length, None] = {}
    seen: set[ir.Value] = set()
    stack = [value]
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        for use in current.uses():
            node = use.node
            if node.op_type in _SELECTS and use.idx == 1 and node.inputs[0] is not None:
                found.update(dict.fromkeys(_sizes(node, node.inputs[0], current, analysis)))
            elif node.op_type in _THROUGH:
                stack += node.outputs
    return list(found)


def _sizes(node: ir.Node, source: ir.Value, indices: ir.Value, analysis: Analysis) -> list[Length]:
    """The sizes of the axes of ``source`` that are indexed; the batch is none of them."""
    facts = analysis.values.get(source.name or "")
    if facts is not None:
        known: list[object] = [facts.size(axis) for axis in range(facts.rank)]
    else:
        known = list(source.shape or ())
    if not known:
        return []

    def attribute(name: str) -> int:
        held = node.attributes.get(name)
        return int(held.value) if held is not None else 0

    axes = [attribute("axis") % len(known)]
    if node.op_type == "GatherND":
        depth = indices.shape[-1] if indices.shape is not None and indices.shape.rank() else 1
        first = attribute("batch_dims")
        axes = list(range(first, min(len(known), first + (depth if isinstance(depth, int) else 1))))
    lengths = [constant(size) if isinstance(size, int) else size for size in (known[axis] for axis in axes)]
    return [size for size in lengths if isinstance(size, Length) and BATCH not in size.symbols]
