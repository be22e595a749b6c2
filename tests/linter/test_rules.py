"""Every rule states what it must, and says what its own cases promise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import onnx.parser
import pytest

from paddable.errors import MisuseError
from paddable.graph.io.read import read_model
from paddable.linter import Match, Rule, Site, lint_model, register, rules
from paddable.linter.rule import HEADINGS

RULES = rules()


def findings(rule: type[Rule[Any]], source: str) -> list[str]:
    head = "" if source.startswith("<") else '<ir_version: 9, opset_import: ["" : 18]>'
    model = read_model(onnx.parser.parse_model(head + source), for_lint=True)
    return [str(finding) for finding in lint_model(model, select=[rule], weights=True)]


def cases(kind: str) -> list[object]:
    return [
        pytest.param(rule, source, id=f"{rule.name}-{number}")
        for rule in RULES
        for number, source in enumerate(getattr(rule, kind))
    ]


@pytest.mark.parametrize(("rule", "source"), cases("VALID"))
def test_valid(rule: type[Rule[Any]], source: str) -> None:
    assert findings(rule, source) == []


@pytest.mark.parametrize(("rule", "source"), cases("INVALID"))
def test_invalid(rule: type[Rule[Any]], source: str) -> None:
    assert findings(rule, source)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_complete(rule: type[Rule[Any]]) -> None:
    assert re.findall(r"^ *## (.+)$", rule.__doc__ or "", re.MULTILINE) == list(HEADINGS)
    assert re.fullmatch(r"[A-Z]{3}\d{3}", rule.code)
    assert len(rule.VALID) >= 2 and len(rule.INVALID) >= 2
    assert rule.evidence or rule.severity == "note"
    assert rule.__module__.rsplit(".", 1)[1] == rule.name.replace("-", "_")


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


def test_a_user_adds_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddable.linter.registry._registered", {})

    class Sine(Rule[Any]):
        code, name, severity, evidence = "SHP900", "sine", "note", ()
        VALID, INVALID = (), ()

        def check(self, site: Site[Any]) -> Iterator[Match]:
            yield from (Match("a sine", "", node) for node in site.nodes("Sin"))

    register(Sine)
    model = read_model(
        onnx.parser.parse_model(
            '<ir_version: 9, opset_import: ["" : 18]> m (float[3] x) => (float[3] y) { y = Sin(x) }'
        )
    )
    assert [finding.code for finding in lint_model(model)] == ["SHP900"]

    class Other(Sine):
        name = "other"

    with pytest.raises(MisuseError, match="SHP900 belongs to 'sine'"):
        register(Other)
