"""What lint says about whole models, with and without running them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

from paddable.findings import Finding
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.linter import Subject, lint_model
from paddable.linter.rules.frozen_length import FrozenLength
from paddable.linter.rules.length_input_missing import LengthInputMissing
from paddable.linter.site import sites_of


def parse(source: str) -> onnx.ModelProto:
    return onnx.parser.parse_model('<ir_version: 9, opset_import: ["" : 18]>' + source)


def run(model: bytes, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feeds)), strict=True))


def frozen(source: str) -> list[Finding]:
    return lint_model(read_model(parse(source)), runner=run, select=[FrozenLength])


@dataclass(frozen=True)
class Axis:
    input: str
    axis: int


def test_the_model_is_not_changed() -> None:
    model = read_model(parse("m (float[1,T] x) => (float[1,T] y) { dead = Abs(x) a = Identity(x) y = Neg(a) }"))
    before = to_proto(model)
    assert lint_model(model)
    assert to_proto(model) == before


def test_findings_carry_module_and_line_and_come_errors_first() -> None:
    proto = parse(
        """m (float[1,T,8] x) => (float[1,N] y, float[1,T,8] z) <int64[2] s = {1,-1}> {
            z = Neg(x) y = Reshape<allowzero = 1>(x, s)
        }"""
    )
    node = proto.graph.node[1]
    node.name = "/encoder/view"
    node.metadata_props.add(key="pkg.torch.onnx.stack_trace", value='File "model.py", line 7, in forward')
    first, *rest = lint_model(read_model(proto))
    assert (first.code, first.severity, first.op, first.node) == ("SHP102", "warning", "Reshape", "/encoder/view")
    assert first.module == "encoder" and str(first.source) == "model.py:7"
    assert [finding.severity for finding in rest] == ["note"]


def test_declared_axes_replace_the_guess() -> None:
    model = read_model(parse("m (float[T,80] x, float[B,U] style) => (float[T,80] y) { y = Neg(x) }"))
    said = lint_model(model, select=[LengthInputMissing])
    assert [(finding.node, finding.axis) for finding in said] == [("style", 1)]
    said = lint_model(model, select=[LengthInputMissing], declarations=[Axis("x", -2)])
    assert [(finding.node, finding.axis) for finding in said] == [("x", 0)]


@pytest.mark.parametrize(
    "body",
    [
        "m (float[1,T,8] x) => (float[1,T,8] y) { y = Softmax<axis = 1>(x) }",
        # A step of 4 and a least length of 8 are demands of the model, not frozen lengths.
        """m (float[1,T] x) => (float[1,N] y) <int64[3] s = {1,-1,4}, int64[2] back = {1,-1}> {
            a = Reshape(x, s) y = Reshape(a, back) }""",
        "m (float[1,8,T] x) => (float[1,8,N] y) <float[8,8,9] w> { y = Conv(x, w) }",
    ],
)
def test_a_model_that_runs_at_every_length_it_accepts_is_not_frozen(body: str) -> None:
    proto = parse(body.replace("<float[8,8,9] w>", ""))
    if "<float[8,8,9] w>" in body:
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((8, 8, 9), np.float32), "w"))
    assert lint_model(read_model(proto), runner=run, select=[FrozenLength]) == []


def test_a_hidden_frozen_size_is_found_by_running() -> None:
    """The target is computed, so the structure does not show it: 41 steps went in when this was exported."""
    said = frozen(
        """m (float[1,T,4] x) => (float[1,41,2,2] y) <int64[3] tail = {41,2,2}> {
            batch = Shape<start = 0, end = 1>(x) s = Concat<axis = 0>(batch, tail) y = Reshape(x, s)
        }"""
    )
    (finding,) = said
    assert finding.severity == "error" and finding.op == "Reshape"
    assert "runs at 41 steps but not at 42, 85" in finding.leak


def test_a_node_is_told_once_though_structure_and_run_both_show_it() -> None:
    """Named, so that the runtime's message names it."""
    proto = parse("m (float[1,T,2] x) => (float[1,T,2] y) { y = Add(x, table) }")
    proto.graph.node[0].name = "add"
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((50, 2), np.float32), "table"))
    (finding,) = lint_model(read_model(proto), runner=run, select=[FrozenLength])
    assert finding.severity == "error" and "runs at 50 steps" in finding.leak


def test_a_divisor_is_found_without_running_and_two_places_make_it_certain() -> None:
    body = """m (float[1,T,3] x) => (float[1,3] y)
        <int64 a = {0}, int64 d = {1}, int64[1] axis = {1}, int64 n = {30}, float f = {FLOAT}> {
            t = Shape<start = 1, end = 2>(x) k = Squeeze(t) r = Range(a, k, d) l = Less(r, n) c = Cast<to = 1>(l)
            u = Unsqueeze(c, axis) z = Mul(x, u) s = ReduceSum<keepdims = 0>(z, axis) y = Div(s, f)
        }"""
    assert [finding.severity for finding in frozen(body.replace("FLOAT", "30.0"))] == ["error", "error"]
    assert [finding.severity for finding in frozen(body.replace("FLOAT", "29.0"))] == ["warning", "warning"]


def test_kinds_follow_what_branches_capture() -> None:
    """The condition depends on a shape only; the branch reads data, and so does what comes out."""
    model = read_model(
        parse(
            """m (float[1,T] x, int64[1] ilens) => (int64[1] y) <int64[1] four = {4}> {
                n = Shape<start = 1, end = 2>(x) c = Equal(n, four)
                y = If (c) <
                    then_branch = t () => (int64[1] p) { p = Neg(ilens) },
                    else_branch = e () => (int64[1] q) { q = Neg(n) }
                >
            }"""
        )
    )
    sites = sites_of(Subject(model))
    kinds = {name: site.kind(name).name for site in sites for node in site.nodes() for name in node.outputs}
    assert kinds == {"n": "SHAPES", "c": "SHAPES", "p": "DATA", "q": "SHAPES", "y": "DATA"}


def test_a_node_that_no_output_depends_on_is_not_looked_at() -> None:
    model = read_model(
        parse(
            """m (float[1,T,8] x) => (float[1,T,8] y) {
                s = Shape(x) dead = Reshape(x, s) y = Neg(x)
            }"""
        )
    )
    assert [finding.code for finding in lint_model(model)] == ["SIG101"]


def test_equal_nodes_are_told_each() -> None:
    """A runtime merges them; a reader of the file has two lines to change."""
    model = read_model(
        parse(
            """m (float[1,T,8] x) => (float[1,T,8] y, float[1,T,8] z) <int64[2] heads = {8,-1}> {
                s = Shape(x) a = Reshape(x, s) b = Reshape(x, s) y = Neg(a) z = Abs(b)
            }"""
        )
    )
    assert [finding.node for finding in lint_model(model) if finding.code == "SHP101"] == ["a", "b"]


def test_a_node_without_a_name_is_told_once_too() -> None:
    """The runtime is given its output's name, so that its message says which node stopped."""
    (finding,) = frozen(
        "m (float[1,T,8] x) => (float[1,20,2,4] y) <int64[4] s = {1,20,2,4}> { y = Reshape(x, s) }",
    )
    assert finding.severity == "error" and finding.node == "y" and "runs at 20 steps" in finding.leak
