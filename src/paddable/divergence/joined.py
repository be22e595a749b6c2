"""A product with several weights joined in one matrix, such as query, key and value, taken apart where the other graph
has them apart: only then are their numbers, and what reads them, compared part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from onnx_ir.passes import common

from paddable.divergence.cut import Cutter
from paddable.divergence.fork import region
from paddable.divergence.plain import Plain, is_linear
from paddable.gates.engine import Array, Engine, EngineError

__all__ = ["same_names", "taken_apart"]

_BEHIND = frozenset({"Add", "Div", "Mul", "Sub"})
"""What may stand between a product and the cut: a bias, a scale."""


@dataclass(frozen=True)
class _Part:
    """The channels ``start`` to ``stop - 1`` of what a product makes, and the value that holds them."""

    start: int
    stop: int
    value: ir.Value


_Cut = tuple[list[ir.Node], list[ir.Node]]
"""A product, with what adds to its channels or scales them, and the nodes that cut the result."""

_Joined = tuple[list[ir.Node], list[_Part]]
"""The same, and the parts that the result is cut into."""


def taken_apart(one: Plain, other: Plain) -> tuple[Plain, Plain]:
    """Both graphs, each with those products taken apart that the other has apart; the same where there are none.

    A part keeps the name of its value; its nodes have that of the product, and the channels behind it.

    Args:
        one: the first graph.
        other: the second.
    """
    held = [list(_cut_products(plain)) for plain in (one, other)]
    shapes = [{_shape(chain[0]) for chain, _ in found} for found in held]
    alone = [[each for each in held[k] if _shape(each[0][0]) not in shapes[1 - k]] for k in range(2)]
    told = [_in_parts_there(*both) for both in zip((one, other), alone, (other, one), strict=True)]
    made = [_apart(plain, found) if found else plain for plain, found in zip((one, other), told, strict=True)]
    return made[0], made[1]


def _in_parts_there(plain: Plain, products: Sequence[_Cut], there: Plain) -> list[_Joined]:
    """Those that the other graph has as a product for each part."""
    if not products:
        return []
    shapes = {_shape(node) for node in there.nodes if is_linear(node)}
    ranks = _ranks(plain)
    found = []
    for chain, cuts in products:
        (rows, channels), whole = _shape(chain[0]), chain[-1].outputs[0]
        each = [list(_parts(plain, cut, whole, channels, ranks.get(str(whole.name)))) for cut in cuts]
        parts = [part for group in each for part in group]
        if all(each) and len(parts) > 1 and all((rows, part.stop - part.start) in shapes for part in parts):
            found.append((chain, parts))
    return found


def same_names(plain: Plain, whole: Plain) -> Iterator[tuple[ir.Value, ir.Value]]:
    """Values of a graph in parts, each with the value of its name in the graph as it was.

    Args:
        plain: in parts.
        whole: as it was.
    """
    named = {str(value.name): value for node in whole.nodes for value in node.outputs if value.name}
    named |= {str(value.name): value for value in whole.model.graph.inputs}
    made = [value for node in plain.nodes for value in node.outputs]
    for value in (*plain.model.graph.inputs, *made):
        if str(value.name) in named:
            yield value, named[str(value.name)]


def _shape(node: ir.Node) -> tuple[int, int]:
    """Of a product's matrix: channels that it reads, and that it makes."""
    rows, columns = _numbers(node.inputs[1]).shape
    return (columns, rows) if _is_turned(node) else (rows, columns)


def _cut_products(plain: Plain) -> Iterator[_Cut]:
    for node in plain.nodes:
        if not is_linear(node):
            continue
        channels, chain = _shape(node)[1], [node]
        while (reader := _scale(plain, chain[-1], channels)) is not None:
            chain.append(reader)
        whole = chain[-1].outputs[0]
        readers = dict.fromkeys(use.node for use in whole.uses())
        cuts = [reader for reader in readers if reader.op_type != "Shape"]
        if not whole.is_graph_output() and cuts and all(map(_may_cut, cuts)):
            yield chain, cuts


def _may_cut(node: ir.Node) -> bool:
    return node.op_type in ("Slice", "Split") and not node.domain


def _ranks(plain: Plain) -> dict[str, int]:
    """Axes of each value: not every exporter notes them, and the analysis keeps none."""
    copy = plain.model.clone()
    common.ShapeInferencePass(check_type=False, strict_mode=False, data_prop=True)(copy)
    made = (value for node in copy.graph for value in node.outputs)
    return {str(value.name): len(value.shape) for value in made if value.shape is not None}


def _scale(plain: Plain, node: ir.Node, channels: int) -> ir.Node | None:
    """What alone reads a node and adds a constant to each channel, or scales it."""
    uses = list(node.outputs[0].uses())
    if len(uses) != 1 or node.outputs[0].is_graph_output():
        return None
    reader = uses[0].node
    held = [value for value in reader.inputs if value is not None and value.const_value is not None]
    if reader not in plain.place or reader.op_type not in _BEHIND or reader.domain or len(held) != 1:
        return None
    array = _numbers(held[0])
    return reader if array.size == 1 or (array.size == channels == array.shape[-1]) else None


def _parts(plain: Plain, node: ir.Node, whole: ir.Value, channels: int, rank: int | None) -> Iterator[_Part]:
    """The parts that a Split or a Slice along the last axis makes; none where it does anything else."""
    if node not in plain.place or node.inputs[0] is not whole:
        return
    if any(value.is_graph_output() or not value.name for value in node.outputs):
        return
    last = (-1,) if rank is None else (-1, rank - 1)
    if node.op_type == "Split":
        axis = node.attributes.get("axis")
        if (axis.as_int() if axis is not None else 0) not in last:
            return
        sizes = _computed(plain, node.inputs[1:], whole, channels, rank)
        even = -(-channels // len(node.outputs))
        if sizes is not None:
            ends = np.minimum(np.cumsum(sizes[0] if sizes else [even] * len(node.outputs)), channels).tolist()
            yield from map(_Part, [0, *ends[:-1]], ends, node.outputs)
        return
    given = _computed(plain, node.inputs[1:], whole, channels, rank)
    if given is None or len(given) not in (3, 4) or any(len(each) != 1 for each in given):
        return
    (start,), (stop,), (along,), *step = given
    if along in last and step in ([], [[1]]):
        first, end, _ = slice(start, stop).indices(channels)
        yield _Part(first, end, node.outputs[0])


def _computed(
    plain: Plain, values: Sequence[ir.Value | None], whole: ir.Value, channels: int, rank: int | None
) -> list[list[int]] | None:
    """Numbers that are constants, or made of the size of the channels alone; None where they depend on more."""
    given = [value for value in values if value is not None]
    asked = list(dict.fromkeys(value for value in given if value.const_value is None))
    regions = [region(plain, value, lambda v: v is whole) for value in asked]
    if any(rank is None or set(read) - {whole} for _, read in regions):
        return None
    found = [{value: _numbers(value) for value in given if value.const_value is not None} for _ in range(2)]
    nodes = sorted({node for made, _ in regions for node in made}, key=plain.place.__getitem__)
    for held, steps in zip(found, (1, 2) if asked else (), strict=False):
        feeds = {str(whole.name): np.zeros([steps] * ((rank or 1) - 1) + [channels], np.float32)}
        try:
            answers = Engine(Cutter(plain.model).cut(nodes, feeds, asked), optimise=False).run(feeds)
        except EngineError:
            return None
        held |= {value: answers[str(value.name)] for value in asked}
    if any(not np.array_equal(found[0][value], found[1][value]) for value in asked):
        return None
    return [[int(number) for number in found[0][value].ravel()] for value in given]


def _apart(plain: Plain, products: Sequence[_Joined]) -> Plain:
    """A copy that shares the weights, in which these products are taken apart."""
    copy = plain.model.clone()
    nodes = dict(zip(plain.model.graph, copy.graph, strict=True))
    for chain, parts in products:
        for part in parts:
            cut = part.value.producer()
            assert cut is not None
            value = nodes[cut].outputs[cut.outputs.index(part.value)]
            made = nodes[chain[0]].inputs[0]
            assert made is not None
            for node in chain:
                new = _part(copy.graph, nodes[node], made, part)
                copy.graph.insert_before(nodes[cut], new)
                made = new.outputs[0]
            name, value.name = value.name, None
            made.name, made.type, made.shape = name, value.type, value.shape
            value.replace_all_uses_with(made)
    common.RemoveUnusedNodesPass()(copy)
    return Plain(copy)


def _part(graph: ir.Graph, node: ir.Node, read: ir.Value, part: _Part) -> ir.Node:
    """A node of the chain that computes these channels alone."""
    inputs = [
        value if value is None or value.const_value is None else _cut(graph, node, value, part) for value in node.inputs
    ]
    at = next(index for index, value in enumerate(node.inputs) if value is not None and value.const_value is None)
    inputs[at] = read
    name = f"{node.name}[{part.start}:{part.stop}]"  # ONNX Runtime takes no name twice
    new = ir.node(node.op_type, inputs, node.attributes, name=name, metadata_props=node.metadata_props)
    new.outputs[0].name = f"{node.outputs[0].name}[{part.start}:{part.stop}]"
    new.outputs[0].type = node.outputs[0].type
    return new


def _cut(graph: ir.Graph, node: ir.Node, value: ir.Value, part: _Part) -> ir.Value:
    """What some channels read of a constant."""
    array = _numbers(value)
    if array.size == 1:
        return value
    rows = array.ndim == 1 or (_is_turned(node) and value is node.inputs[1])
    name = f"{value.name}[{'' if rows else '..., '}{part.start}:{part.stop}]"
    if name in graph.initializers:
        return graph.initializers[name]
    channels = slice(part.start, part.stop)
    numbers = np.ascontiguousarray(array[channels] if rows else array[..., channels])
    tensor = ir.tensor(numbers, name=name)
    made = ir.Value(name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(numbers.shape), const_value=tensor)
    graph.register_initializer(made)
    return made


def _is_turned(node: ir.Node) -> bool:
    turned = node.attributes.get("transB") if node.op_type == "Gemm" else None
    return turned is not None and bool(turned.as_int())


def _numbers(value: ir.Value | None) -> Array:
    assert value is not None and value.const_value is not None
    return value.const_value.numpy()
