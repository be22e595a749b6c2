"""Every fix leaves nothing of its rule, and the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from paddable.gates.engine import EngineError
from paddable.linter.fix import GraphFix
from paddable.linter.fixing import TOLERANCE, Runner, apply_fixes, name_of, relative_change
from paddable.linter.rule import Match
from paddable.linter.rules.reshape_minus_one_under_allowzero import ReshapeMinusOneUnderAllowzero
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement
from paddable.providers.registry import provider
from paddable.providers.report import fix_for, lint_for
from paddable.providers.rules.depthwise_conv_in_one_dimension import DepthwiseConvInOneDimension
from paddable.providers.rules.is_nan_splits_graph import IsNanSplitsGraph

LOOK = provider("directml").look
FIXES = [fix(LOOK) for fix in provider("directml").fixes]


def parse(text: str) -> onnx.ModelProto:
    """A case of a rule; without a head it is one of a rule about any graph."""
    return onnx.parser.parse_model(text if text.startswith("<") else f'<ir_version: 9, opset_import: ["" : 18]> {text}')


CASES = [pytest.param(fix, text, id=f"{fix.rule.name}-{i}") for fix in FIXES for i, text in enumerate(fix.rule.INVALID)]


@pytest.mark.parametrize(("fix", "text"), CASES)
def test_fix(fix: GraphFix[Any], text: str, run_on_cpu: Runner, feeds_for: Callable[..., Any]) -> None:
    proto = parse(text)
    before = ir.from_proto(proto)
    if not fix.matches(fix.look(before)):
        return  # a form that the rule finds and no fix can repair
    feeds = feeds_for(proto)
    after, report = apply_fixes(before, [fix], run_on_cpu, feeds)
    onnx.checker.check_model(ir.to_proto(after), full_check=True)
    assert not fix.matches(fix.look(after))
    assert report.applied[name_of(type(fix))] <= TOLERANCE
    assert [v.name for v in after.graph.outputs] == [v.name for v in before.graph.outputs]


def test_a_fix_that_changes_numbers_is_taken_back(run_on_cpu: Runner, feeds_for: Callable[..., Any]) -> None:
    class Spoil(GraphFix[Placement]):
        rule = ReshapeMinusOneUnderAllowzero

        def mend(self, model: ir.Model, found: list[tuple[Site[Placement], Match]]) -> None:
            model.graph[0].attributes.pop("allowzero")
            model.graph.append(ir.node("Neg", [model.graph.outputs[0]]))
            spoilt, whole = model.graph[-1].outputs[0], model.graph.outputs[0]
            spoilt.name, spoilt.type, spoilt.shape = "z", whole.type, whole.shape
            model.graph.outputs[0] = spoilt

    proto = parse(ReshapeMinusOneUnderAllowzero.INVALID[0])
    model, report = apply_fixes(ir.from_proto(proto), [Spoil(LOOK)], run_on_cpu, feeds_for(proto))
    assert [node.op_type for node in model.graph] == ["Reshape"]
    assert not report.applied and "of scale" in report.refused["spoil"]


def test_relative_change() -> None:
    one = np.array([1.0, np.nan, np.inf], np.float32)
    assert relative_change(one, one) == 0
    assert relative_change(one, np.array([1.0, 0.0, np.inf], np.float32)) == float("inf")
    assert relative_change(np.array([2.0]), np.array([1.0])) == 0.5
    assert relative_change(np.array([1]), np.array([2])) == float("inf")


def test_every_fix_repairs_one_of_its_cases() -> None:
    for fix in FIXES:
        models = [ir.from_proto(parse(text)) for text in fix.rule.INVALID]
        assert any(fix.matches(fix.look(model)) for model in models), name_of(type(fix))


def test_is_nan_on_openvino(run_on_cpu: Runner) -> None:
    proto = onnx.parser.parse_model(IsNanSplitsGraph.INVALID[1])
    feeds = [{"x": np.array([[0, 1, 2, 3], [-np.inf] * 4], np.float32)}]
    model, report = fix_for(ir.from_proto(proto), "openvino", run_on_cpu, feeds)
    assert report.applied == {"compare with itself": 0.0}
    assert [node.op_type for node in model.graph] == ["Softmax", "Equal", "Not", "Where"]
    assert (run_on_cpu(model, feeds)[0][0][1] == 0).all()


def test_images_are_sampled_before_opset_20(run_on_cpu: Runner) -> None:
    text = """<ir_version: 9, opset_import: ["" : 20]>
        a (float[1, 2, 5, %s6] x, float[1, 3, 4, %s%d] g) => (float[1, 2, 3, %s4] y) {
        y = GridSample<mode = "cubic">(x, g) }"""
    random = np.random.default_rng(0)
    feed = {"x": random.standard_normal((1, 2, 5, 6)), "g": random.uniform(-1.2, 1.2, (1, 3, 4, 2))}
    feeds = [{name: array.astype(np.float32) for name, array in feed.items()}]
    image = ir.from_proto(onnx.parser.parse_model(text % ("", "", 2, "")))
    model, report = fix_for(image, "directml", run_on_cpu, feeds)
    assert report.applied == {"convert opset": 0.0} and model.graph[0].attributes["mode"].as_string() == "bicubic"
    volume = ir.from_proto(onnx.parser.parse_model(text % ("7, ", "8, ", 3, "8, ")))
    assert "rank 5" in fix_for(volume, "directml")[1].refused["convert opset"]


def test_every_node_of_one_operator_is_repaired(run_on_cpu: Runner, feeds_for: Callable[..., Any]) -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 20]> agraph (float[4] x) => (float[4] y) {
        a = Gelu(x)
        b = Gelu(a)
        y = Gelu(b)
        }"""
    )
    model, report = apply_fixes(ir.from_proto(proto), FIXES, run_on_cpu, feeds_for(proto))
    assert "expand operators" in report.applied and not report.refused
    assert "Gelu" not in {node.op_type for node in model.graph}


def test_depthwise_convolution_in_two_dimensions(run_on_cpu: Runner, feeds_for: Callable[..., Any]) -> None:
    for text in DepthwiseConvInOneDimension.INVALID:
        proto = onnx.parser.parse_model(text)
        model, report = fix_for(ir.from_proto(proto), "cpu", run_on_cpu, feeds_for(proto, sizes=(5, 9)))
        assert report.applied["widen depthwise conv"] == 0
        assert [node.op_type for node in model.graph] == ["Unsqueeze", "Unsqueeze", "Conv", "Squeeze"]


def test_a_node_inside_a_branch_is_repaired(run_on_cpu: Runner, feeds_for: Callable[..., Any]) -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 18]>
        a (bool c, float[2, 6] x) => (float[3, 4] y) <int64[2] s = {-1, 4}> {
        y = If(c) <then_branch = t () => (float[3, 4] p) { p = Reshape<allowzero: int = 1>(x, s) },
            else_branch = e () => (float[3, 4] q) { q = Reshape(x, s) }>
        }"""
    )
    model, report = fix_for(ir.from_proto(proto), "directml", run_on_cpu, feeds_for(proto))
    assert report.applied == {"drop allowzero": 0.0} and not report.refused
    assert not any("allowzero" in node.attributes for graph in model.graphs() for node in graph)
    assert "allowzero" in str(proto), "the model that was given is not changed"


NORMALISED = """<ir_version: 10, opset_import: ["" : 21]> a (float[1, 4, 8] x, float[4, 4, 3] w) => (float[1, 4, 6] y)
    <float[4] s = {1, 2, 3, 4}, float[4] b = {0, 1, 0, 1}> {
    r = GroupNormalization<num_groups = 2>(x, s, b) c = Conv(r, w) y = Relu(c) }"""


@pytest.mark.parametrize(
    "text",
    [
        NORMALISED,
        """<ir_version: 11, opset_import: ["" : 23]> a (float[1, 2, 4] x) => (float[1, 2, 4] y)
            <float[4] s = {1, 2, 3, 4}> { y = RMSNormalization(x, s) }""",
        """<ir_version: 11, opset_import: ["" : 23]> a (float[1, 1, 2, 4] x) => (float[1, 1, 2, 4] y)
            <float[1, 2, 2] c = {1, 0.5, 0, 1}, float[1, 2, 2] s = {0, 0.8, 1, 0}> { y = RotaryEmbedding(x, c, s) }""",
    ],
)
def test_operators_with_constant_inputs_expand(text: str, run_on_cpu: Runner, feeds_for: Callable[..., Any]) -> None:
    proto = onnx.parser.parse_model(text)
    model, report = fix_for(ir.from_proto(proto), "directml", run_on_cpu, feeds_for(proto))
    assert report.applied["expand operators"] is not None and not report.refused
    assert not {node.op_type for node in model.graph} & {node.op_type for node in proto.graph.node[:1]}


def test_sizes_are_known_behind_operators_without_inference() -> None:
    assert "TGT103" not in {finding.code for finding in lint_for(onnx.parser.parse_model(NORMALISED), "cuda").findings}


def test_a_fix_whose_result_does_not_run_is_left_out(run_on_cpu: Runner, feeds_for: Callable[..., Any]) -> None:
    def runner(model: ir.Model, feeds: Any) -> Any:
        if all(node.op_type != "Gelu" for node in model.graph):
            raise EngineError("cannot load it")
        return run_on_cpu(model, feeds)

    proto = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 20]> a (float[4] x) => (float[4] y) { y = Gelu(x) }'
    )
    model, report = fix_for(ir.from_proto(proto), "directml", runner, feeds_for(proto))
    assert report.refused == {"expand operators": "its result does not run: cannot load it"}
    assert model.graph[0].op_type == "Gelu"


def test_a_gate_inside_a_function_of_the_model_is_repaired(run_on_cpu: Runner, feeds_for: Callable[..., Any]) -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
        a (float[1, 8, 3] x) => (float[1, 4, 3] y) { y = own.Gate(x) }
        <domain: "own", opset_import: ["" : 18]> Gate (x) => (y) {
            p, q = Split<axis = 1, num_outputs = 2>(x)
            s = Sigmoid(q)
            y = Mul(p, s)
        }"""
    )
    assert "DML102" in {finding.code for finding in lint_for(proto, "directml").findings}
    model, report = fix_for(ir.from_proto(proto), "directml", run_on_cpu, feeds_for(proto))
    assert report.applied == {"replace split with slices": 0.0}
    assert not model.functions and "Split" not in {node.op_type for node in model.graph}
