"""Attention whose only mask is the number of keys, as the one operator that takes that number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.forms.form import CONTRIB, Form, Unfit, made_by, only_reader, register_domain, sizes, typed
from paddable.forms.key_lengths import KeyMask, key_mask
from paddable.forms.movement import Labels, carried, sources
from paddable.linter.new_parts import Parts

__all__ = ["AttentionWithLengths"]

_LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class _Heads:
    """Sizes of an attention: rows, heads, queries, keys, channels of a head."""

    rows: int
    heads: int
    queries: int
    keys: int
    width: int


class AttentionWithLengths(Form):
    """Writes scale, split of heads, scores, key mask, softmax and sum as MultiHeadAttention with key lengths.

    Requires: as of ``Form``; the mask, if there is one, is ``position < length`` over keys and selects by the lowest
    number; the padding of keys and values is proven finite. Ensures and modifies: as of ``Form``.

    The operator never sees the scores of a masked key on CUDA, and reads queries, keys and values where they lie, so
    that four transposes, the mask and the scores themselves are gone.
    """

    name = "attention"
    anchor = "Softmax"

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        self._lengths: dict[ir.Value, ir.Value] = {}
        register_domain(model)
        return super().call(model)

    def write(self, node: ir.Node, parts: Parts) -> bool:
        shape = sizes(node.inputs[0])
        axis = node.attributes.get("axis")
        weights = only_reader(node.outputs[0])
        is_sum = weights is not None and weights.op_type == "MatMul" and weights.inputs[0] is node.outputs[0]
        if weights is None or not is_sum or len(shape) not in (3, 4):
            return False
        if (axis.as_int() if axis is not None else -1) % len(shape) != len(shape) - 1 or node.inputs[0] is None:
            return False
        rows, count, queries, keys = (1,) * (4 - len(shape)) + shape
        mask = key_mask(node.inputs[0], rows, keys)
        scores = mask.scores if mask is not None else node.inputs[0]
        factor, product = _product_of(scores)
        if product is None:
            return False
        heads = _Heads(rows, count, queries, keys, sizes(product.inputs[0])[-1])
        inside = (node.inputs[0], *node.outputs, scores, *product.inputs, *product.outputs)
        self.demand_free([*inside, *weights.inputs, *weights.outputs])
        query, query_scale = _whole(product.inputs[0], _split(heads, heads.queries))
        key, key_scale = _whole(product.inputs[1], _split(heads, heads.keys).transpose(0, 1, 3, 2))
        value, value_scale = _whole(weights.inputs[1], _split(heads, heads.keys))
        if value_scale != 1:
            raise Unfit("its values are scaled behind the split of heads")
        if mask is not None and not all(operand.name in self.known.finite for operand in (key, value)):
            raise Unfit("the padding of its keys is not proven finite")
        place = _joined(weights.outputs[0], heads)
        operands: list[ir.Value | None] = [query, key, value]
        new: list[ir.Node] = []
        for position, steps in enumerate((queries, keys, keys)):
            whole = (heads.rows, steps, heads.heads * heads.width)
            operand = operands[position]
            if operand is not None and sizes(operand) != whole:
                operands[position] = self._reshaped(node, operand, whole, new, parts)
        if mask is not None:
            operands += [None, self._key_lengths(node, mask, heads, parts)]
        attention = ir.node(
            "MultiHeadAttention",
            operands,
            {
                "num_heads": heads.heads,
                "scale": factor * query_scale * key_scale,
                "mask_filter_value": _LOWEST,
            },
            domain=CONTRIB,
        )
        whole = (heads.rows, heads.queries, heads.heads * heads.width)
        result = typed(attention.outputs[0], place, whole)
        new.append(attention)
        last = place.producer()
        assert last is not None
        if sizes(place) != whole:
            result = self._reshaped(node, result, sizes(place), new, parts)
        parts.replace(last, new, [result])
        return True

    def _reshaped(
        self, node: ir.Node, value: ir.Value, shape: tuple[int, ...], new: list[ir.Node], parts: Parts
    ) -> ir.Value:
        target = parts.integers(node, f"{node.name or node.op_type}_shape", shape)
        new.append(ir.node("Reshape", [value, target]))
        return typed(new[-1].outputs[0], value, shape)

    def _key_lengths(self, node: ir.Node, mask: KeyMask, heads: _Heads, parts: Parts) -> ir.Value:
        """The lengths as int32[rows], within the keys that there are, made once for all layers."""
        found = self._lengths.get(mask.lengths)
        if found is not None:
            return found
        graph, before = node.graph, mask.lengths.producer()
        assert isinstance(graph, ir.Graph)
        if sizes(mask.lengths) not in ((heads.rows,), (heads.rows, 1), (heads.rows, 1, 1), (heads.rows, 1, 1, 1)):
            raise Unfit("its mask is one length for several rows")
        new = [
            ir.node("Reshape", [mask.lengths, parts.integers(node, "key_lengths_shape", [heads.rows])]),
        ]
        new.append(ir.node("Min", [new[-1].outputs[0], parts.integers(node, "key_lengths_most", [heads.keys])]))
        new.append(ir.node("Max", [new[-1].outputs[0], parts.integers(node, "key_lengths_least", [0])]))
        new.append(ir.node("Cast", [new[-1].outputs[0]], {"to": int(ir.DataType.INT32)}))
        for number, step in enumerate(new):
            step.name = parts.fresh(f"key_lengths_{step.op_type.lower()}")
            step.outputs[0].name = parts.fresh(f"key_lengths_{number}")
            step.outputs[0].shape = ir.Shape([heads.rows])
            step.outputs[0].type = ir.TensorType(ir.DataType.INT32 if step.op_type == "Cast" else ir.DataType.INT64)
        if before is not None:
            graph.insert_after(before, new)
        else:
            graph.insert_before(graph[0], new)
        self._lengths[mask.lengths] = new[-1].outputs[0]
        return new[-1].outputs[0]


def _product_of(scores: ir.Value) -> tuple[float, ir.Node | None]:
    """The product that makes the scores, and what it is scaled by afterwards."""
    for source in sources(scores):
        node = made_by(source.value, "MatMul")
        if node is not None:
            same = sizes(source.value) == sizes(scores)
            return source.scale, node if same and np.array_equal(
                source.labels.ravel(), np.arange(source.labels.size)
            ) else None
    return 1.0, None


def _split(heads: _Heads, steps: int) -> Labels:
    """Labels of [rows, steps, heads * width] as [rows, heads, steps, width]."""
    total = heads.rows * steps * heads.heads * heads.width
    labels: Labels = np.arange(total, dtype=np.int64).reshape(heads.rows, steps, heads.heads, heads.width)
    return labels.transpose(0, 2, 1, 3)


def _whole(value: ir.Value | None, wanted: Labels) -> tuple[ir.Value, float]:
    """The value in front of the split of heads, in the order [rows, steps, channels], and its scale."""
    best = None
    for source in sources(value) if value is not None else ():
        if source.labels.size == wanted.size and np.array_equal(source.labels.ravel(), wanted.ravel()):
            best = source
    if best is None:
        raise Unfit("its heads are not split from [rows, steps, channels]")
    return best.value, best.scale


def _joined(value: ir.Value, heads: _Heads) -> ir.Value:
    """The value behind the attention in which the heads lie side by side again."""
    order = _split(heads, heads.queries).reshape(-1)
    joined = [
        later for later, labels in carried(value) if np.array_equal(order[labels.ravel()], np.arange(labels.size))
    ]
    if not joined:
        raise Unfit("its heads are not joined to [rows, steps, channels]")
    return joined[-1]
