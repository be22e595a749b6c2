"""A graph as a runtime sees it when it decides where nodes run: shapes inferred, constants folded.

Placement looks at every node of graphs with thousands of nodes, before any weight is needed. So the view is a plain
index over the ModelProto: names, not objects; attributes and shapes are decoded when somebody asks. Passes that
*change* a graph work on onnx_ir; they find their nodes by the position that a view reports.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from operator import attrgetter
from typing import Any

import numpy.typing as npt
import onnx

from paddable.linter.view.value_type import TYPE_NAMES, UNKNOWN, Dim, TypeReader, ValueType

__all__ = ["SMALL", "WITH_SUBGRAPHS", "Dim", "GraphView", "NodeView", "elements", "overridable_names"]

Array = npt.NDArray[Any]

WITH_SUBGRAPHS = frozenset({"If", "Loop", "Scan", "SequenceMap"})


class NodeView:
    """One node that is left after constant folding and merging.

    Attributes:
        index: position in the file's node list of its graph.
        op: operator type.
        domain: operator domain, ``""`` for ai.onnx.
        since: version of the operator that the model's opset selects; 1 when ONNX does not know the operator.
        inputs, outputs: value names, ``""`` for an absent optional one.
        proto: the node as written.
        nests: whether it is an operator with bodies (If, Loop, Scan).
    """

    __slots__ = ("domain", "index", "inputs", "nests", "op", "outputs", "proto", "since")

    def __init__(self, proto: onnx.NodeProto, index: int, since: int = 1) -> None:
        self.proto = proto
        self.index = index
        self.op = op = proto.op_type
        self.nests = op in WITH_SUBGRAPHS
        domain = proto.domain
        self.domain = "" if domain == "ai.onnx" else domain
        self.since = since
        self.inputs: Sequence[str] = proto.input[:]  # a slice is copied at once, an iteration name by name
        self.outputs: Sequence[str] = proto.output[:]

    @property
    def name(self) -> str:
        """The node's name, or its first output where it has none."""
        return self.proto.name or next((name for name in self.outputs if name), f"#{self.index}")

    def attribute(self, name: str, default: Any = None) -> Any:
        """The attribute's value as Python data (strings decoded), or the default."""
        for attribute in self.proto.attribute:
            if attribute.name == name:
                if attribute.type == onnx.AttributeProto.INT:
                    return attribute.i
                value = onnx.helper.get_attribute_value(attribute)
                return value.decode() if isinstance(value, bytes) else value
        return default

    def input(self, index: int) -> str:
        """The name of an input, ``""`` when it is absent."""
        return self.inputs[index] if index < len(self.inputs) else ""

    @property
    def subgraphs(self) -> list[onnx.GraphProto]:
        """The bodies of If, Loop and Scan."""
        if not self.nests:
            return []
        return [part for a in self.proto.attribute for part in ([a.g] if a.HasField("g") else a.graphs)]

    def __repr__(self) -> str:
        return f"{self.op}({self.name})"


class GraphView:
    """Index of one graph: its live nodes, who makes and who reads each value, types, shapes and constants.

    Built by :func:`paddable.linter.view.folding.view_model`.

    Attributes:
        nodes: nodes left after folding, in file order.
        outer: the view of the enclosing graph, None for the main graph.
        initializers: constants of the graph by name, without those that a run may override.
        inputs, outputs: names of graph inputs (constants left out) and outputs.
        opset: version of each operator domain.
        trusting: whether sizes that only the file's annotations state are taken for true, as the runtime does.
        merging: whether equal nodes become one, as the runtime has it.
    """

    def __init__(
        self,
        graph: onnx.GraphProto,
        opset: dict[str, int],
        outer: GraphView | None = None,
        *,
        ir_version: int = onnx.IR_VERSION,
        trusting: bool = True,
        merging: bool = True,
    ) -> None:
        self.proto = graph
        self.opset = opset
        self.outer = outer
        self.ir_version = ir_version
        self.trusting = trusting
        self.merging = merging
        self.position: tuple[int, int] | None = None
        """For a subgraph: the index of its node in the outer graph, and which of the node's bodies it is."""
        self.nodes: list[NodeView] = []
        overridable = overridable_names(graph, ir_version)
        self.initializers = {tensor.name: tensor for tensor in graph.initializer if tensor.name not in overridable}
        self.inputs = [value.name for value in graph.input if value.name not in self.initializers]
        self.outputs = [value.name for value in graph.output]
        self.folded: dict[str, Array | None] = {}
        """Outputs of folded nodes; the contents where they are small enough to have been computed."""
        self.inner: dict[int, list[GraphView]] = {}
        """Views of the subgraphs of each node that has some, by node index."""
        self.alias: dict[str, str] = {}
        """Outputs of merged nodes, and the value that their readers take instead."""
        self.merged: dict[int, int | None] = {}
        """Nodes that the runtime merges into an equal one (its index) or drops because they do nothing (None)."""
        self.inferred: dict[str, ValueType] = {}
        """What shape inference says of each value."""
        self.annotated: dict[str, ValueType] = {}
        """What the file itself says."""
        self.reader: TypeReader = TypeReader() if outer is None else outer.reader
        self._types: dict[str, ValueType] = {}
        self._contents: dict[str, Array | None] = {}

    @property
    def outermost(self) -> GraphView:
        """The view of the main graph."""
        return self if self.outer is None else self.outer.outermost

    def walk(self) -> Iterator[GraphView]:
        """This graph and every graph inside it."""
        yield self
        for inner in (inner for views in self.inner.values() for inner in views):
            yield from inner.walk()

    @cached_property
    def producers(self) -> dict[str, NodeView]:
        """The live node that makes each value."""
        return {name: node for node in self.nodes for name in node.outputs if name}

    @cached_property
    def consumers(self) -> dict[str, list[NodeView]]:
        """The live nodes that read each value, as an input or in a subgraph; once for each time."""
        readers: dict[str, list[NodeView]] = defaultdict(list)
        for node in self.nodes:
            for name in (*node.inputs, *self.captured(node)) if node.nests else node.inputs:
                readers[name].append(node)
        readers.pop("", None)
        return readers

    @cached_property
    def by_op(self) -> dict[str, list[NodeView]]:
        """The live nodes of each operator type, of any domain."""
        nodes: dict[str, list[NodeView]] = defaultdict(list)
        for node in self.nodes:
            nodes[node.op].append(node)
        return nodes

    def of(self, *ops: str) -> Iterator[NodeView]:
        """The live nodes of some operator types, type by type."""
        for op in ops:
            yield from self.by_op.get(op, ())

    def readers(self, name: str) -> list[NodeView]:
        """The live nodes that read a value."""
        return self.consumers.get(name, [])

    def captured(self, node: NodeView) -> list[str]:
        """Names that the node's subgraphs take from this graph or from outside it."""
        return [self.resolve(name) for body in node.subgraphs for name in _free_names(body)]

    def resolve(self, name: str) -> str:
        """The value that is read in place of a merged one; any other name unchanged."""
        if name in self.alias:
            return self.alias[name]
        return self.outer.resolve(name) if self.outer is not None else name

    def fold(self, name: str, value: Array | None) -> None:
        """Note that a value is the same at every run, and its contents where they are known."""
        self.folded[name] = value
        if value is not None:
            dtype = TYPE_NAMES[onnx.helper.np_dtype_to_tensor_dtype(value.dtype)]
            self._types[name] = self.reader.make(dtype, value.shape)

    def is_constant(self, name: str) -> bool:
        """Whether the value is the same at every run: an initializer or folded."""
        return (
            name in self.initializers
            or name in self.folded
            or (self.outer is not None and self.outer.is_constant(name))
        )

    def constant(self, name: str) -> Array | None:
        """Contents of a constant; None for anything else, and for weights (they are never loaded)."""
        if name in self.folded:
            return self.folded[name]
        if name not in self._contents:
            self._contents[name] = self._read(name)
        return self._contents[name]

    def _read(self, name: str) -> Array | None:
        tensor = self.initializers.get(name)
        if tensor is None:
            return self.outer.constant(name) if self.outer is not None and self.outer.is_constant(name) else None
        if tensor.data_location == onnx.TensorProto.EXTERNAL or elements(tensor.dims) > SMALL:
            return None
        return onnx.numpy_helper.to_array(tensor)

    def settle(self) -> None:
        """Complete what was inferred, where it is open, before anybody asks."""
        annotated, types = self.annotated, self._types
        join = self.reader.join if self.trusting else self._join
        for name, found in self.inferred.items():
            if found.static:
                types[name] = found
            elif name in annotated:
                types[name] = join(found, annotated[name])

    def _join(self, inferred: ValueType, annotated: ValueType) -> ValueType:
        return self.reader.join(inferred, annotated if self.trusting else self.reader.without_sizes(annotated))

    def type(self, name: str) -> ValueType:
        """Element type and shape: inferred, and completed by the file's own annotation."""
        found = self._types.get(name)
        if found is None:
            found = self._types[name] = self._find_type(name)
        return found

    def types(self, node: NodeView) -> tuple[ValueType | None, ...]:
        """The types of a node's inputs and outputs, None for those that are absent."""
        known, find = self._types.get, self.type
        return tuple([(known(name) or find(name)) if name else None for name in (*node.inputs, *node.outputs)])

    def _find_type(self, name: str) -> ValueType:
        tensor = self.initializers.get(name)
        if tensor is not None:
            return self.reader.make(TYPE_NAMES[tensor.data_type], tuple(tensor.dims[:]))
        found = self.inferred.get(name, UNKNOWN)
        if not found.static:
            found = self._join(found, self.annotated.get(name, UNKNOWN))
        if self.outer is None or (found.dtype is not None and found.shape is not None):
            return found
        outer = self.outer.type(name)
        shape = outer.shape if found.shape is None else found.shape
        return self.reader.make(found.dtype or outer.dtype, shape)

    def dtype(self, name: str) -> str | None:
        """Element type as ONNX spells it in kernel registries: ``float``, ``int64``; None for a non-tensor."""
        return self.type(name).dtype

    def shape(self, name: str) -> tuple[Dim, ...] | None:
        """The dims; None if the rank is unknown."""
        return self.type(name).shape

    def rank(self, node: NodeView) -> int:
        """The highest known rank among a node's inputs and outputs."""
        return max([len(self.type(name).shape or ()) for name in (*node.inputs, *node.outputs) if name], default=0)

    def is_static(self, name: str) -> bool:
        """Whether every dim is a number."""
        return (self._types.get(name) or self.type(name)).static

    def parents(self, node: NodeView) -> list[NodeView]:
        """The live nodes that make what a node or its subgraphs read."""
        makers = self.producers
        names = (*node.inputs, *self.captured(node)) if node.nests else node.inputs
        return [makers[name] for name in names if name in makers]

    def in_runtime_order(self, listed: Sequence[NodeView] | None = None) -> list[NodeView]:
        """Live nodes in the topological order that ONNX Runtime walks: depth first, backwards from the last leaf.

        Args:
            listed: the nodes as another file would list them; None for the file at hand.
        """
        position = _POSITION if listed is None else {node: i for i, node in enumerate(listed)}.__getitem__
        order: dict[NodeView, None] = {}
        entered: set[NodeView] = set()
        is_read = self.consumers.keys()
        stack = [node for node in listed or self.nodes if is_read.isdisjoint(node.outputs)]
        while stack:
            node = stack[-1]
            if node in entered:  # its parents are in the order
                order[stack.pop()] = None
                continue
            entered.add(node)
            parents = self.parents(node)
            stack += parents if len(parents) < 2 else sorted(set(parents), key=position)
        return list(order)


_POSITION = attrgetter("index")

SMALL = 1024
"""Constants up to this many elements are read and folded; shape arithmetic never needs more."""


def elements(dims: Sequence[int]) -> int:
    """Number of elements of a shape."""
    return prod(dims)


def overridable_names(graph: onnx.GraphProto, ir_version: int) -> set[str]:
    """Initializers that a run may replace: those that are inputs too. Before IR version 4 all were, and none may be."""
    return {value.name for value in graph.input} if ir_version >= 4 else set()


def _free_names(graph: onnx.GraphProto) -> list[str]:
    known = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    free: list[str] = []
    for node in graph.node:
        inner = [
            name
            for a in node.attribute
            for body in ([a.g] if a.HasField("g") else a.graphs)
            for name in _free_names(body)
        ]
        free.extend(name for name in (*node.input, *inner) if name and name not in known)
        known.update(node.output)
    free.extend(value.name for value in graph.output if value.name not in known)
    return free
