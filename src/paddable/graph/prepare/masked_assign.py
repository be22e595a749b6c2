"""``x[mask] = value``, which exporters write as the indices where the mask is true and a ScatterND: it is a Where."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from paddable.graph.names import Names

__all__ = ["MaskedAssignPass"]

_KEEPS_ELEMENTS = {"Expand", "Reshape", "Squeeze", "Unsqueeze", "Identity"}


class MaskedAssignPass(ir.passes.InPlacePass):
    """Replaces ``ScatterND(x, Transpose(NonZero(mask)), one value)`` by ``Where(mask, value, x)``.

    Requires: constants are initialisers; shapes that tell the ranks. Ensures: answers stay as they are. An assignment
    of several values, or whose shapes are not recorded, stays.
    """

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        names, modified = Names(model.graph), False
        opset = model.graph.opset_imports.get("", 1)
        for node in list(model.graph):
            found = _assignment(node)
            if found is None:
                continue
            mask, value = found
            (x, *_), made = node.inputs, []
            assert x is not None and x.shape is not None and mask.shape is not None
            missing = list(range(mask.shape.rank(), x.shape.rank()))
            if missing and opset < 13:  # Unsqueeze has another form there, and no exporter writes this one
                continue
            if missing:
                axes = ir.Value(
                    name=names.fresh("masked_assign/axes"), const_value=ir.tensor(np.array(missing, np.int64))
                )
                model.graph.register_initializer(axes)
                made.append(ir.node("Unsqueeze", [mask, axes], name=names.fresh("masked_assign/mask")))
                mask = made[-1].outputs[0]
                mask.name = made[-1].name
            made.append(ir.node("Where", [mask, value, x], name=names.fresh("masked_assign/where")))
            chosen, old = made[-1].outputs[0], node.outputs[0]
            chosen.name, chosen.type, chosen.shape = made[-1].name, old.type, old.shape
            for new in made:
                new.metadata_props.update(node.metadata_props)
            ir.convenience.replace_nodes_and_values(model.graph, node, [node], made, [old], [chosen])
            modified = True
        return ir.passes.PassResult(model, modified)


def _assignment(node: ir.Node) -> tuple[ir.Value, ir.Value] | None:
    """The mask and the one value of a masked assignment, None for any other node."""
    if node.op_type != "ScatterND" or node.domain not in ("", "ai.onnx"):
        return None
    reduction = node.attributes.get("reduction")
    x, places, updates = node.inputs
    if (reduction is not None and reduction.as_string() != "none") or x is None or updates is None:
        return None
    turned = _producer(places, "Transpose")
    found = _producer(turned.inputs[0], "NonZero") if turned is not None else None
    if turned is None or found is None or list(turned.attributes["perm"].as_ints()) != [1, 0]:
        return None
    mask, value = found.inputs[0], _one_value(updates)
    return None if mask is None or value is None or not _covers(mask, x) else (mask, value)


def _producer(value: ir.Value | None, op_type: str) -> ir.Node | None:
    node = value.producer() if value is not None else None
    return node if node is not None and node.op_type == op_type else None


def _one_value(value: ir.Value) -> ir.Value | None:
    """The constant of one element that fills a value of any size."""
    node = value.producer()
    while node is not None and node.op_type in _KEEPS_ELEMENTS and node.inputs[0] is not None:
        value = node.inputs[0]
        node = value.producer()
    return value if value.const_value is not None and value.const_value.size == 1 else None


def _covers(mask: ir.Value, x: ir.Value) -> bool:
    """Whether the mask has the leading axes of ``x``, so that neither is spread over the other."""
    if mask.shape is None or x.shape is None or mask.dtype != ir.DataType.BOOL or mask.shape.rank() > x.shape.rank():
        return False
    return all(b != 1 or a == 1 for a, b in zip(mask.shape, x.shape, strict=False))
