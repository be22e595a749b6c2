"""Which nodes stay in fp32 when the others compute in half.

Half has 11 bits, ends at 65504 and counts to 2048. What that would change by more than rounding stays:

- *sums over an axis*: norms, softmax, means, cumulative sums, recurrences (in half these also end ONNX Runtime's CPU
  provider);
- *positions*: floats made from integers, the sine or cosine of constants and what is made on the way to it and from it,
  and tables over positions, which are constants or positions with two or more long axes that are added or multiplied
  element by element (a lookup by what the model hears or reads is no position);
- *what half cannot hold*: arithmetic with a constant that would become 0 or infinite;
- *front ends*: all that lies between the input and a logarithm, where nothing learned lies between them (samples are
  scaled by 2^15 and squared, and a spectrum spans more decades than half has);
- *arithmetic beside these*: the mask and the scale in front of a softmax, the square in front of a mean, the sum of a
  rotation, the residual in front of a norm.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

__all__ = ["exact_nodes", "front_end_nodes"]

_SUMS = {
    "BatchNormalization", "CumSum", "GRU", "GlobalAveragePool", "GroupNormalization", "InstanceNormalization", "LSTM",
    "LayerNormalization", "LogSoftmax", "LpNormalization", "MeanVarianceNormalization", "RMSNormalization", "RNN",
    "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceProd", "ReduceSum",
    "ReduceSumSquare", "Softmax", "Sqrt",
}  # fmt: skip
_ARITHMETIC = {"Add", "Clip", "Div", "Max", "Min", "Mul", "Neg", "Pow", "Sub", "Where"}
_INTEGERS = {
    ir.DataType.INT8, ir.DataType.INT16, ir.DataType.INT32, ir.DataType.INT64,
    ir.DataType.UINT8, ir.DataType.UINT16, ir.DataType.UINT32, ir.DataType.UINT64,
}  # fmt: skip
_LEARNED = {
    "BatchNormalization", "Celu", "Elu", "Erf", "Exp", "GRU", "Gelu", "GroupNormalization", "HardSigmoid", "HardSwish",
    "InstanceNormalization", "LSTM", "LayerNormalization", "LeakyRelu", "LogSoftmax", "LpNormalization", "Mish",
    "PRelu", "RMSNormalization", "RNN", "Relu", "Selu", "Sigmoid", "Softmax", "Softplus", "Softsign", "Swish", "Tanh",
    "ThresholdedRelu",
}  # fmt: skip
"""Operators that no front end has: behind one of them the model has begun."""
_WAVES = {"Cos", "Sin"}
_SMALLEST, _LARGEST = 2.0**-24, 65504.0


def exact_nodes(graph: ir.Graph) -> set[ir.Node]:
    """The nodes of a graph that stay in fp32. Types of values must be known."""
    positions = _positions(graph)
    kept = positions | {
        node
        for node in graph
        if node.op_type in _SUMS or _has_a_table(node, positions) or _has_what_half_cannot_hold(node)
    }
    kept |= front_end_nodes(graph)
    beside = set()
    for node in graph:
        if node.op_type in _ARITHMETIC and not kept.isdisjoint(_neighbours(node)):
            beside.add(node)
    return kept | beside


def _positions(graph: ir.Graph) -> set[ir.Node]:
    """Nodes whose float results hang on integers, or on constants behind or before a sine, and on nothing else."""
    found: set[ir.Node] = set()
    fixed: set[ir.Node] = set()  # of constants alone: angles if a sine follows, else a weight in another layout
    for node in graph:
        floats = [value for value in node.inputs if value is not None and value.dtype == ir.DataType.FLOAT]
        constant = [value for value in floats if value.const_value is not None or value.producer() in fixed]
        made = [value for value in floats if value.producer() in found]
        starts = node.op_type == "Cast" and node.inputs[0] is not None and node.inputs[0].dtype in _INTEGERS
        if floats and len(constant) == len(floats) and not _is_lookup(node):
            fixed.add(node)
            starts = node.op_type in _WAVES
        if starts:
            found |= {node} | (_ancestors(node) & fixed)
        elif made and all(value in made or value in constant for value in floats):
            found.add(node)
    return found


def _is_lookup(node: ir.Node) -> bool:
    return any(value is not None and value.dtype in _INTEGERS and value.const_value is None for value in node.inputs)


def _has_a_table(node: ir.Node, positions: set[ir.Node]) -> bool:
    if node.op_type not in {"Add", "Mul"} or node in positions:
        return False
    known = [value for value in node.inputs if value is not None and value.shape is not None]
    tables = [value for value in known if value.const_value is not None or value.producer() in positions]
    return any(sum(size != 1 for size in value.shape) > 1 for value in tables if value.shape is not None)


def _has_what_half_cannot_hold(node: ir.Node) -> bool:
    if node.op_type not in _ARITHMETIC:
        return False
    for value in node.inputs:
        tensor = None if value is None else value.const_value
        if tensor is not None and tensor.dtype == ir.DataType.FLOAT and tensor.size == 1:
            number = abs(float(np.asarray(tensor.numpy()).reshape(())))
            if np.isfinite(number) and (0 < number < _SMALLEST or number > _LARGEST):
                return True
    return False


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
    after = {user for value in node.outputs for user, _ in value.uses()}
    return {neighbour for neighbour in before | after if neighbour is not None}
