"""A depthwise convolution and its own input, added, as one convolution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from paddable.forms.form import Form, Unfit, array_of, made_by, only_reader, scalar_of, sizes
from paddable.forms.movement import Labels, carried, sources
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
        kernel, weight = _kernel(node.inputs[1]), node.inputs[1]
        if kernel is None or weight is None or not _is_depthwise(node, kernel.shape):
            return False
        found = next((sum_ for origin in _origins(node.inputs[0]) if (sum_ := _sum(node, *origin))), None)
        if found is None:
            return False
        total, way = found
        tap = _own_tap(node, kernel.shape)
        if tap is None:
            raise Unfit("the convolution has no tap on its own step")
        if self.known.coarse:
            raise Unfit("its kernel will be stored in fewer bits than the sum needs")
        self.demand_free([*way, total.outputs[0]])
        wider = kernel.astype(np.float64)
        own_step: tuple[Any, ...] = (slice(None), 0, *tap)
        wider[own_step] += 1
        name = f"{weight.name}_and_residual"
        node.replace_input_with(1, parts.constant(node, name, wider.astype(np.float32)))
        ir.convenience.replace_all_uses_with(total.outputs[0], way[-1])
        return True


def _kernel(value: ir.Value | None) -> npt.NDArray[np.generic] | None:
    """An fp32 kernel, with axes of size 1 or without where it lies among the constants."""
    made = made_by(value, "Unsqueeze", "Squeeze", "Reshape")
    held = array_of(value if made is None else made.inputs[0])
    return held.reshape(sizes(value)) if held is not None and held.dtype == np.float32 and sizes(value) else None


def _is_depthwise(node: ir.Node, kernel: Sequence[int]) -> bool:
    group = node.attributes.get("group")
    return len(kernel) > 2 and kernel[1] == 1 and group is not None and group.as_int() == kernel[0]


def _origins(value: ir.Value | None) -> Iterator[tuple[ir.Value, Labels]]:
    """What a convolution reads, before its elements were moved and padding was set to 0, with its labels there."""
    for source in sources(value) if value is not None else ():
        if source.scale != 1:
            return
        yield source.value, source.labels
        fill = made_by(source.value, "Where")
        if fill is None or not (fill.name or "").startswith("paddable/") or scalar_of(fill.inputs[2]) != 0:
            continue
        if fill.inputs[1] is not None and sizes(fill.inputs[1]) == sizes(source.value):
            for origin, labels in _origins(fill.inputs[1]):
                yield origin, labels.reshape(-1)[source.labels]


def _sum(node: ir.Node, origin: ir.Value, labels: Labels) -> tuple[ir.Node, list[ir.Value]] | None:
    """The addition of a convolution's origin to its answer, with what lies between."""
    if sizes(node.inputs[0]) != sizes(node.outputs[0]):
        return None
    way: list[ir.Value] = []
    own = np.arange(labels.size).reshape(sizes(origin))
    for value, moved in carried(node.outputs[0]):
        way.append(value)
        if moved.shape == own.shape and np.array_equal(labels.reshape(-1)[moved], own):
            above = _added(origin, value)
            if above is not None:
                return above[0], [*way, *above[1]]
    return None


def _added(origin: ir.Value, value: ir.Value) -> tuple[ir.Node, list[ir.Value]] | None:
    """The addition of the origin above others that nobody else reads, with their sums."""
    between: list[ir.Value] = []
    while (reader := only_reader(value)) is not None and reader.op_type == "Add" and not reader.domain:
        value = reader.outputs[0]
        if sizes(value) != sizes(origin) or reader.inputs[0] is reader.inputs[1]:
            return None
        if origin in reader.inputs:
            return None if value.is_graph_output() else (reader, between)
        between.append(value)
    return None


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
