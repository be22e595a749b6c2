"""An encoder of 20 blocks, random weights, and faults that people really made, planted into any of its blocks."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper, numpy_helper

BLOCKS, WIDTH, HEADS, INNER = 20, 8, 2, 16
CONTAINER, LENGTH = 40, 23


class _Graph:
    """Nodes and weights of a model under construction."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(7)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, op: str, inputs: list[str], name: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, inputs, [f"{name}_out"], name=name, **attributes))
        return f"{name}_out"

    def weight(self, name: str, *shape: int, around: float = 0.0, spread: float | None = None) -> str:
        spread = shape[-2] ** -0.5 if spread is None and len(shape) > 1 else spread or 0.1
        return self.constant(name, (around + spread * self.rng.standard_normal(shape)).astype(np.float32))

    def constant(self, name: str, array: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def linear(self, x: str, name: str, rows: int, columns: int) -> str:
        return self.node("MatMul", [x, self.weight(name.replace("/", "."), rows, columns)], name)

    def norm(self, x: str, name: str) -> str:
        scale = self.constant(f"{name}.scale", np.ones(WIDTH, np.float32))
        bias = self.constant(f"{name}.bias", np.zeros(WIDTH, np.float32))
        return self.node("LayerNormalization", [x, scale, bias], name, axis=-1)


def native() -> onnx.ModelProto:
    """Input x float[1, T, 8] of features; output y float[1, T + 2, 8], its frames behind two prompts.

    A block: attention beside a memory of 5 frames, a gate made of the mean over time, and a feed-forward.
    """
    g = _Graph()
    x = g.node("Add", ["x", g.weight("cmvn.shift", WIDTH)], "cmvn/shift")
    x = g.node("Mul", [x, g.weight("cmvn.scale", WIDTH, around=1.0)], "cmvn/scale")
    table = g.weight("prompts", 16, WIDTH, spread=1.0)
    one = g.node("Gather", [table, g.constant("language", np.array([[3]], np.int64))], "prompt/language")
    two = g.node("Gather", [table, g.constant("event", np.array([[11]], np.int64))], "prompt/event")
    x = g.node("Concat", [one, two, x], "prompt/concat", axis=1)
    g.constant("time", np.array([1], np.int64))
    g.constant("half", np.array([0.5], np.float32))
    g.constant("split", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
    g.constant("join", np.array([0, 0, WIDTH], np.int64))
    for k in range(BLOCKS):
        x = _block(g, x, f"block.{k}")
    g.nodes[-1].output[0] = "y"
    graph = helper.make_graph(
        g.nodes,
        "encoder",
        [helper.make_tensor_value_info("x", 1, [1, "T", WIDTH])],
        [helper.make_tensor_value_info("y", 1, [1, "frames", WIDTH])],
        g.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    return model


def _block(g: _Graph, x: str, p: str) -> str:
    normal = g.norm(x, f"{p}/norm1")
    q, k, v = (g.linear(normal, f"{p}/{part}", WIDTH, WIDTH) for part in "qkv")
    a, b, c = (g.node("Reshape", [part, "split"], f"{p}/split_{i}") for i, part in zip("qkv", (q, k, v), strict=True))
    a = g.node("Transpose", [a], f"{p}/turn_q", perm=[0, 2, 1, 3])
    b = g.node("Transpose", [b], f"{p}/turn_k", perm=[0, 2, 3, 1])
    c = g.node("Transpose", [c], f"{p}/turn_v", perm=[0, 2, 1, 3])
    weights = g.node("Softmax", [g.node("MatMul", [a, b], f"{p}/scores")], f"{p}/softmax", axis=-1)
    context = g.node("Transpose", [g.node("MatMul", [weights, c], f"{p}/context")], f"{p}/turn", perm=[0, 2, 1, 3])
    context = g.linear(g.node("Reshape", [context, "join"], f"{p}/join"), f"{p}/out", WIDTH, WIDTH)
    turned = g.node("Transpose", [v], f"{p}/turn_m", perm=[0, 2, 1])
    kernel = g.weight(f"{p}.memory", WIDTH, 1, 5, spread=0.4)
    memory = g.node("Conv", [turned, kernel], f"{p}/memory", group=WIDTH, pads=[2, 2])
    memory = g.node("Transpose", [memory], f"{p}/back_m", perm=[0, 2, 1])
    x = g.node("Add", [x, g.node("Add", [context, memory], f"{p}/mix")], f"{p}/residual1")
    pooled = g.node("ReduceMean", [x, "time"], f"{p}/pool", keepdims=1)
    gate = g.node("Sigmoid", [g.linear(pooled, f"{p}/squeeze", WIDTH, WIDTH)], f"{p}/gate")
    x = g.node("Mul", [x, g.node("Add", [gate, "half"], f"{p}/open")], f"{p}/scaled")
    inner = g.node("Relu", [g.linear(g.norm(x, f"{p}/norm2"), f"{p}/up", WIDTH, INNER)], f"{p}/relu")
    return g.node("Add", [x, g.linear(inner, f"{p}/down", INNER, WIDTH)], f"{p}/residual2")


def node_of(model: onnx.ModelProto, name: str) -> onnx.NodeProto:
    """The node of that name."""
    return next(node for node in model.graph.node if node.name == name)


def weight_of(model: onnx.ModelProto, name: str) -> onnx.TensorProto:
    """The weight of that name."""
    return next(tensor for tensor in model.graph.initializer if tensor.name == name)


def changed(model: onnx.ModelProto, weight: str, change: Callable[[np.ndarray], None]) -> onnx.ModelProto:
    """The model with a weight changed in place."""
    model = copy.deepcopy(model)
    tensor = weight_of(model, weight)
    array = numpy_helper.to_array(tensor).copy()
    change(array)
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return model


def unmasked(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """The padded model in which a node reads what the mask in front of it should have selected."""
    model = copy.deepcopy(model)
    reader = node_of(model, name)
    mask = _maker(model, reader.input[0])
    assert mask.op_type == "Where" and mask.name.startswith("paddable/fill")
    reader.input[0] = mask.input[1]
    return model


def mean_over_container(model: onnx.ModelProto, block: str) -> onnx.ModelProto:
    """The padded model in which the mean of a block counts the padding."""
    model = copy.deepcopy(model)
    division = _maker(model, node_of(model, f"{block}/squeeze").input[0])
    pool = helper.make_node(
        "ReduceMean", [f"{block}/residual1_out", "time"], division.output, f"{block}/pool", keepdims=1
    )
    division.CopyFrom(pool)
    model.graph.initializer.append(numpy_helper.from_array(np.array([1], np.int64), "time"))
    return model


def without_feed_forward(model: onnx.ModelProto, block: str) -> onnx.ModelProto:
    """The model in which what reads a block's result reads what its feed-forward was to be added to."""
    model = copy.deepcopy(model)
    dropped = {f"{block}/{part}" for part in ("norm2", "up", "relu", "down", "residual2")}
    result, x = node_of(model, f"{block}/residual2").output[0], node_of(model, f"{block}/residual2").input[0]
    kept = [node for node in model.graph.node if node.name not in dropped]
    for node in kept:
        node.input[:] = [x if name == result else name for name in node.input]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


def swapped(model: onnx.ModelProto, name: str, i: int, j: int) -> onnx.ModelProto:
    """The model in which two inputs of a node have changed places."""
    model = copy.deepcopy(model)
    node = node_of(model, name)
    node.input[i], node.input[j] = node.input[j], node.input[i]
    return model


def loud(model: onnx.ModelProto, block: str) -> onnx.ModelProto:
    """The same function, but for the feed-forward's inner values, which pass 65,504, where half precision ends."""
    model = changed(model, f"{block}/norm2.scale", lambda a: np.multiply(a, 64, out=a))
    model = changed(model, f"{block}.up", lambda a: np.multiply(a, 8192, out=a))
    return changed(model, f"{block}.down", lambda a: np.divide(a, 64 * 8192, out=a))


def without(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """The model in which what reads a node's result reads the node's first input."""
    model = copy.deepcopy(model)
    dropped = node_of(model, name)
    for node in model.graph.node:
        node.input[:] = [dropped.input[0] if value == dropped.output[0] else value for value in node.input]
    model.graph.node.remove(dropped)
    return model


def along(model: onnx.ModelProto, name: str, axis: int) -> onnx.ModelProto:
    """The model in which a node works along another axis."""
    model = copy.deepcopy(model)
    next(each for each in node_of(model, name).attribute if each.name == "axis").i = axis
    return model


def reordered(model: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    """The model with its nodes in another topological order."""
    model = copy.deepcopy(model)
    rng = np.random.default_rng(seed)
    waiting, made = list(model.graph.node), {value for node in model.graph.node for value in node.output}
    del model.graph.node[:]
    while waiting:
        ready = [i for i, node in enumerate(waiting) if made.isdisjoint(node.input)]
        node = waiting.pop(rng.choice(ready))
        made.difference_update(node.output)
        model.graph.node.append(node)
    return model


def scrambled(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, str]]:
    """The model with a random name for every value, weight and node but for inputs and outputs, and the new names."""
    model = copy.deepcopy(model)
    rng = np.random.default_rng(1)
    kept = {value.name for value in (*model.graph.input, *model.graph.output)}
    names: dict[str, str] = {}

    def new(name: str) -> str:
        if not name or name in kept:
            return name
        return names.setdefault(name, f"n{rng.integers(1 << 60):x}")

    for tensor in model.graph.initializer:
        tensor.name = new(tensor.name)
    nodes = {}
    for node in model.graph.node:
        node.input[:] = [new(name) for name in node.input]
        node.output[:] = [new(name) for name in node.output]
        nodes[node.name] = f"node{rng.integers(1 << 60):x}"
        node.name = nodes[node.name]
    del model.graph.value_info[:]
    return model, nodes


def _maker(model: onnx.ModelProto, value: str) -> onnx.NodeProto:
    return next(node for node in model.graph.node if value in node.output)
