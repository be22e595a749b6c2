"""Which nodes stay in fp32 when the others compute in half.

Half has 11 bits, ends at 65504 and counts to 2048. What that would change by more than rounding stays:

- *sums over an axis*: norms, softmax, means, cumulative sums, recurrences (in half these also end ONNX Runtime's CPU
  provider);
- *products in 8 bits* that the model computes itself, and what becomes codes (``codes``);
- *what has no type*: what somebody's own operator makes, which nobody can cast;
- *positions*: floats made from integers, the sine or cosine of constants and what is made on the way to it and from it,
  and tables over positions, which are constants or positions with two or more long axes that are added or multiplied
  element by element (a lookup by what the model hears or reads is no position, and without a sine a product that
  sums over several numbers ends one: samples and codes are integers too);
- *what half cannot hold*: arithmetic with a constant that would become 0 or infinite, what reads what comes of it
  (``floors``), and products with a weight beyond half or wholly below its normal numbers;
- *logarithms*, and a division by what a node that stays made (``floors``);
- *steps of what counts*: rounding to integers, and the difference of two large numbers (``counts``);
- *what was measured*: values that overflow, underflow or lose integers on examples (``ranges``), and what moves them;
- *front ends*: all that lies between the input and a logarithm, where nothing learned lies between them (samples are
  scaled by 2^15 and squared, and a spectrum spans more decades than half has);
- *arithmetic beside these*: the mask and the scale in front of a softmax, the square in front of a mean, the sum of a
  rotation, the residual in front of a norm; a fill of some places with a number is seen through;
- *what stays in native*, in a graph that is made of it (``decided``).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

import numpy as np
import onnx_ir as ir

from paddable.precision.codes import between_codes
from paddable.precision.counts import steps_of_counts
from paddable.precision.decided import Decided, carried_over
from paddable.precision.floors import SMALLEST, beyond_floors, moved_divisors
from paddable.precision.moves import MOVES, is_fill, moved_with
from paddable.precision.ranges import COUNTS, LARGEST, SMALLEST_NORMAL

__all__ = ["INTEGERS", "exact_nodes", "front_end_nodes", "sums_products"]

_SUMS = {
    "BatchNormalization", "CumSum", "GRU", "GlobalAveragePool", "GroupNormalization", "InstanceNormalization", "LSTM",
    "LayerNormalization", "LogSoftmax", "LpNormalization", "MeanVarianceNormalization", "RMSNormalization", "RNN",
    "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceProd", "ReduceSum",
    "ReduceSumSquare", "SkipLayerNormalization", "Softmax", "Sqrt",
}  # fmt: skip
_RECURRENT = {"GRU", "LSTM", "RNN"}
_NORMS = {"LayerNormalization", "RMSNormalization", "SkipLayerNormalization"}
_ARITHMETIC = {"Add", "Clip", "Div", "Max", "Min", "Mul", "Neg", "Pow", "Sub", "Where"}
INTEGERS = {
    ir.DataType.INT8, ir.DataType.INT16, ir.DataType.INT32, ir.DataType.INT64,
    ir.DataType.UINT8, ir.DataType.UINT16, ir.DataType.UINT32, ir.DataType.UINT64,
}  # fmt: skip
_FLOAT = ir.DataType.FLOAT
_LEARNED = {
    "BatchNormalization", "Celu", "Elu", "Erf", "Exp", "GRU", "Gelu", "GroupNormalization", "HardSigmoid", "HardSwish",
    "InstanceNormalization", "LSTM", "LayerNormalization", "LeakyRelu", "LogSoftmax", "LpNormalization", "Mish",
    "PRelu", "RMSNormalization", "RNN", "Relu", "Selu", "Sigmoid", "Softmax", "Softplus", "Softsign", "Swish", "Tanh",
    "ThresholdedRelu",
}  # fmt: skip
"""Operators that no front end has: behind one of them the model has begun."""
_WAVES = {"Cos", "Sin"}
_PRODUCTS = {"Conv", "ConvTranspose", "Einsum", "Gemm", "MatMul"}


def exact_nodes(
    graph: ir.Graph, kept: Mapping[str, str] | None = None, *, fast: bool = False, native: Decided | None = None
) -> dict[ir.Node, str]:
    """The nodes of a graph that stay in fp32, each with its reason. Types of values must be known.

    Args:
        graph: the graph.
        kept: names of values that measured ranges keep, each with its reason; of native, and so of what is made of it.
        fast: let norms of the last axis, and so the residual in front of them, go to half: their kernels sum in fp32.
        native: what was decided of the model that the graph is made of.
    """
    sums = _SUMS - _NORMS if fast else _SUMS
    positions, codes = _positions(graph), between_codes(graph)
    given = _of_an_input(graph, positions)
    exact: dict[ir.Node, str] = {}
    beyond = moved_with(graph, kept or {})
    for value, why in beyond.items():
        producer = value.producer()
        if producer is not None:
            exact.setdefault(producer, why)
    for value, why in beyond.items():
        for reader, _ in value.uses():
            exact.setdefault(reader, f"reads what {why}")
    for node in front_end_nodes(graph):
        exact.setdefault(node, "part of a front end")
    for node in graph:
        if node in positions:
            exact.setdefault(node, "made of integers of an input" if node in given else "a position")
        elif node.op_type in sums or _is_a_mean(node, positions):
            carried = node.op_type in _RECURRENT
            exact.setdefault(node, "a state that is carried over the steps" if carried else "a sum over an axis")
        elif node in codes:
            exact.setdefault(node, codes[node])
        elif unknown := _of_no_type(node):
            exact.setdefault(node, f"the type of {unknown} is not known")
        elif _has_a_table(node, positions):
            exact.setdefault(node, "a table over positions")
        elif why := _what_half_cannot_hold(node):
            exact.setdefault(node, why)
    for node, why in beyond_floors(graph).items():
        exact.setdefault(node, why)
    for node in moved_divisors(graph, exact):
        exact.setdefault(node, "a division by what stays")
    counting = {value.producer() for value, why in beyond.items() if why.startswith(COUNTS)}
    for node in steps_of_counts(graph, counting | positions):
        exact.setdefault(node, "a step or a turn of what counts, or the difference of two counts")
    beside = [node for node in graph if node.op_type in _ARITHMETIC and not exact.keys().isdisjoint(_neighbours(node))]
    for node in beside:
        exact.setdefault(node, "arithmetic beside one that stays")
    for node, why in carried_over(graph, native or {}).items():
        exact.setdefault(node, why)
    for node in _between(graph, exact):
        exact.setdefault(node, "moves numbers between nodes that stay")
    return exact


def _sees_all_digits(node: ir.Node) -> bool:
    """Whether it makes no float: a comparison, or a conversion to integers."""
    return all(value.dtype not in (None, _FLOAT) for value in node.outputs)


def _is_a_mean(node: ir.Node, positions: Container[ir.Node]) -> bool:
    """Whether it divides a sum by how many were added up, as padding writes a mean over valid steps."""
    total, count = [*node.inputs, None, None][:2]
    summed = node.op_type == "Div" and total is not None and (made := total.producer()) and made.op_type == "ReduceSum"
    return bool(summed) and count is not None and (count.const_value is not None or count.producer() in positions)


def _of_no_type(node: ir.Node) -> str:
    """The first value of a node whose type nobody knows: no Cast can be put beside it."""
    values = [*node.inputs, *(value for value in node.outputs if value.uses() or value.is_graph_output())]
    return next((str(value.name) for value in values if value is not None and value.type is None), "")


def _between(graph: ir.Graph, exact: Container[ir.Node]) -> Iterator[ir.Node]:
    """Nodes that only move fp32 numbers to nodes that read fp32: half would round them on the way.

    An output keeps its type, so what moves answers of exact nodes there moves them to one.
    """
    from_exact: set[ir.Node] = set()
    answers: set[ir.Node] = set()  # of exact nodes, moved; no weights and inputs
    for node in graph:
        if node.op_type in MOVES and node not in exact:
            floats = [value for value in node.inputs if value is not None and value.dtype == _FLOAT]
            made = [value.producer() for value in floats if value.const_value is None]
            if all(producer is None or producer in exact or producer in from_exact for producer in made):
                from_exact.add(node)
                if any(producer is not None and (producer in exact or producer in answers) for producer in made):
                    answers.add(node)
    to_exact: set[ir.Node] = set()
    for node in reversed(graph):
        users = [user for value in node.outputs for user, _ in value.uses()]
        asked = node in answers and any(value.is_graph_output() for value in node.outputs)
        if (
            node in from_exact
            and (users or asked)
            and all(user in exact or user in to_exact or _sees_all_digits(user) for user in users)
        ):
            to_exact.add(node)
            yield node


def _positions(graph: ir.Graph) -> set[ir.Node]:
    """Nodes whose float results hang on integers, or on constants behind or before a sine, and on nothing else."""
    found: set[ir.Node] = set()
    angles = _angles(graph)
    turned: set[ir.Node] = set()  # behind a sine
    fixed: set[ir.Node] = set()  # of constants alone: angles if a sine follows, else a weight in another layout
    for node in graph:
        floats = [value for value in node.inputs if value is not None and value.dtype == ir.DataType.FLOAT]
        constant = [value for value in floats if value.const_value is not None or value.producer() in fixed]
        made = [value for value in floats if value.producer() in found]
        starts = node.op_type == "Cast" and node.inputs[0] is not None and node.inputs[0].dtype in INTEGERS
        if floats and len(constant) == len(floats) and not _is_lookup(node):
            fixed.add(node)
            starts = node.op_type in _WAVES
        if node.op_type in _WAVES or any(value.producer() in turned for value in made):
            turned.add(node)
        if starts:
            found |= {node} | (_ancestors(node) & fixed)
        elif made and all(value in made or value in constant for value in floats):
            ends = sums_products(node) or node.op_type in _RECURRENT
            found |= {node} if not ends or node in angles | turned else set()
    return found


def _of_an_input(graph: ir.Graph, positions: Container[ir.Node]) -> set[ir.Node]:
    """Of what is made of integers, that of an input's own: samples, times or scores, and no steps that are counted."""
    moved = {value for value in graph.inputs if value.dtype in INTEGERS}
    found: set[ir.Node] = set()
    for node in graph:
        if node.inputs and node.inputs[0] in moved and node.op_type in MOVES:
            moved.update(node.outputs)
        if node in positions and any(value in moved or (value and value.producer() in found) for value in node.inputs):
            found.add(node)
    return found


def _angles(graph: ir.Graph) -> set[ir.Node]:
    """What makes the angle of a sine: arithmetic and moves in front of it, and the products that these begin with."""
    found: set[ir.Node] = set()
    waiting = [node for node in graph if node.op_type in _WAVES]
    while waiting:
        for value in waiting.pop().inputs:
            producer = None if value is None else value.producer()
            if producer is not None and producer not in found:
                found.add(producer)
                waiting += [producer] if producer.op_type in MOVES | _ARITHMETIC else []
    return found


def sums_products(node: ir.Node) -> bool:
    """Whether a node is a product that sums over several numbers; an outer product is arithmetic."""
    first, second = (node.attributes.get_int(name, 0) for name in ("transA", "transB"))
    summed: dict[str, list[tuple[int, int]]] = {
        "Conv": [(1, axis) for axis in range(1, 5)],
        "ConvTranspose": [(1, axis) for axis in (0, 2, 3, 4)],
        "Gemm": [(0, 0 if first else 1), (1, 1 if second else 0)],
        "MatMul": [(0, -1), (1, -2)],
    }
    for position, axis in summed.get(node.op_type, []):
        value = node.inputs[position]
        shape = None if value is None else value.shape
        if shape is not None and -len(shape) <= axis < len(shape):
            size = shape[axis]
            if isinstance(size, int) and size > 1:
                return True
    return False


def _is_lookup(node: ir.Node) -> bool:
    return any(value is not None and value.dtype in INTEGERS and value.const_value is None for value in node.inputs)


def _has_a_table(node: ir.Node, positions: set[ir.Node]) -> bool:
    if node.op_type not in {"Add", "Mul"} or node in positions:
        return False
    known = [value for value in node.inputs if value is not None and value.shape is not None]
    tables = [value for value in known if value.const_value is not None or value.producer() in positions]
    return any(sum(size != 1 for size in value.shape) > 1 for value in tables if value.shape is not None)


def _what_half_cannot_hold(node: ir.Node) -> str:
    """Why a constant that the node reads does not fit half; nothing where all do."""
    for position, value in enumerate(node.inputs):
        tensor = None if value is None or value.is_graph_input() else value.const_value
        if tensor is None or tensor.dtype != _FLOAT or not tensor.size:
            continue
        alone = tensor.size == 1 and node.op_type in _ARITHMETIC
        multiplies = node.op_type in _PRODUCTS and position < 2
        if not alone and not multiplies and tensor.size < 2:
            continue
        magnitude = np.abs(np.asarray(tensor.numpy()))
        peak = float(magnitude.max(initial=0, where=np.isfinite(magnitude)))
        if peak > LARGEST and (alone or tensor.size > 1):
            return f"a constant of {peak:.2g}: half ends at {LARGEST:.0f}"
        if 0 < peak < (SMALLEST if alone else SMALLEST_NORMAL if multiplies else 0):
            return f"a constant of at most {peak:.2g}: half has fewer digits there"
    return ""


def front_end_nodes(graph: ir.Graph) -> set[ir.Node]:
    """All nodes between an input and a logarithm with nothing learned on the way: a spectrum, or what is made of one.

    Frame means and sums over bins belong to it, so a sum on the way says nothing. A logarithm of a softmax or of a
    sigmoid ends a model and begins none.
    """
    found: set[ir.Node] = set()
    for node in graph:
        if node.op_type == "Log":
            way = _ancestors(node) | {node}
            if not any(step.op_type in _LEARNED or step.domain for step in way):
                found |= way
    return found


def _ancestors(node: ir.Node) -> set[ir.Node]:
    found: set[ir.Node] = set()
    waiting = [node]
    while waiting:
        for value in waiting.pop().inputs:
            producer = None if value is None else value.producer()
            if producer is not None and producer not in found:
                found.add(producer)
                waiting.append(producer)
    return found


def _neighbours(node: ir.Node) -> set[ir.Node]:
    before = {value.producer() for value in node.inputs if value is not None}
    after: set[ir.Node] = set()
    waiting = list(node.outputs)
    while waiting:
        users = {user for user, _ in waiting.pop().uses()} - after
        after |= users
        waiting += [value for user in users if is_fill(user) for value in user.outputs]
    return {neighbour for neighbour in before if neighbour is not None} | after
