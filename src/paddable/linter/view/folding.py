"""Build the view of a model: infer shapes, fold what never changes, and infer again where folding taught something.

ONNX Runtime does this before it asks a provider what it can run, and it merges equal nodes and drops those that do
nothing, so the view does too. Only small constants are computed (shape arithmetic); for weights it is enough to know
*that* they are constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx.inliner import inline_local_functions
from onnx.reference import ReferenceEvaluator

from paddable.linter.view.graph import SMALL, WITH_SUBGRAPHS, GraphView, NodeView, elements, overridable_names

__all__ = ["out_of_range", "view_model"]

_NEVER_FOLDED = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial", "Dropout"}
    # Kept by the runtime so that quantised patterns stay recognisable.
    | {"QuantizeLinear", "DequantizeLinear"}
    # Without an input it looks like a constant, and the runtime runs it all the same.
    | {"OptionalHasElement"}
)


_SHAPE_OF_INPUT = frozenset({"GroupNormalization", "MeanVarianceNormalization"})
"""Operators for which ONNX has no shape inference; what they make has the type of what they read."""


def view_model(model: onnx.ModelProto, trusting: bool = True, merging: bool = True) -> GraphView:
    """The main graph of a model as the runtime sees it.

    Args:
        model: any checked model; weights may be absent (external data is never read). It is not changed. Its own
            functions are inlined, as the runtime does; fixes, which find nodes by position, take a model without any.
        trusting: whether sizes that only the file's own annotations state count, as they do for the runtime.
        merging: whether equal nodes become one, as they do for the runtime.
    """
    if model.functions:
        model = inline_local_functions(model)
    opset = {("" if o.domain == "ai.onnx" else o.domain): o.version for o in model.opset_import}
    skeleton = _without_weights(model)
    known: dict[str, Any] = {}
    while True:  # each round resolves one more level of computed shapes, so it ends
        view = GraphView(model.graph, opset, ir_version=model.ir_version, trusting=trusting, merging=merging)
        _fill(view, _infer(skeleton).graph, known)
        fresh = {name: value for name, value in view.folded.items() if value is not None and name not in known}
        known.update(fresh)
        if not _teaches(view, fresh):
            return view
        _replace_by_initializers(skeleton.graph, fresh)


def _fill(view: GraphView, inferred: onnx.GraphProto, known: dict[str, Any]) -> None:
    graph, opset, outer = view.proto, view.opset, view.outer
    for known_to, lists in (view.annotated, graph), (view.inferred, inferred):
        for infos in (lists.value_info, lists.output, lists.input):
            known_to.update(view.reader.read(infos))
    if outer is None:
        view.settle()
    outputs, merges = set(view.outputs), _Merger(view) if view.merging else _never
    for index, proto in enumerate(graph.node):
        node = NodeView(proto, index)
        node.since = _since(node.op, node.domain, opset.get(node.domain, 1))
        if view.alias or outer is not None:
            node.inputs = [view.resolve(name) for name in node.inputs]
        if _folds(view, node):
            _fold(view, node, known)
        elif node.outputs[0] in outputs or not (
            (node.op in _MAY_DO_NOTHING and _does_nothing(view, node)) or merges(node)
        ):
            view.nodes.append(node)
    _view_subgraphs(view, inferred, known)


def _view_subgraphs(view: GraphView, inferred: onnx.GraphProto, known: dict[str, Any]) -> None:
    nested = [node for node in view.nodes if node.nests]
    if not nested:
        return
    by_output = {proto.output[0]: NodeView(proto, 0, 0).subgraphs for proto in inferred.node if proto.output}
    for node in nested:
        bodies = zip(node.subgraphs, by_output[node.outputs[0]], strict=True)
        view.inner[node.index] = []
        for position, (body, typed) in enumerate(bodies):
            inner = GraphView(
                body, view.opset, view, ir_version=view.ir_version, trusting=view.trusting, merging=view.merging
            )
            inner.position = (node.index, position)
            _fill(inner, typed, known)
            view.inner[node.index].append(inner)


def _folds(view: GraphView, node: NodeView) -> bool:
    for name in node.inputs:  # the first input tells for most nodes, so it is asked before anything else
        if name and not view.is_constant(name):
            return node.op == "Shape" and not node.domain and view.is_static(name)
    if node.op in _NEVER_FOLDED or node.domain or node.nests:
        return False
    return out_of_range(view, node) is None


def out_of_range(view: GraphView, node: NodeView) -> tuple[Any, int] | None:
    """Constant indices of a Gather that lie outside its axis, and the axis' size; it cannot be run, so it stays."""
    if node.op != "Gather" or not view.is_constant(node.inputs[1]):
        return None
    indices, shape = view.constant(node.inputs[1]), view.shape(node.inputs[0])
    size = shape[node.attribute("axis", 0)] if shape else None
    if indices is None or not indices.size or not isinstance(size, int):
        return None
    return (indices, size) if indices.min() < -size or indices.max() >= size else None


def _fold(view: GraphView, node: NodeView, known: dict[str, Any]) -> None:
    names = [name for name in node.outputs if name]
    contents = [known[name] for name in names] if all(name in known for name in names) else _compute(view, node)
    for name, value in zip(names, contents or [None] * len(names), strict=True):
        view.fold(name, value if np.size(value) <= SMALL else None)


def _compute(view: GraphView, node: NodeView) -> list[Any] | None:
    """Contents of a constant node's outputs; None when they are large or cannot be computed here."""
    if node.op == "Shape":
        shape = view.shape(node.inputs[0])
        if shape is None or not all(isinstance(dim, int) for dim in shape):
            return None
        return [np.array(shape[node.attribute("start", 0) : node.attribute("end")], np.int64)]
    if node.op == "Constant":
        return [_constant_attribute(node)]
    values = {name: view.constant(name) for name in node.inputs if name}
    if any(value is None for value in values.values()) or not all(_is_small(view, name) for name in node.outputs):
        return None
    try:
        with np.errstate(all="ignore"):  # a constant that overflows is the file's doing; rules speak of it
            results = ReferenceEvaluator(_alone(node, view)).run(None, values)
    except Exception:  # the reference runtime lacks an operator or a type: the value stays known to be constant only
        return None
    return [np.asarray(result) for result in results]


_NEUTRAL = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}
_ONE = frozenset({1})
_MAY_DO_NOTHING = frozenset({"Identity", "Cast", *_NEUTRAL})


def _does_nothing(view: GraphView, node: NodeView) -> bool:
    """Identity, a Cast to the type at hand, or arithmetic with the neutral scalar: readers take its input instead."""
    if node.domain or len(node.outputs) != 1:
        return False
    if node.op == "Cast":
        name = onnx.TensorProto.DataType.Name(node.attribute("to")).lower()
        nothing = view.dtype(node.inputs[0]) == name
    elif node.op in _NEUTRAL:
        nothing = _is_scalar(view, node.inputs[1], _NEUTRAL[node.op], node.inputs[0])
    else:
        nothing = node.op == "Identity"
    if nothing:
        view.alias[node.outputs[0]] = node.inputs[0]
        view.merged[node.index] = None
    return bool(nothing)


def _is_scalar(view: GraphView, name: str, wanted: int, other: str) -> bool:
    """Whether a value is a constant of one element, the wanted one, that does not raise the rank of the other."""
    if not view.is_constant(name):
        return False
    shape = view.shape(name)
    if shape is None or not _ONE.issuperset(shape) or len(shape) > len(view.shape(other) or ()):
        return False
    value = view.constant(name)
    return value is not None and bool(value.item() == wanted)


class _Merger:
    """Finds nodes equal to an earlier one: same operator, attributes and inputs (small constants by contents)."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._contents: dict[str, Any] = {}
        self._first: dict[Any, NodeView] = {}
        self._alike: dict[Any, dict[Any, NodeView]] = {}
        """Nodes by operator and first input; only where there are two, by all that has to be equal."""

    def __call__(self, node: NodeView) -> bool:
        if node.op in _NEVER_FOLDED or node.nests:
            return False
        key = (node.op, node.domain, self._identity(node.inputs[0]) if node.inputs else "")
        other = self._first.setdefault(key, node)
        if other is node:
            return False
        alike = self._alike.setdefault(key, {self._whole(other): other})
        first = alike.setdefault(self._whole(node), node)
        if first is node or any(name in self._view.outputs for name in node.outputs):
            return False
        self._view.alias.update(zip(node.outputs, first.outputs, strict=True))
        self._view.merged[node.index] = first.index
        return True

    def _whole(self, node: NodeView) -> Any:
        attributes = tuple(sorted(attribute.SerializeToString() for attribute in node.proto.attribute))
        return attributes, tuple(map(self._identity, node.inputs)), len(node.outputs)

    def _identity(self, name: str) -> Any:
        if not self._view.is_constant(name):
            return name
        if name not in self._contents:
            value = self._view.constant(name)
            self._contents[name] = name if value is None else (value.dtype.str, value.shape, value.tobytes())
        return self._contents[name]


def _never(node: NodeView) -> bool:
    return False


def _constant_attribute(node: NodeView) -> Any:
    """Contents of a Constant node; None for strings, sparse tensors and weights."""
    attribute = node.proto.attribute[0]
    if attribute.name == "value":
        tensor = attribute.t
        known = tensor.data_location != onnx.TensorProto.EXTERNAL and elements(tensor.dims) <= SMALL
        return onnx.numpy_helper.to_array(tensor) if known else None
    dtype = {"value_int": np.int64, "value_ints": np.int64, "value_float": np.float32, "value_floats": np.float32}
    if attribute.name not in dtype:
        return None
    return np.asarray(onnx.helper.get_attribute_value(attribute), dtype[attribute.name])


def _is_small(view: GraphView, name: str) -> bool:
    shape = view.shape(name) if name else ()
    return shape is None or elements([dim for dim in shape if isinstance(dim, int)]) <= SMALL


def _alone(node: NodeView, view: GraphView) -> onnx.ModelProto:
    """A model of one node, to be evaluated."""
    inputs = [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in dict.fromkeys(node.inputs) if name]
    outputs = [onnx.helper.make_value_info(name, onnx.TypeProto()) for name in node.outputs if name]
    graph = onnx.helper.make_graph([node.proto], "alone", inputs, outputs)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", view.opset.get("", 1))])


@cache
def _since(op: str, domain: str, opset: int) -> int:
    try:
        return int(onnx.defs.get_schema(op, opset, domain).since_version)
    except onnx.defs.SchemaError:
        return 1  # ONNX Runtime's own operators, some of which live in ai.onnx, have one version


def _teaches(view: GraphView, fresh: dict[str, Any]) -> bool:
    """Whether shape inference may know more once it is given these contents: integers that a node of open shape reads.

    Contents of Constant nodes it knows already.
    """
    if not fresh:
        return False
    given = {proto.output[0] for proto in view.proto.node if proto.op_type == "Constant"}
    computed = {name for name, value in fresh.items() if value.dtype.kind in "ib" and name not in given}
    return bool(computed) and any(
        not computed.isdisjoint(proto.input) and not all(view.is_static(name) for name in proto.output if name)
        for proto in view.proto.node
    )


def _infer(skeleton: onnx.ModelProto) -> onnx.ModelProto:
    try:
        return onnx.shape_inference.infer_shapes(skeleton, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return skeleton


def _without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """What shape inference needs: no weights, and none of the file's own annotations (they may be stale)."""
    skeleton = onnx.ModelProto(ir_version=model.ir_version)
    skeleton.opset_import.extend(model.opset_import)
    skeleton.functions.extend(model.functions)
    graph = skeleton.graph
    graph.name = model.graph.name
    # Protobuf copies a message in memory; to extend a list it writes messages out and parses them. Methods are taken
    # from the class because a message looks for every name among its fields first.
    add, copy, clear = graph.node.add, onnx.NodeProto.CopyFrom, onnx.NodeProto.ClearField
    for proto in model.graph.node:
        node = add()
        copy(node, proto)
        clear(node, "metadata_props")  # what exporters record is most of a file without weights
        clear(node, "doc_string")
        if node.op_type in WITH_SUBGRAPHS:
            _forget_annotations(node)
        if node.op_type in _SHAPE_OF_INPUT and not node.domain:
            node.CopyFrom(onnx.helper.make_node("Identity", node.input[:1], node.output))
        if node.op_type == "STFT" and all(attribute.name != "onesided" for attribute in node.attribute):
            # onnx forgets the default where it is not written, and infers twice the bins
            node.attribute.append(onnx.helper.make_attribute("onesided", 1))
    graph.input.extend(model.graph.input)
    for output in model.graph.output:
        bare = graph.output.add(name=output.name)
        if output.type.HasField("tensor_type"):
            bare.type.tensor_type.elem_type = output.type.tensor_type.elem_type
        else:
            bare.CopyFrom(output)
    weights: dict[tuple[int, ...], onnx.TensorProto] = {}
    add = graph.initializer.add
    overridable = overridable_names(model.graph, model.ir_version)
    for tensor in model.graph.initializer:
        if tensor.name in overridable:
            continue
        dims = tensor.dims[:]
        if elements(dims) <= SMALL:
            add().CopyFrom(tensor)
        else:
            weight = weights.get((tensor.data_type, *dims))
            if weight is None:
                weight = weights[tensor.data_type, *dims] = _absent(tensor.data_type, dims)
            weight.name = tensor.name
            add().CopyFrom(weight)
    return skeleton


def _forget_annotations(node: onnx.NodeProto) -> None:
    for body in NodeView(node, 0).subgraphs:
        body.ClearField("value_info")
        for output in body.output:
            if output.type.HasField("tensor_type"):
                output.type.tensor_type.ClearField("shape")
        for inner in body.node:
            _forget_annotations(inner)


def _absent(data_type: int, dims: Sequence[int]) -> onnx.TensorProto:
    """A tensor of which only the type is known: inference asks no external tensor for its contents."""
    return onnx.TensorProto(data_type=data_type, dims=dims, data_location=onnx.TensorProto.EXTERNAL)


def _replace_by_initializers(graph: onnx.GraphProto, contents: dict[str, Any]) -> None:
    replaced = [node for node in graph.node if all(name in contents for name in node.output)]
    kept = [node for node in graph.node if not all(name in contents for name in node.output)]
    del graph.node[:]
    graph.node.extend(kept)
    for name in (name for node in replaced for name in node.output):
        graph.initializer.append(onnx.numpy_helper.from_array(contents[name], name))
