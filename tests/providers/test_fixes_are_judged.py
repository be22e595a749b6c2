"""What is asked of a fix before it is applied: a valid graph, the same numbers, and no traceback whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from paddable.linter.fix import GraphFix, NodeFix
from paddable.linter.fixing import FixReport, Runner, apply_fixes
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.directml.fixes.split_variadic import SplitVariadic
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.operator_without_kernel import OperatorWithoutKernel
from paddable.providers.directml.rules.variadic_arithmetic import VariadicArithmetic
from paddable.providers.registry import provider
from paddable.providers.report import fix_for

LOOK = provider("directml").look

SUM = '<ir_version: 10, opset_import: ["" : 18]> a (float[4] x) => (float[4] y) { y = Sum(x, x, x) }'
SUM_AND_MEAN = SUM.replace("y = Sum", "m = Mean(x, x, x) y = Sum")


def _with(fix: GraphFix[Any], text: str, *more: Any) -> tuple[list[str], FixReport]:
    model, report = apply_fixes(ir.from_proto(onnx.parser.parse_model(text)), [fix], *more)
    return [node.op_type for node in model.graph], report


class Broken(NodeFix[Placement]):
    """Gives what its subclass says."""

    rule = VariadicArithmetic
    exact = True
    given: ClassVar[Callable[[ir.Node], ir.Node]]

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        new = type(self).given(node)
        parts.replace(node, [new], [new.outputs[0]])


class Invalid(Broken):
    given = staticmethod(lambda node: ir.node("Unsqueeze", [node.inputs[0]]))


class Raises(Broken):
    given = staticmethod(lambda node: {}[node.name])


class Nothing(GraphFix[Placement]):
    rule = VariadicArithmetic

    def mend(self, model: ir.Model, found: list[tuple[Site[Placement], Match]]) -> None:
        pass


@pytest.mark.parametrize(
    ("fix", "why"),
    [
        (Invalid(LOOK), "not a valid graph: Node(node_unsqueeze) with schema(::Unsqueeze:13)"),
        (Raises(LOOK), "a mistake in it; report it (KeyError"),
        (Nothing(LOOK), "1 places that DML113 finds are left"),
    ],
)
def test_a_fix_that_fails_is_told_and_left_out(fix: Any, why: str, run_on_cpu: Runner) -> None:
    ops, report = _with(fix, SUM.replace("y = Sum", "[node] y = Sum"), run_on_cpu, [])
    assert ops == ["Sum"] and not report.applied
    (told,) = report.refused.values()
    assert why in told


def test_without_a_sample_only_exact_fixes_are_applied(run_on_cpu: Runner) -> None:
    assert (
        "could not be compared" in _with(SplitVariadic(LOOK), SUM_AND_MEAN, run_on_cpu, [])[1].refused["split variadic"]
    )
    crop = """<ir_version: 10, opset_import: ["" : 18]> a (float[1, 8] x) => (float[1, 7] y)
        <int64[4] p = {0, 0, 0, -1}> { y = Pad(x, p) }"""
    assert fix_for(ir.from_proto(onnx.parser.parse_model(crop)), "directml", run_on_cpu)[1].applied == {
        "replace negative pad": None
    }


@pytest.mark.parametrize(("op", "repaired"), [("Mean", 0), ("Sum", 0), ("Max", 1)])
def test_a_chain_of_halves_would_round(op: str, repaired: int) -> None:
    text = SUM.replace("float", "float16").replace("Sum", op)
    model = ir.from_proto(onnx.parser.parse_model(text))
    assert len(SplitVariadic(LOOK).matches(SplitVariadic(LOOK).look(model))) == repaired


@pytest.mark.parametrize("opset", [11, 12, 13])
def test_axes_are_written_as_the_opset_has_them(opset: int, run_on_cpu: Runner) -> None:
    head = f'<ir_version: 8, opset_import: ["" : {opset}]> a '
    grown = """(float[1, 2, 9] x, float[2, 3, 4] w) => (float[1, 3, M] y) {
        y = ConvTranspose<strides = [2], output_padding = [1]>(x, w) }"""
    depthwise = "(float[1, 4, 9] x, float[4, 1, 3] w) => (float[1, 4, 7] y) { y = Conv<group: int = 4>(x, w) }"
    for target, text in ("directml", grown), ("cpu", depthwise):
        model, report = fix_for(ir.from_proto(onnx.parser.parse_model(head + text)), target, run_on_cpu, [])
        assert not report.refused and [node.op_type for node in model.graph][::3] == ["Unsqueeze", "Squeeze"]
        onnx.checker.check_model(ir.to_proto(model), full_check=True)


@pytest.mark.parametrize("pads", [(-5, 3), (5, -7), (-2, -1), (-3, 0)])
def test_a_crop_may_be_deeper_than_the_axis(pads: tuple[int, int], run_on_cpu: Runner) -> None:
    text = f"""<ir_version: 10, opset_import: ["" : 18]> a (float[T] x) => (float[M] y)
        <int64[2] p = {{{pads[0]}, {pads[1]}}}> {{ y = Pad(x, p) }}"""
    feeds = [{"x": np.arange(1, size + 1, dtype=np.float32)} for size in range(max(3, -sum(pads)), 12)]
    model, report = fix_for(ir.from_proto(onnx.parser.parse_model(text)), "directml", run_on_cpu, feeds)
    assert report.applied == {"replace negative pad": 0.0}
    for feed, (answer,) in zip(feeds, run_on_cpu(model, feeds), strict=True):
        assert answer.size == feed["x"].size + sum(pads)


GATES = """<ir_version: 10, opset_import: ["" : 18]> a (float[1, 8] x) => (float[1, 4] y, float[1, 4] z) {
    p, q = Split<axis: int = 1, num_outputs: int = 2>(x) s = Sigmoid(q) t = Sigmoid(p) y = Mul(p, s) z = Mul(q, t) }"""
PRODUCTS = GATES.replace("t = Sigmoid(p)", "").replace("Mul(q, t)", "Mul(s, p)")
BEHIND_IDENTITY = """<ir_version: 10, opset_import: ["" : 18]> a (float[1, 8] x) => (float[1, 8] y) {
    i = Identity(x) a = HardSwish(i) b = HardSwish(x) c = Add(a, b) y = Tanh(c) }"""
BEHIND_CAST = """<ir_version: 10, opset_import: ["" : 18]> a (float[1, 8] x) => (float[1, 8] y) {
    r = Relu(x) i = Cast<to: int = 1>(r) m = Mish(i) y = Tanh(m) }"""
BEHIND_TWIN = """<ir_version: 10, opset_import: ["" : 18]> a (float[1, 8] x) => (float[1, 8] y) {
    r = Relu(x) q = Relu(x) a = HardSwish(q) b = Mish(r) c = Add(a, b) y = Tanh(c) }"""
SEVENTY = range(70)
EQUAL = f"""<ir_version: 10, opset_import: ["" : 18]> a (float[1, 8] x) => (float[1, 8] y) {{
    {" ".join(f"a{i} = Sum(x, x, x)" for i in SEVENTY)} y = Max({", ".join(f"a{i}" for i in SEVENTY)}) }}"""


@pytest.mark.parametrize("text", [GATES, PRODUCTS, BEHIND_IDENTITY, BEHIND_CAST, BEHIND_TWIN, EQUAL])
def test_nodes_that_a_view_names_otherwise_are_repaired_once(
    text: str, run_on_cpu: Runner, feeds_for: Callable[..., Any]
) -> None:
    proto = onnx.parser.parse_model(text)
    model, report = fix_for(ir.from_proto(proto), "directml", run_on_cpu, feeds_for(proto))
    assert report.applied and not report.refused
    assert not {"Split", "HardSwish", "Mish"} & {node.op_type for node in model.graph}
    assert all(len(node.inputs) <= 2 for node in model.graph if node.op_type in ("Sum", "Max"))


def test_a_graph_without_a_name_gets_one(run_on_cpu: Runner) -> None:
    proto = onnx.parser.parse_model(GATES)
    proto.graph.name = ""
    model, report = fix_for(ir.from_proto(proto), "directml", run_on_cpu, [])
    assert report.applied
    onnx.checker.check_model(ir.to_proto(model))


@pytest.mark.parametrize(
    ("opset", "text", "why"),
    [
        (
            24,
            """(float[2, 2, 4, 8] q, float[2, 2, 6, 8] k, float[2, 2, 6, 8] v, int64[2] n) => (float[2, 2, 4, 8] y) {
            y = Attention(q, k, v, , , , n) }""",
            "; it finds no type for an input that is left out; ",
        ),
        (
            22,
            """(float[1, 2, 9, 9] x) => (float[1, 2, N, M] y) {
            y = AveragePool<kernel_shape = [2, 2], dilations = [2, 2]>(x) }""",
            "; Unrecognized attribute: dilations for operator AveragePool; ",
        ),
    ],
)
def test_a_reason_is_a_whole_sentence(opset: int, text: str, why: str) -> None:
    proto = onnx.parser.parse_model(f'<ir_version: 11, opset_import: ["" : {opset}]> a {text}')
    (told,) = fix_for(ir.from_proto(proto), "directml")[1].refused.values()
    assert why in told


def test_each_node_is_repaired_once() -> None:
    """Else it would see a node that it has taken away."""
    proto = onnx.parser.parse_model(BEHIND_IDENTITY)

    class Counts(NodeFix[Placement]):
        rule = OperatorWithoutKernel
        seen: ClassVar[list[ir.Node]] = []

        def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
            self.seen.append(node)

    fix = Counts(LOOK)
    model = ir.from_proto(proto)
    found: Sequence[Any] = fix.matches(fix.look(model))
    fix.mend(model, [*found, *found])
    assert [node.op_type for node in Counts.seen] == ["HardSwish", "HardSwish"]
