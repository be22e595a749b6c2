"""The provider's support queries: forms of an operator that its kernel refuses, so that the node falls to the CPU.

Read in the provider's source (onnxruntime main of 2025-10-23); several were seen on 1.24.4. One function for each
query; it returns why the form is refused, or None.
"""

from __future__ import annotations

from collections.abc import Callable

from paddable.linter.view.graph import GraphView, NodeView

__all__ = ["refusal"]

Query = Callable[[NodeView, GraphView], str | None]


def refusal(query: str | None, node: NodeView, view: GraphView) -> str | None:
    """Why the support query refuses the node; None when it accepts, or when the kernel asks nothing."""
    return QUERIES[query](node, view) if query else None


def _max_pool(node: NodeView, view: GraphView) -> str | None:
    return "storage_order is not 0" if node.attribute("storage_order", 0) else None


def _batch_normalization(node: NodeView, view: GraphView) -> str | None:
    if node.attribute("training_mode", 0):
        return "training_mode is 1"
    types = {view.dtype(name) for name in node.inputs[:5]}
    return f"its inputs mix types {sorted(map(str, types))}" if len(types) > 1 else None


def _layer_normalization(node: NodeView, view: GraphView) -> str | None:
    return "it returns mean or deviation too" if len(node.outputs) > 1 else None


def _skip_layer_normalization(node: NodeView, view: GraphView) -> str | None:
    return "it returns mean or deviation too" if any(node.outputs[1:3]) else None


def _recurrent(node: NodeView, view: GraphView) -> str | None:
    return "layout is 1 (batch first)" if node.attribute("layout", 0) else None


def _slice(node: NodeView, view: GraphView) -> str | None:
    return "it has more than 5 inputs" if len(node.inputs) > 5 else None


def _pad(node: NodeView, view: GraphView) -> str | None:
    return "a pad is negative" if any(pad < 0 for pad in node.attribute("pads", ())) else None


def _scatter(node: NodeView, view: GraphView) -> str | None:
    reduction = node.attribute("reduction", "none")
    return f"reduction is {reduction!r}" if reduction != "none" else None


def _resize(node: NodeView, view: GraphView) -> str | None:
    if node.attribute("mode", "nearest") == "cubic":
        return "mode is 'cubic'"
    if node.attribute("exclude_outside", 0):
        return "exclude_outside is 1"
    return "extrapolation_value is not 0" if node.attribute("extrapolation_value", 0.0) else None


def _einsum(node: NodeView, view: GraphView) -> str | None:
    """Accepted: transpose or sum of one operand; product, matrix product, product and sum of two."""
    equation = str(node.attribute("equation", "")).replace(" ", "")
    operands = equation.split("->")[0].split(",")
    if len(operands) > 2:
        return f"equation {equation!r} has more than two operands"
    if "." in equation:
        return f"equation {equation!r} has an ellipsis"
    if any(len(set(term)) != len(term) for term in operands):
        return f"equation {equation!r} repeats a label in one operand"
    return None


def _matmul_nbits(node: NodeView, view: GraphView) -> str | None:
    bits, block = node.attribute("bits", 4), node.attribute("block_size", 0)
    if bits not in (4, 8):
        return f"bits is {bits}, neither 4 nor 8"
    return f"K is not a multiple of block_size {block}" if block and node.attribute("K", 0) % block else None


def _attention(node: NodeView, view: GraphView) -> str | None:
    if node.input(4) or node.input(6):
        return "it takes a past"
    if any(node.outputs[1:2]):
        return "it returns a present"
    return _attention_attributes(node)


def _q_attention(node: NodeView, view: GraphView) -> str | None:
    if node.attribute("unidirectional", 0) and not node.input(5):
        return "do_rotary is 1" if node.attribute("do_rotary", 0) else None
    return _attention_attributes(node)


def _attention_attributes(node: NodeView) -> str | None:
    names = ("unidirectional", "do_rotary", "past_present_share_buffer")
    return next((f"{name} is 1" for name in names if node.attribute(name, 0)), None)


def _q_linear_sigmoid(node: NodeView, view: GraphView) -> str | None:
    return "it has fewer than 5 inputs" if len(node.inputs) < 5 else None


QUERIES: dict[str, Query] = {
    "MaxPool": _max_pool,
    "BatchNormalization": _batch_normalization,
    "LayerNormalization": _layer_normalization,
    "SkipLayerNormalization": _skip_layer_normalization,
    "RecurrentNeuralNetwork": _recurrent,
    "Slice": _slice,
    "Pad": _pad,
    "Scatter": _scatter,
    "Resize": _resize,
    "EinSum": _einsum,
    "MatMulNBits": _matmul_nbits,
    "Attention": _attention,
    "QAttention": _q_attention,
    "QLinearSigmoid": _q_linear_sigmoid,
}
