"""Every rule is silent on its VALID graphs and speaks on its INVALID ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx
import pytest

from paddable.lint.rule import HEADINGS
from paddable.providers.cuda.placement import place as place_on_cuda
from paddable.providers.cuda.rules import CUDA_RULES
from paddable.providers.directml.placement import place
from paddable.providers.directml.rules import RULES
from paddable.providers.directml.rules.opset_outside_sweet_spot import OpsetOutsideSweetSpot
from paddable.providers.directml.site import sites
from paddable.lint.view.folding import view_model
from paddable.providers.lint import matches_of
from paddable.lint.rule import Match, TargetRule
from paddable.providers.rules import TABLE_RULES
from paddable.providers.table import TableSite
from paddable.providers.tables import TARGETS
from paddable.lint.view.graph import GraphView


def on_directml(view: GraphView) -> list[Any]:
    return sites(place(view))


def on_cuda(view: GraphView) -> list[Any]:
    return list(place_on_cuda(view).walk())


def on_every_target(view: GraphView) -> list[Any]:
    return [TableSite(part, table) for table in TARGETS.values() for part in view.walk()]


Look = Callable[[GraphView], list[Any]]
LOOKS: list[tuple[TargetRule[Any], Look]] = [
    *((rule, on_directml) for rule in RULES),
    *((rule, on_cuda) for rule in CUDA_RULES),
    *((rule, on_every_target) for rule in TABLE_RULES),
]
VALID = [pytest.param(r, look, t, id=f"{r.name}-{i}") for r, look in LOOKS for i, t in enumerate(r.VALID)]
INVALID = [pytest.param(r, look, t, id=f"{r.name}-{i}") for r, look in LOOKS for i, t in enumerate(r.INVALID)]


def matches(rule: TargetRule[Any], look: Look, text: str) -> list[Match]:
    return [match for _, match in matches_of(rule, look(view_model(onnx.parser.parse_model(text))))]


@pytest.mark.parametrize(("rule", "look", "text"), VALID)
def test_silent(rule: TargetRule[Any], look: Look, text: str) -> None:
    assert matches(rule, look, text) == []


@pytest.mark.parametrize(("rule", "look", "text"), INVALID)
def test_speaks(rule: TargetRule[Any], look: Look, text: str) -> None:
    found = matches(rule, look, text)
    assert found
    assert all(match.what and match.remedy and not match.what.endswith(".") for match in found)


def test_every_rule_is_complete() -> None:
    codes = [rule.code for rule, _ in LOOKS]
    assert len(set(codes)) == len(codes)
    for rule, _ in LOOKS:
        lines = (rule.__doc__ or "").splitlines()
        assert tuple(line.strip()[3:] for line in lines if line.strip().startswith("## ")) == HEADINGS, rule.name
        assert rule.evidence and len(rule.VALID) >= 2 and len(rule.INVALID) >= 2, rule.name


@pytest.mark.parametrize(("reduction", "helps"), [("none", True), ("add", False)])
def test_older_opset_is_offered_where_it_keeps_the_node_on_directml(reduction: str, helps: bool) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 18]> agraph (float[4] x, int64[4] i) => (float[4] y) {{
        y = ScatterElements<reduction: string = "{reduction}">(x, i, x) }}"""
    (found,) = matches(OpsetOutsideSweetSpot(), on_directml, text)
    assert found.fixable is helps
    assert ("convert" in found.remedy) is helps
    assert ("would not help" in found.what) is not helps
