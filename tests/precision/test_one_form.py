"""Native and what is padded come from exporters in many forms; a precision finds the same weights in both."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from paddable import api
from paddable.api.opened import open_model

from .networks import model

RANDOM = np.random.default_rng(0)
A, B = ((RANDOM.standard_normal(shape) / 9).astype(np.float32) for shape in ((80, 64), (64, 32)))


def with_constant_nodes() -> onnx.ModelProto:
    made = network()
    weights = list(made.graph.initializer)
    del made.graph.initializer[:]
    for weight in weights:
        made.graph.node.insert(0, helper.make_node("Constant", [], [weight.name], value=weight))
    return made


def with_initialisers_as_inputs() -> onnx.ModelProto:
    made = network()
    made.ir_version = 3
    for weight in made.graph.initializer:
        made.graph.input.append(helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims))
    return made


def with_branches() -> onnx.ModelProto:
    made = network()
    branches = [
        helper.make_graph(
            [helper.make_node("MatMul", ["h", "b"], ["t"]), helper.make_node(operator, ["t"], [name])],
            name,
            [],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)],
        )
        for operator, name in (("Tanh", "then"), ("Neg", "else"))
    ]
    del made.graph.node[-1]
    made.graph.node.append(helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1]))
    made.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    return made


def network() -> onnx.ModelProto:
    return model("h = MatMul(x, a) y = MatMul(h, b)", "float[1, T, 80] x", "float[1, T, 32] y", a=A, b=B)


FORMS = {"constants": with_constant_nodes, "inputs": with_initialisers_as_inputs, "branches": with_branches}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_weights_takes_each_precision(tmp_path, form):
    heard: list[str] = []
    precisions = "fp16,int8,int8-dynamic"
    place = api.convert(
        FORMS[form](),
        ["x:1=T"],
        containers=[16],
        precision=precisions,
        out=tmp_path / "made",
        gate_lengths=2,
        on_message=heard.append,
    )
    assert not [line for line in heard if "nothing" in line or "is gained" in line]
    for precision in precisions.split(","):
        (file,) = place.glob(f"*-{precision}-16.onnx")
        graph = onnx.load(file, load_external_data=False).graph
        wide = [w.name for w in graph.initializer if w.data_type == TensorProto.FLOAT and np.prod(w.dims) >= 1024]
        assert wide == [] and {value.name for value in graph.input} <= {"x", "c", "ilens"}
    assert api.verify(place, limit=2).ok


def test_an_input_with_a_value_stays_one_where_it_is_declared():
    made = model(
        "h = MatMul(x, a) m = Unsqueeze(k, two) y = Where(m, h, zero)", "float[1, T, 80] x, bool[1, T] k",
        "float[1, T, 64] y", a=A, zero=np.float32(0), two=np.array([2]),
    )  # fmt: skip
    opened = open_model(made, ["x:1=T", "k:1=T"])
    given = {value.name: value for value in opened.model.graph.inputs}
    given["k"].const_value = opened.model.graph.initializers["zero"].const_value
    opened.model.graph.register_initializer(given["k"])
    assert opened.in_one_form() is opened
