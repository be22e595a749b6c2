"""What one exporter folds into a weight and another leaves as a node is no difference, and is never blamed for one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddable

from .test_causes import save

RNG = np.random.default_rng(3)


def drawn(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


K1, K2, U, GAIN, SHIFT, MEAN = drawn(8, 8, 3), drawn(8, 8, 3), drawn(8, 8), drawn(8), drawn(8), drawn(8)
VARIANCE, C1 = RNG.uniform(0.5, 2, 8).astype(np.float32), drawn(8)
SCALE = GAIN / np.sqrt(VARIANCE + np.float32(1e-5))

STATES = {"gain": GAIN, "shift": SHIFT, "mean": MEAN, "variance": VARIANCE}
SEPARATE = (
    "(float[1, 8, T] x) => (float[1, 8, T] y) { "
    "c = Conv <pads = [1, 1]> (x, K1, C1) n = BatchNormalization (c, gain, shift, mean, variance) e = Relu (n) "
    "d = Conv <pads = [1, 1]> (e, K2) m = BatchNormalization (d, gain, shift, mean, variance) h = Relu (m) "
    "y = MatMul (U, h) }"
)
FOLDED = (
    "(float[1, 8, T] x) => (float[1, 8, T] y) { "
    "c = Conv <pads = [1, 1]> (x, K1, C1) e = Relu (c) d = Conv <pads = [1, 1]> (e, K2, C2) h = Relu (d) "
    "y = MatMul (U, h) }"
)
NORMED = {"K1": K1, "K2": K2, "C1": C1, "U": U, **STATES}
INTO = {
    "K1": K1 * SCALE[:, None, None],
    "K2": K2 * SCALE[:, None, None],
    "C1": (C1 - MEAN) * SCALE + SHIFT,
    "C2": -MEAN * SCALE + SHIFT,
    "U": U,
}

ACROSS = (
    "(float[1, 8, T] x) => (float[1, 8, T] y) { "
    "u = Unsqueeze (x, two) v = Conv <pads = [0, 1, 0, 1]> (u, K1, C1) c = Squeeze (v, two) e = Relu (c) "
    "d = Conv <pads = [1, 1]> (e, K2, C2) h = Relu (d) y = MatMul (U, h) }"
)
SCALED_CONV = (
    "(float[1, 8, T] x) => (float[1, 8, T] y) { h = Mul (x, half) c = Conv <pads = [1, 1]> (h, K1, C1) e = Relu (c) "
    "y = MatMul (U, e) }"
)
FILLED_CONV = (
    "(float[1, 8, T] x) => (float[1, 8, T] y) { m = IsInf (x) n = Not (m) f = Where (n, x, zero) "
    "c = Conv <pads = [1, 1]> (f, K1, C1) e = Relu (c) y = MatMul (U, e) }"
)

W, B = drawn(8, 8), drawn(8)
HEAD = "(float[1, T, 8] x) => (float[1, T, 8] y) "
SCALED = HEAD + "{ c = MatMul (x, W) s = Mul (c, two) a = Add (s, B) y = MatMul (a, V) }"
INSIDE = HEAD + "{ c = MatMul (x, W) a = Add (c, B) y = MatMul (a, V) }"
BEFORE = HEAD + "{ c = MatMul (x, W) b = Add (c, B) a = Mul (b, two) y = MatMul (a, V) }"
TWO = RNG.uniform(1.5, 2.5, 8).astype(np.float32)

CASES = {
    "batch norm": ((FOLDED, INTO), (SEPARATE, NORMED)),
    "batch norm over one of two axes": (
        (ACROSS, {**INTO, "K1": INTO["K1"][:, :, None], "two": np.array([2])}),
        (SEPARATE, NORMED),
    ),
    "scale into a convolution": (
        (FILLED_CONV, {"K1": K1 / 2, "C1": C1, "U": U, "zero": np.zeros((), np.float32)}),
        (SCALED_CONV, {"K1": K1, "C1": C1, "U": U, "half": np.full((), 0.5, np.float32)}),
    ),
    "scale": ((INSIDE, {"W": W * TWO, "B": B, "V": U}), (SCALED, {"W": W, "B": B, "V": U, "two": TWO})),
    "scale and bias": ((INSIDE, {"W": W * TWO, "B": B * TWO, "V": U}), (BEFORE, {"W": W, "B": B, "V": U, "two": TWO})),
}


def pair(folder: Path, case: str, turned: bool, name: str = "", *at: int) -> tuple[Path, Path]:
    """Both graphs of a case, the folded one changed in one number."""
    (text, weights), (other, others) = CASES[case]
    weights = {key: array.copy() for key, array in weights.items()}
    if name:
        weights[name][at] += 0.3
    places = save(folder / "folded.onnx", text, **weights), save(folder / "separate.onnx", other, **others)
    return places[::-1] if turned else places


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_what_is_folded_does_not_differ(tmp_path: Path, case: str, turned: bool) -> None:
    report = paddable.probe(*pair(tmp_path, case, turned), ["x:2=T" if "K1" in CASES[case][0][1] else "x:1=T"])
    assert report.ok and not report.changed, report.verdict


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("case", "name", "at", "op", "told"),
    [
        ("batch norm", "K1", (3, 2, 1), "Conv", "in 1 of 192 numbers, most at [3, 2, 1]"),
        ("batch norm", "K2", (3, 2, 1), "Conv", "in 1 of 192 numbers, most at [3, 2, 1]"),
        ("batch norm", "C1", (5,), "Conv", "in 1 of 8 numbers, most at [5]"),
        ("batch norm", "C2", (5,), "Conv", "in 1 of 8 numbers, most at [5]"),
        ("batch norm over one of two axes", "K1", (3, 2, 0, 1), "Conv", "in 1 of 192 numbers, most at [3, 2, "),
        ("scale into a convolution", "K1", (3, 2, 1), "Conv", "in 1 of 192 numbers, most at [3, 2, 1]"),
        ("batch norm", "U", (5, 1), "MatMul", "(U) of MatMul differs from the second graph's in 1 of 64"),
        ("scale", "W", (5, 1), "MatMul", "in 1 of 64 numbers, most at [5, 1]"),
        ("scale", "B", (5,), "Add", "(B) of Add differs from the second graph's in 1 of 8 numbers, most at [5]"),
        ("scale", "V", (5, 1), "MatMul", "(V) of MatMul differs from the second graph's in 1 of 64"),
        ("scale and bias", "W", (5, 1), "MatMul", "in 1 of 64 numbers, most at [5, 1]"),
        ("scale and bias", "B", (5,), "Add", "in 1 of 8 numbers, most at [5]"),
        ("scale and bias", "V", (5, 1), "MatMul", "(V) of MatMul differs from the second graph's in 1 of 64"),
    ],
)
def test_one_number_behind_or_in_a_fold_is_the_one_that_is_told(
    tmp_path: Path, case: str, name: str, at: tuple[int, ...], op: str, told: str, turned: bool
) -> None:
    both = pair(tmp_path, case, turned, name, *at)
    report = paddable.probe(*both, ["x:2=T" if "K1" in CASES[case][0][1] else "x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict
    assert f" of {op}" in report.fork.cause.text and told in report.fork.cause.text
    assert "weights differ" not in report.changed


def test_a_scale_that_one_graph_lacks_is_no_fold(tmp_path: Path) -> None:
    weights = {"W": W, "B": B, "V": U}
    one, other = save(tmp_path / "a.onnx", INSIDE, **weights), save(tmp_path / "b.onnx", SCALED, **weights, two=TWO)
    report = paddable.probe(one, other, ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "structure", report.verdict
    assert "lacks Mul" in report.fork.cause.text and not report.changed


@pytest.mark.parametrize("turned", [False, True])
def test_the_epsilon_with_which_a_norm_was_folded_is_told(tmp_path: Path, turned: bool) -> None:
    """And a norm in training mode, which no fold can stand for."""
    told = (
        "has epsilon=0.3 in the first graph and 1e-05 in the second, where the second has it in",
        "of the first graph",
    )
    if not turned:
        told = (
            "has epsilon=1e-05 in the first graph and 0.3 in the second, where the first has it in",
            "of the second",
        )
    for attribute, kind, text in zip(
        ("epsilon = 0.3", "training_mode = 1"), ("attributes", "training"), told, strict=True
    ):
        outputs = "m, rm, rv" if "mode" in attribute else "m"
        other = SEPARATE.replace("m = BatchNormalization", f"{outputs} = BatchNormalization <{attribute}>")
        one = save(tmp_path / "a.onnx", FOLDED, **INTO), save(tmp_path / "b.onnx", other, **NORMED)
        report = paddable.probe(*(one[::-1] if turned else one), ["x:2=T"])
        assert report.fork is not None and report.fork.cause.kind == kind, report.verdict
        assert text in report.fork.cause.text and not report.changed, report.verdict


@pytest.mark.parametrize("turned", [False, True])
def test_the_factor_of_a_product_is_told_and_not_its_weight(tmp_path: Path, turned: bool) -> None:
    rows = "(float[T, 8] x) => (float[T, 8] y) "
    plain = save(tmp_path / "a.onnx", rows + "{ c = MatMul (x, W) r = Tanh (c) y = MatMul (r, V) }", W=W, V=U)
    for weight, told in ((U.T.copy(), "alpha=0.5"), (2 * U.T, "")):
        text = rows + "{ c = MatMul (x, W) r = Tanh (c) y = Gemm <alpha = 0.5, transB = 1> (r, V) }"
        one = save(tmp_path / "b.onnx", text, W=W, V=weight), plain
        report = paddable.probe(*(one[::-1] if turned else one), ["x:0=T"], batch="none")
        if told:
            assert report.fork is not None and report.fork.cause.kind == "attributes", report.verdict
            assert f"Gemm has {told}" in report.fork.cause.text and "MatMul has none" in report.fork.cause.text
        assert bool(told) != report.ok and not report.changed, report.verdict


NORM = (
    HEAD + "{ n = LayerNormalization <axis = -1> (x, gain, shift) c = MatMul (n, W) d = MatMul (n, V) y = Add (c, d) }"
)
FRONT = HEAD + "{ s = Mul (x, two) c = MatMul (s, W) r = Relu (c) y = MatMul (r, V) }"
BARE = HEAD + "{ c = MatMul (x, W) r = Relu (c) y = MatMul (r, V) }"
ONES, NONE = np.ones(8, np.float32), np.zeros(8, np.float32)
BY = TWO[:, None]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            (NORM, {"W": W * BY, "V": U * BY, "gain": ONES, "shift": NONE}),
            (NORM, {"W": W, "V": U, "gain": TWO, "shift": NONE}),
        ),
        ((BARE, {"W": W * BY, "V": U}), (FRONT, {"W": W, "V": U, "two": TWO})),
    ],
)
def test_a_scale_in_front_that_is_folded_does_not_differ(
    tmp_path: Path, one: tuple[str, dict[str, np.ndarray]], other: tuple[str, dict[str, np.ndarray]], turned: bool
) -> None:
    places = save(tmp_path / "a.onnx", one[0], **one[1]), save(tmp_path / "b.onnx", other[0], **other[1])
    report = paddable.probe(*(places[::-1] if turned else places), ["x:1=T"])
    assert report.ok and not report.changed, report.verdict


def test_a_weight_that_no_output_feels_is_still_told(tmp_path: Path) -> None:
    """A Relu hides the bias, and a column of zeros the row of the weight, which is a multiple of the other's."""
    text = HEAD + "{ z = Mul (x, mask) c = MatMul (z, W) a = Add (c, B) r = Relu (a) y = MatMul (r, V) }"
    mask = np.ones(8, np.float32)
    mask[2] = 0
    wide = drawn(8, 16)
    bias = np.zeros(16, np.float32)
    bias[3] = -1e3
    weights = {"W": wide, "B": bias, "V": drawn(16, 8), "mask": mask}
    row, offset = wide.copy(), bias.copy()
    row[2] *= 2
    offset[3] -= 10
    other = save(tmp_path / "b.onnx", text, **weights)
    for name, array, told in (("W", row, "in 16 of 128 numbers"), ("B", offset, "in 1 of 16 numbers")):
        one = save(tmp_path / "a.onnx", text, **{**weights, name: array})
        report = paddable.probe(one, other, ["x:1=T"])
        assert report.ok and told in report.changed, report.verdict
