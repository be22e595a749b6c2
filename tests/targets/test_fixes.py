"""Every fix leaves nothing of its rule, and the same numbers."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from tests.targets.feeds import feeds_for, run_on_cpu

from paddable.targets.directml.fix import DirectMLGraphFix
from paddable.targets.directml.fixes import FIXES
from paddable.targets.directml.rules.reshape_minus_one_with_allowzero import ReshapeMinusOneWithAllowzero
from paddable.targets.directml.site import Site
from paddable.targets.fixing import TOLERANCE, apply_fixes, name_of, relative_change
from paddable.targets.rule import Match

CASES = [pytest.param(fix, text, id=f"{fix.rule.name}-{i}") for fix in FIXES for i, text in enumerate(fix.rule.INVALID)]


@pytest.mark.parametrize(("fix", "text"), CASES)
def test_fix(fix: DirectMLGraphFix, text: str) -> None:
    proto = onnx.parser.parse_model(text)
    before = ir.from_proto(proto)
    feeds = feeds_for(proto)
    after, report = apply_fixes(before, [fix], run_on_cpu, feeds)
    if not report.applied:
        assert not fix.matches(fix.look(before))
        return
    onnx.checker.check_model(ir.to_proto(after), full_check=True)
    assert not fix.matches(fix.look(after))
    assert report.applied[name_of(fix)] <= TOLERANCE
    assert [v.name for v in after.graph.outputs] == [v.name for v in before.graph.outputs]


def test_a_fix_that_changes_numbers_is_taken_back() -> None:
    class Spoil(DirectMLGraphFix):
        rule = ReshapeMinusOneWithAllowzero()

        def mend(self, model: ir.Model, found: list[tuple[Site, Match]]) -> None:
            model.graph[0].attributes.pop("allowzero")
            model.graph.append(ir.node("Neg", [model.graph.outputs[0]]))
            model.graph.outputs[0] = model.graph[-1].outputs[0]

    proto = onnx.parser.parse_model(ReshapeMinusOneWithAllowzero.INVALID[0])
    model, report = apply_fixes(ir.from_proto(proto), [Spoil()], run_on_cpu, feeds_for(proto))
    assert [node.op_type for node in model.graph] == ["Reshape"]
    assert not report.applied and "of scale" in report.refused["spoil"]


def test_relative_change() -> None:
    one = np.array([1.0, np.nan, np.inf], np.float32)
    assert relative_change(one, one) == 0
    assert relative_change(one, np.array([1.0, 0.0, np.inf], np.float32)) == float("inf")
    assert relative_change(np.array([2.0]), np.array([1.0])) == 0.5
    assert relative_change(np.array([1]), np.array([2])) == float("inf")


def test_every_node_of_one_operator_is_repaired() -> None:
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
