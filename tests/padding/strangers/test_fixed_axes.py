"""Axes of fixed size: whatever is done along them is framewise, with any number of rows."""

from __future__ import annotations

import pytest

from ..native import assert_exact

_ENDS = "<int64[1] s = {-1}, int64[1] e = {-9223372036854775807}, int64[1] a = {1}>"


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_flip_of_channels_is_no_gather(rows: int) -> None:
    """Its index was folded to one row: wrong numbers, or a file that does not load."""
    body = "f = Slice (x, s, e, a, s) y = Neg (f)"
    text = f"g (float[batch, 4, T] x) => (float[batch, 4, T] y) {_ENDS} {{ {body} }}"
    assert_exact(text, "x:2=T", rows=None, padded_rows=rows)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_part_of_channels_in_reverse(rows: int) -> None:
    ends = "<int64[1] s = {-2}, int64[1] e = {0}, int64[1] a = {1}, int64[1] k = {-2}>"
    text = f"g (float[batch, 6, T] x) => (float[batch, C, T] y) {ends} {{ f = Slice (x, s, e, a, k) y = Neg (f) }}"
    assert_exact(text, "x:2=T", rows=None, padded_rows=rows)


@pytest.mark.parametrize("rows", [1, 2])
def test_steps_repeated_from_the_front_serve_every_row(rows: int) -> None:
    """An index map of constants has no row axis: an edge in front of the valid steps, and a wrap of fixed frames."""
    text = (
        "g (float[batch, T] x) => (float[batch, U] y) <int64[4] p = {0, 3, 0, 0}>"
        ' { q = Pad <mode = "edge"> (x, p) y = Neg (q) }'
    )
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows)


@pytest.mark.parametrize("rows", [1, 2])
def test_an_empty_slice_is_a_piece_of_a_concatenation(rows: int) -> None:
    """partial_rotary_factor 1.0: ``q[..., rotary_dim:]`` is empty."""
    ends = "<int64[1] s = {8}, int64[1] e = {9223372036854775807}, int64[1] a = {2}>"
    body = "r = Slice (x, s, e, a) n = Neg (r) q = Neg (x) y = Concat <axis = 2> (q, n)"
    assert_exact(
        f"g (float[batch, T, 8] x) => (float[batch, T, 8] y) {ends} {{ {body} }}", "x:1=T", rows=None, padded_rows=rows
    )


def test_an_empty_piece_in_front_of_zeros() -> None:
    ends = f"<int64[1] s = {{8}}, int64[1] e = {{8}}, int64[1] a = {{2}}, float[1, 2, 8] z = {{{', '.join('0' * 16)}}}>"
    body = "r = Slice (x, s, e, a) t = Concat <axis = 1> (x, z) y = Softmax <axis = 1> (t)"
    assert_exact(f"g (float[1, T, 8] x) => (float[1, U, 8] y) {ends} {{ {body} }}", "x:1=T")


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("attributes", ["onesided = 1", "inverse = 1", ""])
def test_the_transform_of_each_frame(rows: int, attributes: str) -> None:
    signal = "x" if "inverse" not in attributes else "z"
    inner = f"z = Concat <axis = 3> (x, x) y = DFT <axis = 2{', ' * bool(attributes)}{attributes}> ({signal})"
    text = f"g (float[batch, T, 8, 1] x) => (float[batch, T, F, 2] y) {{ {inner} }}"
    assert_exact(text, "x:1=T", rows=None, padded_rows=rows, opset=18)


def test_the_transform_axis_is_an_input_since_opset_20() -> None:
    text = "g (float[1, T, 8, 1] x) => (float[1, T, 8, 2] y) <int64 a = {2}> { y = DFT (x, , a) }"
    assert_exact(text, "x:1=T", opset=20)


@pytest.mark.parametrize("rows", [1, 2])
def test_a_pool_in_ceil_mode_has_no_padding_to_include(rows: int) -> None:
    """CAM++: count_include_pad is torch's default, and the pads are 0."""
    attributes = "ceil_mode = 1, count_include_pad = 1, kernel_shape = [10], strides = [10]"
    text = f"g (float[batch, 2, T] x) => (float[batch, 2, N] y) {{ y = AveragePool <{attributes}> (x) }}"
    assert_exact(text, "x:2=T", rows=None, padded_rows=rows, opset=22)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("scale", [2.0, 0.5])
@pytest.mark.parametrize("transform", ["half_pixel", "asymmetric"])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_a_spectrogram_is_resized_along_both_axes(mode: str, transform: str, scale: float, rows: int) -> None:
    """The size of the bins was forgotten as time was resized: 5 was read where native has 10."""
    body = f'r = Resize <mode = "{mode}", coordinate_transformation_mode = "{transform}"> (x, , s)'
    shape = "h = Shape <start = 2, end = 3> (r) f = Cast <to = 1> (h) y = Mul (r, f)"
    text = f"g (float[batch, 1, 5, T] x) => (float[batch, 1, F, U] y) <float[4] s = {{1, 1, {scale}, {scale}}}>"
    assert_exact(f"{text} {{ {body} {shape} }}", "x:3=T", rows=None, padded_rows=rows)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
@pytest.mark.parametrize("scales", ["2, 2", "3, 0.5"])
def test_scores_are_resized_along_queries_and_keys(scales: str, mode: str, rows: int) -> None:
    """The first of two lengths was forgotten: the file did not load."""
    body = f't = Transpose <perm = [0, 1, 3, 2]> (x) q = MatMul (x, t) r = Resize <mode = "{mode}"> (q, , s)'
    text = f"g (float[batch, 1, T, 4] x) => (float[batch, 1, U, V] y) <float[4] s = {{1, 1, {scales}}}>"
    assert_exact(f"{text} {{ {body} y = Softmax <axis = 3> (r) }}", "x:2=T", rows=None, padded_rows=rows)
