"""Attributes of paired nodes that differ, where no number of a weight does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx_ir as ir

from paddable.divergence.cause import Cause
from paddable.divergence.defaults import EMPTY, default
from paddable.divergence.norms import epsilons
from paddable.divergence.pads import pads_of
from paddable.divergence.parting import Parting
from paddable.graph.trace import module_path

__all__ = ["attributes_apart", "factors_apart", "setting_of"]

_PADS = "compare the padding of this convolution in both models: causal, or as much on both sides"
_EPSILON = "compare the epsilon of this norm in the two models' configurations"
_FIXES = {"pads": _PADS, "auto_pad": _PADS, "epsilon": _EPSILON}


def setting_of(node: ir.Node, size: int) -> str | None:
    """What to look at where a constant is a setting and no weight: pads, or a norm's epsilon; None elsewhere.

    Args:
        node: it.
        size: of the constant.
    """
    if node.op_type == "Pad":
        return _PADS
    after = {use.node.op_type for value in node.outputs for use in value.uses()}
    roots = node.op_type in ("Add", "Max", "Clip") and size == 1 and after and after <= {"Pow", "Rsqrt", "Sqrt"}
    return _EPSILON if roots else None


def attributes_apart(pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    """Attributes that paired nodes have otherwise; one that is left out counts as its default.

    Args:
        pairs: nodes of both.
    """
    types = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS, ir.AttributeType.TENSOR, ir.AttributeType.TENSORS)
    for node, partner in pairs:
        for name in sorted({*node.attributes, *partner.attributes} - {EMPTY}):
            mine, theirs = node.attributes.get(name), partner.attributes.get(name)
            if any(side is not None and side.type in types for side in (mine, theirs)):
                continue
            left, right = (_given(each, name) for each in (node, partner))
            place = node.op_type
            if name == "pads" and (both := _with_front(node, partner)) is not None:
                left, right, place = *both, f"{place}, with the Pad in front of it,"
            length = len(left) if isinstance(left, tuple) else 0
            if length != (len(right) if isinstance(right, tuple) else 0):
                continue  # of another rank: two ways to lay out one value
            if left != right and None not in (left, right):
                yield Cause(
                    "attributes",
                    f"{place} has {name}={_rounded(left)} in the first graph and {name}={_rounded(right)} in the "
                    "second",
                    _FIXES.get(name, "compare the two exports of this operator"),
                )


def _with_front(node: ir.Node, partner: ir.Node) -> tuple[object, object] | None:
    """The pads of two convolutions where a Pad in front of one of them has some; None where none does."""
    mine, theirs = (pads_of(each) if each.op_type == "Conv" else None for each in (node, partner))
    return (mine[0], theirs[0]) if mine and theirs and (mine[1] or theirs[1]) else None


def _given(node: ir.Node, name: str) -> object:
    """An attribute's value; where it is left out, what that means."""
    return node.attributes[name].value if name in node.attributes else default(node, name)


def _rounded(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def factors_apart(parting: Parting, pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    """Numbers that a product, or a batch norm in its weights, is made with: its own factors, and an epsilon.

    Args:
        parting: both runs.
        pairs: nodes of both.
    """
    fix = "compare the two exports of this operator"
    for node, _ in pairs:
        both = parting.layers.get(node)
        if both is None:
            continue
        for name, x, y in zip(("alpha", "beta"), both.one.factors, both.other.factors, strict=True):
            if both.bare and x != y:
                kinds = both.one.node.op_type, both.other.node.op_type
                told = [f"{kind} has {name}={n:g}" for kind, n in zip(kinds, (x, y), strict=True)]
                told = [text if kind == "Gemm" else f"{kind} has none" for kind, text in zip(kinds, told, strict=True)]
                yield Cause("attributes", f"{told[0]} in the first graph and {told[1]} in the second", fix)
        found = epsilons(both)
        if found is not None and both.norm is not None:
            folded = "second" if both.norm in both.one.behind else "first"
            yield Cause(
                "attributes",
                f"{_told(both.norm)} has epsilon={found[0]:g} in the first graph and {found[1]:g} in the second, "
                f"where the {folded} has it in the weights of {both.one.node.op_type}",
                _EPSILON,
            )


def _told(node: ir.Node) -> str:
    module = module_path(node)
    return f"{node.op_type} {node.name}".rstrip() + (f" ({module})" if module else "")
