"""Two graphs of which one cannot hear what the other does are told as two models; other names alone are none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import paddable
from paddable.errors import MisuseError

from .test_verdicts import save

RNG = np.random.default_rng(0)
TABLE = RNG.standard_normal((8, 8)).astype(np.float32)
SIX = TABLE[:6, :6].copy()
INPUTS = {
    "x": ("float[1, T, 8] x", "a = MatMul (x, w)", TABLE),
    "mel": ("float[1, T, 8] mel", "a = MatMul (mel, w)", TABLE),
    "six": ("float[1, T, 6] six", "a = MatMul (six, w)", SIX),
    "ids": ("int64[1, T] ids", "a = Gather (w, ids)", TABLE),
    "pitch": ("float[1, T, 8] mel, float[1, T, 8] pitch", "s = Add (mel, pitch) a = MatMul (s, w)", TABLE),
    "n": ("float[1, T, 8] x, int64[1] n", "l = Cast <to = 1> (n) s = Div (x, l) a = MatMul (s, w)", TABLE),
}
DIFFER = "the inputs of the two graphs differ, so they are not one model"


def _saved(folder: Path, name: str) -> Path:
    inputs, body, weight = INPUTS[name]
    text = f"({inputs}) => (float[1, T, {len(weight[0])}] y) {{ {body} b = Tanh (a) y = MatMul (b, w) }}"
    return save(folder / f"{name}.onnx", text, w=weight)


def _padded(folder: Path, name: str, **declared: Any) -> Path:
    out = folder / f"{name}.padded.onnx"
    axes = [f"{each}:1=T" for each in re.findall(r"1, T[^]]*\] (\w+)", INPUTS[name][0])]
    paddable.convert(_saved(folder, name), axes, containers=[40], out=out, verify=False, **declared)
    return out


@pytest.mark.parametrize(
    ("one", "other", "where"),
    [("x", "six", "x"), ("x", "ids", "x"), ("six", "mel", "six"), ("pitch", "x", "pitch"), ("n", "six", "x")],
)
def test_native_graphs_of_other_inputs(tmp_path: Path, one: str, other: str, where: str) -> None:
    files = [_saved(tmp_path, name) for name in (one, other)]
    for lengths in ([], [f"{other}:1=T"]):
        with pytest.raises(MisuseError, match=f"^input '{where}': {DIFFER}; A .* takes .* and B .* takes {other} "):
            paddable.probe(*files, lengths)


@pytest.mark.parametrize(("one", "other"), [("x", "mel"), ("x", "six"), ("x", "ids"), ("mel", "pitch"), ("n", "mel")])
def test_padded_graphs_of_other_inputs_that_share_a_symbol(tmp_path: Path, one: str, other: str) -> None:
    declared = {"length_inputs": ["n=T"]} if one == "n" else {}
    files = [_padded(tmp_path, one, **declared), _padded(tmp_path, other)]
    with pytest.raises(MisuseError, match=DIFFER) as caught:
        paddable.probe(*files)
    assert all(told in str(caught.value) for told in ("A (", "B (", "ilens int64 [1]"))


def test_an_undeclared_length_is_no_other_model(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=r"nothing says what .* `length_inputs=\['n=T'\]`"):
        paddable.probe(_saved(tmp_path, "n"), _saved(tmp_path, "x"), ["x:1=T"])


def test_other_names_in_another_order_are_one_model(tmp_path: Path) -> None:
    body = "a = MatMul ({0}, w) b = MatMul ({1}, v) c = Concat <axis = 2> (a, b) y = Tanh (c)"
    files = []
    for names in (("x", "z"), ("near", "far")):
        inputs = [f"float[1, T, 8] {names[0]}", f"float[1, T, 6] {names[1]}"]
        told = ", ".join(inputs if names[0] == "x" else inputs[::-1])
        text = f"({told}) => (float[1, T, 14] y) {{ {body.format(*names)} }}"
        files.append(save(tmp_path / f"{names[0]}.onnx", text, w=TABLE, v=SIX))
    report = paddable.probe(*files, ["far:1=T", "near:1=T"])
    assert report.ok, report.verdict


def test_padded_graphs_of_which_one_has_a_length_of_its_own(tmp_path: Path) -> None:
    """Two exports of one model: the first says how long its input is, to the second that was given."""
    one = _padded(tmp_path, "n", length_inputs=["n=T"])
    model = onnx.load(_saved(tmp_path, "n"))
    del model.graph.input[1]
    model.graph.node[0].CopyFrom(onnx.helper.make_node("Shape", ["x"], ["shape"], start=1, end=2))
    model.graph.node.insert(1, onnx.helper.make_node("Cast", ["shape"], ["l"], to=1))
    onnx.save(model, tmp_path / "sized.onnx")
    other = tmp_path / "sized.padded.onnx"
    paddable.convert(tmp_path / "sized.onnx", ["x:1=T"], containers=[40], out=other, verify=False)
    for files in ((one, other), (other, one)):
        report = paddable.probe(*files, at=17)
        assert report.agree, report.verdict


@pytest.mark.parametrize("declared", [True, False])
def test_a_fixed_size_beside_any_length_is_refused_with_what_to_do(tmp_path: Path, declared: bool) -> None:
    body = "{ a = Sigmoid (x) y = Add (a, x) }"
    fixed = save(tmp_path / "fixed.onnx", f"(float[1, 96, 4] x) => (float[1, 96, 4] y) {body}")
    native = save(tmp_path / "native.onnx", f"(float[1, T, 4] x) => (float[1, T, 4] y) {body}")
    lengths = ["x:1=T"] if declared else None
    with pytest.raises(MisuseError, match=r"takes 96 steps along axis 1 alone.*`lengths=\['x:1=T'\], at=96`"):
        paddable.probe(fixed, native, lengths=lengths)
    assert paddable.probe(fixed, native, lengths=["x:1=T"], at=96).ok
