"""The plain form computes what the model computed, keeps its signature, and counts what branches capture."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from paddable.errors import RefusedError
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.graph.prepare.normalise import captured, normalise, reads
from paddable.graph.trace import STACK_TRACE
from paddable.padding.deduce.branches import inline_branch

from .models import text

X = np.array([[1.0, -2.0, 3.0]], np.float32)


def operators(model: ir.Model) -> list[str]:
    return [node.op_type for node in ir.traversal.RecursiveGraphIterator(model.graph)]


def assert_same(before: onnx.ModelProto, after: ir.Model, **feeds: np.ndarray) -> None:
    proto = to_proto(after)
    onnx.checker.check_model(proto, full_check=True)
    assert [value.name for value in proto.graph.input] == [value.name for value in before.graph.input]
    assert [value.name for value in proto.graph.output] == [value.name for value in before.graph.output]
    want = ReferenceEvaluator(before).run(None, feeds)
    got = ReferenceEvaluator(proto).run(None, feeds)
    assert all(np.array_equal(a, b) for a, b in zip(want, got, strict=True))


def test_functions_are_inlined_and_traces_survive() -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 18, "mine" : 1]>
        m (float[1,T] x) => (float[1,T] y) { h = mine.Outer(x) y = mine.Inner(h) }
        <domain: "mine", opset_import: ["" : 18]> Inner (a) => (b) { c = Abs(a) b = Exp(c) }
        <domain: "mine", opset_import: ["" : 18, "mine" : 1]> Outer (a) => (b) { c = mine.Inner(a) b = Neg(c) }"""
    )
    proto.functions[0].node[0].metadata_props.add(key=STACK_TRACE, value='File "m.py", line 1, in f')
    proto.graph.node[0].metadata_props.add(key="caller", value="outer")
    model = normalise(read_model(proto))
    assert operators(model) == ["Abs", "Exp", "Neg", "Abs", "Exp"] and not model.functions
    first = next(iter(model.graph))
    assert first.metadata_props == {STACK_TRACE: 'File "m.py", line 1, in f', "caller": "outer"}
    assert_same(proto, model, x=X)


def test_every_spelling_of_a_constant_becomes_an_initialiser() -> None:
    proto = text(
        """m (float[1,3] x) => (float[1,3] y, int64[2] shape) {
            one = Constant <value_float = 1.0> ()
            ones = Constant <value_floats = [1.0, 2.0, 3.0]> ()
            shape = Constant <value_ints = [1, 3]> ()
            inner = Constant <value_ints = [1, 3]> ()
            axis = Constant <value_int = 1> ()
            tensor = Constant <value = float {2.0}> ()
            a = Add(x, one) b = Mul(a, ones) c = Reshape(b, inner) d = CumSum(c, axis) y = Mul(d, tensor)
        }"""
    )
    model = normalise(read_model(proto))
    assert operators(model) == ["Constant", "Add", "Mul", "Reshape", "CumSum", "Mul"]  # the output stays a node
    assert sorted(model.graph.initializers) == ["axis", "inner", "one", "ones", "tensor"]
    assert_same(proto, model, x=X)


def test_copies_go_unless_they_name_an_output() -> None:
    proto = text(
        """m (float[1,T] x) => (float[1,T] y, float[1,T] same, float[1,T] z, float[1,T] z2) {
            a = Identity(x) b = Dropout(a) c = Neg(b) y = Identity(c)
            same = Identity(x)
            z = Abs(x) z2 = Identity(z)
        }"""
    )
    model = normalise(read_model(proto))
    assert operators(model) == ["Neg", "Identity", "Abs", "Identity"]
    assert_same(proto, model, x=X)


def test_dropout_that_trains_or_gives_its_mask_stays() -> None:
    proto = text(
        """m (float[1,T] x) => (float[1,T] y, bool[1,T] mask) {
            ratio = Constant <value = float {0.5}> () train = Constant <value = bool {1}> ()
            a = Dropout(x, ratio, train) b, mask = Dropout(a) y = Neg(b)
        }"""
    )
    assert operators(normalise(read_model(proto))).count("Dropout") == 2


def test_a_branch_keeps_the_copy_that_returns_an_outer_value() -> None:
    proto = text(
        """m (bool c, float[1,T] x) => (float[1,T] y) {
            h = Neg(x)
            y = If (c) <
                then_branch = t () => (float[1,T] a) { a = Identity(h) },
                else_branch = e () => (float[1,T] b) { k = Constant <value = float {3.0}> () b = Mul(h, k) }
            >
        }"""
    )
    model = normalise(read_model(proto))
    assert operators(model).count("Identity") == 1
    for condition in (True, False):
        assert_same(proto, model, c=np.array(condition), x=X)


def test_unused_nodes_and_initialisers_go() -> None:
    proto = text("m (float[1,T] x) => (float[1,T] y) <float[1] w = {1}> { y = Neg(h) dead = Abs(x) h = Exp(x) }")
    model = normalise(read_model(proto))
    assert operators(model) == ["Exp", "Neg"] and not model.graph.initializers


def test_recursive_functions_are_refused_in_one_line() -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 18, "mine" : 1]>
        m (float[1,T] x) => (float[1,T] y) { y = mine.F(x) }
        <domain: "mine", opset_import: ["" : 18, "mine" : 1]> F (a) => (b) { b = mine.F(a) }"""
    )
    with pytest.raises(RefusedError, match="cannot be inlined") as raised:
        normalise(read_model(proto))
    assert "\n" not in str(raised.value)


NESTED = """m (bool c, bool d, float[1,T] x) => (float[1,T] y, float[1,T] z) {
    h = Neg(x) g = Exp(x) a = Abs(x)
    y = If (c) <
        then_branch = t () => (float[1,T] yt) {
            a = Add(h, g)
            yt = If (d) <
                then_branch = tt () => (float[1,T] u) { u = Mul(a, x) },
                else_branch = te () => (float[1,T] v) { v = Sub(a, h) }
            >
        },
        else_branch = e () => (float[1,T] ye) { ye = Identity(x) }
    >
    z = Neg(a)
}"""


def test_captures_are_found_at_every_depth() -> None:
    outer = next(node for node in read_model(text(NESTED)).graph if node.op_type == "If")
    assert [value.name for value in captured(outer)] == ["h", "g", "d", "x"]
    assert [value.name for value in reads(outer)] == ["c", "h", "g", "d", "x"]
    inner = next(node for node in outer.attributes["then_branch"].as_graph() if node.op_type == "If")
    assert [value.name for value in captured(inner)] == ["a", "x", "h"]


@pytest.mark.parametrize("condition", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_a_decided_branch_takes_the_place_of_its_node(condition: bool, second: bool) -> None:
    proto = text(NESTED)
    model = normalise(read_model(proto))
    feeds = {"c": np.array(condition), "d": np.array(second), "x": X}
    for name, decided in (("c", condition), ("d", second)):
        for node in [node for node in model.graph if node.op_type == "If" and node.inputs[0].name == name]:  # type: ignore[union-attr]
            inline_branch(model, node, node.attributes["then_branch" if decided else "else_branch"].as_graph())
    assert "If" not in operators(model)
    assert_same(proto, normalise(model), **feeds)


def test_a_nested_branch_is_inlined_inside_its_branch() -> None:
    proto = text(NESTED)
    model = normalise(read_model(proto))
    outer = next(node for node in model.graph if node.op_type == "If")
    inner = next(node for node in outer.attributes["then_branch"].as_graph() if node.op_type == "If")
    inline_branch(model, inner, inner.attributes["else_branch"].as_graph())
    assert operators(model).count("If") == 1
    assert_same(proto, model, c=np.array(True), d=np.array(False), x=X)


def test_initialisers_of_a_branch_move_with_it() -> None:
    proto = text(
        """m (bool c, float[1,3] x) => (float[1,3] y) <float[1] k = {5.0}> {
            h = Mul(x, k)
            y = If (c) <
                then_branch = t () => (float[1,3] a) <float[1] w = {2.0}> { a = Mul(h, w) },
                else_branch = e () => (float[1,3] b) <float[1] w = {3.0}> { b = Add(h, w) }
            >
        }"""
    )
    model = normalise(read_model(proto))
    node = next(node for node in model.graph if node.op_type == "If")
    inline_branch(model, node, node.attributes["then_branch"].as_graph())
    assert_same(proto, model, c=np.array(True), x=X)
