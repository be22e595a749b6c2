"""Ids are classes: runs choose otherwise at ties of their scores alone, and a fault in front is found at its node."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddable

from .test_verdicts import save

RNG = np.random.default_rng(0)
CLASSES = 200
SIZES = {"w": (32, 32), "v": (32, 32), "u": (32, CLASSES), "c": (32,), "t": (CLASSES, 8)}
WEIGHTS = {name: (RNG.standard_normal(size) / np.sqrt(size[0])).astype(np.float32) for name, size in SIZES.items()}
CONSTANTS = {"five": np.array([5], np.int64), "limit": np.float32(0.05)}
BODY = "a = MatMul (x, w) b = Add (a, c) d = Tanh (b) e = MatMul (d, v) f = Relu (e) s = MatMul (f, u)"
IDS = "ArgMax <axis = -1, keepdims = 0> (s)"
CHOOSING = {
    "ids": ("int64[1, T] y", f"y = {IDS}"),
    "cast": ("int32[1, T] y", f"i = {IDS} y = Cast <to = 6> (i)"),
    "best five": ("float[1, T, 5] q, int64[1, T, 5] y", "q, y = TopK (s, five)"),
    "embedded": ("float[1, T, 8] y", f"i = {IDS} y = Gather (t, i)"),
    "above a limit": ("bool[1, T, 200] y", "y = Greater (s, limit)"),
}


def _saved(place: Path, kind: str, *, body: str = BODY, end: str = "", **changed: np.ndarray) -> Path:
    told, chosen = CHOOSING[kind]
    text = f"{body} {end or chosen}"
    held = {**WEIGHTS, **CONSTANTS, **changed}
    read = {name: array for name, array in held.items() if f"{name})" in text or f"({name}" in text}
    return save(place, f"(float[1, T, 32] x) => ({told}) {{ {text} }}", **read)


def _padded(native: Path, precision: str) -> Path:
    out = native.with_suffix(f".{precision}.onnx")
    paddable.convert(native, ["x:1=T"], containers=[60], out=out, verify=False, precision=precision)
    return out


@pytest.mark.parametrize("kind", CHOOSING)
def test_choices_at_ties_are_told_as_that(tmp_path: Path, kind: str) -> None:
    native = _saved(tmp_path / "native.onnx", kind)
    padded = _padded(native, "int8-dynamic")
    for files in ((padded, native), (native, padded)):
        report = paddable.probe(*files, at=50)
        assert report.ok and max(report.outputs.values()) < 0.01, report.verdict
        assert len(report.ties) == 1 and "chooses otherwise in" in report.verdict and "all ties of" in report.verdict


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8-dynamic"])
@pytest.mark.parametrize("kind", ["ids", "cast", "embedded"])
def test_classes_in_another_order_are_no_tie(tmp_path: Path, kind: str, precision: str) -> None:
    """Each id is one more than it was, which is little of the number of classes."""
    native = _saved(tmp_path / "native.onnx", kind)
    wrong = _padded(_saved(tmp_path / "wrong.onnx", kind, u=np.roll(WEIGHTS["u"], 1, 1)), precision)
    report = paddable.probe(wrong, native, at=50)
    assert not report.agree and ("(u" in report.verdict or "u_int8 differs" in report.verdict), report.verdict
    if kind != "embedded":
        assert report.outputs == {"y": 1.0}


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8-dynamic"])
def test_a_fault_in_front_of_a_choice_is_told_at_its_node(tmp_path: Path, precision: str) -> None:
    native = _saved(tmp_path / "native.onnx", "ids")
    wrong = _padded(_saved(tmp_path / "wrong.onnx", "ids", body=BODY.replace("Tanh", "Sigmoid")), precision)
    fork = paddable.probe(wrong, native, at=50).fork
    assert fork is not None and fork.cause.kind == "structure" and "Tanh" in fork.cause.text, fork
    changed = WEIGHTS["v"].copy()
    changed[3, 4] += 0.5
    wrong = _padded(_saved(tmp_path / "changed.onnx", "ids", v=changed), precision)
    fork = paddable.probe(wrong, native, at=50).fork
    assert fork is not None and fork.cause.kind == "weights" and "[3, 4]" in fork.cause.text, fork


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8-dynamic"])
def test_a_choice_of_others_is_told_at_itself(tmp_path: Path, precision: str) -> None:
    native = _saved(tmp_path / "native.onnx", "best five")
    end = CHOOSING["best five"][1].replace("TopK", "TopK <largest = 0>")
    wrong = _padded(_saved(tmp_path / "wrong.onnx", "best five", end=end), precision)
    report = paddable.probe(wrong, native, at=50)
    assert report.fork is not None and report.fork.op == "TopK" and "largest=0" in report.fork.cause.text
    assert report.outputs["y"] == 1.0 and not report.ties
