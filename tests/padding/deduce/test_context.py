"""What a rule learns of its operands: bounds of index vectors and lengths, and the face that a number is read with."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import onnx_ir as ir
import pytest

from paddable.lengths import Span, parse
from paddable.lengths import constant as length
from paddable.padding.deduce.context import merge_axis, window_shift
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.facts import Affine, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind, constant
from paddable.padding.facts.numbers import Face, Number, number, product
from paddable.padding.remedies import Fill, GiveRows, Segment, Take, UseLength, UseSize

from ..example import Example
from ..given import SPANS, axes_of, context_of, reason, told

NUMBERS = "int64 nil = {0}, int64 one = {1}, int64 two = {2}, float[2, 20] w, int64[1] o = {0}, int64[1] a = {1}"
UP_TO_20 = "s = Shape <start = 2> (x) n = Squeeze (s) t = Slice (w, o, s, a) z = Add (x, t) i = Range (nil, n, one)"


def bounded(nodes: str, **expected: str) -> Example:
    """An index vector ``m`` of at most 20 steps, as the first output."""
    body = f"{UP_TO_20} {nodes} f = Cast <to = 1> (m) y = Unsqueeze (f, o)"
    return Example(body, "float[1, T] y, float[1, 2, T] z", constants=NUMBERS, **expected)


EXAMPLES = {
    "positions": bounded("m = Identity (i)", claims="T finite; 0..19; finite", last="T=20"),
    "positions from the second": bounded("m = Add (i, one)", claims="T finite; 1..20; finite", last="T=20"),
    "every other position": bounded("m = Mul (i, two)", claims="T finite; 0..38; finite", last="T=20"),
    "positions below 0": bounded("m = Neg (i)", claims="T finite; -19..0; finite", last="T=20"),
    "positions counted from the end": bounded(
        "m = Sub (n, i)", finds="PAD106 ", claims="T finite; 1..20; finite", last="T=20"
    ),
    "positions counted to the end": bounded(
        "m = Sub (i, n)", finds="PAD106 ", claims="T finite; -20..-1; finite", last="T=20"
    ),
    "positions and the length": bounded(
        "m = Add (i, n)", finds="PAD106 ", claims="T finite; 1..39; finite", last="T=20"
    ),
    "twice the positions from the end": bounded(
        "d = Sub (n, i) m = Mul (d, two)",
        finds="PAD106 ",
        claims="T finite; 2..40; finite",
        last="T=20",
    ),
    "positions and their opposites": bounded("d = Neg (i) m = Add (d, i)", claims="T finite; 0..0; 0", last="T=20"),
    "a number that is a constant by now": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) m = Min (n, two) c = Conv (x, k) f = Cast <to = 1> "
        "(m) y = Mul (c, f)",
        "float[1, 2, U] y",
        constants=f"float[2, 2, 5] k, {NUMBERS}",
        claims="T-4 finite; finite",
        first="T=5",
    ),
    "a number that varies still": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) m = Min (n, two) c = Conv <pads = [2, 2]> (x, k) f = Cast <to = 1> "
        "(m) y = Mul (c, f)",
        "float[1, 2, U] y",
        constants=f"float[2, 2, 5] k, {NUMBERS}",
        finds="PAD102 Conv, PAD106 Mul",
        claims="T finite; finite",
    ),
    "two numbers of a shape": Example(
        "v = Shape <start = 1> (x) f = Cast <to = 1> (v) y = Mul (x, f)",
        "float[1, T, 2] y",
        "float[1, T, 2] x",
        finds="PAD106 Mul",
        claims="T finite; finite",
    ),
    "half the positions from the end": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) i = Range (nil, n, one) d = Sub (n, i) f = Cast <to = 1> (d) "
        "m = Mul (f, half) y = Add (x, m)",
        "float[1, 2, T] y",
        constants=f"float half = {{0.5}}, {NUMBERS}",
        finds="PAD106 Add",
        claims="T finite; finite",
    ),
    "centred positions of rows": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) k = Sub (one, n) i = Range (k, n, one) f = Cast <to = 1> (i) "
        "g = Unsqueeze (f, front) y = Add (u, g) z = Neg (x)",
        "float[batch, 1, U] y, float[batch, 1, T] z",
        "float[batch, 1, T] x, float[batch, 1, 1] u",
        f"int64[2] front = {{0, 1}}, {NUMBERS}",
        rows=0,
        finds="PAD105 ",
        claims="2*T-1 from T finite; finite",
    ),
    "positions to the end of rows": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) i = Range (nil, n, one) d = Sub (i, n) f = Cast <to = 1> (d) "
        "g = Unsqueeze (f, front) y = Add (x, g)",
        "float[batch, 1, T] y",
        "float[batch, 1, T] x",
        f"int64[2] front = {{0, 1}}, {NUMBERS}",
        rows=0,
        finds="PAD106 Add",
        claims="T finite; finite",
    ),
    "seventeen numbers": Example(
        "y = Gather <axis = 2> (x, i)",
        "float[1, 2, 17] y",
        constants=f"int64[17] i = {{{', '.join(map(str, range(17)))}}}",
        claims="finite",
        first="T=17",
    ),
    "a window without other axes": Example(
        "z = Squeeze (x, front) n = Shape (z) b = Sub (nine, n) t = Slice (w, b, nine, o) c = CumSum (t, nil) "
        "s = Add (z, c) y = Unsqueeze (s, front)",
        "float[1, 1, T] y",
        "float[1, 1, T] x",
        "int64[1] nine = {9}, float[9] w, int64[2] front = {0, 1}, int64 nil = {0}, int64[1] o = {0}",
        finds="PAD105 CumSum",
        claims="T finite; finite",
        last="T=9",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


FLOAT = ir.DataType.FLOAT


def _number(text: str, face: Face = Face.SIZE) -> Number:
    length, _, divisor = text.partition("/")
    found = number(product(*map(parse, length.split("x"))), face)
    return Number(found.length, int(divisor), found.face) if divisor else found


def _elements(*texts: str) -> Elements:
    return Elements(np.array([None if t == "?" else _number(t) for t in texts], dtype=object))


def _counted(base: str, *steps: float, face: Face = Face.SIZE) -> Affine:
    return Affine(_number(base, face), tuple((k, Fraction(c)) for k, c in enumerate(steps)))


@pytest.mark.parametrize(
    ("content", "axes", "low", "high"),
    [
        (_elements("3", "U/2"), ("2",), 2.0, 50.0), (_elements("-3", "2"), ("2",), -3.0, 2.0),
        (_elements(), ("0",), -math.inf, math.inf), (_elements("3", "?"), ("2",), -math.inf, math.inf),
        (_elements("3", "TxU"), ("2",), -math.inf, math.inf), (_elements("T"), (), 1.0, math.inf),
        (_elements("-T"), (), -math.inf, -1.0), (_counted("U"), ("T",), 4.0, 100.0),
        (_counted("U-1", -1), ("U",), 0.0, 99.0), (_counted("U-1", -1, face=Face.LENGTH), ("U",), -96.0, 99.0),
        (_counted("0", 2), ("U",), 0.0, 198.0), (_counted("0", -2), ("U",), -198.0, 0.0),
        (_counted("1", 0.5), ("U",), 1.0, 50.5), (_counted("U/2", 0.5), ("U",), 2.0, 99.5),
        (_counted("0", 1, -1), ("U", "U"), -99.0, 99.0), (_counted("0", 1), ("T",), 0.0, math.inf),
        (_counted("0", -1), ("T",), -math.inf, 0.0), (_counted("TxU", 1), ("T",), -math.inf, math.inf),
        (_counted("U/3", 0.5, face=Face.LENGTH), ("U",), 4 / 3, 497 / 6),
    ],
)  # fmt: skip
def test_the_bounds_of_known_contents(
    content: Elements | Affine, axes: tuple[str, ...], low: float, high: float
) -> None:
    """Base and steps of sizes belong to one length; a length of the model's own input is another in the container."""
    assert context_of("Conv").bounds(content, axes_of(*axes)) == (low, high)


@pytest.mark.parametrize(
    ("axes", "axis", "expected"),
    [
        (("T",), 0, "T; 5"), (("3", "T x 4"), 1, "3, 4*T; 5"), (("3", "T x 4 x 2", "U"), 1, "3, 8*T, U; 5 5"),
        (("2 x 3", "T"), 0, "6, T; 5"), (("2 x 3 x 5",), 0, "30"), (("1", "T"), 0, "1, T; 5"), (("2 x T",), 0, "none"),
        (("T x U",), 0, "none"), (("T from T x 2",), 0, "none"), (("batch x 2",), 0, "none"),
        (("batch x T",), 0, "none"),
    ],
)  # fmt: skip
def test_an_axis_becomes_one_factor(axes: tuple[str, ...], axis: int, expected: str) -> None:
    """Where its padding stays a suffix: time in front of constants."""
    five = tuple(PaddingFact.of(constant(5)) for own in axes_of(*axes) for _ in own)
    value = Facts(FLOAT, axes_of(*axes), five, content=Affine(number(5)))
    merged = merge_axis(Scope(SPANS, rows=None), value, axis)
    assert told(merged) == expected
    if merged is not None and len(value.axes[axis]) > 1:
        assert merged.content is None and len(merged.pads) == len(merged.atoms)


@pytest.mark.parametrize(
    ("position", "size", "shift"),
    [
        ("T", "2*T-1", "T"), ("T-5", "2*T", "T"), ("5-T", "T", None), ("7", "T", None), ("2*T", "T", None),
        ("T//2", "T", "T//2"), ("T", "T", "T"), ("T+U", "T", None), ("T", "T+U", "T"), ("2*U", "T+2*U", "2*U"),
    ],
)  # fmt: skip
def test_a_window_that_moves_with_the_length(position: str, size: str, shift: str | None) -> None:
    found = window_shift(Scope(SPANS), parse(position), parse(size))
    assert (None if found is None else str(found)) == shift


def test_what_an_input_is() -> None:
    given = Facts(FLOAT, axes_of("T"))
    context = context_of("Conv", given, None, strides=[2])
    assert [context.present(k) for k in range(3)] == [True, False, False]
    assert (
        list(context.attribute("strides")) == [2]
        and context.attribute("pads") is None
        and context.attribute("pads", 7) == 7
    )
    assert context.peek(0) is given and reason(lambda: context.peek(1)) == "input 1 of Conv is missing"
    assert context.integers(1) is None and context.integers(2) is None


def _given(content: Elements | Affine, *axes: str, dtype: ir.DataType = ir.DataType.INT64) -> Facts:
    return Facts.known(dtype, axes_of(*axes), content)


@pytest.mark.parametrize(
    ("value", "sizes"),
    [
        (_given(_elements("T", "3"), "2"), "T 3"), (_given(_counted("T"), "3"), "T T T"), (_given(_counted("T")), "T"),
        (_given(_elements("T")), "T"), (_given(_counted("T"), "2", "3"), "T T T T T T"),
        (_given(_counted("T"), "T"), "from an index vector"), (_given(_counted("0", 1), "3"), "from an index vector"),
        (_given(_elements("T", "?"), "2"), "computed from data"),
        (Facts(ir.DataType.INT64, axes_of("2")), "computed from data"),
    ],
)  # fmt: skip
def test_the_sizes_that_a_shape_holds(value: Facts, sizes: str) -> None:
    context = context_of("Conv", value)
    if sizes.startswith(("from", "computed")):
        assert sizes in reason(lambda: context.sizes(0)).replace("computed from an", "from an")
    else:
        assert " ".join(map(str, context.sizes(0))) == sizes and not context.remedies


def test_a_size_made_of_the_length_input_is_the_containers() -> None:
    for face, texts in ((Face.LENGTH, ("T", "U/2")), (Face.MIXED, ("T", "3"))):
        context = context_of("Conv", _given(Elements(np.array([_number(t, face) for t in texts], dtype=object)), "2"))
        sizes = context.sizes(0)
        assert [type(r) for r in context.remedies] == [UseSize] and str(sizes[0]) == "T" and sizes[0].face is Face.SIZE
        assert sizes[1] == _number(texts[1], face) if "/" in texts[1] else sizes[1].face is Face.CONSTANT
    held = Elements(np.array([_number("TxU", Face.LENGTH), number(1)], dtype=object))
    assert reason(lambda: context_of("Conv", _given(held, "2")).sizes(0)) == "a size is a product of run-time lengths"


def test_integers() -> None:
    assert context_of("Conv", _given(_elements("2", "-3"), "2")).integers(0) == [2, -3]
    assert (
        reason(lambda: context_of("Conv", _given(_elements("2", "T"), "2")).integers(0))
        == "input 0 of Conv varies with the length"
    )


@pytest.mark.parametrize(
    ("pads", "atoms", "value", "filled"),
    [
        ((ZERO, ANY), [0], 0.0, None), ((ZERO, ANY), [0], 1.0, (0,)), ((ZERO, ANY), [1], 0.0, (1,)),
        ((ZERO, ZERO), [0, 1], 0.0, None), ((ZERO, FINITE), [0, 1], 0.0, (1,)), ((ZERO, ANY), [], 0.0, None),
        ((ZERO, ANY), [2], 0.0, None), ((ZERO, ANY), [0, 2], 0.0, None),
    ],
)  # fmt: skip
def test_a_fill_is_asked_for_where_the_padding_has_another_value(
    pads: tuple[Kind, Kind], atoms: list[int], value: float, filled: tuple[int, ...] | None
) -> None:
    given = Facts(FLOAT, axes_of("T", "U", "3"), (*map(PaddingFact.of, pads), PaddingFact()), finite=True)
    context = context_of("Conv", given)
    result = context.fill(0, atoms, value, "PAD101", "a test")
    fills = [remedy for remedy in context.remedies if isinstance(remedy, Fill)]
    assert [(r.atoms, r.value, r.operand, r.axes, r.code) for r in fills] == (
        [(filled, value, 0, given.axes, "PAD101")] if filled else []
    )
    assert context.peek(0) is result
    assert all(result.pads[i].strong == constant(value) for i in filled or ())


def test_along_one_length_the_weak_fact_serves_and_along_two_the_strong() -> None:
    weak = PaddingFact(ZERO, FINITE)
    for atoms, asked in (([0], False), ([0, 1], True)):
        context = context_of("Conv", Facts(FLOAT, axes_of("T", "U"), (weak, weak), finite=True))
        context.fill(0, atoms, 0.0, "PAD101", "a test")
        assert bool(context.remedies) == asked


def test_a_gather_of_steps() -> None:
    for finite in (True, False):
        kind = FINITE if finite else ANY
        pads = (PaddingFact.of(FINITE), PaddingFact(), PaddingFact.of(kind))
        given = Facts(FLOAT, axes_of("T", "3", "U"), pads, finite=True, image=True)
        context = context_of("Conv", given)
        taken = context.take(0, 2, parse("U-1"), (Segment(length(0), length(1), length(0)),), "PAD105", "a test")
        (remedy,) = context.remedies
        assert isinstance(remedy, Take) and (remedy.axis, remedy.size, remedy.source) == (2, parse("U-1"), parse("U"))
        assert not remedy.instead and not remedy.on_output and remedy.output == 0 and context.peek(0) is taken
        assert told(taken) == f"T, 3, U-1; finite {kind}" and not taken.image and len(taken.pads) == 3
    joined = context_of("Conv", Facts(FLOAT, axes_of("T x 3")))
    assert reason(lambda: joined.take(0, 0, parse("T"), (), "", "")) == "a run-time gather along a merged axis"


@pytest.mark.parametrize(
    ("axes", "fill", "take"),
    [
        (("batch", "T"), True, True), (("2 x batch", "T"), True, False), (("3", "T"), False, False),
        (("T", "batch"), True, True),
    ],
)  # fmt: skip
def test_each_row_has_a_remedy_of_its_own_by_its_batch_axis(axes: tuple[str, ...], fill: bool, take: bool) -> None:
    for remedy, fits in (
        (Fill("", "", 0, axes_of(*axes), (0,), 0.0), fill),
        (Take("", "", 0, 1, axes_of(*axes), parse("T"), parse("T"), ()), take),
        (UseSize("", "", 0, _elements("T")), True),
    ):
        context_of("Conv").ask(remedy)  # one row has no axis of rows
        if fits:
            context_of("Conv", rows=None).ask(remedy)
        else:
            assert "no batch axis" in reason(lambda r=remedy: context_of("Conv", rows=None).ask(r))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("axes", "row_axis", "expected", "remedies"),
    [
        (("T from T",), None, "T; 5", "Take"), (("3", "T"), None, "3, T; 5", ""),
        (("U", "T from T"), None, "U, T; 5 5", "Take"), (("T from T", "U from U"), None, "T, U; 5 5", "Take Take"),
    ],
)  # fmt: skip
def test_a_shifted_part_is_brought_to_the_front(
    axes: tuple[str, ...], row_axis: int | None, expected: str, remedies: str
) -> None:
    five = tuple(PaddingFact.of(constant(5)) for _ in axes)
    context = context_of("Conv", Facts(FLOAT, axes_of(*axes), five, finite=True))
    found = context.data(0, row_axis=row_axis)
    assert told(found).replace("finite", "5") == expected and all(atom.prefix for atom in found.atoms)
    assert " ".join(type(remedy).__name__ for remedy in context.remedies) == remedies
    again = context_of("Conv", Facts(FLOAT, axes_of(*axes), five, finite=True))
    assert told(again.data(0, shifted=True)).startswith(", ".join(axes)) and not again.remedies


@pytest.mark.parametrize(
    ("axes", "row_axis", "expected", "added"),
    [
        (("T from T",), 2, "batch, T; finite", 1), (("T from T",), 3, "batch, 1, T; finite", 2),
        (("1", "T from T"), 2, "batch, T; finite", 0), (("3", "1", "T from T"), 2, "3, batch, T; finite", 0),
        (("3", "T from T"), 2, "no batch axis", None), (("2 x T from T",), None, "merged", None),
    ],
)  # fmt: skip
def test_a_table_is_repeated_for_rows_that_read_other_parts_of_it(
    axes: tuple[str, ...], row_axis: int | None, expected: str, added: int | None
) -> None:
    pads = tuple(PaddingFact.of(FINITE) for axis in axes_of(*axes) for _ in axis)
    context = context_of("Conv", Facts(FLOAT, axes_of(*axes), pads, finite=True), rows=None)
    if added is None:
        assert expected in reason(lambda: context.data(0, row_axis=row_axis))
        return
    assert told(context.data(0, row_axis=row_axis)) == expected
    give, take = context.remedies
    assert isinstance(give, GiveRows) and give.added == added and isinstance(take, Take)
    assert len(context.peek(0).pads) == len(context.peek(0).atoms)


def test_steps_are_needed_of_time_alone() -> None:
    context = context_of("Conv", Facts(FLOAT, axes_of("T", "3", "V x 2")))
    context.need_steps(context.peek(0), [0, 1, 2])
    assert context.scope.spans["T"].first == 1 and not context.scope.narrowed
    shorter = context_of("Conv", Facts(FLOAT, (Scope(SPANS).axis(parse("T-3")),)))
    shorter.need_steps(shorter.peek(0), [0])
    assert shorter.scope.spans["T"].first == 4 and shorter.scope.reasons == {
        "T": "Conv needs at least one of T-3 steps"
    }
    named = context_of("Conv", Facts(FLOAT, (Scope(SPANS).axis(parse("T-3")),)))
    named.need_steps(named.peek(0), [0], "a mean")
    assert named.scope.reasons == {"T": "a mean needs at least one of T-3 steps"}


def test_what_holds_nowhere_is_told_from_what_holds_in_places() -> None:
    assert reason(lambda: context_of("Conv").need(parse("-T"), "a")).endswith("-T >= 0 holds at no length")
    gaps = parse("max(3 - T, T - 2*((T + 1)//2))")
    assert "at some lengths and not at others" in reason(lambda: context_of("Conv").need(gaps, "a"))


@pytest.mark.parametrize(
    ("content", "axes", "row_axis", "face", "expected"),
    [
        (_elements("T"), (), 2, Face.SIZE, "batch, 1"), (_elements("T"), ("1",), 2, Face.SIZE, "batch, 1"),
        (_elements("T"), (), None, Face.SIZE, "no batch"),
        (_elements("T", "U"), ("2",), 2, Face.SIZE, "batch, 2"),
        (_counted("T"), ("1", "3"), 2, Face.SIZE, "batch, 3"), (_counted("T"), ("3",), 2, Face.SIZE, "batch, 3"),
        (_counted("T"), ("3",), 1, Face.SIZE, "no batch"), (_elements("batch"), (), 1, Face.SIZE, "number of rows"),
        (_elements("T", "?"), ("2",), 1, Face.SIZE, "not known symbolically"),
    ],
)  # fmt: skip
def test_a_length_as_data_of_rows(
    content: Elements | Affine, axes: tuple[str, ...], row_axis: int | None, face: Face, expected: str
) -> None:
    """Each row has its own: the batch is an axis of what was one number, counted from the right."""
    context = context_of("Conv", _given(content, *axes), rows=None)
    if not expected.startswith("batch"):
        assert expected in reason(lambda: context.data(0, row_axis=row_axis))
        return
    found = context.data(0, row_axis=row_axis)
    (remedy,) = context.remedies
    assert isinstance(remedy, UseLength) and remedy.axes == found.axes and remedy.row_axis == row_axis
    assert told(found) == expected and found.content is None and found.finite and not found.masked


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        (_elements("3"), False), (_elements("T"), True), (_elements("W"), False), (_elements("W/2"), True),
        (_elements("T", "3"), True), (_counted("3", 1), False), (_counted("T"), True), (_counted("W"), False),
    ],
)  # fmt: skip
def test_a_number_that_is_one_at_every_length_is_data_as_it_stands(content: Elements | Affine, asked: bool) -> None:
    count = content.array.size if isinstance(content, Elements) else 3
    context = context_of("Conv", _given(content, str(count)))
    context.scope = Scope({**SPANS, "W": Span(7, 7)})
    context.data(0)
    assert bool(context.remedies) == asked
