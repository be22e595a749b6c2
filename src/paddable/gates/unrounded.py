"""A graph in 8 bits without its rounding: the same products of numbers that are not rounded; at fixed ranges, cut off.

A number near the middle between two codes goes to either with its last place, so two right forms differ by a code here
and there, and how much one code moves an answer hangs on which it is. Where nothing is rounded they compute the same
sums, and 1e-5 of scale tells them apart as it does in fp32. What is rounded, and to which codes, is the same where all
scales and zeros are; where a product takes its range on every run, that is an answer of the graph besides.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from paddable.gates.engine import Source
from paddable.gates.lift import read_source
from paddable.graph.initialisers import add_initialiser
from paddable.graph.io.write import to_proto
from paddable.graph.names import Names
from paddable.precision.codes import rounds_inside

__all__ = ["RANGE", "ranges_of", "rounds", "unrounded"]

RANGE = "paddable/range/"
"""In front of the number of a product, in the order of the graph: its range, float32 [2], from the smallest number to
the largest, 0 among them."""

Code = tuple[float, int, str]
"""Scale, zero and type of what a value is rounded to."""

_TAKES_RANGE = ("DynamicQuantizeLinear", "DynamicQuantizeMatMul")
_OF_INTEGERS = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}

_IN_FLOATS = 1
"""An ``accuracy_level`` of MatMulNBits: it computes in fp32."""

_MOST = 2_000_000_000
"""Bytes of the weights: protobuf ends at 2 GB."""


def ranges_of(source: Source) -> set[Code]:
    """What the values of a file or serialised model are rounded to."""
    return {code for node in read_source(source).graph if (code := _code(node)) is not None}


def rounds(source: Source) -> bool:
    """Whether a file or serialised model has a rounding that ``unrounded`` takes away."""
    return any(
        _code(node) is not None or node.op_type in _TAKES_RANGE or rounds_inside(node)
        for node in read_source(source).graph
    )


def unrounded(source: Source) -> bytes:
    """A model, serialised, in which each pair that rounds a value to a fixed range only cuts it off at the ends, each
    product in 8 bits is one in fp32, whose range is an output, one with weights in few bits rounds none that goes in,
    and weights are restored to fp32: beside codes, ONNX Runtime fuses a product to one that rounds what goes in.

    Raises:
        ValueError: it is too large for one message.
    """
    model = read_source(source)
    graph, names = model.graph, Names(model.graph)
    held = [value.const_value for value in graph.initializers.values()]
    ranged = [node for node in graph if node.op_type in _TAKES_RANGE]
    products = [node for node in ranged if node.op_type == "DynamicQuantizeMatMul"]
    products += [user for node in ranged for user in _of_integers(node)]
    stored = [node for node in graph if _is_stored(node)]
    restored = [node.inputs[1].const_value for node in products if node.inputs[1] is not None]
    restored += [node.inputs[0].const_value for node in stored if node.inputs[0] is not None]
    if sum(tensor.nbytes for tensor in held + 4 * restored if tensor is not None) > _MOST:
        raise ValueError("it is too large for one message")
    for node in list(graph):
        code = _code(node)
        readers = [user for user, _ in node.outputs[0].uses()] if code is not None else []
        if code is None or not readers or any(user.op_type != "DequantizeLinear" for user in readers):
            continue
        scale, zero, kind = code
        ends = np.iinfo(kind)
        bounds = [np.float32(scale) * np.float32(end - zero) for end in (ends.min, ends.max)]
        limits = [add_initialiser(graph, names, "paddable/cut", np.float32(bound)) for bound in bounds]
        for reader in readers:
            cut = ir.node("Clip", [node.inputs[0], *limits], name=names.fresh("cut"))
            value, old = cut.outputs[0], reader.outputs[0]
            value.name, value.type, value.shape = names.fresh("cut"), old.type, old.shape
            ir.convenience.replace_nodes_and_values(graph, reader, [reader], [cut], [old], [value])
        graph.remove(node, safe=True)
    for node in stored:
        axis = node.attributes["axis"].as_int() if "axis" in node.attributes else 1
        codes, factor, point = _held(node, 0)
        assert codes is not None and factor is not None
        weight = add_initialiser(graph, names, "paddable/restored", _restored(codes, factor, point, axis))
        ir.convenience.replace_all_uses_with(node.outputs[0], weight)
    for node in filter(rounds_inside, graph):
        node.attributes["accuracy_level"] = ir.AttrInt64("accuracy_level", _IN_FLOATS)
    for number, node in enumerate(ranged):
        change = _in_floats if node in products else _not_rounded
        change(graph, names, node, f"{RANGE}{number}")
    return bytes(to_proto(model).SerializeToString())


def _is_stored(node: ir.Node) -> bool:
    """Whether a node restores a weight from codes, with one scale or one for each place along an axis."""
    held = [value is not None and value.const_value is not None for value in node.inputs]
    blocks = "block_size" in node.attributes
    return node.op_type == "DequantizeLinear" and all(held) and not blocks and not node.outputs[0].is_graph_output()


def _held(node: ir.Node, first: int) -> list[ir.TensorProtocol | None]:
    """Codes, scale and zero point of a weight, constants each, from one input on."""
    values = (*node.inputs, None, None)[first : first + 3]
    return [None if value is None else value.const_value for value in values]


def _restored(
    codes: ir.TensorProtocol, scale: ir.TensorProtocol, zero: ir.TensorProtocol | None, axis: int
) -> npt.NDArray[np.float32]:
    """The numbers of a weight in codes, with one scale or one for each place along an axis."""
    shape = [1] * len(codes.shape)
    if scale.size != 1:
        shape[axis] = -1
    whole = codes.numpy().astype(np.float32)
    if zero is not None:
        whole -= zero.numpy().astype(np.float32).reshape(shape)
    return np.asarray(whole * scale.numpy().astype(np.float32).reshape(shape), np.float32)


def _in_floats(graph: ir.Graph, names: Names, node: ir.Node, range_name: str) -> None:
    """Replace a product in 8 bits with constant codes by one in fp32 that tells its range."""
    value, (codes, scale, zero) = node.inputs[0], _held(node, 1)
    if value is None or codes is None or scale is None:
        return
    weight = add_initialiser(graph, names, "paddable/restored", _restored(codes, scale, zero, -1))
    product = ir.node("MatMul", [value, weight])
    bias = node.inputs[4] if len(node.inputs) > 4 else None
    answers = [product, *([] if bias is None else [ir.node("Add", [product.outputs[0], bias])])]
    for one in answers:
        one.outputs[0].name = names.fresh("paddable/unrounded")
    _tell_range(graph, names, value, node, range_name)
    ir.convenience.replace_nodes_and_values(graph, node, [node], answers, node.outputs, answers[-1].outputs)


def _of_integers(node: ir.Node) -> list[ir.Node]:
    """The products in integers of what a DynamicQuantizeLinear rounds; none where something else reads it."""
    if node.op_type != "DynamicQuantizeLinear" or node.outputs[0].is_graph_output():
        return []
    users = [user for user, at in node.outputs[0].uses() if at == 0 and user.op_type in _OF_INTEGERS]
    casts = all(reader.op_type == "Cast" for user in users for reader, _ in user.outputs[0].uses())
    held = all(_held(user, 1)[0] is not None for user in users)
    return users if casts and held and len(users) == len(node.outputs[0].uses()) else []


def _not_rounded(graph: ir.Graph, names: Names, node: ir.Node, range_name: str) -> None:
    """Replace products in integers by ones of the same numbers, over the same scale, that are not rounded."""
    users, value = _of_integers(node), node.inputs[0]
    if not users or value is None:
        return
    shown = ir.node("Div", [value, node.outputs[1]])
    shown.outputs[0].name = names.fresh("paddable/unrounded")
    _tell_range(graph, names, value, node, range_name)
    graph.insert_after(node, shown)
    for user in users:
        codes = _held(user, 1)[0]
        zero = user.inputs[3].const_value if len(user.inputs) > 3 and user.inputs[3] is not None else None
        assert codes is not None
        whole = codes.numpy().astype(np.float32)
        if zero is not None:
            by_row = user.op_type == "ConvInteger" and zero.size > 1
            shape = (-1, *[1] * (whole.ndim - 1)) if by_row else zero.numpy().shape
            whole -= zero.numpy().astype(np.float32).reshape(shape)
        weight = add_initialiser(graph, names, "paddable/restored", whole)
        made = ir.node(_OF_INTEGERS[user.op_type], [shown.outputs[0], weight], attributes=dict(user.attributes.items()))
        made.outputs[0].name = names.fresh("paddable/unrounded")
        ir.convenience.replace_nodes_and_values(graph, user, [user], [made], user.outputs, made.outputs)
        made.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)


def _tell_range(graph: ir.Graph, names: Names, value: ir.Value, node: ir.Node, range_name: str) -> None:
    """Make the range of what a node rounds an output."""
    none = add_initialiser(graph, names, "paddable/none", np.zeros(1, np.float32))
    flat = add_initialiser(graph, names, "paddable/flat", np.array([-1]))
    numbers = ir.node("Reshape", [value, flat])
    with_zero = ir.node("Concat", [numbers.outputs[0], none], attributes={"axis": 0})
    ends = [ir.node(op, with_zero.outputs, attributes={"keepdims": 1}) for op in ("ReduceMin", "ReduceMax")]
    told = ir.node("Concat", [end.outputs[0] for end in ends], attributes={"axis": 0})
    made = [numbers, with_zero, *ends, told]
    for one in made:
        one.outputs[0].name = names.fresh("paddable/unrounded")
    result = told.outputs[0]
    result.name, result.type, result.shape = range_name, ir.TensorType(ir.DataType.FLOAT), ir.Shape([2])
    graph.insert_before(node, made)
    graph.outputs.append(result)


def _code(node: ir.Node) -> Code | None:
    """Of a QuantizeLinear with one constant scale."""
    if node.op_type != "QuantizeLinear" or len(node.inputs) != 3:
        return None
    held = [None if value is None else value.const_value for value in node.inputs[1:]]
    if any(tensor is None or tensor.size != 1 for tensor in held):
        return None
    scale, zero = (tensor.numpy().reshape(-1) for tensor in held if tensor is not None)
    return float(scale[0]), int(zero[0]), str(zero.dtype)
