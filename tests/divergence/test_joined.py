"""Weights that one graph has joined in one matrix, and the other apart: compared part by part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable

from . import planted
from .test_stored import BLOCKS, NORM, WIDTH, Weights, drawn, encoder, weights
from .test_verdicts import save

ATTENTION = (
    "tK = Transpose <perm = [0, 2, 1]> (kK) zK = MatMul (qK, tK) fK = Softmax (zK) cK = MatMul (fK, hK) "
    "oK = MatMul (cK, wK) vK+ = Add (vK, oK)"
)
WHOLE = NORM + "pK = MatMul (nK, jK) eK = Add (pK, dK) "
SHARES = "uK = Shape (eK) lK = Gather <axis = 0> (uK, at2) rK = Div (lK, at3) iK = Mul (rK, at2) "
JOINED = {
    "Split": "qK, kK, hK = Split <axis = -1, num_outputs = 3> (eK) ",
    "Split into sizes": "qK, kK, hK = Split <axis = 2> (eK, sizes) ",
    "Slice": "qK = Slice (eK, at0, at16, at2) kK = Slice (eK, at16, at32, at2) hK = Slice (eK, at32, at48, at2) ",
    "Slice by shares": SHARES
    + "qK = Slice (eK, at0, rK, at2) kK = Slice (eK, rK, iK, at2) hK = Slice (eK, iK, lK, at2) ",
}
APART = NORM + "".join(f"p{c}K = MatMul (nK, j{c}K) {c}K = Add (p{c}K, d{c}K) " for c in "qkh") + ATTENTION


def joined() -> Weights:
    held = weights()
    for k in range(BLOCKS):
        held[f"j{k}"], held[f"d{k}"] = drawn(WIDTH, 3 * WIDTH, seed=k) / 2, drawn(3 * WIDTH, seed=k + 30)
    numbers = {f"at{n}": np.array([n]) for n in (0, 2, 3, 16, 32, 48)}
    return held | numbers | {"sizes": np.array([WIDTH] * 3)}


def apart() -> Weights:
    held = joined()
    for k in range(BLOCKS):
        for part, (j, d) in enumerate(zip(np.split(held[f"j{k}"], 3, 1), np.split(held[f"d{k}"], 3), strict=True)):
            held[f"j{'qkh'[part]}{k}"], held[f"d{'qkh'[part]}{k}"] = j.copy(), d.copy()
    return held


def scrambled(place: Path) -> Path:
    onnx.save(planted.scrambled(planted.reordered(onnx.load(place), 1))[0], place)
    return place


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("joined") / "apart.onnx", encoder(APART), **apart())


@pytest.mark.parametrize("names", ["named", "scrambled"])
@pytest.mark.parametrize("form", JOINED)
def test_a_number_of_a_part_is_told_as_that(tmp_path: Path, right: Path, form: str, names: str) -> None:
    def made(held: Weights) -> Path:
        place = save(tmp_path / "joined.onnx", encoder(WHOLE + JOINED[form] + ATTENTION), **held)
        return scrambled(place) if names == "scrambled" else place

    report = paddable.probe(made(joined()), right, ["x:1=T"])
    assert report.ok and not report.changed, report.verdict
    assert report.matched["paired"] == report.matched["nodes of the other"]
    for weight, index, told in (
        ("j3", (2, 20), "[..., 16:32]) of MatMul differs from the second graph's in 1 of 256 numbers, most at [2, 4]"),
        ("d4", (40,), "[32:48]) of Add differs from the second graph's in 1 of 16 numbers, most at [8]"),
    ):
        held = joined()
        held[weight][index] += 1
        for turned in (False, True):
            pair = made(held), right
            report = paddable.probe(*(pair[::-1] if turned else pair), ["x:1=T"])
            assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict
            assert told.split(")")[1] in report.fork.cause.text
            assert turned or told in report.fork.cause.text
    held = joined()
    held["j2"] = np.concatenate([held["j2"][:, 16:32], held["j2"][:, :16], held["j2"][:, 32:]], 1)
    report = paddable.probe(made(held), right, ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "wiring", report.verdict


def test_products_that_both_have_joined_stay_as_they_are(tmp_path: Path) -> None:
    text = encoder(WHOLE + JOINED["Split"] + ATTENTION)
    both = [save(tmp_path / f"{name}.onnx", text, **joined()) for name in "ab"]
    report = paddable.probe(*both, ["x:1=T"])
    assert report.ok and report.matched["nodes"] == len(onnx.load(both[0]).graph.node)


def test_a_padded_graph_with_its_products_joined(tmp_path: Path, right: Path) -> None:
    held = joined()
    held["j3"][2, 20] += 1
    native = save(tmp_path / "joined.onnx", encoder(WHOLE + JOINED["Split"] + ATTENTION), **held)
    paddable.convert(native, ["x:1=T"], containers=[40], out=tmp_path / "padded.onnx", verify=False)
    for pair in ((tmp_path / "padded.onnx", right), (right, tmp_path / "padded.onnx")):
        report = paddable.probe(*pair, at=23)
        assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict
        assert "of MatMul differs from the second graph's in 1 of 256 numbers" in report.fork.cause.text


def test_arrays_without_elements_are_no_cause(tmp_path: Path) -> None:
    text = "(float[1, T, 16] x) => (float[1, T, 4, 4] y) {{ a = MatMul (x, w) b = {} (a) y = Reshape{} (b, s) }}"
    held = {"w": drawn(WIDTH, WIDTH), "s": np.array([1, -1, 4, 4])}
    right = save(tmp_path / "right.onnx", text.format("Tanh", ""), **held)
    wrong = save(tmp_path / "wrong.onnx", text.format("Relu", " <allowzero = 1>"), **held)
    report = paddable.probe(wrong, right, ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "structure", report.verdict
