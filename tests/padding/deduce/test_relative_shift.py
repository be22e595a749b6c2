"""Relative shifts, of Transformer-XL and of VITS: no remedy where the whole of them is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import onnx_ir as ir
import pytest

from paddable.lengths import Length, Span, constant, parse
from paddable.padding.deduce.context import NoProof, RuleContext
from paddable.padding.deduce.relative_shift import relative_pad, relative_shift, relative_start, relative_view
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.axes import Axes, Axis
from paddable.padding.facts.facts import Appended, Facts, PaddingFact, Pending, Relative
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind
from paddable.padding.facts.numbers import Face, number, product

from ..native import assert_exact, findings_of, verdict_of

RELATIVE = """
    s = Shape (x)
    size = Slice (s, one, two)
    start = Sub (middle, size)
    end0 = Add (middle, size)
    end = Sub (end0, one)
    centred = Slice (table, start, end, zero)
    positions = Transpose <perm = [1, 0]> (centred)
    raw = MatMul (x, positions)
"""


SHIFT = """
    double = Mul (size, two)
    tallshape = Concat <axis = 0> (ROWS, double, size)
    tall = Reshape (wide, tallshape)
    cut = Slice (tall, one, huge, one)
    odd = Sub (double, one)
    backshape = Concat <axis = 0> (ROWS, size, odd)
    back = Reshape (cut, backshape)
    shifted = Slice (back, zero, size, two)
    y = Softmax <axis = 2> (shifted)
"""


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("form", ["pad", "concat"])
def test_a_relative_shift_by_pad_or_by_a_column_of_zeros(rows: int, form: str) -> None:
    column = {
        "pad": "wide = Pad (raw, amounts)",
        "concat": """c = Concat <axis = 0> (ROWS, size, one)
                     zeros = ConstantOfShape (c)
                     wide = Concat <axis = 2> (zeros, raw)""",
    }[form]  # fmt: skip
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(79 * 2))
    assert_exact(
        f"""g (float[{rows}, T, 2] x) => (float[{rows}, T, T] y)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}},
           int64[1] huge = {{2147483647}}, int64[1] middle = {{40}}, int64[6] amounts = {{0, 0, 1, 0, 0, 0}},
           int64[1] ROWS = {{{rows}}}, float[79, 2] table = {{{numbers}}}> {{{RELATIVE} {column} {SHIFT}}}""",
        "x:1=T", rows=rows,
    )  # fmt: skip


def test_a_relative_shift_of_steps_that_were_split() -> None:
    """T steps of four as 2T steps of two: an axis of two factors, of which the scores make one."""
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(79 * 2))
    body = RELATIVE.replace("(x", "(steps") + "wide = Pad (raw, amounts)" + SHIFT
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, V, U] y)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}},
           int64[1] huge = {{2147483647}}, int64[1] middle = {{40}}, int64[6] amounts = {{0, 0, 1, 0, 0, 0}},
           int64[3] halves = {{1, -1, 2}}, int64[1] ROWS = {{1}}, float[79, 2] table = {{{numbers}}}>
           {{steps = Reshape (x, halves) {body}}}""",
        "x:1=T",
    )


TABLE = """
    n = Slice (s, one, two)
    over = Sub (n, five)
    more = Max (over, zero)
    amounts = Concat <axis = 0> (more, zero, more, zero)
    longer = Pad (table, amounts)
    under = Sub (five, n)
    start = Max (under, zero)
    double = Mul (n, two)
    wide = Sub (double, one)
    end = Add (start, wide)
    centred = Slice (longer, start, end, zero)
    less = Sub (n, one)
"""

TO_KEYS = """
    turned = Transpose <perm = [1, 0]> (centred)
    raw = MatMul (x, turned)
    column = Pad (raw, behind)
    flatshape = Concat <axis = 0> (ROWS, minus)
    flat = Reshape (column, flatshape)
    none = Concat <axis = 0> (zero, zero, zero, less)
    extended = Pad (flat, none)
    tallness = Add (n, one)
    tallshape = Concat <axis = 0> (ROWS, tallness, wide)
    tall = Reshape (extended, tallshape)
"""
CUTS = {
    "rows first": "top = Slice (tall, zero, n, one) shifted = Slice (top, less, huge, two)",
    "columns first": "right = Slice (tall, less, huge, two) shifted = Slice (right, zero, n, one)",
    "at once": """starts = Concat <axis = 0> (zero, less) ends = Concat <axis = 0> (n, huge)
                  both = Concat <axis = 0> (one, two) shifted = Slice (tall, starts, ends, both)""",
}  # fmt: skip

TO_DISTANCES = """
    p = Softmax <axis = 2> (SCORES)
    spread0 = Concat <axis = 0> (zero, zero, zero, zero, zero, less)
    spread = Pad (p, spread0)
    lineshape = Concat <axis = 0> (ROWS, minus)
    line = Reshape (spread, lineshape)
    front = Concat <axis = 0> (zero, n, zero, zero)
    moved = Pad (line, front)
    backshape = Concat <axis = 0> (ROWS, n, double)
    back = Reshape (moved, backshape)
    weights = Slice (back, one, huge, two)
    y = MatMul (weights, centred)
"""


def _vits(body: str, outputs: str, rows: int) -> str:
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(18))
    return f"""g (float[{rows}, T, 2] x) => (float[{rows}, T, {outputs}] y)
       <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] five = {{5}},
       int64[1] minus = {{-1}}, int64[1] huge = {{2147483647}},
       int64[6] behind = {{0, 0, 0, 0, 0, 1}}, int64[1] ROWS = {{{rows}}},
       float[9, 2] table = {{{numbers}}}> {{ s = Shape (x) {TABLE} {body} }}"""


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("cuts", CUTS)
def test_a_table_padded_to_the_length_and_shifted_to_the_keys(rows: int, cuts: str) -> None:
    text = _vits(f"{TO_KEYS} {CUTS[cuts]} y = Softmax <axis = 2> (shifted)", "T", rows)
    assert_exact(text, "x:1=T", rows=rows)


@pytest.mark.parametrize("rows", [1, 2])
def test_weights_of_keys_moved_to_distances(rows: int) -> None:
    scores = "xt = Transpose <perm = [0, 2, 1]> (x) scores = MatMul (x, xt)"
    body = scores + TO_DISTANCES.replace("SCORES", "scores")
    text = _vits(body, "2", rows)
    assert_exact(text, "x:1=T", rows=rows, needs=["PAD103"])
    if rows == 1:
        assert [code for code, _ in findings_of(text, "x:1=T")] == ["PAD103"]


INTERRUPTED = {
    "read before its end": "y = Softmax <axis = 2> (tall)",
    "cut elsewhere": "cut = Slice (tall, zero, less, one) y = Slice (cut, less, huge, two)",
    "padded once more": "again = Pad (tall, behind) y = Identity (again)",
    "cut in front of the wrong axis": "cut = Slice (tall, one, huge, two) y = Identity (cut)",
    "joined to another": "y = Concat <axis = 2> (tall, tall)",
}


@pytest.mark.parametrize("what", INTERRUPTED)
def test_an_interrupted_shift_is_refused(what: str) -> None:
    verdict = verdict_of(_vits(f"{TO_KEYS} {INTERRUPTED[what]}", "U", 1), "x:1=T")
    assert verdict.outcome == "refused" and "relative shift" in verdict.reason


COLUMN = "wide = Pad (raw, amounts)"
STAGES = {
    "a view of which columns are cut off": "y = Slice (tall, one, huge, two)",
    "a view of which a row too many is cut off": "y = Slice (tall, two, huge, one)",
    "a view of which the last row is cut off": "y = Slice (tall, zero, minus, one)",
    "a view back of which a row is cut off": "y = Slice (back, one, huge, one)",
    "a view back of which a column is cut off": "y = Slice (back, one, huge, two)",
    "a view back of which rows and columns are cut off": """
        starts = Concat <axis = 0> (one, zero) axes = Concat <axis = 0> (one, two)
        ends = Concat <axis = 0> (huge, size) y = Slice (back, starts, ends, axes)""",
}


@pytest.mark.parametrize("what", STAGES)
def test_another_slice_on_the_way_is_refused(what: str) -> None:
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(79 * 2))
    until = SHIFT.partition("shifted")[0] if "back" in STAGES[what] else SHIFT.partition("cut")[0]
    verdict = verdict_of(
        f"""g (float[1, T, 2] x) => (float[1, V, U] y)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] minus = {{-1}},
           int64[1] huge = {{2147483647}}, int64[1] middle = {{40}}, int64[6] amounts = {{0, 0, 1, 0, 0, 0}},
           int64[1] ROWS = {{1}}, float[79, 2] table = {{{numbers}}}> {{{RELATIVE} {COLUMN} {until} {STAGES[what]}}}""",
        "x:1=T",
    )  # fmt: skip
    assert verdict.outcome == "refused" and "interrupted by another slice" in verdict.reason


@pytest.mark.parametrize("rows", [1, 2])
def test_weights_of_heads_moved_to_distances(rows: int) -> None:
    """As above with an axis of heads: time is an axis further behind."""
    scores = "xt = Transpose <perm = [0, 2, 1]> (x) flatscores = MatMul (x, xt) scores = Unsqueeze (flatscores, one)"
    body = scores + TO_DISTANCES.replace("SCORES", "scores").replace("axis = 2", "axis = 3")
    body = body.replace("spread0 = Concat <axis = 0> (", "spread0 = Concat <axis = 0> (zero, zero, ")
    body = body.replace("(ROWS, minus)", "(ROWS, one, minus)").replace("(ROWS, n, double)", "(ROWS, one, n, double)")
    body = body.replace("(zero, n, zero, zero)", "(zero, zero, n, zero, zero, zero)")
    body = body.replace("Slice (back, one, huge, two)", "Slice (back, one, huge, three)")
    body = body.replace("y = MatMul (weights, centred)", "h = MatMul (weights, centred) y = Squeeze (h, one)")
    text = _vits(body, "2", rows).replace("int64[1] five", "int64[1] three = {3}, int64[1] five")
    assert_exact(text, "x:1=T", rows=rows, needs=["PAD103"])


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("heads", [True, False])
def test_the_first_shift_of_espnet_is_a_gather(rows: int, heads: bool) -> None:
    """Scores against as many positions as steps, with a column of zeros in front, mixed by a view."""
    lead, two = ("batch, two", "axis = 3") if heads else ("batch", "axis = 2")
    split = "h = Unsqueeze (m, one) raw = Concat <axis = 1> (h, h)" if heads else "raw = Identity (m)"
    numbers = ", ".join(f"{(7 * k % 11) / 11:.3f}" for k in range(30 * 2))
    assert_exact(
        f"""g (float[batch, T, 2] x) => (float[{"batch, 2" if heads else "batch"}, T, T] y)
           <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] huge = {{2147483647}},
           int64[1] high = {{{2 if heads else 1}}}, float[30, 2] table = {{{numbers}}}> {{
           s = Shape (x) batch = Slice (s, zero, one) size = Slice (s, one, two) more = Add (size, one)
           used = Slice (table, zero, size, zero) positions = Transpose <perm = [1, 0]> (used)
           m = MatMul (x, positions) {split}
           columnshape = Concat <axis = 0> ({lead}, size, one) column = ConstantOfShape (columnshape)
           wide = Concat <{two}> (column, raw) tallshape = Concat <axis = 0> ({lead}, more, size)
           tall = Reshape (wide, tallshape) cut = Slice (tall, one, huge, high)
           backshape = Concat <axis = 0> ({lead}, size, size) shifted = Reshape (cut, backshape)
           y = Softmax <{two}> (shifted) }}""",
        "x:1=T", rows=None, padded_rows=rows, needs=["PAD105"],
    )  # fmt: skip


XLNET = """
    s = Shape (x) n = Shape <start = 1, end = 2> (x) double = Mul (n, two) t = Squeeze (n) back1 = Neg (t)
    r = Range (t, back1, minus) f = Cast <to = 1> (r) u = Unsqueeze (f, one) w = Mul (u, freq) p = Sin (w)
    q = Transpose <perm = [1, 0]> (p) raw = MatMul (x, q)
    b = Shape <end = 1> (x) tallshape = Concat <axis = 0> (b, double, n) tall = Reshape (raw, tallshape)
    cut = Slice (tall, FIRST, huge, one) odd = Sub (double, one)
    backshape = Concat <axis = 0> (b, n, odd) back = Reshape (cut, backshape)
    i0 = Range (nil, t, unit) i = INDEX keys = Gather <axis = AXIS> (back, i) y = Softmax <axis = 2> (keys)
"""
_XLNET_NUMBERS = """int64[1] one = {1}, int64[1] two = {2}, int64[1] zero = {0}, int64[1] huge = {2147483647},
    int64 minus = {-1}, int64 nil = {0}, int64 unit = {1}, float[1, 2] freq = {0.3, 0.7}"""


def _xlnet(first: str = "one", index: str = "Identity (i0)", axis: str = "2") -> str:
    body = XLNET.replace("FIRST", first).replace("INDEX", index).replace("AXIS", axis)
    return f"g (float[batch, T, 2] x) => (float[batch, T, U] y) <{_XLNET_NUMBERS}> {{ {body} }}"


@pytest.mark.parametrize("rows", [1, 2])
def test_xlnets_shift_of_a_column_of_its_own_ends_with_an_index(rows: int) -> None:
    assert_exact(_xlnet(), "x:1=T", rows=None, padded_rows=rows, opset=17)


@pytest.mark.parametrize(
    "text",
    [
        _xlnet(first="zero").replace("Slice (tall, zero, huge", "Slice (tall, zero, double"),
        _xlnet(index="Add (i0, unit)"),
        _xlnet(index="Mul (i0, minus)"),
        _xlnet(index="Slice (i0, one, huge, zero)"),
        _xlnet(index="Unsqueeze (i0, zero)").replace("y = Softmax <axis = 2> (keys)", "y = ReduceSum (keys, two)"),
        _xlnet(axis="1"),
    ],
)
def test_another_index_on_the_way_is_refused(text: str) -> None:
    verdict = verdict_of(text, "x:1=T", rows=None, opset=17)
    assert verdict.outcome == "refused" and "relative shift" in verdict.reason


def _axes(*sizes: str, rows: int | None = 1) -> Axes:
    """Axes of sizes, as ``6``, ``T``, ``T x 2*T-1`` or ``2*T-1 from T``."""
    scope = _scope(rows)
    return tuple(tuple(f for part in size.split(" x ") for f in _factor(scope, part)) for size in sizes)


def _factor(scope: Scope, text: str) -> Axis:
    size, _, shift = text.partition(" from ")
    return scope.axis(parse(size), shift=parse(shift) if shift else None)


def _scope(rows: int | None = 1) -> Scope:
    return Scope({"T": Span(2, None), "U": Span(2, None)}, rows=rows)


def _context(value: Facts, rows: int | None = 1) -> RuleContext:
    node = ir.node("Pad", [ir.Value(name="x")])
    return RuleContext(node, 18, [value], _scope(rows), {})


def _scores(*sizes: str, rows: int | None = 1, pad: Kind = FINITE, **more: object) -> Facts:
    axes = _axes(*sizes, rows=rows)
    pads = tuple(PaddingFact.of(pad) for axis in axes for _ in axis)
    return Facts(ir.DataType.FLOAT, axes, pads, finite=True, **more)  # type: ignore[arg-type]


def _told(value: Facts | None) -> str:
    """The sizes and how far the movement has come."""
    if value is None:
        return "none"
    sizes = ", ".join(" x ".join(map(str, axis)) or "1" for axis in value.axes)
    return f"{sizes}: {value.relative.stage}" if value.relative else sizes


def _refused(movement: Callable[[], Facts | None]) -> str:
    try:
        return _told(movement())
    except NoProof as error:
        return error.reason


CENTRED = "2*T-1 from T"


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        (("T", CENTRED), "T, 2*T: padded"), (("3", "T", CENTRED), "3, T, 2*T: padded"),
        (("T", "2*T-1 from T-1"), "T, 2*T: padded"), (("T x 3", "6*T-1 from 3*T"), "3*T, 6*T: padded"),
        ((CENTRED,), "none"), (("T", "5"), "none"), (("T", "1"), "none"), (("1", CENTRED), "none"),
        (("3", CENTRED), "none"), (("T from T", CENTRED), "none"), (("T", "2*T-1"), "none"),
        (("T", "2*T from T"), "none"), (("U", CENTRED), "none"), (("T", "2*T-1 from 2*T"), "none"),
        (("3 x T", CENTRED), "none"), (("T", f"{CENTRED} x 3"), "none"),
    ],
)  # fmt: skip
def test_scores_against_centred_distances_begin_a_shift(sizes: tuple[str, ...], told: str) -> None:
    value = _scores(*sizes)
    assert _told(relative_start(_context(value), value)) == told


ONE, NONE, T = constant(1), constant(0), parse("T")


@pytest.mark.parametrize(
    ("amounts", "told"),
    [
        ({1: (ONE, NONE)}, "T, 2*T: padded"), ({1: (NONE, ONE)}, "T, 2*T: padded behind"), ({1: (ONE, ONE)}, "none"),
        ({0: (ONE, NONE)}, "none"), ({0: (ONE, NONE), 1: (ONE, NONE)}, "none"), ({1: (constant(2), NONE)}, "none"),
    ],
)  # fmt: skip
def test_a_column_beside_the_scores(amounts: dict[int, tuple[Length, Length]], told: str) -> None:
    value = _scores("T", CENTRED)
    assert _told(relative_pad(_context(value), value, amounts, 0.0)) == told


@pytest.mark.parametrize(
    ("sizes", "amounts", "fill", "more", "told"),
    [
        (("T x 2*T-1",), (T, NONE), 0.0, {}, "T x 2*T: spread"),
        (("3", "T x 2*T-1"), (T, NONE), 0.0, {}, "3, T x 2*T: spread"), (("T x 2*T-1",), (T, NONE), 1.0, {}, "none"),
        (("T x 2*T-1",), (T + 1, NONE), 0.0, {}, "none"), (("T x 2*T-1",), (T, ONE), 0.0, {}, "none"),
        (("T x 2*T",), (T, NONE), 0.0, {}, "none"), (("2*T-1",), (T, NONE), 0.0, {}, "none"),
        (("3 x T x 2*T-1",), (T, NONE), 0.0, {}, "none"), (("3 x 2*T-1",), (T, NONE), 0.0, {}, "none"),
        (("T x 3",), (T, NONE), 0.0, {}, "none"), (("T from T x 2*T-1",), (T, NONE), 0.0, {}, "none"),
        (("T x 2*T-1 from T",), (T, NONE), 0.0, {}, "none"),
        (("T x 2*T-1",), (T, NONE), 0.0, {"appended": None}, "none"),
        (("T x 2*T-1",), (T, NONE), 0.0, {"appended": Appended(T + 1)}, "none"),
        (("T x 2*T-1",), (T, NONE), 0.0, {"pad": FINITE}, "none"),
        (("T x 2*T-1",), (T, NONE), 0.0, {"pending": Pending(0, T, None)}, "none"),
    ],
)  # fmt: skip
def test_zeros_in_front_of_weights_and_their_zeros(
    sizes: tuple[str, ...], amounts: tuple[Length, Length], fill: float, more: dict[str, object], told: str
) -> None:
    """The second pad on the way to distances: behind each row of weights stood as many zeros as it needs."""
    value = _scores(*sizes, **{"appended": Appended(T), "pad": ZERO, **more})  # type: ignore[arg-type]
    axis = len(sizes) - 1
    assert _told(relative_pad(_context(value), value, {axis: amounts}, fill)) == told


def _within(stage: str, *sizes: str) -> Facts:
    return _scores(*sizes, relative=Relative(stage, T, _axes("T")[0], True))


@pytest.mark.parametrize(
    ("stage", "sizes", "amounts", "told"),
    [
        ("flat", ("3", "T x 2*T"), {1: (NONE, T - 1)}, "3, T+1 x 2*T-1: extended"),
        ("flat", ("3", "T x 2*T"), {1: (NONE, T)}, "by another pad"),
        ("flat", ("3", "T x 2*T"), {1: (ONE, T - 1)}, "by another pad"),
        ("flat", ("3", "T x 2*T"), {0: (NONE, T - 1)}, "by another pad"),
        ("flat", ("3", "T x 2*T"), {0: (NONE, ONE), 1: (NONE, T - 1)}, "by another pad"),
        ("viewed", ("T", "2*T"), {1: (NONE, T - 1)}, "by another pad"),
        ("padded", ("T", "2*T"), {1: (ONE, NONE)}, "by another pad"),
    ],
)  # fmt: skip
def test_the_pads_on_the_way(
    stage: str, sizes: tuple[str, ...], amounts: dict[int, tuple[Length, Length]], told: str
) -> None:
    value = _within(stage, *sizes)
    assert _refused(lambda: relative_pad(_context(value), value, amounts, 0.0)).endswith(told)


VIEWS = {
    "padded": (("T", "2*T"), "2*T T", "2*T, T: viewed"),
    "dropped": (("2*T-1", "T"), "T 2*T-1", "T, 2*T-1: shifted"),
    "padded behind": (("T", "2*T"), "TxT*2", "T x 2*T: flat"),
    "extended": (("T+1 x 2*T-1",), "T+1 2*T-1", "T+1, 2*T-1: tall"),
    "spread": (("T x 2*T",), "T 2*T", "T, 2*T: wide"),
}


@pytest.mark.parametrize("lead", ["", "3", "3 5"])
@pytest.mark.parametrize("stage", VIEWS)
def test_the_views_on_the_way(stage: str, lead: str) -> None:
    """Each is the one of its stage, with any axes in front."""
    held, sizes, told = VIEWS[stage]
    value = _within(stage, *lead.split(), *held)
    wanted = [parse(size) for size in lead.split()]
    last = [product(T, T, 2)] if stage == "padded behind" else [parse(size) for size in sizes.split()]
    front = "".join(f"{size}, " for size in lead.split())
    assert _told(relative_view(_context(value), value, [*wanted, *last])) == front + told
    for other in ([*wanted, *last, ONE], [*wanted, last[0] + 1, *last[1:]] if stage != "padded behind" else [T]):
        assert _refused(lambda o=other: relative_view(_context(value), value, o)).endswith("by another view")  # type: ignore[misc]


@pytest.mark.parametrize("stage", ["viewed", "flat", "shifted", "tall", "square"])
def test_a_view_of_what_is_to_be_cut_is_refused(stage: str) -> None:
    value = _within(stage, "T", "2*T")
    assert _refused(lambda: relative_view(_context(value), value, [T, T])).endswith("by another view")


def test_the_rows_in_front_of_a_view() -> None:
    """As the batch that they are, or as the number that they are; a product of lengths is one however it is written."""
    for rows, first, told in (
        (3, "batch", True),
        (3, "3", True),
        (3, "2", False),
        (None, "batch", True),
        (None, "0", False),
    ):
        axes = (*_axes("batch", rows=rows), *_axes("T", "2*T"))
        value = Facts(ir.DataType.FLOAT, axes, relative=Relative("padded", T, _axes("T")[0], True))
        wanted = [parse(first), T * 2, T]
        assert (": viewed" in _refused(lambda v=value, w=wanted, r=rows: relative_view(_context(v, r), v, w))) == told  # type: ignore[misc]
    value = _within("padded behind", "T", "2*T")
    for sizes, told in ((product(T * 2, T), True), (product(T, T * 2), True), (product(T, T), False), (T * 2, False)):
        assert (": flat" in _refused(lambda s=sizes: relative_view(_context(value), value, [s]))) == told  # type: ignore[misc]


@pytest.mark.parametrize(
    ("sizes", "wanted", "told"),
    [
        (("T", "T+1"), "T+1 T", "T+1, T: square"), (("3", "T", "T+1"), "3 T+1 T", "3, T+1, T: square"),
        (("T", "T+1"), "T T+1", "none"), (("T", "T"), "T T", "none"), (("T", "T+1"), "3 T+1 T", "none"),
        (("T", "3"), "T+1 T", "none"), (("3", "T+1"), "T+1 3", "none"), (("T", "T+1 from T"), "T+1 T", "none"),
        (("T from T", "T+1"), "T+1 T", "none"), (("T x 3", "T+1"), "T+1 T", "none"), (("T+1",), "T+1", "none"),
        (("T", "min(T, 30)+1"), "min(T,30)+1 T", "T+1, T: square"), (("T", "min(T, 30)+1"), "T+1 T", "T+1, T: square"),
        (("T", "U"), "U T", "none"), (("T", "2*T"), "2*T T", "none"),
    ],
)  # fmt: skip
def test_square_scores_with_a_column(sizes: tuple[str, ...], wanted: str, told: str) -> None:
    value = _scores(*sizes)
    assert _told(relative_view(_context(value), value, [parse(size) for size in wanted.split()])) == told


def test_square_scores_of_rows_need_them_as_an_axis() -> None:
    for front, told in (("batch", "batch, T+1, T: square"), ("2*batch", "2*batch, T+1, T: square"), ("3", "none")):
        value = _scores(front, "T", "T+1", rows=None)
        assert _told(relative_view(_context(value, None), value, [parse(front), T + 1, T])) == told
    value = _scores("2 x batch", "T", "T+1", rows=None)
    assert relative_view(_context(value, None), value, [parse("2*batch"), T + 1, T]) is None


HUGE = (1 << 31) - 1


@pytest.mark.parametrize(
    ("stage", "sizes", "cuts", "told"),
    [
        ("viewed", ("2*T", "T"), [(0, "1", HUGE)], "2*T-1, T: dropped"),
        ("viewed", ("2*T", "T"), [(0, "1", "2*T")], "2*T-1, T: dropped"),
        ("viewed", ("2*T", "T"), [(0, "1", HUGE - 1)], "refused"),
        ("viewed", ("2*T", "T"), [(0, "1", "2*T-1")], "refused"),
        ("viewed", ("2*T", "T"), [(0, "1", HUGE), (1, "1", HUGE)], "refused"),
        ("viewed", ("2*T", "T"), [(1, "1", HUGE)], "refused"),
        ("viewed", ("2*T", "T"), [(0, "0", HUGE)], "2*T, T: viewed"),
        ("viewed", ("2*T", "T"), [(0, "0", "2*T")], "2*T, T: viewed"),
        ("shifted", ("T", "2*T-1"), [(1, "0", "T")], "T, T"), ("shifted", ("T", "2*T-1"), [(1, "1", "T")], "refused"),
        ("shifted", ("T", "2*T-1"), [(1, "0", "T+1")], "refused"),
        ("shifted", ("T", "2*T-1"), [(0, "0", "T-1"), (1, "0", "T")], "refused"),
        ("wide", ("T", "2*T"), [(1, "1", HUGE)], "T, 2*T-1 from T"),
        ("wide", ("T", "2*T"), [(1, "2", HUGE)], "refused"), ("wide", ("T", "2*T"), [(0, "1", HUGE)], "refused"),
        ("wide", ("T", "2*T"), [(0, "1", HUGE), (1, "1", HUGE)], "refused"),
        ("tall", ("T+1", "2*T-1"), [(0, "0", "T")], "T, 2*T-1: top"),
        ("tall", ("T+1", "2*T-1"), [(1, "T-1", HUGE)], "T+1, T: right"),
        ("tall", ("T+1", "2*T-1"), [(0, "0", "T"), (1, "T-1", HUGE)], "T, T"),
        ("tall", ("T+1", "2*T-1"), [(0, "0", "T-1")], "refused"),
        ("tall", ("T+1", "2*T-1"), [(0, "0", "T"), (1, "T", HUGE)], "refused"),
        ("top", ("T", "2*T-1"), [(1, "T-1", HUGE)], "T, T"), ("top", ("T", "2*T-1"), [(1, "T", HUGE)], "refused"),
        ("right", ("T+1", "T"), [(0, "0", "T")], "T, T"), ("right", ("T+1", "T"), [(0, "1", "T")], "refused"),
        ("padded", ("T", "2*T"), [(1, "1", HUGE)], "refused"), ("square", ("T+1", "T"), [(0, "1", HUGE)], "T, T"),
        ("square", ("T+1", "T"), [(0, "2", HUGE)], "refused"), ("square", ("T+1", "T"), [(1, "1", HUGE)], "refused"),
        ("square", ("T+1", "T"), [(0, "1", HUGE), (1, "1", HUGE)], "refused"),
    ],
)  # fmt: skip
def test_the_slices_on_the_way(
    stage: str, sizes: tuple[str, ...], cuts: list[tuple[int, str, str | int]], told: str
) -> None:
    for lead in ([], ["3"]):
        value = _within(stage, *lead, *sizes)
        axes = [axis + len(lead) for axis, _, _ in cuts]
        starts, ends = ([number(parse(str(cut[k])), Face.SIZE) for cut in cuts] for k in (1, 2))
        context = _context(value)
        found = _refused(lambda c=context, v=value, a=axes, s=starts, e=ends: relative_shift(c, v, a, s, e))  # type: ignore[misc]
        assert found == "".join(f"{size}, " for size in lead) + told or (
            told == "refused" and found.endswith("by another slice")
        )
        assert [type(remedy).__name__ for remedy in context.remedies] == ["ShiftedSquare"] * (
            stage == "square" and told != "refused"
        )


def test_a_slice_that_is_no_length_interrupts_a_shift() -> None:
    value, half = _within("viewed", "2*T", "T"), number(Fraction(1, 2))
    for start, end in ((half, number(HUGE)), (number(1), half)):
        found = _refused(lambda s=start, e=end: relative_shift(_context(value), value, [0], [s], [e]))  # type: ignore[misc]
        assert found.endswith("by another slice")
    assert relative_shift(_context(value), replace(value, relative=None), [0], [half], [half]) is None


def test_what_a_finished_shift_holds() -> None:
    """Scores by key stay finite where they were; weights by distance have zeros beside a valid query's."""
    for finite in (True, False):
        kind = FINITE if finite else ANY
        scores = replace(
            _scores("T", "2*T-1", low=1.0, high=2.0), relative=Relative("shifted", T, _axes("T")[0], finite)
        )
        cut = relative_shift(_context(scores), scores, [1], [number(0)], [number(T, Face.SIZE)])
        assert cut is not None and cut.pads == (PaddingFact.of(kind),) * 2 and (cut.low, cut.high) == (1.0, 2.0)
        weights = replace(_scores("T", "2*T", low=1.0, high=2.0), relative=Relative("wide", T, _axes("T")[0], finite))
        cut = relative_shift(_context(weights), weights, [1], [number(1)], [number(HUGE)])
        assert cut is not None and cut.pads == (PaddingFact.of(kind), PaddingFact(ZERO, kind))
        assert (cut.low, cut.high) == (0.0, 2.0)
    below = replace(weights, low=-3.0, high=-2.0)
    cut = relative_shift(_context(below), below, [1], [number(1)], [number(HUGE)])
    assert cut is not None and (cut.low, cut.high) == (-3.0, 0.0)
