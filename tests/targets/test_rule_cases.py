"""Every rule is silent on its VALID graphs and speaks on its INVALID ones."""

from __future__ import annotations

import onnx
import pytest

from paddable.targets.directml.placement import place
from paddable.targets.directml.rules import RULES
from paddable.targets.directml.site import DirectMLRule, sites
from paddable.targets.folding import view_model
from paddable.targets.lint import matches_of
from paddable.targets.rule import Match

VALID = [pytest.param(rule, text, id=f"{rule.name}-{i}") for rule in RULES for i, text in enumerate(rule.VALID)]
INVALID = [pytest.param(rule, text, id=f"{rule.name}-{i}") for rule in RULES for i, text in enumerate(rule.INVALID)]


def matches(rule: DirectMLRule, text: str) -> list[Match]:
    return [match for _, match in matches_of(rule, sites(place(view_model(onnx.parser.parse_model(text)))))]


@pytest.mark.parametrize(("rule", "text"), VALID)
def test_silent(rule: DirectMLRule, text: str) -> None:
    assert matches(rule, text) == []


@pytest.mark.parametrize(("rule", "text"), INVALID)
def test_speaks(rule: DirectMLRule, text: str) -> None:
    found = matches(rule, text)
    assert found
    assert all(match.what and match.remedy and not match.what.endswith(".") for match in found)


def test_every_rule_is_complete() -> None:
    codes = [rule.code for rule in RULES]
    assert len(set(codes)) == len(codes) and codes == sorted(codes)
    for rule in RULES:
        headings = [line.strip() for line in (rule.__doc__ or "").splitlines() if line.strip().startswith("##")]
        assert headings == [
            "## What it does",
            "## Why is this bad",
            "## Example",
            "## Use instead",
            "## Fix safety",
        ], rule.name
        assert rule.evidence and len(rule.VALID) >= 2 and len(rule.INVALID) >= 2, rule.name
        if not any(proof.kind == "measured" for proof in rule.evidence):
            assert rule.severity != "error", f"{rule.name}: nobody measured it"
