"""A command parses, calls one function of the library and shows what came back."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx
import pytest

from paddable import __version__
from paddable.bundle import KEY, Metadata, Remedy, Symbol
from paddable.errors import RefusedError
from paddable.findings import Finding, Source
from paddable.outcome import told_failed
from paddable.providers.advice import known_advice

from .conftest import Library

FINDING = Finding(
    "PAD102", "/conv/Conv", "Conv", "padding into the last frames", "zero first", 2, "m.conv", Source("m.py", 7)
)
COMMANDS = ("check", "convert", "verify", "lint", "inspect", "demo")


def report(ok: bool = True, **more: Any) -> SimpleNamespace:
    findings = [] if ok else [FINDING]
    payload = {"ok": ok, "findings": [finding.to_json() for finding in findings], "lengths": {}, "versions": {}}
    payload["sites_not_judged"] = []
    return SimpleNamespace(
        domain={},
        notes=(),
        ok=ok,
        findings=findings,
        advice={},
        placement=None,
        fixed={},
        left={},
        out=None,
        skipped=(),
        refusal=None,
        to_json=lambda: {**payload, **more},
    )


def test_version_and_help(paddable: Any) -> None:
    assert paddable("--version").out.strip() == f"paddable, version {__version__}"
    overview = paddable("--help")
    assert overview.code == 0
    for name in COMMANDS:
        assert name in overview.out
        page = paddable(name, "--help")
        assert page.code == 0
        assert "--json" in page.out


def test_python_m_paddable() -> None:
    result = subprocess.run([sys.executable, "-m", "paddable", "--version"], capture_output=True, text=True, check=True)
    assert __version__ in result.stdout


def test_check_without_leaks(paddable: Any, library: Library) -> None:
    library.answer = report()
    result = paddable("check", "m.onnx", "--length", "audio:2=T", "--batch", "audio:0", "--length-input", "ilens=T")
    assert (result.code, result.out) == (0, "no leak found\n")
    name, args, kwargs = library.calls[0]
    assert (name, args) == ("check", (Path("m.onnx"), ("audio:2=T",)))
    assert kwargs == {
        "length_inputs": ("ilens=T",),
        "mask_inputs": (),
        "shortest": (),
        "batch": "audio:0",
        "batch_size": None,
        "bindings": (),
        "rate": None,
        "progress": None,
    }


def test_check_with_leaks(paddable: Any, library: Library) -> None:
    library.answer = report(ok=False)
    result = paddable("check", "m.onnx", "--length", "audio:2=T")
    assert result.code == 1
    assert result.out == "PAD102 /conv/Conv (m.py:7): padding into the last frames -> zero first\n"
    assert "1 leak;" in result.err


def test_check_of_a_refused_model(paddable: Any, library: Library) -> None:
    library.answer = SimpleNamespace(
        ok=False, findings=[FINDING], refusal="node 'loop': Loop over time", domain={}, notes=(), to_json=dict
    )
    result = paddable("check", "m.onnx")
    assert result.code == 1
    assert "refused: node 'loop': Loop over time" in result.err


@pytest.mark.parametrize("command", ["check", "lint", "inspect", "verify", "demo"])
def test_json_is_the_report(paddable: Any, library: Library, command: str) -> None:
    library.answer = report(name="größe [1]")
    result = paddable(command, *(["x"] if command != "demo" else []), "--json")
    assert json.loads(result.out) == library.answer.to_json()
    assert result.err == ""


def test_no_command_is_the_help_and_a_slip_has_a_suggestion(paddable: Any) -> None:
    nothing = paddable()
    assert nothing.code == 2 and not nothing.out
    assert nothing.err == paddable("--help").out
    slip = paddable("chekc", "m.onnx")
    assert slip.code == 2
    assert slip.err == "error: No such command 'chekc'. Did you mean 'check'? see paddable --help\n"
    assert "Did you mean" not in paddable("zzz").err


@pytest.fixture
def converted(tmp_path: Path) -> Path:
    metadata = Metadata(
        symbols={"T": Symbol("x", 1)},
        lengths={"y": {1: "T"}},
        remedies=(Remedy("PAD102", "conv", "zero first"),),
        versions={"paddable": "0.1.0"},
    )
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17]> g (float[1] x) => (float[1] y) {y = Neg(x)}'
    )
    onnx.helper.set_model_props(model, {KEY: metadata.dumps()})
    onnx.save(model, tmp_path / "out.onnx")
    return tmp_path / "out.onnx"


def test_convert_hands_everything_over(paddable: Any, library: Library, converted: Path) -> None:
    library.answer = converted
    words = ["convert", "in.onnx", "-o", str(converted), "--length", "x:1=T", "--length", "z:-1=T//2"]
    words += ["--container", "2s", "--containers", "5s,10s", "--rate", "16000", "--mask-input", "m:1=T"]
    words += ["--batch-size", "3", "--keep-traces", "--no-external-data", "--force", "--no-verify"]
    words += ["--target", "directml", "--precision", "fp16,int8", "--examples", "clips", "--accept", "cosine=0.999"]
    words += ["--gate-lengths", "8", "--forms", "none", "--half", "fast"]
    result = paddable(*words)
    assert result.code == 0, result.err
    assert result.out == f"{converted}: 1 remedy\nnot judged against native\n"
    assert callable(library.calls[0][2].pop("on_message"))
    assert library.calls == [
        (
            "convert",
            (Path("in.onnx"),),
            {
                "lengths": ("x:1=T", "z:-1=T//2"),
                "containers": ("2s", "5s", "10s"),
                "out": converted,
                "length_inputs": (),
                "mask_inputs": ("m:1=T",),
                "shortest": (),
                "batch": None,
                "bindings": (),
                "batch_size": 3,
                "keep_dynamic": False,
                "keep_traces": True,
                "rate": 16000.0,
                "external_data": False,
                "force": True,
                "target": "directml",
                "precision": "fp16,int8",
                "forms": "none",
                "half": "fast",
                "examples": Path("clips"),
                "accept": ("cosine=0.999",),
                "verify": False,
                "gate_lengths": 8,
                "progress": None,
            },
        )
    ]


def test_convert_says_what_it_is_told_about_the_target(
    paddable: Any, library: Library, converted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def convert(*_: Any, on_message: Any, **__: Any) -> Path:
        on_message("T=9: fix not applied: convert opset: rank 5")
        return converted

    monkeypatch.setattr(library, "convert", convert)
    result = paddable("convert", "in.onnx", "-o", str(converted), "--target", "directml")
    assert result.err == "T=9: fix not applied: convert opset: rank 5\n"


def test_convert_json_tells_what_was_done(paddable: Any, library: Library, converted: Path) -> None:
    library.answer = converted
    result = paddable("convert", "in.onnx", "-o", str(converted), "--length", "x:1=T", "--container", "8", "--json")
    assert json.loads(result.out) == {
        "ok": True,
        "out": str(converted),
        "findings": [{"code": "PAD102", "node": "conv", "remedy": "zero first"}],
        "lengths": {"y": {"1": "T"}},
        "versions": {"paddable": "0.1.0"},
    }


def test_convert_needs_a_place(paddable: Any, library: Library) -> None:
    result = paddable("convert", "in.onnx", "--length", "x:1=T", "--container", "8")
    assert result.code == 2
    assert "-o" in result.err
    assert library.calls == []


def test_verify(paddable: Any, library: Library) -> None:
    rows = [
        {"output": "y", "length": 400, "error": 3.4567e-7, "ok": True},
        {"output": "[b]z", "length": 401, "error": 0.2, "ok": False},
    ]
    library.answer = report(ok=False, rows=rows)
    result = paddable("verify", "out/", "--against", "n.onnx", "--at", "7", "--at", "9", "--seed", "3", "--exhaustive")
    assert result.code == 1
    assert "3.46e-07" in result.out
    assert result.out.splitlines()[-1] == (
        "failed: output [b]z, length 401, error 0.2; see where the two part with paddable probe"
    )
    assert callable(library.calls[0][2].pop("on_message"))
    assert library.calls[0][1:] == (
        (Path("out"), Path("n.onnx")),
        {"exhaustive": True, "limit": 64, "lengths": (7, 9), "seed": 3, "progress": None},
    )


SUMMARY = {"L": {"sites": 99}, "C": {"rows": 1080, "error": 3.31e-07}, "J": {"rows": 68}}
PASSED = "passed: 1,080 answers, at most 3.31e-07 of scale from native; 99 operators, each alone"


def test_what_passed_is_the_last_line(paddable: Any, library: Library, converted: Path) -> None:
    library.answer = report(rows=[], summary=SUMMARY)
    assert paddable("verify", "out/").out.splitlines()[-1] == PASSED
    model = onnx.load(converted)
    text = json.loads(model.metadata_props[0].value)
    model.metadata_props[0].value = json.dumps({**text, "verified": SUMMARY})
    onnx.save(model, converted)
    library.answer = converted
    asked = ["convert", "in.onnx", "-o", str(converted), "--length", "x:1=T", "--container", "8"]
    assert paddable(*asked).out.splitlines() == [f"{converted}: 1 remedy", PASSED]


def test_each_kind_of_failure_is_told() -> None:
    kinds: dict[str, Any] = {
        "failing_sites": [{"node": "c", "op": "Conv", "detail": "y moves"}],
        "domain": [{"symbol": "T", "at": 3, "outcome": "native answers", "why": "below the shortest", "ok": False}],
        "examples": {"fp16": [{"output": "y", "example": "a.wav", "note": "cosine 0.9", "ok": False}]},
        "streams": {"ok": False},
    }
    said = ("node c (Conv), y moves", "T=3, native answers", "output y in fp16, a.wav", "a stream")
    for kind, words in zip(kinds, said, strict=True):
        assert told_failed({kind: kinds[kind]}).startswith(f"failed: {words}")
    assert ", and 3 more; see" in told_failed(kinds)


def test_lint(paddable: Any, library: Library) -> None:
    library.answer = report(ok=False)
    library.answer.advice = {"session": known_advice()["directml"].to_json()}
    library.answer.skipped = ("not run",)
    result = paddable("lint", "m.onnx", "--target", "directml", "--fix", "-o", "fixed.onnx", "--no-run")
    assert result.code == 1
    assert "not run" in result.err
    assert "session: DmlExecutionProvider, no memory pattern, one run at a time\n" in result.out
    assert "PAD102 /conv/Conv (m.py:7)" in result.out
    assert library.calls[0][2] == {
        "lengths": (),
        "target": "directml",
        "fix": True,
        "out": Path("fixed.onnx"),
        "force": False,
        "run": False,
    }
    assert paddable("lint", "m.onnx", "--fix").code == 2
    assert paddable("lint", "m.onnx", "-o", "fixed.onnx").code == 2


def test_lint_says_what_was_fixed_and_what_was_not(paddable: Any, library: Library) -> None:
    library.answer = report()
    library.answer.fixed, library.answer.out = {"drop allowzero": 1.5e-7, "replace clip": None}, "fixed.onnx"
    library.answer.left = {"convert opset": "rank 5"}
    result = paddable("lint", "m.onnx", "--target", "directml", "--fix", "-o", "fixed.onnx")
    assert result.out.splitlines() == [
        "fixed: drop allowzero (largest relative change 1.5e-07)",
        "fixed: replace clip (not compared)",
        "not fixed: convert opset: rank 5",
        "fixed.onnx: 2 fixes",
    ]


def test_lint_shows_where_the_nodes_run(paddable: Any, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    library.answer = report()
    deep = "/encoder/encoders.3/self_attn/linear_q_k_v/"
    library.answer.placement = {
        "summary": "240 nodes: 200 in 20 fused graphs, 30 kernels of their own, 10 on the CPU (10 Gelu); 40 copies",
        "islands": [[f"{deep}{part}_{i}" for i in range(part)] for part in range(1, 21)],
        "cpu": [{"node": f"{deep}{i}", "op": "Gelu", "reason": "operator", "why": "no Gelu"} for i in range(9)]
        + [{"node": "m", "op": "Mul", "reason": "device type", "why": "'m' is double, which the device cannot hold"}],
    }
    out = paddable("lint", "m.onnx", "--target", "directml").out
    assert max(map(len, out.splitlines())) <= 80
    assert "placement: 240 nodes" in out
    assert "the largest 8 of 20" in out and f"{deep}20_19" in out and f"{deep}12_0" not in out
    for told in ("9", "Gelu", f"{deep}2", "...", "no Gelu", "device cannot hold"):
        assert told in out
    assert f"{deep}3" not in out.partition("CPU nodes")[2]


def test_inspect_lays_every_section_out(paddable: Any, library: Library) -> None:
    library.answer = report(inputs=[{"name": "x", "dims": [1, "T"]}], operators={"Conv": 7}, opset=18)
    result = paddable("inspect", "m.onnx", "--length", "x:1=T")
    assert result.code == 0
    for text in ("1, T", "Conv", "7", "opset: 18"):
        assert text in result.out


def test_a_refusal_says_each_thing_once(paddable: Any, library: Library) -> None:
    library.answer = RefusedError("Loop over time", where="node 'loop'", findings=[FINDING])
    result = paddable("check", "m.onnx")
    assert (result.code, result.out) == (1, "")
    assert result.err == "refused: PAD102: node 'loop': Loop over time\n"
    other = replace(FINDING, leak="padding into the mean")
    library.answer = RefusedError("two reasons", findings=[FINDING, other])
    assert paddable("check", "m.onnx").out == f"{FINDING}\n{other}\n"
    library.answer = RefusedError("Loop over time", where="node 'loop'", findings=[FINDING])
    as_json = json.loads(paddable("check", "m.onnx", "--json").out)
    assert as_json["ok"] is False
    assert as_json["findings"] == [FINDING.to_json()]
    assert as_json["error"] == {"kind": "RefusedError", "what": "Loop over time", "where": "node 'loop'"}
