"""Bias and rectifier of a feed-forward layer as one Max, whose other half goes into the next bias."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from paddable.forms.form import Form, Unfit, array_of, constants_of, made_by, only_reader, sizes, typed
from paddable.linter.new_parts import Parts

__all__ = ["ReluAsMax"]


class ReluAsMax(Form):
    """Writes ``relu(p + b) W + c`` as ``max(p, -b) W + (c + b W)``.

    Requires: as of ``Form``; b, W and c are constants, and nobody else reads what lies between.
    Ensures: as of ``Form``; the new bias is summed in fp64.
    Modifies: as of ``Form``.
    """

    name = "relu-as-max"
    anchor = "Relu"

    def write(self, node: ir.Node, parts: Parts) -> bool:
        inner, product = made_by(node.inputs[0], "Add"), only_reader(node.outputs[0])
        if inner is None or product is None or product.op_type != "MatMul" or product.domain:
            return False
        bias, weight = _bias(inner), array_of(product.inputs[1])
        if bias is None or weight is None or weight.ndim != 2 or product.inputs[0] is not node.outputs[0]:
            return False
        outer = only_reader(product.outputs[0])
        next_bias = _bias(outer) if outer is not None and outer.op_type == "Add" and not outer.domain else None
        if outer is None or next_bias is None or only_reader(inner.outputs[0]) is not node:
            raise Unfit("what lies between bias and bias is read by others")
        position, held = bias
        if sizes(held) != (weight.shape[0],) or sizes(next_bias[1]) != (weight.shape[1],):
            raise Unfit("its biases are not one row")
        if self.known.coarse:
            raise Unfit("its matrix will be stored in fewer bits than the bias is summed with")
        self.demand_free([inner.outputs[0], *node.outputs, *product.outputs])
        row = np.asarray(array_of(held), np.float64)
        moved = np.asarray(array_of(next_bias[1]), np.float64) + row @ weight.astype(np.float64)
        graph = node.graph
        assert isinstance(graph, ir.Graph)
        least = parts.constant(node, f"{held.name}_negative", (-row).astype(np.float32))
        most = ir.node("Max", [inner.inputs[1 - position], least])
        typed(most.outputs[0], node.outputs[0])
        parts.replace(node, [most], [most.outputs[0]])
        outer.replace_input_with(
            next_bias[0], parts.constant(outer, f"{next_bias[1].name}_moved", moved.astype(np.float32))
        )
        return True


def _bias(node: ir.Node) -> tuple[int, ir.Value] | None:
    """Position and value of the one constant fp32 operand of an addition."""
    found = [(position, value) for position, value in constants_of(node) if value.dtype == ir.DataType.FLOAT]
    return found[0] if len(found) == 1 else None
