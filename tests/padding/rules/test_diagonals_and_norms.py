"""EyeLike, Col2Im, wrapped padding, and norms over time."""

from __future__ import annotations

import pytest

from .native import assert_exact, verdict_of


def numbers(count: int) -> str:
    return ", ".join(str(round(0.37 * ((7 * i) % 11 - 5), 2)) for i in range(count))


@pytest.mark.parametrize("k", [-1, 0, 2])
def test_the_diagonal_of_scores(k: int) -> None:
    """As torch.diagonal is exported. A diagonal above the main one meets columns of the padding."""
    assert_exact(
        f"""g (float[1, T, 2] x) => (float[1, T, 1] y, float[1, T] ones)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}> {{
           t = Transpose <perm = [0, 2, 1]> (x) m = MatMul (x, t) s = Shape (m) n = Gather (s, one)
           d = Concat <axis = 0> (n, n) z = ConstantOfShape (d) e = EyeLike <k = {k}> (z)
           p = Mul (m, e) y = ReduceSum (p, two)
           only = ReduceSum <keepdims = 0> (e, one) ones = Unsqueeze (only, zero) }}""",
        "x:1=T",
        needs=["PAD101"] if k > 0 else [],
    )  # fmt: skip


def test_a_wide_diagonal_of_one_length_beside_another() -> None:
    assert_exact(
        """g (float[1, T] x, float[1, U] o) => (float[1, T] y) <int64[1] one = {1}> {
           a = Shape (x) n = Gather (a, one) b = Shape (o) m = Gather (b, one) d = Concat <axis = 0> (n, m)
           z = ConstantOfShape (d) e = EyeLike <dtype = 1> (z) t = Transpose <perm = [1, 0]> (o)
           f = MatMul (e, t) r = Transpose <perm = [1, 0]> (f) y = Add (x, r) }""",
        "x:1=T",
        "o:1=U",
    )  # fmt: skip


@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_norm_of_a_channel(p: int) -> None:
    assert_exact(
        f"g (float[1, 3, T] x) => (float[1, 3, 1] y) {{ y = GlobalLpPool <p = {p}> (x) }}", "x:2=T", needs=["PAD101"]
    )


@pytest.mark.parametrize("p", [1, 2])
def test_a_channel_divided_by_its_norm(p: int) -> None:
    assert_exact(
        f"g (float[1, 3, T] x) => (float[1, 3, T] y) {{ y = LpNormalization <axis = 2, p = {p}> (x) }}",
        "x:2=T",
        needs=["PAD101"],
    )


@pytest.mark.parametrize("opset", [13, 17, 18])
@pytest.mark.parametrize("axes", ["axes = [2]", "axes = [0, 1, 2]"])
def test_mean_and_variance_over_time(axes: str, opset: int) -> None:
    assert_exact(
        f"""g (float[1, 3, T] x) => (float[1, 3, T] y) <float far = {{5.0}}> {{
           b = Add (x, far) y = MeanVarianceNormalization <{axes}> (b) }}""",
        "x:2=T",
        opset=opset,
        needs=["PAD101"],
    )  # fmt: skip


def test_mean_and_variance_of_an_image() -> None:
    assert_exact(
        "g (float[1, 2, 3, T] x) => (float[1, 2, 3, T] y) { y = MeanVarianceNormalization (x) }",
        "x:3=T",
        needs=["PAD101"],
    )


@pytest.mark.parametrize("pads", ["0, 0, 0, 0, 0, 3", "0, 0, 2, 0, 0, 0", "0, 0, 2, 0, 0, 4"])
def test_steps_that_wrap_around(pads: str) -> None:
    assert_exact(
        f"""g (float[1, 2, T] x) => (float[1, 2, U] y) <int64[6] pads = {{{pads}}}> {{
           y = Pad <mode = "wrap"> (x, pads) }}""",
        "x:2=T",
        opset=19,
        needs=["PAD102"],
    )  # fmt: skip


WINDOWS = """s = Shape <start = 2> (x) two = Constant <value_ints = [2]> () long = Mul (s, two)
             one = Constant <value_ints = [1]> () """


@pytest.mark.parametrize("pads", ["", ", pads = [0, 1, 0, 1]"])
def test_windows_added_up(pads: str) -> None:
    """An overlap-add of windows of 4 at a hop of 2: its result is as long as native makes it."""
    more = 0 if pads else 2
    assert_exact(
        f"""g (float[1, 8, T] x) => (float[1, 2, U] y)
           <int64[2] block = {{1, 4}}, int64[1] more = {{{more}}}, int64[1] flat = {{2}}> {{
           {WINDOWS} l = Add (long, more) size = Concat <axis = 0> (one, l)
           f = Col2Im <strides = [1, 2]{pads}> (x, size, block) y = Squeeze (f, flat) }}""",
        "x:2=T",
        opset=18,
        needs=["PAD102"],
    )  # fmt: skip


def test_patches_added_up() -> None:
    """Patches in rows of time and three columns."""
    assert_exact(
        """g (float[1, 12, T, 3] x) => (float[1, 2, U, 6] y)
           <int64[2] block = {3, 2}, int64[1] six = {6}, int64[3] shape = {0, 0, -1}> {
           r = Reshape (x, shape) s = Shape <start = 2, end = 3> (x) two = Constant <value_ints = [2]> ()
           l = Add (s, two) size = Concat <axis = 0> (l, six)
           y = Col2Im <strides = [1, 2]> (r, size, block) }""",
        "x:2=T",
        opset=18,
        needs=["PAD102"],
    )  # fmt: skip


def test_a_diagonal_by_einsum_is_refused_with_advice() -> None:
    verdict = verdict_of(
        """g (float[1, T, 2] x) => (float[1, T] y) { t = Transpose <perm = [0, 2, 1]> (x) m = MatMul (x, t)
           y = Einsum <equation = "bii->bi"> (m) }""",
        "x:1=T",
    )
    assert verdict.outcome == "refused" and "diagonal" in verdict.reason
