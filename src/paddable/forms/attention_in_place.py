"""Attention in fp32 as two products that read the heads where they lie, and a softmax under a row of biases."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from paddable.forms.attention import LOWEST, Attention, AttentionForm
from paddable.forms.form import CONTRIB, Unfit, typed
from paddable.linter.new_parts import Parts

__all__ = ["AttentionInPlace"]


class AttentionInPlace(AttentionForm):
    """Writes attention of one row as FusedMatMul, Add, Softmax, FusedMatMul; contract as of ``AttentionForm``.

    FusedMatMul takes the heads, the second axis of [steps, heads, width], as the batch of a product, so that nothing is
    transposed but the answer. The mask is added, 0 or the lowest number for each key, which ONNX Runtime makes one
    operator with the softmax on CUDA. MultiHeadAttention has no kernel of its own in fp32 there: it transposes, writes
    the scores, and masks them in a softmax that takes twice as long.
    """

    name = "attention-in-place"

    def operators(self, found: Attention, parts: Parts) -> list[ir.Node]:
        heads, new = found.heads, list[ir.Node]()
        if heads.rows > 1:
            raise Unfit("it has several rows, and the product takes the heads as its rows")
        query, key, value = (
            self.reshaped(found, operand, (steps, heads.heads, heads.width), new, parts)
            for operand, steps in ((found.query, heads.queries), (found.key, heads.keys), (found.value, heads.keys))
        )
        shape = (heads.heads, heads.queries, heads.keys)

        def then(node: ir.Node, shape: tuple[int, ...]) -> ir.Value:
            new.append(node)
            return typed(node.outputs[0], found.place, shape)

        apart = {"transBatchA": 1, "transBatchB": 1, "transB": 1, "alpha": found.scale}
        scores = then(ir.node("FusedMatMul", [query, key], apart, domain=CONTRIB), shape)
        if found.mask is not None:
            bias = self.made.get((found.mask.lengths, heads.keys)) or self._bias(found, parts)
            scores = then(ir.node("Add", [scores, bias]), shape)
        weights = then(ir.node("Softmax", [scores], {"axis": -1}), shape)
        mixed = ir.node("FusedMatMul", [weights, value], {"transBatchB": 1}, domain=CONTRIB)
        inner = then(mixed, (heads.heads, heads.queries, heads.width))
        joined = (heads.queries, heads.heads, heads.width)
        then(ir.node("Transpose", [inner], {"perm": [1, 0, 2]}), joined)
        return new

    def _bias(self, found: Attention, parts: Parts) -> ir.Value:
        """[1, 1, keys]: 0 for a key that is valid, the lowest number for the others."""
        assert found.mask is not None
        node, lengths, shape = found.node, found.mask.lengths, (1, 1, found.heads.keys)
        length = ir.node("Reshape", [lengths, parts.integers(node, "key_lengths_shape", [1])])
        typed(length.outputs[0], lengths, (1,))
        keys = np.arange(found.heads.keys, dtype=np.int64).reshape(shape)
        valid = ir.node("Less", [parts.constant(node, "key_places", keys), length.outputs[0]])
        typed(valid.outputs[0], found.place, shape).type = ir.TensorType(ir.DataType.BOOL)
        fills = [parts.constant(node, name, np.array([x], np.float32)) for name, x in (("read", 0), ("masked", LOWEST))]
        bias = ir.node("Where", [valid.outputs[0], *fills])
        typed(bias.outputs[0], found.place, shape)
        return self.once(found, [length, valid, bias], parts)
