"""Attention whose only mask is the number of keys, as the one operator that takes that number."""

from __future__ import annotations

import onnx_ir as ir

from paddable.forms.attention import LOWEST, Attention, AttentionForm
from paddable.forms.form import CONTRIB, Unfit, sizes, typed
from paddable.linter.new_parts import Parts

__all__ = ["AttentionWithLengths"]


class AttentionWithLengths(AttentionForm):
    """Writes attention as MultiHeadAttention with key lengths; contract as of ``AttentionForm``.

    The operator never sees the scores of a masked key on CUDA, and reads queries, keys and values where they lie, so
    that four transposes, the mask and the scores themselves are gone.
    """

    name = "attention"

    def operators(self, found: Attention, parts: Parts) -> list[ir.Node]:
        heads, new = found.heads, list[ir.Node]()
        channels = heads.heads * heads.width
        operands: list[ir.Value | None] = [
            self.reshaped(found, value, (heads.rows, steps, channels), new, parts)
            for value, steps in ((found.query, heads.queries), (found.key, heads.keys), (found.value, heads.keys))
        ]
        if found.mask is not None:
            operands += [None, self.made.get((found.mask.lengths, heads.keys)) or self._key_lengths(found, parts)]
        sized = {"num_heads": heads.heads, "scale": found.scale, "mask_filter_value": LOWEST}
        new.append(ir.node("MultiHeadAttention", operands, sized, domain=CONTRIB))
        typed(new[-1].outputs[0], found.place, (heads.rows, heads.queries, channels))
        return new

    def _key_lengths(self, found: Attention, parts: Parts) -> ir.Value:
        """The lengths as int32[rows], within the keys that there are."""
        assert found.mask is not None
        lengths, rows = found.mask.lengths, found.heads.rows
        if sizes(lengths) not in ((rows,), (rows, 1), (rows, 1, 1), (rows, 1, 1, 1)):
            raise Unfit("its mask is one length for several rows")
        given = ir.node("Reshape", [lengths, parts.integers(found.node, "key_lengths_shape", [rows])])
        most = parts.integers(found.node, "key_lengths_most", [found.heads.keys])
        least = parts.integers(found.node, "key_lengths_least", [0])
        new = [given, ir.node("Min", [given.outputs[0], most])]
        new.append(ir.node("Max", [new[-1].outputs[0], least]))
        new.append(ir.node("Cast", [new[-1].outputs[0]], {"to": int(ir.DataType.INT32)}))
        for node in new:
            typed(node.outputs[0], lengths, (rows,))
        new[-1].outputs[0].type = ir.TensorType(ir.DataType.INT32)
        return self.once(found, new, parts)
