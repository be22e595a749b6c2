"""Providers and their rules are open from outside: the guide's code runs, and what is taken stays taken."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import onnx
import pytest

from paddable.api import lint
from paddable.errors import MisuseError
from paddable.linter import Fact, Match, ProviderFacts, Rule, Site, register, rules
from paddable.linter.rules.frozen_length import FrozenLength
from paddable.plugins import plugins
from paddable.providers import advice, registry
from paddable.providers.provider import Provider
from paddable.providers.registry import BUILT_IN, provider, register_provider, rules_of
from paddable.providers.session_advice import SessionAdvice

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "add_a_provider.md"
SINE = '<ir_version: 9, opset_import: ["" : 18]> m (float[3] x) => (float[3] y) { y = Sin(x) }'


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers is gone after it."""
    monkeypatch.setattr("paddable.linter.registry._registered", {})
    monkeypatch.setattr("paddable.providers.registry._known", dict(registry._known))
    monkeypatch.setattr("paddable.providers.advice._known", dict(advice._known))
    yield
    plugins.cache_clear()


class Sine(Rule[Any]):
    code, name, severity, evidence = "TST901", "sine", "note", ()
    VALID, INVALID = (), ()

    def check(self, site: Site[Any]) -> Iterator[Match]:
        yield from (Match("a sine", "none", node) for node in site.nodes("Sin"))


def record(name: str, *own: type[Rule[Any]], advised: str = "") -> Provider:
    return Provider(
        ProviderFacts(name, "free", Fact("nothing")), SessionAdvice(advised or name, "X", extra="cpu"), rules=own
    )


def test_the_guide_runs_to_its_end() -> None:
    """Its blocks in order, as one module; its own tests last."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    module: dict[str, Any] = {"__name__": "tpu"}
    exec(compile("\n".join(blocks), str(GUIDE), "exec", dont_inherit=True), module)
    tests = [value for name, value in module.items() if name.startswith("test_")]
    assert len(tests) == 4
    for test in tests:
        test()


def test_a_rule_for_a_provider_is_asked_there_only() -> None:
    register(Sine, provider="cuda")
    assert Sine in rules_of(provider("cuda")) and Sine not in rules_of(provider("cpu")) and Sine not in rules()
    codes = {
        target: [f.code for f in lint(onnx.parser.parse_model(SINE), target=target).findings]
        for target in ("cuda", "cpu")
    }
    assert "TST901" in codes["cuda"] and "TST901" not in codes["cpu"]


def test_an_entry_point_adds_a_rule_for_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("sine", f"{Sine.__module__}:Sine", "paddable.rules.qnn")
    monkeypatch.setitem(sys.modules, Sine.__module__, sys.modules[__name__])
    monkeypatch.setattr("paddable.plugins.entry_points", lambda group: [entry] if group == entry.group else [])
    plugins.cache_clear()
    assert Sine in rules_of(provider("qnn")) and Sine not in rules_of(provider("cpu"))


def test_a_package_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("tpu", "no_such_package.provider:PROVIDER", "paddable.providers")
    monkeypatch.setattr("paddable.plugins.entry_points", lambda group: [entry] if group == entry.group else [])
    plugins.cache_clear()
    with pytest.raises(MisuseError, match=r"^the entry point tpu: .* cannot be loaded: ModuleNotFoundError"):
        provider("cpu")


def test_what_is_taken_is_refused() -> None:
    class Twin(Sine):
        code = "DML121"

    with pytest.raises(MisuseError, match="a provider called 'cpu' already"):
        register_provider(record("cpu"))
    with pytest.raises(MisuseError, match="session advice of 'cuda'"):
        register_provider(record("tpu", advised="cuda"))
    with pytest.raises(MisuseError, match="code DML121 belongs to 'copy-between-providers'"):
        register_provider(record("tpu", Twin))
    with pytest.raises(MisuseError, match="no target is called 'tpu'"):
        provider("tpu")
    assert register_provider(record("tpu", Sine)) is provider("tpu")


def test_a_provider_may_list_a_rule_about_any_graph_and_it_speaks_once() -> None:
    register_provider(record("tpu", FrozenLength))
    frozen = """<ir_version: 9, opset_import: ["" : 18]> m (float[1,T,8] x) => (float[1,20,2,4] y)
        <int64[4] s = {1,20,2,4}> { y = Reshape(x, s) }"""
    said = lint(onnx.parser.parse_model(frozen), target="tpu", run=False).findings
    assert [finding.code for finding in said].count("SHP105") == 1


def test_records_agree_with_their_advice() -> None:
    assert [one.name for one in BUILT_IN] == [one.advice.name for one in BUILT_IN]
    assert {one.name: one.advice for one in BUILT_IN} == dict(advice.known_advice())


def test_session_advice_loads_nothing_else() -> None:
    """An app ships the runtime alone, and each advice is imported through the package of its provider."""
    code = (
        "import sys; import paddable.providers.advice; "
        "print(sorted({'numpy', 'onnx', 'onnx_ir', 'onnxruntime', 'paddable.linter'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_one_rule_speaks_of_allowzero_by_what_is_known_of_the_provider() -> None:
    """A warning in general, an error where the provider takes the -1 for a size, a note elsewhere."""
    ragged = """<ir_version: 9, opset_import: ["" : 18]> m (float[1,T,8] x) => (float[1,T,2,4] y)
        <int64[4] s = {1,-1,2,4}> { y = Reshape<allowzero = 1>(x, s) }"""
    static = ragged.replace("T", "6")
    said = {
        (name, target): [
            (finding.code, finding.severity)
            for finding in lint(onnx.parser.parse_model(text), target=target, run=False).findings
            if finding.op == "Reshape"
        ]
        for name, text in (("ragged", ragged), ("static", static))
        for target in (None, "directml", "cpu")
    }
    assert said == {
        ("ragged", None): [("SHP102", "warning")],
        ("ragged", "directml"): [("DML101", "error")],
        ("ragged", "cpu"): [("SHP102", "note")],
        ("static", None): [],
        ("static", "directml"): [("DML101", "error")],
        ("static", "cpu"): [],
    }
