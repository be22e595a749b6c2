"""Values that another exporter lays out otherwise on their way: told is where they come from, not the layout."""

from __future__ import annotations

import copy
from pathlib import Path

import onnx
import pytest
from onnx import helper

import paddable

from . import planted

Model = onnx.ModelProto
BLOCK = "block.4"


def turned_twice(model: Model) -> Model:
    """The model of an exporter that turns the key as it does query and value, and once more."""
    model = copy.deepcopy(model)
    for k in range(planted.BLOCKS):
        node = planted.node_of(model, f"block.{k}/turn_k")
        made, node.output[0] = node.output[0], f"{node.output[0]}_first"
        node.attribute[0].ints[:] = [0, 2, 1, 3]
        again = helper.make_node("Transpose", node.output, [made], f"block.{k}/turn_k_again", perm=[0, 1, 3, 2])
        model.graph.node.insert(list(model.graph.node).index(node) + 1, again)
    return planted.scrambled(planted.reordered(model, 3))[0]


def exchanged_weights(model: Model) -> Model:
    model = copy.deepcopy(model)
    q, k = (planted.weight_of(model, f"{BLOCK}.{part}") for part in "qk")
    q.name, k.name = k.name, q.name
    return model


def exchanged_values(model: Model) -> Model:
    model = copy.deepcopy(model)
    q, k = (planted.node_of(model, f"{BLOCK}/split_{part}") for part in "qk")
    q.input[0], k.input[0] = k.input[0], q.input[0]
    return model


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("fault", [exchanged_weights, exchanged_values])
def test_query_and_key_that_were_exchanged(tmp_path: Path, native: Model, fault: object, turned: bool) -> None:
    assert callable(fault)
    onnx.save(native, tmp_path / "native.onnx")
    onnx.save(turned_twice(native), tmp_path / "other.onnx")
    assert paddable.probe(tmp_path / "other.onnx", tmp_path / "native.onnx", ["x:1=T"]).ok
    onnx.save(turned_twice(fault(native)), tmp_path / "other.onnx")
    pair = (tmp_path / "other.onnx", tmp_path / "native.onnx")
    fork = paddable.probe(*(pair[::-1] if turned else pair), ["x:1=T"]).fork
    assert fork is not None and (fork.op, fork.cause.kind) == ("MatMul", "wiring"), fork
    assert f"{BLOCK}/scores" in (fork.node, fork.other) and "is what the second graph reads as" in fork.cause.text
