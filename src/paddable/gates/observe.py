"""The range of every value of a native model, from one run an example.

Each float value gets three numbers, its smallest, its largest and how far its numbers are from integers, made in the
graph where the value is made; nothing else comes back from a run. Whoever reads the value reads it with a zero added
that is made of the three: ONNX Runtime would otherwise measure at the end, and hold every value until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.gates.engine import Array, Engine
from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.graph.types import know_types
from paddable.precision.branches import selections, side_of
from paddable.precision.ranges import Range

__all__ = ["Observer", "watched"]


def watched(model: ir.Model) -> tuple[ir.Model, dict[str, tuple[str, str, str]]]:
    """A copy whose only outputs are what is measured, and by float value the names of its least, greatest and fraction.

    By ``branches.side_of``, too, whether each side of a selection is taken.

    Values inside the bodies of control flow are not measured: a node with bodies stays in fp32 as a whole. Where no
    value is fp32 the outputs stay, since a run has to ask for something.
    """
    made = model.clone()
    know_types(made)
    graph, names = made.graph, Names(made.graph)
    found: dict[str, tuple[str, str, str]] = {}
    selected = list(selections(graph))
    infinity, zero = (add_initialiser(graph, names, "watched", np.float32(number)) for number in (np.inf, 0))
    measured: list[ir.Value] = []
    for value in [*graph.inputs, *(value for node in list(graph) for value in node.outputs if value.name)]:
        if value.dtype != ir.DataType.FLOAT or not isinstance(value.type, ir.TensorType):
            continue
        if (producer := value.producer()) is not None and producer.op_type == "Constant":
            continue  # the rules know it
        readers = [(use.node, use.idx) for use in value.uses()]
        nodes, measures, passed = _measuring(value, infinity, zero, names)
        for reader, position in readers:
            reader.replace_input_with(position, passed)
        if producer is None:
            graph.insert_before(graph[0], nodes)
        else:
            graph.insert_after(producer, nodes)
        for output in measures:
            output.type, output.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(())
            measured.append(output)
        low, high, fraction = (str(output.name) for output in measures)
        found[str(value.name)] = low, high, fraction
    for node, position in selected:
        measured.append(_taking(graph, node, position, names))
        found[side_of(node, position)] = (str(measured[-1].name),) * 3
    if measured:
        graph.outputs.clear()
        graph.outputs.extend(measured)
    return made, found


def _taking(graph: ir.Graph, node: ir.Node, position: int, names: Names) -> ir.Value:
    """A number that is 1 where some of what comes in at a position is selected, and 0 else."""
    nodes: list[ir.Node] = []
    held = node.inputs[0]
    for operator, attributes in (("Not", {}), ("Cast", {"to": int(ir.DataType.FLOAT)}), ("ReduceMax", {"keepdims": 0})):
        if operator != "Not" or position == 2:
            nodes.append(ir.node(operator, [held], attributes=attributes))
            held = nodes[-1].outputs[0]
            held.name = names.fresh("watched")
    graph.insert_before(node, nodes)
    assert held is not None
    held.type, held.shape = ir.TensorType(ir.DataType.FLOAT), ir.Shape(())
    return held


def _measuring(
    value: ir.Value, infinity: ir.Value, zero: ir.Value, names: Names
) -> tuple[list[ir.Node], tuple[ir.Value, ir.Value, ir.Value], ir.Value]:
    """Nodes; the smallest and largest finite number and the largest fraction; and the value behind them."""
    nodes: list[ir.Node] = []

    def made(operator: str, *inputs: ir.Value, **attributes: int) -> ir.Value:
        nodes.append(ir.node(operator, inputs, attributes=attributes))
        nodes[-1].outputs[0].name = names.fresh("watched")
        return nodes[-1].outputs[0]

    finite = made("Where", made("Less", made("Abs", value), infinity), value, zero)  # NaN is not less either
    low, high = made("ReduceMin", finite, keepdims=0), made("ReduceMax", finite, keepdims=0)
    fraction = made("ReduceMax", made("Sub", finite, made("Floor", finite)), keepdims=0)
    nothing = made("Mul", made("Mul", made("Mul", low, zero), made("Mul", high, zero)), fraction)
    passed = made("Add", value, nothing)
    return nodes, (low, high, fraction), passed


class Observer:
    """Runs a watched model.

    Args:
        file: of the model that ``watched`` made.
        names: by value, as ``watched`` gave them.
        threads: of the session; 0 takes every core.
    """

    def __init__(self, file: Path, names: Mapping[str, tuple[str, str, str]], threads: int = 0) -> None:
        self._names = names
        # In an arena the many small answers do not split the memory that large values left.
        self._engine = Engine(file, optimise=False, where="native", threads=threads, arena=True)

    @property
    def dtypes(self) -> Mapping[str, np.dtype[Any]]:
        """Type of each input."""
        return self._engine.dtypes

    @property
    def shapes(self) -> Mapping[str, list[Any]]:
        """Shape of each input."""
        return self._engine.shapes

    def ranges(self, feeds: Mapping[str, Array]) -> dict[str, Range]:
        """Range of each value on one example.

        Raises:
            EngineError: native does not run on it.
        """
        numbers = self._engine.run(feeds)
        found = {}
        for name, measures in self._names.items():
            least, most, fraction = (float(numbers[measure]) for measure in measures)
            low, high = min(0.0, least), max(0.0, most)
            found[name] = Range(low, high, max(-low, high), fraction <= 0)
        return found
