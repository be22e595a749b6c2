"""Rows of different lengths: a fixed batch that exporters write as a constant, and lengths used as data."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest

import paddable

from .native import assert_exact, verdict_of


def test_a_fixed_batch_is_a_constant_in_the_target_of_a_reshape() -> None:
    assert_exact(
        """g (float[2, 4, T] x) => (float[2, 4, T] y) <int64[3] flat = {2, 1, -1}, int64[3] back = {2, 4, -1},
           float[1] one = {1.0}, float[1] zero = {0.0}> {
           a = Reshape (x, flat)
           n = InstanceNormalization <epsilon = 0.05> (a, one, zero)
           y = Reshape (n, back)
        }""",
        "x:2=T", rows=2,
    )  # fmt: skip


def test_the_size_inferred_behind_a_symbolic_batch_shares_constant_factors() -> None:
    assert_exact(
        """g (float[batch, T, 3] x) => (float[batch, N, 6] y) <int64[1] zero = {0}, int64[2] rest = {-1, 6}> {
           s = Shape (x)
           b = Gather <axis = 0> (s, zero)
           target = Concat <axis = 0> (b, rest)
           twice = Concat <axis = 1> (x, x)
           y = Reshape (twice, target)
        }""",
        "x:1=T", rows=None, kept=True,
    )  # fmt: skip


@pytest.mark.parametrize("kept", [True, False])
def test_a_length_that_divides_data_is_taken_row_by_row(kept: bool) -> None:
    assert_exact(
        """g (float[batch, 4, T] x) => (float[batch, 4, 1] y) <int64[1] axis = {2}, int64 two = {2}> {
           total = ReduceSum <keepdims = 1> (x, axis)
           s = Shape (x)
           n = Gather <axis = 0> (s, two)
           f = Cast <to = 1> (n)
           y = Div (total, f)
        }""",
        "x:2=T", rows=None, kept=kept,
    )  # fmt: skip


def test_positions_from_the_end_keep_their_atoms_when_the_batch_is_inserted() -> None:
    """The coefficient of the time index was applied to the batch index."""
    assert_exact(
        """g (float[batch, T, 3] x) => (float[batch, T, 3] y)
           <int64 axis = {1}, int64 zero = {0}, int64 one = {1}, int64[1] front = {0}> {
           s = Shape (x)
           n = Gather <axis = 0> (s, axis)
           i = Range (zero, n, one)
           row = Unsqueeze (i, front)
           last = Sub (n, one)
           gap = Sub (row, last)
           bias = Cast <to = 1> (gap)
           xt = Transpose <perm = [0, 2, 1]> (x)
           scores = MatMul (x, xt)
           biased = Add (scores, bias)
           weights = Softmax <axis = 2> (biased)
           y = MatMul (weights, x)
        }""",
        "x:1=T", rows=None, kept=True,
    )  # fmt: skip


@pytest.mark.parametrize("rows", [3, None])
def test_a_fraction_of_the_utterance_differs_by_row(rows: int | None) -> None:
    batch = rows or "batch"
    assert_exact(
        f"""g (float[{batch}, T, 2] x) => (float[{batch}, T, 2] y)
           <int64 axis = {{1}}, int64 zero = {{0}}, int64 one = {{1}}, int64[1] back = {{1}}> {{
           s = Shape (x)
           n = Gather <axis = 0> (s, axis)
           i = Range (zero, n, one)
           position = Cast <to = 1> (i)
           steps = Cast <to = 1> (n)
           part = Div (position, steps)
           angle = Sin (part)
           column = Unsqueeze (angle, back)
           y = Mul (x, column)
        }}""",
        "x:1=T", rows=rows, kept=rows is None,
    )  # fmt: skip


@pytest.mark.parametrize("opset", [11, 17])
def test_a_flip_by_index_differs_by_row(opset: int) -> None:
    assert_exact(
        """g (float[3, T, 2] x) => (float[3, T, 2] y) <int64 axis = {1}, int64 zero = {0}, int64 one = {1}> {
           s = Shape (x)
           n = Gather <axis = 0> (s, axis)
           i = Range (zero, n, one)
           last = Sub (n, one)
           back = Sub (last, i)
           y = Gather <axis = 1> (x, back)
        }""",
        "x:1=T", rows=3, opset=opset,
    )  # fmt: skip


def test_a_token_expanded_to_a_fixed_batch_stands_before_the_stream() -> None:
    assert_exact(
        """g (float[3, T, 2] x) => (float[3, N, 2] y) <float[1, 1, 2] token = {0.5, -0.5}, int64[3] size = {3, 1, 2}> {
           tokens = Expand (token, size)
           y = Concat <axis = 1> (tokens, x)
        }""",
        "x:1=T", rows=3,
    )  # fmt: skip


def test_a_table_is_read_by_clipped_distances_without_a_batch_axis() -> None:
    assert_exact(
        """g (float[batch, T, 2] x) => (float[batch, T, T] y)
           <int64 axis = {1}, int64 zero = {0}, int64 one = {1}, int64[1] front = {0}, int64[1] back = {1},
           int64 low = {-2}, int64 high = {2}, float[5] table = {0.1, 0.2, 0.3, 0.4, 0.5}> {
           s = Shape (x)
           n = Gather <axis = 0> (s, axis)
           i = Range (zero, n, one)
           rows = Unsqueeze (i, back)
           columns = Unsqueeze (i, front)
           gap = Sub (columns, rows)
           above = Max (gap, low)
           within = Min (above, high)
           bucket = Sub (within, low)
           bias = Gather <axis = 0> (table, bucket)
           xt = Transpose <perm = [0, 2, 1]> (x)
           scores = MatMul (x, xt)
           y = Add (scores, bias)
        }""",
        "x:1=T", rows=None, kept=True,
    )  # fmt: skip


@pytest.mark.parametrize("rows", [2, None])
def test_a_position_over_the_length_beside_features_differs_by_row(rows: int | None) -> None:
    """x + (arange(T) / T)[None, :, None]: native's leading axis of size 1 is where the others have the batch."""
    batch = rows or "batch"
    assert_exact(
        f"""g (float[{batch}, T, 3] x) => (float[{batch}, T, 3] y)
           <int64 axis = {{1}}, int64 zero = {{0}}, int64 one = {{1}}, int64[2] around = {{0, 2}}> {{
           s = Shape (x)
           n = Gather <axis = 0> (s, axis)
           i = Range (zero, n, one)
           position = Cast <to = 1> (i)
           count = Cast <to = 1> (n)
           fraction = Div (position, count)
           column = Unsqueeze (fraction, around)
           y = Add (x, column)
        }}""",
        "x:1=T", rows=rows, kept=rows is None,
    )  # fmt: skip


@pytest.mark.parametrize(
    "node",
    [
        "y = Slice (x, zero, one, zero)",
        "y = Slice (x, end, far, zero, back)",
        "y = CumSum (x, first)",
        "y = Concat <axis = 0> (x, x)",
        "y = Tile (x, twice)",
        "t = Transpose <perm = [2, 0, 1]> (x) y = Trilu (t)",
    ],
)
def test_rows_that_meet_are_refused(node: str) -> None:
    verdict = verdict_of(
        f"""g (float[batch, T, 3] x) => (float[P, Q, R] y)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] end = {{-1}}, int64[1] far = {{-999999999999}},
            int64[1] back = {{-1}}, int64 first = {{0}}, int64[3] twice = {{2, 1, 1}}> {{ {node} }}""",
        "x:1=T", rows=None, padded_rows=2,
    )  # fmt: skip
    assert verdict.outcome == "refused"
    assert "the batch mixes rows of different lengths" in verdict.reason


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("indices", ["int64 last = {-1}", "int64[2] last = {-1, -3}"])
def test_the_last_steps_of_rows_that_end_in_different_places(indices: str, kept: bool) -> None:
    assert_exact(
        f"g (float[batch, T, 3] x) => (float[batch, *, 3] y) <{indices}> {{ y = Gather <axis = 1> (x, last) }}".replace(
            "batch, *, 3", "batch, 2, 3" if "[2]" in indices else "batch, 3"
        ),
        "x:1=T", rows=None, kept=kept, padded_rows=3,
    )  # fmt: skip


@pytest.mark.parametrize("kept", [True, False])
def test_heads_behind_the_rows(kept: bool) -> None:
    """[T, batch, 4 * 2] as [T, batch * 4, 2]: with 3 rows too, the target is four times a batch and not a number."""
    assert_exact(
        """g (float[batch, T, 8] x) => (float[batch, T, 8] y)
           <int64 zero = {0}, int64 one = {1}, int64[1] four = {4}, int64[1] two = {2}, int64[1] eight = {8},
            int64[1] front = {0}> {
           s = Shape (x) b = Gather (s, zero) t = Gather (s, one) bs = Unsqueeze (b, front) ts = Unsqueeze (t, front)
           bh = Mul (bs, four) split = Concat <axis = 0> (ts, bh, two) whole = Concat <axis = 0> (ts, bs, eight)
           first = Transpose <perm = [1, 0, 2]> (x) heads = Reshape (first, split)
           q = Transpose <perm = [1, 0, 2]> (heads) k = Transpose <perm = [0, 2, 1]> (q)
           scores = MatMul (q, k) p = Softmax <axis = 2> (scores)
           o = MatMul (p, q) back = Transpose <perm = [1, 0, 2]> (o) joined = Reshape (back, whole)
           y = Transpose <perm = [1, 0, 2]> (joined)
        }""",
        "x:1=T", rows=None, kept=kept, padded_rows=3,
    )  # fmt: skip


def test_each_row_clamps_by_its_own_length() -> None:
    """The bounds of a Clip are scalars: where they depend on the length it is a Max and a Min."""
    assert_exact(
        """g (float[batch, T, 4] x) => (float[batch, T, 4] y)
           <int64 zero = {0}, int64 one = {1}, int64 four = {4}, int64[1] front = {0}, int64[1] back = {1},
            float low = {-1e9}> {
           s = Shape <start = 1, end = 2> (x)
           n = Squeeze (s, front)
           i = Range (zero, n, one)
           chunk = Div (i, four)
           next = Add (chunk, one)
           end = Mul (next, four)
           last = Clip (end, , n)
           row = Unsqueeze (last, back)
           column = Unsqueeze (i, front)
           seen = Less (column, row)
           xT = Transpose <perm = [0, 2, 1]> (x)
           scores = MatMul (x, xT)
           kept = Where (seen, scores, low)
           p = Softmax <axis = -1> (kept)
           y = MatMul (p, x)
        }""",
        "x:1=T", rows=None, padded_rows=3,
    )  # fmt: skip


def test_a_quotient_of_an_index_is_not_negative() -> None:
    """So it does not count from an end that differs by row."""
    assert_exact(
        """g (float[batch, T, 4] x) => (float[batch, 1, 4] y)
           <int64 four = {4}, int64[1] back = {2}, int64[3] wide = {1, 1, 4}> {
           flat = Flatten <axis = 1> (x)
           peak = ArgMax <axis = 1, keepdims = 1> (flat)
           frame = Div (peak, four)
           index = Unsqueeze (frame, back)
           spread = Expand (index, wide)
           y = GatherElements <axis = 1> (x, spread)
        }""",
        "x:1=T", rows=None, padded_rows=3,
    )  # fmt: skip


@pytest.mark.parametrize(
    "use",
    [
        "k = Gather (l, zero) f = Cast <to = 1> (k) y = Mul (x, f)",
        "k = Gather (l, zero) few = Less (k, eight) n = Neg (x) y = Where (few, n, x)",
        "w = Unsqueeze (l, last) k = GatherND (w, pair) f = Cast <to = 1> (k) y = Mul (x, f)",
    ],
)
def test_the_first_of_the_given_lengths_is_each_rows_own(use: str) -> None:
    """Native has one row: l[0] is its length. In a batch it was the first row's for all."""
    text = f"""g (float[N, T, 4] x, int64[N] l) => (float[N, T, 4] y)
        <int64 zero = {{0}}, int64 eight = {{8}}, int64[1] last = {{1}}, int64[2] pair = {{0, 0}}> {{ {use} }}"""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]>\n{text}')
    padded = paddable.convert(model, ["x:1=T"], containers=[20], batch_size=3, length_inputs=["l=T"])
    assert isinstance(padded, onnx.ModelProto)
    x, lengths = np.random.default_rng(0).standard_normal((3, 20, 4)).astype(np.float32), np.array([3, 20, 9])
    ours, native = (onnxruntime.InferenceSession(m.SerializeToString()) for m in (padded, model))
    got = ours.run(["y"], {"x": x, "l": lengths})[0]
    for row, n in enumerate(lengths):
        want = native.run(None, {"x": x[row : row + 1, :n], "l": lengths[row : row + 1]})[0]
        assert np.array_equal(got[row, :n], want[0])


def test_one_index_for_all_rows_reads_no_row_for_another() -> None:
    verdict = verdict_of(
        """g (float[batch, T, 4] x) => (float[batch, T, 4] y) <int64[1, 1, 4] index = {0, 0, 0, 0}> {
           first = GatherElements <axis = 1> (x, index)
           y = Add (x, first)
        }""",
        "x:1=T", rows=None, padded_rows=3,
    )  # fmt: skip
    assert verdict.outcome == "refused" and "first row alone" in verdict.reason


@pytest.mark.parametrize("axes", ["1", "1, 2, 3"])
def test_rows_do_not_meet_each_other(axes: str) -> None:
    verdict = verdict_of(
        f"""g (float[batch, T, 4] x) => (float[batch, batch, T, 4] y) <int64[1] steps = {{1}}, int64[1] last = {{2}}> {{
           total = ReduceSum <keepdims = 0> (x, steps)
           sum = ReduceSum <keepdims = 0> (total, steps)
           axes = Constant <value_ints = [{axes}]> ()
           wide = Unsqueeze ({"x" if axes == "1" else "sum"}, axes)
           y = Add (x, wide)
        }}""",
        "x:1=T", rows=None, padded_rows=3,
    )  # fmt: skip
    assert verdict.outcome == "refused" and "combines different rows" in verdict.reason


def test_rows_of_two_symbols_are_judged_together() -> None:
    """No length that other rows take by default fits a container of the shortest U and a longer T."""
    text = """g (float[N, T, 4] x, float[N, U, 4] z) => (float[N, T, 4] y, float[N, U, 4] w) {
        y = Softmax <axis = 1> (x)
        w = Softmax <axis = 1> (z)
    }"""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]>\n{text}')
    padded = paddable.convert(model, ["x:1=T", "z:1=U"], containers=["T=30,U=9"], batch_size=3)
    assert isinstance(padded, onnx.ModelProto)


@pytest.mark.parametrize("kept", [True, False])
def test_an_index_expanded_to_the_heads_of_every_row(kept: bool) -> None:
    """[batch * 2, T, 3], read along the features by one index for all (the distances of DeBERTa and SEW-D)."""
    assert_exact(
        """g (float[batch, T, 6] x) => (float[batch, T, 6] y)
           <int64 zero = {0}, int64[1] two = {2}, int64[1] three = {3}, int64[1] six = {6}, int64[1] front = {0},
            int64[1] rest = {-1}, int64[1, 1, 3] i = {2, 0, 0}, int64[1] second = {1}, int64[1] end = {2}> {
           s = Shape (x) b = Slice (s, front, second) t = Slice (s, second, end) bh = Mul (b, two)
           split = Concat <axis = 0> (b, t, two, three) joined = Concat <axis = 0> (bh, t, three)
           whole = Concat <axis = 0> (b, two, t, three) flat = Concat <axis = 0> (b, t, six)
           a = Reshape (x, split) q = Transpose <perm = [0, 2, 1, 3]> (a) h = Reshape (q, joined)
           index = Expand (i, joined) g = GatherElements <axis = 2> (h, index)
           w = Reshape (g, whole) v = Transpose <perm = [0, 2, 1, 3]> (w) y = Reshape (v, flat)
        }""",
        "x:1=T", rows=None, kept=kept, padded_rows=3,
    )  # fmt: skip


@pytest.mark.parametrize("target", ["t, t", "one, one, t, t", "b, one, t, t"])
@pytest.mark.parametrize("kept", [True, False])
def test_each_rows_own_vector_is_expanded(target: str, kept: bool) -> None:
    """Every step sees as far as two steps ahead, and no further than its row: the ends are expanded to a square."""
    assert_exact(
        f"""g (float[batch, T, 3] x) => (float[batch, 1, T, T] y)
           <int64 none = {{0}}, int64 step = {{1}}, int64 ahead = {{3}}, int64[1] front = {{0}}, int64[1] one = {{1}},
            int64[1] two = {{2}}, float low = {{-1e9}}> {{
           s = Shape (x) b = Slice (s, front, one) t = Slice (s, one, two) n = Squeeze (t)
           p = Range (none, n, step) far = Add (p, ahead) e = Min (far, n) column = Unsqueeze (e, one)
           square = Concat <axis = 0> ({target}) ends = Expand (column, square) seen = Less (p, ends)
           k = Transpose <perm = [0, 2, 1]> (x) scores = MatMul (x, k) high = Unsqueeze (scores, one)
           masked = Where (seen, high, low) y = Softmax <axis = 3> (masked)
        }}""",
        "x:1=T", rows=None, kept=kept, padded_rows=3,
    )  # fmt: skip


@pytest.mark.parametrize("kept", [True, False])
def test_every_row_reads_the_end_of_a_table(kept: bool) -> None:
    """The biases of ALiBi as MPT cuts them: as many of the last columns as the row is long."""
    assert_exact(
        """g (float[batch, T, 3] x) => (float[batch, 1, T, T] y)
           <int64[1] front = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] end = {64}, int64[1] last = {2},
            int64 first = {0}, int64 step = {1}, int64 size = {64}, int64[3] wide = {1, 1, 64}> {
           i = Range (first, size, step) f = Cast <to = 1> (i) v = Sin (f) w = Reshape (v, wide)
           s = Shape (x) t = Slice (s, one, two) start = Sub (end, t) bias = Slice (w, start, end, last)
           k = Transpose <perm = [0, 2, 1]> (x) scores = MatMul (x, k) high = Unsqueeze (scores, one)
           a = Add (high, bias) y = Softmax <axis = 3> (a)
        }""",
        "x:1=T", rows=None, kept=kept, padded_rows=3,
    )  # fmt: skip


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    "read",
    [
        "y = Gather <axis = 1> (x, i)",
        "q = Transpose <perm = [0, 2, 1]> (x) g = Gather <axis = -1> (q, i) y = Transpose <perm = [0, 2, 1]> (g)",
        "q = Transpose <perm = [1, 0, 2]> (x) u = Unsqueeze (i, one) g = GatherND (q, u) "
        "y = Transpose <perm = [1, 0, 2]> (g)",
    ],
)
def test_steps_picked_by_an_index_of_each_rows_own(read: str, kept: bool) -> None:
    """A signal stretched to half as many steps more: where a step lies depends on how long the row is."""
    assert_exact(
        f"""g (float[batch, T, 3] x) => (float[batch, U, 3] y)
           <int64 none = {{0}}, int64 step = {{1}}, int64[1] one = {{1}}, int64[1] end = {{2}}, int64 two = {{2}}> {{
           s = Shape (x) t = Slice (s, one, end) n = Squeeze (t) half = Div (n, two) more = Add (n, half)
           p = Range (none, more, step) far = Mul (p, n) i = Div (far, more) {read} }}""",
        "x:1=T", rows=None, kept=kept, padded_rows=3,
    )  # fmt: skip


def test_a_square_of_each_rows_own_is_not_read_by_index() -> None:
    """The rows stand in front of it, so that its axes are others than native's."""
    verdict = verdict_of(
        """g (float[batch, T, 3] x) => (float[batch, T, 3] y)
           <int64 none = {0}, int64 step = {1}, int64 ahead = {2}, int64[1] one = {1}, int64[1] end = {2},
            int64[1] last = {-1}> {
           s = Shape (x) t = Slice (s, one, end) n = Squeeze (t) p = Range (none, n, step) far = Add (p, ahead)
           e = Min (far, n) column = Unsqueeze (e, one) d = Sub (column, p) first = Gather <axis = 1> (d, none)
           f = Cast <to = 1> (first) w = Unsqueeze (f, last) y = Mul (x, w) }""",
        "x:1=T", rows=None, padded_rows=3,
    )  # fmt: skip
    assert (verdict.outcome, verdict.reason) == ("refused", "what each row's own length made is read by index")
