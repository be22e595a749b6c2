"""Scales and shifts that stand in front of an activation in one graph and behind it in the other: folded into the
weights in front of it, they look like other weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from paddable.divergence.layers import LINEAR, Layer, but_for_rounding, layer_with, scales_behind
from paddable.divergence.matching import Matching
from paddable.divergence.plain import Plain
from paddable.padding.deduce.pointwise import POINTWISE

__all__ = ["Displaced", "displaced"]


@dataclass(frozen=True)
class Displaced:
    """Two linear nodes whose weights are equal once the scales behind one graph's activation are folded in.

    Attributes:
        nodes: of the first graph, what computes it: the linear node, what is behind it and the activation.
        scales: what stands behind the activation.
        activation: it.
        first: the first graph has them behind it, and not the second.
    """

    nodes: frozenset[ir.Node]
    scales: tuple[ir.Node, ...]
    activation: ir.Node
    first: bool


def displaced(matching: Matching, *, half: bool) -> dict[ir.Node, Displaced]:
    """By linear node of the first graph.

    Args:
        matching: pairs of nodes.
        half: one of the graphs is in half precision.
    """
    one, other = matching.one, matching.other
    found: dict[ir.Node, Displaced] = {}
    for node, partner in matching.pairs.items():
        if node.op_type not in LINEAR or partner.op_type not in LINEAR or node.domain or partner.domain:
            continue
        near = [scales_behind(plain, each) for plain, each in ((one, node), (other, partner))]
        if _one_layer(matching, node, near):
            continue
        layers = [layer_with(each, behind) for each, behind in zip((node, partner), near, strict=True)]
        if layers[0] is None or layers[1] is None or _equal(layers[0], layers[1], half):
            continue
        ends = [(behind or [each])[-1] for each, behind in zip((node, partner), near, strict=True)]
        sides = ((True, one, node, near[0], ends, layers[1]), (False, other, partner, near[1], ends[::-1], layers[0]))
        for first, plain, each, behind, (end, there), whole in sides:
            for activation, far in _across(plain, end):
                if activation.op_type not in {use.node.op_type for use in there.outputs[0].uses()}:
                    continue  # it is missing there, and that is what differs
                moved = layer_with(each, [*behind, *far])
                if node not in found and moved is not None and _equal(moved, whole, half):
                    nodes = {node, *near[0], *((activation, *far) if first else ())}
                    found[node] = Displaced(frozenset(nodes), tuple(far), activation, first)
    return found


def _one_layer(matching: Matching, node: ir.Node, near: Sequence[Sequence[ir.Node]]) -> bool:
    """Whether two linear nodes hold the same numbers, and so does what is behind them, as most do."""
    pairs = [(node, matching.pairs[node]), *zip(*near, strict=False)]
    if len(near[0]) != len(near[1]) or any(a.op_type != b.op_type for a, b in pairs):
        return False
    mine, theirs = (
        [value for pair in pairs for value in plain.weights(pair[k])]
        for k, plain in enumerate((matching.one, matching.other))
    )
    return list(map(matching.one.fingerprint, mine)) == list(map(matching.other.fingerprint, theirs))


def _across(plain: Plain, last: ir.Node) -> Iterator[tuple[ir.Node, list[ir.Node]]]:
    """The activation that alone reads a node, and the scales and shifts behind it."""
    uses = list(last.outputs[0].uses())
    if len(uses) != 1 or last.outputs[0].is_graph_output():
        return
    node = uses[0].node
    computed = [value for value in node.inputs if value is not None and value.const_value is None]
    if node in plain.place and node.op_type in POINTWISE and not node.domain and len(computed) == 1:
        far = scales_behind(plain, node)
        if far:
            yield node, far


def _equal(mine: Layer, theirs: Layer, half: bool) -> bool:
    both = ((mine.weight, theirs.weight), (mine.shift, theirs.shift))
    return all(x.shape == y.shape and (x == but_for_rounding(x, y, half=half)).all() for x, y in both)
