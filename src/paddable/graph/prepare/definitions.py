"""What ONNX Runtime's fused operators stand for, and one of ONNX's: text that `expand` puts in their place.

Only where one operator hides several that leak. The fusion is lost in the file, and made again when a session loads it.
A form that is not written here (a cache of past keys, lengths instead of a mask) has no definition: it is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import onnx
import onnx.parser
import onnx_ir as ir

__all__ = ["DEFINITIONS", "Definition"]

Definition = Callable[[ir.Node, int], onnx.FunctionProto | None]
"""From a node and the version of the standard operators to the body that it stands for, None for another form."""


def _function(node: ir.Node, opset: int, lines: Sequence[str]) -> onnx.FunctionProto:
    """Inputs are called i0, i1, ..., outputs o0, o1, ..."""
    inputs = ", ".join(f"i{k}" for k in range(len(node.inputs)))
    outputs = ", ".join(f"o{k}" for k in range(len(node.outputs)))
    return onnx.parser.parse_function(
        f'<domain: "paddable", opset_import: ["": {opset}]> {node.op_type} ({inputs}) => ({outputs}) '
        "{" + "\n".join(lines) + "}"
    )


def _number(node: ir.Node, name: str, default: float) -> float:
    attribute = node.attributes.get(name)
    return default if attribute is None else float(attribute.value)


def _constant(node: ir.Node, name: str, value: float) -> str:
    """A float in the type that the node computes in, as far as its inputs tell."""
    known = (v.dtype for v in node.inputs if v is not None and v.dtype is not None and v.dtype.is_floating_point())
    dtype = next(known, ir.DataType.FLOAT)
    return f"{name}32 = Constant <value = float {{{value!r}}}> () {name} = Cast <to = {dtype.value}> ({name}32)"


def _given(node: ir.Node, index: int) -> bool:
    return index < len(node.inputs) and node.inputs[index] is not None


def _rank(node: ir.Node, index: int) -> int | None:
    shape = node.inputs[index].shape if _given(node, index) else None  # type: ignore[union-attr]
    return None if shape is None else len(shape)


def _size(node: ir.Node, index: int, axis: int) -> int | None:
    shape = node.inputs[index].shape if _given(node, index) else None  # type: ignore[union-attr]
    size = shape[axis] if shape is not None and len(shape) >= abs(axis) else None
    return size if isinstance(size, int) else None


def _counts(node: ir.Node, index: int) -> bool:
    """Whether a mask is one number a row: how many keys count."""
    mask = node.inputs[index] if _given(node, index) else None
    if mask is None:
        return False
    producer = mask.producer()
    embedded = producer is not None and producer.op_type.startswith("EmbedLayerNormalization") and mask.index() == 1
    return embedded or (_rank(node, index) == 1 and _size(node, index, 0) == 1)


def _wanted(node: ir.Node, index: int) -> bool:
    """Whether an output is read. What is not read is computed as nothing."""
    if index >= len(node.outputs):
        return False
    output = node.outputs[index]
    return bool(output.uses()) or output.is_graph_output()


def mean_variance_normalization(node: ir.Node, opset: int) -> onnx.FunctionProto | None:
    """(x - mean) / deviation, in two passes: ONNX's own body takes mean(x^2) - mean(x)^2, and loses digits.

    ONNX adds 1e-9 to the deviation, ONNX Runtime does not: where all values are equal native is NaN, and so is this.
    """
    axes = ", ".join(map(str, node.attributes["axes"].as_ints())) if "axes" in node.attributes else "0, 2, 3"
    if opset < 13:
        return None
    mean = "ReduceMean ({}, axes)" if opset >= 18 else f"ReduceMean <axes = [{axes}]> ({{}})"
    return _function(
        node,
        opset,
        [
            f"axes = Constant <value_ints = [{axes}]> ()",
            f"mean = {mean.format('i0')} centred = Sub (i0, mean) square = Mul (centred, centred)",
            f"variance = {mean.format('square')} deviation = Sqrt (variance) o0 = Div (centred, deviation)",
        ],
    )


def embed_layer_normalization(node: ir.Node, opset: int) -> onnx.FunctionProto | None:
    """word[ids] + position[0, 1, ...] + segment[segments], then LayerNormalization; output 1 counts the mask's ones."""
    if opset < 13 or (_wanted(node, 1) and not _given(node, 7)):
        return None
    lines = ["words = Gather (i2, i0)"]
    if _given(node, 8):
        lines.append("places = Gather (i3, i8)")
    else:
        lines += [
            "shape = Shape (i0) one = Constant <value_int = 1> () zero = Constant <value_int = 0> ()",
            "steps = Gather (shape, one) index = Range (zero, steps, one) places = Gather (i3, index)",
        ]
    lines.append("both = Add (words, places)")
    if _given(node, 1) and _given(node, 4):
        lines.append("segments = Gather (i4, i1) total = Add (both, segments)")
    else:
        lines.append("total = Identity (both)")
    lines.append(f"o0 = LayerNormalization <epsilon = {_number(node, 'epsilon', 1e-12)}> (total, i5, i6)")
    if _wanted(node, 1):
        lines += [
            "none = Constant <value = int32 {0}> () kept = Greater (i7, none) ones = Cast <to = 6> (kept)",
            "steps_axis = Constant <value_ints = [1]> () o1 = ReduceSum <keepdims = 0> (ones, steps_axis)",
        ]
    elif len(node.outputs) > 1:
        lines.append("o1 = Constant <value = int32 {0}> ()")
    if len(node.outputs) > 2:
        lines.append("o2 = Identity (total)")
    return _function(node, opset, lines)


def attention(node: ir.Node, opset: int) -> onnx.FunctionProto | None:
    """One product makes queries, keys and values; inputs: x, weights, bias, mask, past, bias of the scores."""
    heads, width = int(_number(node, "num_heads", 0)), _size(node, 1, 1)
    if width is None or "qkv_hidden_sizes" in node.attributes:
        sizes = node.attributes["qkv_hidden_sizes"].as_ints() if "qkv_hidden_sizes" in node.attributes else ()
    else:
        sizes = (width // 3,) * 3
    if not sizes or not heads or any(_given(node, k) for k in (4, 6)) or _number(node, "do_rotary", 0):
        return None
    lines = ["both = MatMul (i0, i1)", "made = Add (both, i2)" if _given(node, 2) else "made = Identity (both)"]
    lines.append(f"parts = Constant <value_ints = [{', '.join(map(str, sizes))}]> ()")
    lines.append("q, k, v = Split <axis = 2> (made, parts)")
    return _scores(node, opset, lines, heads, sizes[0] // heads, mask=3)


def multi_head_attention(node: ir.Node, opset: int) -> onnx.FunctionProto | None:
    """Inputs: query, key, value, one bias for the three, mask of the keys, bias of the scores."""
    heads, width = int(_number(node, "num_heads", 0)), _size(node, 0, 2)
    threefold = _size(node, 3, 0)
    if width is None and threefold is not None and _size(node, 2, 2) in (None, threefold // 3):
        width = threefold // 3
    if not heads or width is None or any(_given(node, k) for k in range(6, len(node.inputs))):
        return None
    if any(_rank(node, k) not in (3, None) or not _given(node, k) for k in (1, 2)):
        return None
    lines = []
    if _given(node, 3):
        if threefold is None:
            return None
        lines.append(f"parts = Constant <value_ints = [{width}, {width}, {threefold - 2 * width}]> ()")
        lines.append("qb, kb, vb = Split <axis = 0> (i3, parts)")
    for name, source in zip("qkv", ("i0", "i1", "i2"), strict=True):
        lines.append(f"{name} = Add ({source}, {name}b)" if _given(node, 3) else f"{name} = Identity ({source})")
    return _scores(node, opset, lines, heads, width // heads, mask=4)


def _scores(node: ir.Node, opset: int, lines: list[str], heads: int, each: int, mask: int) -> onnx.FunctionProto | None:
    """Scaled dot products of q, k, v: [batch, steps, width].

    Input ``mask`` is above 0 where a key counts: [batch, keys] or [batch, queries, keys]; or it is how many count:
    [batch]. Input 5 is added to the scores.
    """
    if opset < 13 or _number(node, "unidirectional", 0) or any(_wanted(node, k) for k in range(1, len(node.outputs))):
        return None
    rank = 1 if _counts(node, mask) else _rank(node, mask)
    if _given(node, mask) and rank not in (2, 3) and not _counts(node, mask):
        return None
    scale = _number(node, "scale", 0.0) or 1 / math.sqrt(each)
    for name, order, size in (("q", "0, 2, 1, 3", each), ("k", "0, 2, 3, 1", each), ("v", "0, 2, 1, 3", -1)):
        lines.append(f"{name}h = Constant <value_ints = [0, 0, {heads}, {size}]> ()")
        lines.append(f"{name}s = Reshape ({name}, {name}h) {name}t = Transpose <perm = [{order}]> ({name}s)")
    lines += [
        _constant(node, "factor", scale),
        "raw = MatMul (qt, kt) scores = Mul (raw, factor)",
    ]
    latest = "scores"
    if _given(node, mask):
        axes = {1: "1, 2, 3", 2: "1, 2", 3: "1"}[rank or 1]
        lines.append(f"axes = Constant <value_ints = [{axes}]> () wide = Unsqueeze (i{mask}, axes)")
        if rank == 1:
            lines += [
                "kd = Shape (k) one = Constant <value_int = 1> () zero = Constant <value_int = 0> ()",
                "keys = Gather (kd, one) index = Range (zero, keys, one) place = Cast <to = 6> (index)",
                "keep = Less (place, wide)",
            ]
        else:
            lines.append("none = Constant <value = int32 {0}> () keep = Greater (wide, none)")
        lines += [
            _constant(node, "nothing", 0.0),
            _constant(node, "low", _number(node, "mask_filter_value", -10000.0)),
            f"added = Where (keep, nothing, low) masked = Add ({latest}, added)",
        ]
        latest = "masked"
    if _given(node, 5):
        lines.append(f"biased = Add ({latest}, i5)")
        latest = "biased"
    lines += [
        f"weights = Softmax <axis = -1> ({latest}) mixed = MatMul (weights, vt)",
        "back = Transpose <perm = [0, 2, 1, 3]> (mixed) whole = Constant <value_ints = [0, 0, -1]> ()",
        "o0 = Reshape (back, whole)",
    ]
    lines += [f"o{k} = Constant <value = float {{0.0}}> ()" for k in range(1, len(node.outputs))]
    return _function(node, opset, lines)


DEFINITIONS: dict[tuple[str, str], Definition] = {
    ("", "MeanVarianceNormalization"): mean_variance_normalization,
    ("com.microsoft", "Attention"): attention,
    ("com.microsoft", "EmbedLayerNormalization"): embed_layer_normalization,
    ("com.microsoft", "MultiHeadAttention"): multi_head_attention,
}
