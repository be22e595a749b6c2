"""Attention as exporters write it: where its queries, keys, values and key lengths come from."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.forms.form import Form, Unfit, made_by, only_reader, register_domain, sizes, typed
from paddable.forms.key_lengths import KeyMask, key_mask
from paddable.forms.movement import Labels, carried, sources
from paddable.linter.new_parts import Parts

__all__ = ["LOWEST", "Attention", "AttentionForm", "Heads"]

LOWEST = float(np.finfo(np.float32).min)
"""What is added to the score of a key that is masked."""


@dataclass(frozen=True)
class Heads:
    """Sizes of an attention: rows, heads, queries, keys, channels of a head."""

    rows: int
    heads: int
    queries: int
    keys: int
    width: int


@dataclass(frozen=True)
class Attention:
    """An attention that was found.

    Attributes:
        node: its softmax.
        heads: its sizes.
        query, key, value: in front of the split of heads, [rows, steps, channels] in that order, of any shape.
        scale: of the product of query and key.
        mask: over the keys; None where all are read.
        place: where the heads lie side by side again.
    """

    node: ir.Node
    heads: Heads
    query: ir.Value
    key: ir.Value
    value: ir.Value
    scale: float
    mask: KeyMask | None
    place: ir.Value


class AttentionForm(Form):
    """Base of forms that write scale, split of heads, scores, key mask, softmax and sum in another way.

    Requires: as of ``Form``; the mask, if there is one, is ``position < length`` over keys and selects by the lowest
    number; the padding of keys and values is proven finite. Ensures and modifies: as of ``Form``.
    """

    anchor = "Softmax"

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        self.made: dict[tuple[ir.Value, int], ir.Value] = {}
        register_domain(model)
        return super().call(model)

    @abstractmethod
    def operators(self, found: Attention, parts: Parts) -> list[ir.Node]:
        """The nodes that stand for an attention; the last one's first output has the order [rows, queries, channels].

        Raises:
            Unfit: the form does not fit it.
        """

    def write(self, node: ir.Node, parts: Parts) -> bool:
        found = self._found(node)
        if found is None:
            return False
        new = self.operators(found, parts)
        result = self.reshaped(found, new[-1].outputs[0], sizes(found.place), new, parts)
        last = found.place.producer()
        assert last is not None
        parts.replace(last, new, [result])
        return True

    def _found(self, node: ir.Node) -> Attention | None:
        shape = sizes(node.inputs[0])
        axis = node.attributes.get("axis")
        weights = only_reader(node.outputs[0])
        is_sum = weights is not None and weights.op_type == "MatMul" and weights.inputs[0] is node.outputs[0]
        if weights is None or not is_sum or len(shape) not in (3, 4):
            return None
        if (axis.as_int() if axis is not None else -1) % len(shape) != len(shape) - 1 or node.inputs[0] is None:
            return None
        rows, count, queries, keys = (1,) * (4 - len(shape)) + shape
        mask = key_mask(node.inputs[0], rows, keys)
        scores = mask.scores if mask is not None else node.inputs[0]
        factor, product = _product_of(scores)
        if product is None:
            return None
        heads = Heads(rows, count, queries, keys, sizes(product.inputs[0])[-1])
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
        return Attention(node, heads, query, key, value, factor * query_scale * key_scale, mask, place)

    def reshaped(
        self, found: Attention, value: ir.Value, shape: tuple[int, ...], new: list[ir.Node], parts: Parts
    ) -> ir.Value:
        """A value in another shape, by a node that is put behind ``new``; the value itself where it has that shape."""
        if sizes(value) == shape:
            return value
        node = found.node
        target = parts.integers(node, f"{node.name or node.op_type}_shape", shape)
        new.append(ir.node("Reshape", [value, target]))
        return typed(new[-1].outputs[0], value, shape)

    def once(self, found: Attention, new: list[ir.Node], parts: Parts) -> ir.Value:
        """What the last of some nodes makes of the key lengths, put right behind them for all layers to read.

        Kept in ``made`` by the lengths and the size of the keys. Every node's output has its shape and type.
        """
        assert found.mask is not None and isinstance(found.node.graph, ir.Graph)
        graph, before = found.node.graph, found.mask.lengths.producer()
        for node in new:
            node.name = parts.fresh(f"key_lengths_{node.op_type.lower()}")
            node.outputs[0].name = parts.fresh(f"{node.name}_output")
        if before is not None:
            graph.insert_after(before, new)
        else:
            graph.insert_before(graph[0], new)
        self.made[found.mask.lengths, found.heads.keys] = new[-1].outputs[0]
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


def _split(heads: Heads, steps: int) -> Labels:
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


def _joined(value: ir.Value, heads: Heads) -> ir.Value:
    """The value behind the attention in which the heads lie side by side again."""
    order = _split(heads, heads.queries).reshape(-1)
    joined = [
        later for later, labels in carried(value) if np.array_equal(order[labels.ravel()], np.arange(labels.size))
    ]
    if not joined:
        raise Unfit("its heads are not joined to [rows, steps, channels]")
    return joined[-1]
