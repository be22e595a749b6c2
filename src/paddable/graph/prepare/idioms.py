"""What exporters write in a way that only one kind of size can follow, said by operators that any size can.

``torch.roll`` is two slices joined, one of which does not grow with the length; an index of one axis is GatherND of
tuples of one; SAME padding with a stride is a Pad by what it comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from paddable.graph.names import Names
from paddable.graph.prepare.same_size import Sizes, sizes_of_axes

__all__ = ["IdiomsPass"]

_END = (1 << 31) - 1  # no axis is longer
_OPSET = 13
"""From here on these operators take what is computed as inputs; no exporter writes the idioms before."""


class IdiomsPass(ir.passes.InPlacePass):
    """Replaces the idioms of exporters by the operators that they stand for.

    Requires: constants are initialisers. Ensures: answers stay as they are, wherever the replaced nodes have one.

    Args:
        declared: of each input, the declared lengths of its axes.
        pointwise: operators whose operands are spread over each other, element by element.
    """

    def __init__(self, declared: Mapping[str, Mapping[int, Hashable]], pointwise: Collection[str]) -> None:
        super().__init__()
        self._declared, self._pointwise = declared, pointwise

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        modified = False
        if model.graph.opset_imports.get("", 1) >= _OPSET:
            names = Names(model.graph)
            for node in list(model.graph):
                write = _IDIOMS.get(node.op_type) if node.domain in ("", "ai.onnx") else None
                if write is None:
                    continue
                written = _Written(model.graph, node, names, self._sizes)
                if (results := write(node, written)) is not None:
                    written.stand_for(results)
                    modified = True
        return ir.passes.PassResult(model, modified)

    def _sizes(self, graph: ir.Graph) -> Mapping[ir.Value, Sizes]:
        return sizes_of_axes(graph, self._declared, self._pointwise)


class _Written:
    """The nodes that stand for one node."""

    def __init__(
        self,
        graph: ir.Graph,
        node: ir.Node,
        names: Names,
        sizes_of: Callable[[ir.Graph], Mapping[ir.Value, Sizes]],
    ) -> None:
        self._graph, self._node, self._names, self._sizes_of = graph, node, names, sizes_of
        self._made: list[ir.Node] = []

    def op(self, op_type: str, *inputs: ir.Value, **attributes: int) -> ir.Value:
        name = self._names.fresh(f"{self._node.name or self._node.op_type}/{op_type}")
        self._made.append(ir.node(op_type, list(inputs), attributes=attributes, name=name))
        (output,) = self._made[-1].outputs
        output.name = name
        return output

    def constant(self, array: Sequence[int] | int) -> ir.Value:
        name = self._names.fresh(f"{self._node.name or self._node.op_type}/constant")
        value = ir.Value(name=name, const_value=ir.tensor(np.array(array, np.int64), name=name))
        self._graph.register_initializer(value)
        return value

    def is_size(self, value: ir.Value, x: ir.Value, axis: int) -> bool:
        """Whether a value of one element is the size of an axis, of x itself or of what is shown to be as long."""
        node = _producer(value, "Shape")
        if node is None or axis < 0:
            return False
        start, end = (node.attributes[name].as_int() if name in node.attributes else None for name in ("start", "end"))
        source = node.inputs[0]
        if start is None or end != start + 1 or start < 0 or source is None:
            return False
        if source is x:
            return start == axis
        sizes = self._sizes_of(self._graph)
        held, wanted = sizes.get(source, ()), sizes.get(x, ())
        return start < len(held) and axis < len(wanted) and held[start] == wanted[axis]

    def stand_for(self, results: Sequence[ir.Value]) -> None:
        for old, new in zip(self._node.outputs, results, strict=True):
            new.type, new.shape = old.type, old.shape
        for made in self._made:
            made.metadata_props.update(self._node.metadata_props)
        ir.convenience.replace_nodes_and_values(
            self._graph, self._node, [self._node], self._made, list(self._node.outputs), list(results)
        )


def _roll(node: ir.Node, written: _Written) -> list[ir.Value] | None:
    """``Concat(x[m:], x[:m])`` with ``m = shift % size``: step j is step (j + shift) % size of x."""
    axis = node.attributes["axis"].as_int()
    slices = [_producer(value, "Slice") for value in node.inputs]
    behind, front = slices if len(slices) == 2 else (None, None)
    if behind is None or front is None or behind.inputs[0] is not front.inputs[0]:
        return None
    x, place = behind.inputs[0], behind.inputs[1]
    turned = _producer(place, "Mod")
    if turned is None or x is None or place is not front.inputs[2] or _known(front.inputs[1]) != [0]:
        return None
    shift, size = _known(turned.inputs[0]), turned.inputs[1]
    fractions = turned.attributes.get("fmod")
    if shift is None or len(shift) != 1 or size is None or (fractions is not None and fractions.as_int()):
        return None
    if not all(_along(cut, axis) for cut in (behind, front)) or not written.is_size(size, x, axis):
        return None
    end = behind.inputs[2]
    if end is None or ((_known(end) or [0])[0] < _END and not (end is size or written.is_size(end, x, axis))):
        return None
    count = written.op("Reshape", size, written.constant([]))
    steps = written.op("Range", written.constant(0), count, written.constant(1))
    index = written.op("Mod", written.op("Add", steps, written.constant(shift[0])), count)
    return [written.op("Gather", x, index, axis=axis)]


def _along(cut: ir.Node, axis: int) -> bool:
    """Whether a Slice takes every step between its bounds along this one axis."""
    if len(cut.inputs) < 4 or _known(cut.inputs[3]) != [axis]:
        return False
    return len(cut.inputs) < 5 or cut.inputs[4] is None or _known(cut.inputs[4]) == [1]


def _of_one_axis(node: ir.Node, written: _Written) -> list[ir.Value] | None:
    """GatherND by tuples of one index is Gather along the first axis."""
    batched = node.attributes.get("batch_dims")
    spread = _producer(node.inputs[1], "Unsqueeze")
    x = node.inputs[0]
    if (batched is not None and batched.as_int()) or spread is None or x is None or _known(spread.inputs[1]) != [-1]:
        return None
    index = spread.inputs[0]
    return None if index is None else [written.op("Gather", x, index, axis=0)]


def _same(node: ir.Node, written: _Written) -> list[ir.Value] | None:
    """A Conv with SAME padding and a stride is one without padding, behind a Pad by what that comes to."""
    mode = node.attributes["auto_pad"].as_string() if "auto_pad" in node.attributes else ""
    x, weight, *bias = node.inputs
    if not mode.startswith("SAME") or x is None or weight is None or weight.const_value is None:
        return None
    kernel = list(weight.const_value.shape.numpy()[2:])
    strides, dilations = (
        list(node.attributes[name].as_ints()) if name in node.attributes else [1] * len(kernel)
        for name in ("strides", "dilations")
    )
    held = list(x.shape)[2:] if x.shape is not None else [None] * len(kernel)
    if all(stride == 1 or isinstance(size, int) for stride, size in zip(strides, held, strict=True)):
        return None
    extents = [dilation * (size - 1) + 1 for size, dilation in zip(kernel, dilations, strict=True)]
    zero, by = written.constant([0]), written.constant(strides)
    sizes = written.op("Slice", written.op("Shape", x), written.constant([2]), written.constant([_END]), zero)
    windows = written.op("Div", written.op("Add", sizes, written.constant([s - 1 for s in strides])), by)
    read = written.op("Add", written.op("Mul", windows, by), written.constant(np.subtract(extents, strides).tolist()))
    total = written.op("Max", written.op("Sub", read, sizes), zero)
    small = written.op("Div", total, written.constant([2]))
    large = written.op("Sub", total, small)
    before, after = (small, large) if mode == "SAME_UPPER" else (large, small)
    none = written.constant([0, 0])
    padded = written.op("Pad", x, written.op("Concat", none, before, none, after, axis=0))
    kept = {name: held for name, held in node.attributes.items() if name not in ("auto_pad", "pads")}
    result = written.op("Conv", padded, weight, *(value for value in bias if value is not None))
    made = result.producer()
    assert made is not None
    made.attributes.update(kept)
    return [result]


_IDIOMS: dict[str, Callable[[ir.Node, _Written], list[ir.Value] | None]] = {
    "Concat": _roll,
    "Conv": _same,
    "GatherND": _of_one_axis,
}


def _producer(value: ir.Value | None, op_type: str) -> ir.Node | None:
    node = value.producer() if value is not None else None
    return node if node is not None and node.op_type == op_type and node.domain in ("", "ai.onnx") else None


def _known(value: ir.Value | None) -> list[int] | None:
    """The elements of a constant vector of integers."""
    if value is None or value.const_value is None or value.const_value.size > 16:
        return None
    return [int(item) for item in np.ravel(value.const_value.numpy())]
