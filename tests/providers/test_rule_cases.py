"""Every rule of the providers is silent on its VALID graphs and speaks on its INVALID ones."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from paddable.linter.registry import codes_of
from paddable.linter.rule import HEADINGS, Match, Rule
from paddable.linter.rules import BUILT_IN as GENERAL_RULES
from paddable.linter.run import matches_of
from paddable.linter.view.folding import view_model
from paddable.providers.directml.rules.opset_outside_sweet_spot import OpsetOutsideSweetSpot
from paddable.providers.provider import Provider
from paddable.providers.registry import BUILT_IN, provider
from paddable.providers.rules import FACT_RULES
from paddable.providers.rules.operator_unsupported_on_target import OperatorUnsupportedOnTarget
from paddable.providers.rules.opset_above_target import OpsetAboveTarget

ASKED: list[tuple[type[Rule[Any]], tuple[Provider, ...]]] = [
    *((rule, BUILT_IN) for rule in FACT_RULES),
    # A rule about any graph has its cases in tests/lint, also where a provider lists it.
    *((rule, (record,)) for record in BUILT_IN for rule in record.rules if rule not in GENERAL_RULES),
]
VALID = [pytest.param(r, on, text, id=f"{r.name}-{i}") for r, on in ASKED for i, text in enumerate(r.VALID)]
INVALID = [pytest.param(r, on, text, id=f"{r.name}-{i}") for r, on in ASKED for i, text in enumerate(r.INVALID)]


def _takes_less(rule: type[Rule[Any]], record: Provider, text: str) -> bool:
    """Whether what is known of a provider forbids the graph, by the fact that the rule tests."""
    model, facts = onnx.parser.parse_model(text), record.facts
    if rule is OpsetAboveTarget:
        return facts.highest_opset is not None and facts.highest_opset < model.opset_import[0].version
    return rule is OperatorUnsupportedOnTarget and any(node.op_type in facts.unsupported for node in model.graph.node)


def matches(rule: type[Rule[Any]], on: tuple[Provider, ...], text: str) -> list[Match]:
    view = view_model(onnx.parser.parse_model(text))
    return [match for record in on for _, match in matches_of(rule, record.sites(view))]


@pytest.mark.parametrize(("rule", "on", "text"), VALID)
def test_silent(rule: type[Rule[Any]], on: tuple[Provider, ...], text: str) -> None:
    """On every provider; but one may be known to take less than the graph has (a lower opset, fewer operators)."""
    assert matches(rule, tuple(record for record in on if not _takes_less(rule, record, text)), text) == []


@pytest.mark.parametrize(("rule", "on", "text"), INVALID)
def test_speaks(rule: type[Rule[Any]], on: tuple[Provider, ...], text: str) -> None:
    found = matches(rule, on, text)
    assert found
    assert all(match.what and match.remedy and not match.what.endswith(".") for match in found)


def test_every_rule_is_complete() -> None:
    asked = [rule for rule, _ in ASKED]
    codes = [code for rule in (*GENERAL_RULES, *asked) for code in codes_of(rule)]
    assert len(set(codes)) == len(codes)
    for rule in asked:
        lines = (rule.__doc__ or "").splitlines()
        assert tuple(line.strip()[3:] for line in lines if line.strip().startswith("## ")) == HEADINGS, rule.name
        assert rule.evidence and len(rule.VALID) >= 2 and len(rule.INVALID) >= 2, rule.name


@pytest.mark.parametrize(("reduction", "helps"), [("none", True), ("add", False)])
def test_older_opset_is_offered_where_it_keeps_the_node_on_directml(reduction: str, helps: bool) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 18]> agraph (float[4] x, int64[4] i) => (float[4] y) {{
        y = ScatterElements<reduction: string = "{reduction}">(x, i, x) }}"""
    (found,) = matches(OpsetOutsideSweetSpot, (provider("directml"),), text)
    assert found.fixable is helps
    assert ("convert" in found.remedy) is helps
    assert ("would not help" in found.what) is not helps
