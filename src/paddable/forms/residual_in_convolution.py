"""A depthwise convolution and its own input, added, as one convolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.forms.form import Form, Unfit, array_of, made_by, only_reader, scalar_of, sizes
from paddable.linter.new_parts import Parts

__all__ = ["ResidualInConvolution"]


class ResidualInConvolution(Form):
    """Writes ``conv(x) + x`` as a convolution whose tap on its own step is greater by 1.

    Requires: as of ``Form``; the convolution is depthwise, has a step for each of its input's, and nobody else reads
    what lies between it and the sum.
    Ensures: as of ``Form``. Where padding set x to 0 in front of the convolution, the sum has 0 in place of x in the
    padding, which nothing valid reads.
    Modifies: as of ``Form``; a kernel that others share stays beside the new one.
    """

    name = "residual-in-convolution"
    anchor = "Conv"

    def write(self, node: ir.Node, parts: Parts) -> bool:
        kernel = array_of(node.inputs[1])
        if kernel is None or kernel.dtype != np.float32 or not _is_depthwise(node, kernel.shape):
            return False
        way = [node.outputs[0]]
        source, turned = _source(node.inputs[0])
        if turned is not None:
            back = only_reader(way[-1])
            if back is None or back.op_type != "Transpose" or back.domain or not _undoes(back, turned):
                return False
            way.append(back.outputs[0])
        total = self._sum_with(source, way)
        if total is None:
            return False
        tap = _own_tap(node, kernel.shape)
        if tap is None:
            raise Unfit("the convolution has no tap on its own step")
        if self.known.coarse:
            raise Unfit("its kernel will be stored in fewer bits than the sum needs")
        self.demand_free([*way, total.outputs[0]])
        wider = kernel.astype(np.float64)
        own_step: tuple[Any, ...] = (slice(None), 0, *tap)
        wider[own_step] += 1
        weight = node.inputs[1]
        assert weight is not None
        name = f"{weight.name}_and_residual"
        node.replace_input_with(1, parts.constant(node, name, wider.astype(np.float32)))
        rest = next(value for value in total.inputs if value is way[-1])
        ir.convenience.replace_all_uses_with(total.outputs[0], rest, replace_graph_outputs=False)
        return True

    def _sum_with(self, source: ir.Value, way: list[ir.Value]) -> ir.Node | None:
        """The addition of the source, above others that nobody else reads; ``way`` gets what lies between."""
        while (reader := only_reader(way[-1])) is not None and reader.op_type == "Add" and not reader.domain:
            if sizes(reader.outputs[0]) != sizes(source) or reader.inputs[0] is reader.inputs[1]:
                return None
            if source in reader.inputs:
                return None if reader.outputs[0].is_graph_output() else reader
            way.append(reader.outputs[0])
        return None


def _is_depthwise(node: ir.Node, kernel: Sequence[int]) -> bool:
    group = node.attributes.get("group")
    return len(kernel) > 2 and kernel[1] == 1 and group is not None and group.as_int() == kernel[0]


def _source(value: ir.Value | None) -> tuple[ir.Value, tuple[int, ...] | None]:
    """What a convolution reads, before padding was set to 0 and axes were exchanged; and the order of these."""
    assert value is not None
    value, turn = _unfilled(value), None
    if (transpose := made_by(value, "Transpose")) is not None and transpose.inputs[0] is not None:
        order = transpose.attributes.get("perm")
        turn = tuple(order.as_ints()) if order is not None else tuple(reversed(range(len(sizes(value)))))
        value = _unfilled(transpose.inputs[0])
    return value, turn


def _unfilled(value: ir.Value) -> ir.Value:
    """The value whose padding, and nothing else, was set to 0."""
    fill = made_by(value, "Where")
    if fill is None or not (fill.name or "").startswith("paddable/") or scalar_of(fill.inputs[2]) != 0:
        return value
    before = fill.inputs[1]
    return before if before is not None and sizes(before) == sizes(value) else value


def _undoes(transpose: ir.Node, order: tuple[int, ...]) -> bool:
    given = transpose.attributes.get("perm")
    second = tuple(given.as_ints()) if given is not None else tuple(reversed(range(len(order))))
    return tuple(order[axis] for axis in second) == tuple(range(len(order)))


def _own_tap(node: ir.Node, kernel: Sequence[int]) -> tuple[int, ...] | None:
    """Which tap of each axis falls on the step that is written; None where none does."""
    axes = len(kernel) - 2
    given = {name: attribute.as_ints() for name, attribute in node.attributes.items() if name in _GEOMETRY}
    pads, steps = given.get("pads", [0] * 2 * axes), given.get("dilations", [1] * axes)
    padded_by_rule = node.attributes.get("auto_pad")
    if padded_by_rule is not None and padded_by_rule.as_string() != "NOTSET":
        return None
    if any(stride != 1 for stride in given.get("strides", ())):
        return None
    taps = []
    for axis in range(axes):
        tap, off = divmod(pads[axis], steps[axis])
        if off or tap >= kernel[axis + 2]:
            return None
        taps.append(tap)
    return tuple(taps)


_GEOMETRY = ("pads", "dilations", "strides")
