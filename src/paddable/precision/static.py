"""int8-static: products and convolutions of numbers in 8 or 16 bits, the range of each fixed from examples.

    x ~ s (q - z),  s and z from the smallest and largest number that native has there on examples, 0 among them
    w ~ scale[c] q,  scale[c] = max |w[c]| / 127

A MatMul whose weight has three axes or more stays in fp32: ONNX Runtime 1.32 fuses it with its rounding into an
operator that takes one scale, or one for each column of a matrix, and ends there.

For providers whose integer kernels want fixed scales: standard ``QuantizeLinear`` and ``DequantizeLinear`` around what
stays written in floats (16 bits below opset 21: ONNX Runtime's own). Ranges are those of native, which has no padding,
so padding is in none; zeros stay zeros, and what padding holds beyond a range is cut off at its end.

ONNX Runtime's static quantiser writes the same for one product (a test compares). It is not taken: it rounds a value
for every reader, a residual and an output of the graph too, and needs the model in one message, which ends at 2 GB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names
from paddable.precision.damage import Twins
from paddable.precision.int8 import Weight, demand_axis, storable, store_weights
from paddable.precision.int8 import twins as twins_of_stored
from paddable.precision.lookup import looked_up, lookups_with
from paddable.precision.moves import moved_with
from paddable.precision.own_codes import give_own_codes

__all__ = ["FixRangesPass", "FixedRange", "roundable", "rounded_inputs", "twins_in"]

FixedRange = Sequence[float]
"""Smallest and largest number, 0 among them, and how many bits hold it: 8 or 16."""


class FixRangesPass(ir.passes.InPlacePass):
    """Rounds what goes into products and convolutions to fixed ranges, and stores their weights in 8 bits.

    Args:
        kept: names of values whose nodes stay in fp32, each with its reason.
        fixed: by name of a value of native that goes into such a node, its range.

    Requires: opset 13 or later; a target's fixes are behind it.
    Ensures: inputs and outputs keep names and types; other readers of a rounded value read it as it was.
    Modifies: initialisers of the main graph; adds QuantizeLinear and DequantizeLinear.

    Raises:
        RefusedError: an older opset.
    """

    def __init__(self, kept: Mapping[str, str], fixed: Mapping[str, FixedRange]) -> None:
        self._kept, self._fixed = kept, fixed

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        demand_axis(model)
        graph, names = model.graph, Names(model.graph)
        exact = {value.producer() for value in moved_with(graph, self._kept)}
        known = moved_with(graph, {name: name for name in self._fixed})
        rounded: dict[ir.Value, ir.Value] = {}
        chosen: list[ir.Node] = []
        weights = roundable(graph)
        for node, value in rounded_inputs(graph):
            if node in exact or value not in known:
                continue
            if value not in rounded:
                name = str(value.name) if value.name in self._fixed else known[value]
                nodes = _rounding(model, names, value, self._fixed[name])
                graph.insert_before(node, nodes)
                rounded[value] = nodes[-1].outputs[0]
            node.replace_input_with(0, rounded[value])
            chosen.append(node)
        lookups = [node for node, weight in weights.items() if weight.at == 0 and node not in exact]
        for lookup, product in lookups_with(weights, {*chosen, *lookups}).items():
            made = looked_up(model, names, lookup, weights[lookup], weights[product].axis)
            ir.convenience.replace_nodes_and_values(graph, lookup, [lookup], made, lookup.outputs, made[-1].outputs)
        stored = store_weights(model, chosen, apart=True)
        return ir.passes.PassResult(model, give_own_codes(model) or stored)


def roundable(graph: ir.Graph) -> dict[ir.Node, Weight]:
    """Of ``storable``, what no stack of matrices is."""
    return {
        node: weight
        for node, weight in storable(graph).items()
        if node.op_type != "MatMul" or len(weight.tensor.shape) == 2
    }


def rounded_inputs(graph: ir.Graph) -> Iterator[tuple[ir.Node, ir.Value]]:
    """Each of these but lookups, which read a table and no number that is rounded, with what goes into it."""
    for node, weight in roundable(graph).items():
        value = node.inputs[0]
        if weight.at == 1 and value is not None:
            yield node, value


def twins_in(fixed: Mapping[str, FixedRange]) -> Twins:
    """See ``damage.Twins``; where these are the ranges of values."""

    def twins(model: ir.Model, names: Names) -> list[tuple[ir.Node, list[ir.Node]]]:
        found = []
        inputs = dict(rounded_inputs(model.graph))
        for node, (stored, twin) in twins_of_stored(model, names, roundable(model.graph)):
            value = inputs.get(node)
            if value is not None and value.name in fixed:
                rounding = _rounding(model, names, value, fixed[str(value.name)])
                twin.replace_input_with(0, rounding[-1].outputs[0])
                found.append((node, [*rounding, stored, twin]))
            elif node not in inputs:
                found.append((node, [stored, twin]))
        return found

    return twins


def _rounding(model: ir.Model, names: Names, value: ir.Value, fixed: FixedRange) -> list[ir.Node]:
    """QuantizeLinear and DequantizeLinear, which stand in no graph yet."""
    low, high, bits = fixed
    kind, last = (np.uint8, 255) if bits == 8 else (np.uint16, 65535)
    scale = np.float32((high - low) / last or 1)
    zero = kind(np.clip(np.rint(-low / scale), 0, last))
    constants = [
        add_initialiser(model.graph, names, f"{value.name}_{ending}", number)
        for ending, number in (("scale", scale), ("zero", zero))
    ]
    domain = "" if bits == 8 or model.graph.opset_imports[""] >= 21 else "com.microsoft"
    if domain:
        model.graph.opset_imports[domain] = 1
    nodes: list[ir.Node] = []
    for operator, ending in (("QuantizeLinear", f"uint{bits:.0f}"), ("DequantizeLinear", "rounded")):
        source = nodes[-1].outputs[0] if nodes else value
        nodes.append(ir.node(operator, [source, *constants], domain=domain, name=names.fresh(f"{value.name}_{ending}")))
        nodes[-1].outputs[0].name = str(nodes[-1].name)
    return nodes
