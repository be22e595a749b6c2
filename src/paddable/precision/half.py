"""fp16: weights and values in half, except at nodes that ``exact`` keeps.

Written here and not taken from a library. ONNX Runtime's converter rounds a constant that an exact and a half node
share and leaves its nodes unsorted, onnxconverter-common's moves every fill to 1e4, and both copy all weights.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

import numpy as np
import onnx
import onnx_ir as ir
from onnx_ir.passes import common

from paddable.graph.names import Names
from paddable.graph.types import know_types
from paddable.precision.decided import Decided
from paddable.precision.exact import exact_nodes

__all__ = ["ComputeInHalfPass", "reasons", "weight_bytes", "with_bodies", "with_initialisers"]

FLOAT, HALF = ir.DataType.FLOAT, ir.DataType.FLOAT16

_FREE_INITIALISERS = 4
"""From this version of the format on, an initialiser is no input."""


class ComputeInHalfPass(ir.passes.InPlacePass):
    """Makes weights and values half, except at nodes that ``exact_nodes`` keeps.

    Args:
        kept: names of values that stay in fp32 because of their range, each with its reason; see ``ranges``.
        fast: whether norms and the residual go to half too.
        native: what was decided of the model that the graph is made of.

    Requires: weights and values in fp32, in topological order; a target's fixes are behind it.
    Ensures: inputs and outputs keep names and types; a control-flow node stays in fp32 as a whole.
    Modifies: nodes, initialisers and recorded types of the main graph.
    """

    def __init__(
        self, kept: Mapping[str, str] | None = None, *, fast: bool = False, native: Decided | None = None
    ) -> None:
        self._kept, self._fast, self._native = kept or {}, fast, native

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        know_types(model)
        _Halving(model, exact_nodes(model.graph, self._kept, fast=self._fast, native=self._native)).run()
        common.RemoveUnusedNodesPass()(model)
        return ir.passes.PassResult(model, True)


def reasons(model: ir.Model, kept: Mapping[str, str], *, fast: bool = False) -> dict[str, str]:
    """By the first output of each node that would stay in fp32, why; control flow and integers aside."""
    copy = model.clone()
    know_types(copy)
    exact = exact_nodes(copy.graph, kept, fast=fast)
    return {
        str(node.outputs[0].name): why
        for node, why in exact.items()
        if any(o.dtype in (FLOAT, None) for o in node.outputs)
    }


def weight_bytes(model: ir.Model, kept: Mapping[str, str], *, fast: bool = False) -> tuple[int, int, int]:
    """What the weights in fp32 take, before and after, and how many nodes become half.

    One that exact and half nodes share is stored twice.
    """
    copy = model.clone()
    know_types(copy)
    exact, versions = exact_nodes(copy.graph, kept, fast=fast), copy.graph.opset_imports
    halves: set[ir.Value] = set()
    floats: set[ir.Value] = set()
    changed = 0
    for node in copy.graph:
        ports = (None if node in exact else _half_inputs(node, versions)) or set()
        changed += bool(ports)
        for user in with_bodies(node):
            for position, value in enumerate(user.inputs):
                if value is not None and value.is_initializer() and value.dtype == FLOAT and not value.is_graph_input():
                    (halves if user is node and position in ports else floats).add(value)
    sizes = {value: 4 * value.const_value.size for value in halves | floats if value.const_value is not None}
    stored = sum(size * (value in floats) + size // 2 * (value in halves) for value, size in sizes.items())
    return sum(sizes.values()), stored, changed


def with_initialisers(model: ir.Model) -> ir.Model:
    """A copy whose constants are initialisers, in a version of the format that lets them be no inputs; or the model."""
    plain = all(node.op_type != "Constant" for node in model.graph.all_nodes())
    if plain and model.ir_version >= _FREE_INITIALISERS:
        return model
    made = model.clone()
    made.ir_version = max(made.ir_version, _FREE_INITIALISERS)
    common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(made)
    return made


class _Halving:
    """Walks the nodes in order; a value exists in the type of its producer, and is cast once for the others."""

    def __init__(self, model: ir.Model, exact: Container[ir.Node]) -> None:
        self.exact = exact
        self.graph, self.versions = model.graph, model.graph.opset_imports
        self.names = Names(model.graph)
        self.halved: set[ir.Value] = set()
        self.casts: dict[tuple[ir.Value, ir.DataType], ir.Value] = {}

    def run(self) -> None:
        for node in list(self.graph):
            ports = None if node in self.exact else _half_inputs(node, self.versions)
            if ports is None:
                for user in with_bodies(node):
                    self._feed_float(user, range(len(user.inputs)))
                continue
            self._feed_float(node, set(range(len(node.inputs))) - ports)
            self._feed_half(node, ports)
            if node.op_type == "Cast":
                node.attributes["to"] = ir.AttrInt64("to", int(HALF))
            for output in node.outputs:
                if output.dtype == FLOAT:
                    output.type = ir.TensorType(HALF)  # a new one: clones of a model share theirs
                    self.halved.add(output)
        for position, output in enumerate(self.graph.outputs):
            if output in self.halved:
                self._restore(position, output)

    def _feed_float(self, node: ir.Node, positions: Iterable[int]) -> None:
        for position in positions:
            value = node.inputs[position]
            if value is not None and value in self.halved:
                producer = value.producer()
                assert producer is not None  # only results are halved
                node.replace_input_with(position, self._cast(value, FLOAT, after=producer))

    def _feed_half(self, node: ir.Node, positions: Iterable[int]) -> None:
        for position in positions:
            value = node.inputs[position]
            if value is None or value.dtype != FLOAT:
                continue
            constant = value.is_initializer() and not value.is_graph_input()
            half = self._rounded(value) if constant else self._cast(value, HALF, before=node)
            node.replace_input_with(position, half)

    def _rounded(self, value: ir.Value) -> ir.Value:
        """A weight in half."""
        if (value, HALF) not in self.casts:
            assert value.const_value is not None
            half = np.asarray(value.const_value.numpy().astype(np.float16))
            name = self.names.fresh(f"{value.name}_fp16")
            made = ir.Value(
                name=name, shape=value.shape, type=ir.TensorType(HALF), const_value=ir.Tensor(half, name=name)
            )
            self.graph.register_initializer(made)
            self.casts[value, HALF] = made
        return self.casts[value, HALF]

    def _cast(
        self, value: ir.Value, to: ir.DataType, *, before: ir.Node | None = None, after: ir.Node | None = None
    ) -> ir.Value:
        if (value, to) not in self.casts:
            name = self.names.fresh(f"{value.name}_{'fp16' if to == HALF else 'fp32'}")
            cast = ir.node("Cast", [value], attributes={"to": int(to)}, name=name)
            made = cast.outputs[0]
            made.name, made.shape, made.type = name, value.shape, ir.TensorType(to)
            if after is not None:
                self.graph.insert_after(after, cast)
            elif before is not None:  # the first user in the order of the graph; the others come later
                self.graph.insert_before(before, cast)
            self.casts[value, to] = made
        return self.casts[value, to]

    def _restore(self, position: int, output: ir.Value) -> None:
        """A graph output that became half is cast back, under its own name."""
        producer, name = output.producer(), str(output.name)
        assert producer is not None
        cast = self._cast(output, FLOAT, after=producer)
        output.name = self.names.fresh(f"{name}_half")
        cast.name = name
        self.graph.outputs[position] = cast


def _half_inputs(node: ir.Node, versions: Mapping[str, int]) -> set[int] | None:
    """Positions of the inputs that become half with the outputs; None for a node that stays in fp32."""
    if (node.domain and node.op_type not in _CONTRIB) or any(a.type in _BODIES for a in node.attributes.values()):
        return None
    if not any(output.dtype == FLOAT for output in node.outputs):
        return None  # comparisons and conversions to integers see all digits
    if node.op_type == "Cast":
        return set() if node.inputs[0] is not None and node.inputs[0].dtype == ir.DataType.BOOL else None
    if node.domain:  # all their floats have one type
        return {i for i, value in enumerate(node.inputs) if value is not None and _is_float(value)}
    schema = onnx.defs.get_schema(node.op_type, versions[""], "")
    allows_half = {c.type_param_str for c in schema.type_constraints if "tensor(float16)" in c.allowed_type_strs}
    types = [schema.inputs[min(i, len(schema.inputs) - 1)].type_str for i in range(len(node.inputs))]
    shared = {parameter.type_str for parameter in schema.outputs} & allows_half
    ports = {
        i for i, value in enumerate(node.inputs) if value is not None and types[i] in allows_half and _is_float(value)
    }
    # The result follows an input's type: of Resize the data, not the scales.
    return ports if any(types[i] in shared for i in ports) else None


def _is_float(value: ir.Value) -> bool:
    return value.dtype in (FLOAT, HALF)


_CONTRIB = ("MatMulNBits", "MultiHeadAttention", "SkipLayerNormalization")
"""Operators of ONNX Runtime that compute in half: the forms are written in some, and models have the first."""

_BODIES = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)


def with_bodies(node: ir.Node) -> Iterator[ir.Node]:
    """The node, and the nodes inside it, which may read outer values."""
    yield node
    for attribute in node.attributes.values():
        bodies = [attribute.as_graph()] if attribute.type == ir.AttributeType.GRAPH else []
        bodies = list(attribute.as_graphs()) if attribute.type == ir.AttributeType.GRAPHS else bodies
        for body in bodies:
            for inner in body:
                yield from with_bodies(inner)
