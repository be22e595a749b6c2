"""A table of positions that native cuts to the length, and a padded graph holds as a constant of its container."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddable

from .test_stored import drawn
from .test_verdicts import save

PLACES = "s = Shape <start = 1, end = 2> (x) n = Squeeze (s) r = Range (zero, n, one) "
POSITIONS = {
    "Slice": "s = Shape <start = 1, end = 2> (x) p = Slice (table, at0, s, at1) ",
    "Gather": PLACES + "p = Gather <axis = 1> (table, r) ",
    "Sin": PLACES + "f = Cast <to = 1> (r) u = Unsqueeze (f, at1) z = Mul (u, table) p = Sin (z) ",
}
ENDS = "t = Transpose <perm = [0, 2, 1]> (b) c = Conv <pads = [1, 1]> (t, k) y = Transpose <perm = [0, 2, 1]> (c) }"
NUMBERS = {"at0": np.array([0]), "at1": np.array([1]), "zero": np.array(0), "one": np.array(1)}


def made(place: Path, form: str, change: float, activation: str = "Neg") -> Path:
    table = drawn(8) if form == "Sin" else drawn(1, 64, 8)
    table[(*[0] * (table.ndim - 2), *[5] * (table.ndim > 1), 3)] += change
    text = f"(float[1, T, 8] x) => (float[1, T, 8] y) {{ m = MatMul (x, w) a = {activation} (m) {POSITIONS[form]} "
    text += "b = Add (a, p) " + ENDS
    return save(place, text, w=drawn(8, 8), k=drawn(8, 8, 3) / 3, table=table, **NUMBERS)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("form", POSITIONS)
def test_a_changed_table_is_told_as_one(tmp_path: Path, form: str, turned: bool) -> None:
    native = made(tmp_path / "native.onnx", form, 0)
    wrong = made(tmp_path / "wrong.onnx", form, 1)
    paddable.convert(wrong, ["x:1=T"], containers=[40], out=tmp_path / "padded.onnx", verify=False)
    pair = (native, tmp_path / "padded.onnx") if turned else (tmp_path / "padded.onnx", native)
    fork = paddable.probe(*pair, at=23).fork
    assert fork is not None and (fork.op, fork.cause.kind) == ("Add", "weights"), fork
    assert "(p, made of table)" in fork.cause.text
    assert f"in {22 if form == 'Sin' else 1} of 184 numbers" in fork.cause.text


@pytest.mark.parametrize("form", POSITIONS)
def test_an_equal_table_is_not_blamed_for_what_is_beside_it(tmp_path: Path, form: str) -> None:
    native = made(tmp_path / "native.onnx", form, 0, "Identity")
    paddable.convert(
        made(tmp_path / "wrong.onnx", form, 0, "Abs"), ["x:1=T"], containers=[40], out=tmp_path / "p.onnx", verify=False
    )
    fork = paddable.probe(tmp_path / "p.onnx", native, at=23).fork
    assert fork is not None and fork.cause.kind == "structure" and "Abs" in fork.cause.text, fork
