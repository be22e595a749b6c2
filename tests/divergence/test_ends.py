"""Inputs and outputs of two graphs: which are one, which were exchanged, and which were compared with none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddable

from .test_verdicts import save

RNG = np.random.default_rng(0)
V, W = (RNG.standard_normal((4, 4)).astype(np.float32) for _ in range(2))
ONE = "(float[1, T, 4] x) => (OUT) { a = MatMul (x, v) b = Relu (a) y = MatMul (b, w) }"
TWO = (
    "(float[1, T, 4] p, float[1, T, 4] q) => (float[1, T, 4] y) { a = MatMul (p, v) b = MatMul (q, w) y = Add (a, b) }"
)
OUTS = "(float[1, T, 4] x) => (float[1, T, 4] y, float[1, T, 4] z) { a = Relu (x) y = MatMul (a, v) z = MatMul (a, w) }"


def test_two_inputs_that_were_exchanged(tmp_path: Path) -> None:
    right = save(tmp_path / "right.onnx", TWO, v=V, w=W)
    text = TWO.replace("MatMul (p", "MatMul (X").replace("(q", "(p").replace("(X", "(q")
    wrong = save(tmp_path / "wrong.onnx", text, v=V, w=W)
    report = paddable.probe(wrong, right, ["p:1=T", "q:1=T"], isolate=tmp_path / "case")
    assert report.fork is not None and report.fork.cause.kind == "wiring"
    assert "is the input q where the second graph reads the input p;" in report.verdict
    assert report.isolated is None


def test_two_outputs_whose_names_were_exchanged(tmp_path: Path) -> None:
    right = save(tmp_path / "right.onnx", OUTS, v=V, w=W)
    text = OUTS.replace("{ a = Relu (x) y =", "{ a = Relu (x) X =").replace(") z = M", ") y = M").replace("X =", "z =")
    wrong = save(tmp_path / "wrong.onnx", text, v=V, w=W)
    report = paddable.probe(wrong, right, ["x:1=T"], isolate=tmp_path / "case")
    assert report.fork is not None and report.fork.cause.kind == "wiring"
    assert "of the first graph has the numbers of output" in report.verdict
    assert report.isolated is None


@pytest.mark.parametrize("names", [("b", "y"), ("y", "b")])
def test_outputs_of_other_names_are_compared_by_what_makes_them(tmp_path: Path, names: tuple[str, str]) -> None:
    outs = ", ".join(f"float[1, T, 4] {name}" for name in names)
    one = save(tmp_path / "one.onnx", ONE.replace("OUT", outs), v=V, w=W)
    text = ONE.replace("OUT", "float[1, T, 4] c").replace("y = MatMul", "c = MatMul")
    report = paddable.probe(one, save(tmp_path / "other.onnx", text, v=V, w=W), ["x:1=T"])
    assert report.ok, report.verdict
    assert report.notes == [
        "output c of the second graph was compared with y of the first",
        "output b, which only the first graph has, was not compared",
    ]


def test_an_output_that_has_no_equal_is_not_compared_by_its_place(tmp_path: Path) -> None:
    one = save(tmp_path / "one.onnx", ONE.replace("OUT", "float[1, T, 4] b, float[1, T, 4] y"), v=V, w=W)
    text = "(float[1, T, 4] x) => (float[1, T, 4] c) { a = MatMul (x, v) b = Relu (a) c = Neg (b) }"
    report = paddable.probe(one, save(tmp_path / "other.onnx", text, v=V), ["x:1=T"])
    assert not report.ok and not report.forks and not report.outputs
    assert "No output of one has a partner in the other; give the outputs" in report.verdict


def test_an_output_that_only_one_has_is_told(tmp_path: Path) -> None:
    one = save(tmp_path / "one.onnx", ONE.replace("OUT", "float[1, T, 4] y, float[1, T, 4] b"), v=V, w=W)
    other = save(tmp_path / "other.onnx", ONE.replace("OUT", "float[1, T, 4] y"), v=V, w=W)
    for files, number in (((one, other), "first"), ((other, one), "second")):
        report = paddable.probe(*files, ["x:1=T"])
        assert report.ok and report.notes == [f"output b, which only the {number} graph has, was not compared"]


MASKED = (
    "(float[1, T, 4] x, float[1, T, 4] z) => (float[1, T, 4] y) <float low = {-9}, float none = {0}> "
    "{ c = Less (z, none) n = Not (c) a = Where (n, x, low) m = MatMul (a, v) b = Neg (m) HERE y = MatMul (d, w) }"
)


def test_a_mask_that_is_inverted_is_named_at_its_reader(tmp_path: Path) -> None:
    right = save(tmp_path / "right.onnx", MASKED.replace("HERE", "d = Where (n, b, low)"), v=V, w=W)
    text = MASKED.replace("HERE", "t = Transpose <perm = [0, 1, 2]> (c) d = Where (t, b, low)")
    fork = paddable.probe(save(tmp_path / "wrong.onnx", text, v=V, w=W), right, ["x:1=T", "z:1=T"]).fork
    assert fork is not None and (fork.op, fork.cause.kind) == ("Where", "wiring"), fork
    assert "input 0 of Where is made of the result of Less" in fork.cause.text
    assert "and of the result of Not" in fork.cause.text


TABLE = (
    "(float[1, T, 4] x) => (float[1, T, 4] y) <int64[1] zero = {0}, int64 at = {1}, int64 none = {0}, "
    "float one = {1}> { a = MatMul (x, v) HERE p = Slice (pos, zero, n, zero) c = Add (b, p) y = MatMul (c, w) }"
)
SIZE = "q = Shape (OF) i = Gather (q, at) n = Unsqueeze (i, zero)"
POS = RNG.standard_normal((200, 4)).astype(np.float32)


def test_a_table_whose_rows_are_counted_otherwise_is_compared(tmp_path: Path) -> None:
    size = (
        "s = Shape <start = 1, end = 2> (x) i = Squeeze (s) j = Add (i, none) k = Div (j, at) n = Reshape (k, minus) "
    )
    text = TABLE.replace("HERE", size + " b = Softplus (a)")
    right = save(tmp_path / "right.onnx", text, v=V, w=W, pos=POS, minus=np.array([-1]))
    changed = POS.copy()
    changed[3, 2] += 2
    text = TABLE.replace("HERE", "e = Exp (a) f = Add (e, one) g = Div (f, one) b = Log (g) " + SIZE.replace("OF", "b"))
    fork = paddable.probe(save(tmp_path / "wrong.onnx", text, v=V, w=W, pos=changed), right, ["x:1=T"]).fork
    assert fork is not None and fork.cause.kind == "weights", fork
    assert "in 1 of 800 numbers, most at [3, 2]" in fork.cause.text


def test_a_node_that_is_missing_stands_nowhere_else(tmp_path: Path) -> None:
    text = TABLE.replace("HERE", SIZE.replace("OF", "x") + " h = Softplus (a) b = MatMul (h, u)")
    right = save(tmp_path / "right.onnx", text, u=V + W, v=V, w=W, pos=POS)
    text = text.replace("h = Softplus (a)", "e = Exp (a) f = Add (e, one) h = Log (f)").replace("(c, w)", "(b, w)")
    report = paddable.probe(save(tmp_path / "wrong.onnx", text, u=V + W, v=V, w=W, pos=POS), right, ["x:1=T"])
    assert report.verdict.startswith("The first graph lacks Add "), report.verdict
