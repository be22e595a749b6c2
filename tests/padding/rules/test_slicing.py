"""Slices and splits along time and along features."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from paddable.lengths import parse
from paddable.padding.deduce.context import NoProof, RuleContext
from paddable.padding.facts.facts import Elements, Facts, Pending
from paddable.padding.facts.kinds import constant
from paddable.padding.facts.numbers import Face, number
from paddable.padding.rules.slicing import slice_

from ..example import Example
from ..given import answer_to, axes_of, context_of, table, tensor, told
from ..native import assert_exact, verdict_of

AT = "int64[1] axis = {2}, int64[1] end = {9223372036854775807}"


def cut(start: str, stop: str, step: str = "1", **expected: str) -> Example:
    """Steps ``start`` to ``stop`` of time."""
    bounds = f"int64[1] from = {{{start}}}, int64[1] to = {{{stop}}}, int64[1] axis = {{2}}, int64[1] by = {{{step}}}"
    return Example("y = Slice (x, from, to, axis, by)", constants=bounds, **expected)


END, FRONT = "9223372036854775807", "-9223372036854775807"

EXAMPLES = {
    "to the end, as exporters write it": Example(
        "y = Slice (x, zero, end, axis)",
        constants="int64[1] zero = {0}, int64[1] end = {2147483647}, int64[1] axis = {2}",
        claims="T finite; finite; image",
    ),
    "to a step that no container reaches": Example(
        "y = Slice (x, zero, end, axis)",
        constants="int64[1] zero = {0}, int64[1] end = {2147483646}, int64[1] axis = {2}",
        claims="min(T, 2147483646) finite; finite",
    ),
    "channels behind a transposed convolution": Example(
        "c = ConvTranspose <strides = [2], dilations = [2], pads = [1, 0], output_padding = [1]> (x, w) "
        "y = Slice (c, zero, one, one)",
        "float[1, 1, U] y",
        constants="float[2, 2, 2] w, int64[1] zero = {0}, int64[1] one = {1}",
        finds="PAD102 ConvTranspose",
        claims="2*T+1 finite; finite",
    ),
    "all": cut("0", END, claims="T finite; finite; image"),
    "without the first": cut("1", END, claims="T-1 finite; finite", first="T=2"),
    "without the last": cut("0", "-1", claims="T-1 finite; finite", first="T=2"),
    "without the last two": cut("0", "-2", claims="T-2 finite; finite", first="T=3"),
    "without both": cut("1", "-1", claims="T-2 finite; finite", first="T=3"),
    "the first three": cut("0", "3", claims="min(T, 3) finite; finite"),
    "the second and third": cut("1", "3", claims="min(T, 3)-1 finite; finite", first="T=2"),
    "the last": cut("-1", END, finds="PAD105 Slice", claims="finite", harmless="PAD105"),
    "the last two": cut("-2", END, finds="PAD105 Slice", claims="T-max(T, 2)+2 finite; finite"),
    "the one before the last": cut("-2", "-1", finds="PAD105 Slice", claims="finite", first="T=2"),
    "none": cut("3", "3", refused="an empty slice"),
    "the last three, counted by hand": Example(
        "s = Shape (x) n = Gather (s, axis) b = Sub (n, three) y = Slice (x, b, n, axis)",
        constants="int64[1] axis = {2}, int64[1] three = {3}",
        finds="PAD105 Slice",
        claims="T-max(T+min(T, 6-2*min(T, 3)), 3)+3 finite; finite",
    ),
    "without the last, counted by hand": Example(
        "s = Shape (x) n = Gather (s, axis) b = Sub (n, two) y = Slice (x, zero, b, axis)",
        constants="int64[1] axis = {2}, int64[1] two = {2}, int64[1] zero = {0}",
        claims="T-2 finite; finite",
        first="T=3",
    ),
    "the last two of rows, counted by hand, beside an axis that stays": Example(
        "s = Shape (x) n = Gather (s, time) b = Sub (n, two) i = Concat <axis = 0> (zero, b) "
        "e = Concat <axis = 0> (end, n) y = Slice (x, i, e, axes)",
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        "int64[2] axes = {1, 2}, int64[1] time = {2}, int64[1] zero = {0}, int64[1] two = {2}, "
        "int64[1] end = {9223372036854775807}",
        finds="PAD105 Slice",
        claims="min(T, 2) finite; finite",
        rows=0,
    ),
    "every other": cut("0", END, "2", claims="T-(T//2) finite; finite"),
    "every third from the second": cut("1", END, "3", claims="(T+1)//3 finite; finite", first="T=2"),
    "every other without the last": cut("0", "-1", "2", claims="T-((T+1)//2) finite; finite", first="T=2"),
    "every other of the last": cut(
        "-4", END, "2", finds="PAD105 Slice", claims="T-((T+max(T, 4))//2)+2 finite; finite"
    ),
    "backward": cut("-1", FRONT, "-1", finds="PAD105 Slice", claims="T finite; finite"),
    "every other backward": cut("-1", FRONT, "-2", finds="PAD105 Slice", claims="T-(T//2) finite; finite"),
    "backward from the one before the last": cut(
        "-2", FRONT, "-1", finds="PAD105 Slice", claims="max(T, 2)-1 finite; finite"
    ),
    "backward to the third": cut("-1", "1", "-1", finds="PAD105 Slice", claims="T-2 finite; finite", first="T=3"),
    "backward from a huge index": cut(END, FRONT, "-1", finds="PAD105 Slice", claims="T finite; finite"),
    "backward from the fourth": cut("3", FRONT, "-1", finds="PAD105 Slice", claims="min(T, 4) finite; finite"),
    "from a huge negative index": cut("-9223372036854775807", "-1", claims="T-1 finite; finite", first="T=2"),
    "up to 2 ** 31 - 1": cut("1", "2147483647", claims="T-1 finite; finite", first="T=2"),
    "inputs without axes": Example(
        "y = Slice (x, from, to)",
        "float[1, 1, T] y",
        constants="int64[2] from = {0, 1}, int64[2] to = {9, 2}",
        claims="T finite; finite; image",
    ),
    "features": Example(
        "y = Slice (x, from, to, axis)",
        "float[1, 1, T] y",
        constants="int64[1] from = {1}, int64[1] to = {2}, int64[1] axis = {1}",
        claims="T finite; finite; image",
    ),
    "features backward": Example(
        "y = Slice (x, from, to, axis, by)",
        "float[1, 2, T] y",
        constants="int64[1] from = {1}, int64[1] to = {-9}, int64[1] axis = {1}, int64[1] by = {-1}",
        claims="T finite; finite; image",
    ),
    "features of codes": Example(
        "y = Slice (x, from, to, axis)",
        "int64[1, 1, T] y",
        "int64[1, 2, T] x",
        "int64[1] from = {1}, int64[1] to = {2}, int64[1] axis = {1}",
        claims="T finite; finite; image",
    ),
    "features and time": Example(
        "y = Slice (x, from, to, axes)",
        "float[1, 1, U] y",
        constants="int64[2] from = {1, 1}, int64[2] to = {2, -1}, int64[2] axes = {1, 2}",
        claims="T-2 finite; finite",
        first="T=3",
    ),
    "features and the last steps": Example(
        "y = Slice (x, from, to, axes)",
        "float[1, 1, 2] y",
        constants="int64[2] from = {1, -2}, int64[2] to = {2, 99999999999}, int64[2] axes = {1, 2}",
        refused="a slice from the end along several axes at once",
    ),
    "features and the steps behind whole threes": Example(
        "s = Shape <start = 2> (x) m = Mod (s, three) a = Sub (s, m) from = Concat <axis = 0> (one, a) "
        "q = Slice (x, from, to, axes) k = Sub (three, m) p = Concat <axis = 0> (none, k) y = Pad (q, p)",
        "float[1, 1, 3] y",
        constants="int64[1] three = {3}, int64[1] one = {1}, int64[2] to = {2, 9223372036854775807}, "
        "int64[2] axes = {1, 2}, int64[5] none = {0, 0, 0, 0, 0}",
        refused="a slice from the end along several axes at once",
    ),
    "half": Example(
        "s = Shape <start = 2> (x) h = Div (s, two) y = Slice (x, zero, h, axis)",
        constants=f"{AT}, int64[1] zero = {{0}}, int64[1] two = {{2}}",
        claims="T//2 finite; finite",
        first="T=2",
    ),
    "the second half": Example(
        "s = Shape <start = 2> (x) h = Div (s, two) y = Slice (x, h, s, axis)",
        constants=f"{AT}, int64[1] two = {{2}}",
        finds="PAD105 Slice",
        claims="T-(T//2) finite; finite",
    ),
    "a bound below 0": Example(
        "s = Shape <start = 2> (x) n = Neg (s) y = Slice (x, n, end, axis)",
        constants=f"{AT}",
        claims="T finite; finite; image",
    ),
    "zeros, cut off": Example(
        "p = Pad (x, pads) y = Slice (p, zero, last, axis)",
        constants=f"{AT}, int64[6] pads = {{0, 0, 0, 0, 0, 3}}, int64[1] zero = {{0}}, int64[1] last = {{-1}}",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "zeros, not cut": Example(
        "p = Pad (x, pads) y = Slice (p, one, end, axis)",
        constants=f"{AT}, int64[6] pads = {{0, 0, 0, 0, 0, 3}}, int64[1] one = {{1}}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "zeros, every other": Example(
        "p = Pad (x, pads) y = Slice (p, one, end, axis, two)",
        constants=f"{AT}, int64[6] pads = {{0, 0, 0, 0, 0, 3}}, int64[1] one = {{1}}, int64[1] two = {{2}}",
        finds="PAD102 Pad",
        claims="T-(T//2)+1 0; finite",
    ),
    "a constant, cut": Example(
        "s = Shape (x) o = ConstantOfShape <value = float[1] {3}> (s) c = Slice (o, one, end, axis) d = Slice "
        "(x, one, end, axis) y = Add (c, d)",
        constants=f"{AT}, int64[1] one = {{1}}",
        claims="T-1 finite; finite",
        first="T=2",
    ),
    "a table": Example(
        "s = Shape <start = 2> (x) t = Slice (w, zero, s, one) y = Add (x, t)",
        "float[1, 2, T] y",
        constants="float[2, 20] w, int64[1] zero = {0}, int64[1] one = {1}",
        claims="T finite; finite",
        last="T=20",
    ),
    "a table from its third column": Example(
        "s = Shape <start = 2> (x) e = Add (s, two) t = Slice (w, two, e, one) y = Add (x, t)",
        "float[1, 2, T] y",
        constants="float[2, 20] w, int64[1] two = {2}, int64[1] one = {1}",
        claims="T finite; finite",
        last="T=18",
    ),
    "positions, cut": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, unit) c = Slice (i, one, end, zero) f = "
        "Cast <to = 1> (c) d = Slice (x, one, end, axis) y = Add (d, f)",
        constants=f"{AT}, int64 nil = {{0}}, int64 unit = {{1}}, int64[1] one = {{1}}, int64[1] zero = {{0}}",
        claims="T-1 finite; finite",
        first="T=2",
    ),
    "every other position": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, unit) c = Slice (i, one, end, zero, two) f "
        "= Cast <to = 1> (c) d = Slice (x, one, end, axis, two) y = Add (d, f)",
        constants=f"{AT}, int64 nil = {{0}}, int64 unit = {{1}}, int64[1] one = {{1}}, int64[1] zero = {{0}}, "
        f"int64[1] two = {{2}}",
        claims="T-((T+1)//2) finite; finite",
        first="T=2",
    ),
    "a shape, its last entry": Example(
        "s = Shape (x) n = Slice (s, last, end, zero) f = Cast <to = 1> (n) y = Div (x, f)",
        "float[1, 2, T] y",
        constants=f"{AT}, int64[1] last = {{-1}}, int64[1] zero = {{0}}",
        finds="PAD106 Div",
        claims="T finite; finite",
    ),
    "a shape, backward": Example(
        "s = Shape (x) r = Slice (s, last, front, zero, last) n = Gather (r, nil) f = Cast <to = 1> (n) y = Div (x, f)",
        "float[1, 2, T] y",
        constants="int64[1] front = {-9}, int64[1] last = {-1}, int64[1] zero = {0}, int64 nil = {0}",
        finds="PAD106 Div",
        claims="T finite; finite",
    ),
    "heads of an interleaved axis": Example(
        "r = Reshape (x, flat) y = Slice (r, zero, last, one)",
        "float[1, U] y",
        constants="int64[2] flat = {1, -1}, int64[1] zero = {0}, int64[1] last = {-1}, int64[1] one = {1}",
        refused="a slice of a merged axis whose padding is interleaved with v",
    ),
    "two parts": Example(
        "a, b = Split <axis = 1> (x, p) y = Add (b, b)",
        "float[1, 3, T] y",
        "float[1, 4, T] x",
        "int64[2] p = {1, 3}",
        claims="T finite; finite",
    ),
    "two equal parts": Example(
        "a, b = Split <axis = 1, num_outputs = 2> (x) y = Sub (a, b)",
        "float[1, 2, T] y",
        "float[1, 4, T] x",
        claims="T finite; finite",
    ),
    "two parts of five": Example(
        "a, y = Split <axis = 1, num_outputs = 2> (x)",
        "float[1, 2, T] y",
        "float[1, 5, T] x",
        claims="T finite; finite; image",
    ),
    "parts of old": Example(
        "a, y = Split <axis = 1, split = [3, 1]> (x)",
        "float[1, 1, T] y",
        "float[1, 4, T] x",
        opset=12,
        claims="T finite; finite; image",
    ),
    "a part of computed size, and the last steps, of every row": Example(
        "n = Shape <start = 1, end = 2> (x) r = Sub (n, four) p = Concat <axis = 0> (four, r) "
        "f, e = Split <axis = 1> (x, p) y = Concat <axis = 1> (e, f)",
        "float[batch, T, 2] y",
        "float[batch, T, 2] x",
        "int64[1] four = {4}",
        finds="PAD105 Split, PAD105 Concat",
        claims="T finite; finite",
        first="T=4",
        rows=0,
    ),
    "even parts, of even lengths": Example(
        "a, b = Split <axis = 2> (x) y = Sub (a, b)",
        "float[1, 2, U] y",
        finds="PAD105 Split",
        claims="T//2 finite; finite",
        first="T=2",
        opset=17,
    ),
    "parts of time": Example(
        "a, y = Split <axis = 2> (x, p)",
        "float[1, 2, 3] y",
        constants="int64[2] p = {1, 3}",
        refused="Split of T steps to parts of 4 in all",
    ),
    "parts of rows": Example(
        "a, y = Split <axis = 0> (x, p)",
        "float[1, 2, T] y",
        "float[batch, 2, T] x",
        "int64[2] p = {1, 2}",
        rows=0,
        refused="Split along the batch",
    ),
    "parts of a shape": Example(
        "s = Shape (x) a, b = Split (s, p) f = Cast <to = 1> (b) y = Div (x, f)",
        "float[1, 2, T] y",
        constants="int64[2] p = {2, 1}",
        finds="PAD106 Div",
        claims="T finite; finite",
    ),
    "parts of zeros": Example(
        "q = Pad (x, pads) a, y = Split <axis = 1> (q, p)",
        "float[1, 1, U] y",
        constants="int64[2] p = {1, 1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "parts of an overlap": Example(
        "c = ConvTranspose <strides = [2]> (x, w) y, z = Split <axis = 1, num_outputs = 2> (c)",
        "float[1, 2, U] y, float[1, 2, U] z",
        constants="float[2, 4, 3] w",
        finds="PAD102 ConvTranspose",
        claims="2*T+1 finite; finite",
    ),
    "one of equal numbers": Example(
        "s = Shape <start = 2> (x) c = Concat <axis = 0> (s, s, s) e = Expand (s, three) k = Slice (e, nil, one, nil) "
        "z = ConstantOfShape <value = float[1] {2}> (k) u = Neg (z) y = Unsqueeze (u, nil) q = Neg (x)",
        "float[1, T] y, float[1, 2, T] q",
        constants="int64[1] nil = {0}, int64[1] one = {1}, int64[1] three = {3}",
        claims="T finite; -2..-2; -2",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


@pytest.mark.parametrize("rows", [1, 2])
def test_features_of_the_steps_behind_whole_threes_are_cut_one_axis_at_a_time(rows: int) -> None:
    text = """g (float[batch, 3, T] x) => (float[batch, 1, 3] y)
        <int64[1] three = {3}, int64[1] one = {1}, int64[1] two = {2}, int64[1] end = {9223372036854775807},
         int64[5] none = {0, 0, 0, 0, 0}> {
        s = Shape <start = 2> (x) m = Mod (s, three) a = Sub (s, m)
        q = Slice (x, a, end, two) f = Slice (q, one, two, one)
        k = Sub (three, m) p = Concat <axis = 0> (none, k) y = Pad (f, p)
    }"""
    assert_exact(text, "x:2=T", rows=None, padded_rows=rows)


def test_a_size_that_falls_is_refused() -> None:
    verdict = verdict_of(
        """g (float[1, T, 4] x) => (float[1, N, 4] y)
           <int64[1] at = {1}, int64[1] three = {3}, int64[1] one = {1}, int64[1] zero = {0}> {
           s = Shape (x)
           n = Gather (s, at)
           rest = Mod (n, three)
           end = Add (rest, one)
           y = Slice (x, zero, end, at)
        }""",
        "x:1=T",
    )  # fmt: skip
    assert verdict.outcome == "refused", verdict.reason


def _numbers(*texts: str, face: Face = Face.SIZE) -> Facts:
    array = np.array([number(parse(text), face) for text in texts], dtype=object)
    return Facts.known(ir.DataType.INT64, axes_of(str(len(texts))), Elements(array))


def _sliced(value: Facts, cut: str, rows: int | None = 1) -> RuleContext:
    """A cut ``axis: start, end, step``; the step may be missing. Several stand with ``;`` between them."""
    parts = [part.partition(":") for part in cut.split(";")]
    bounds = [[text.strip() for text in rest.split(",")] for _, _, rest in parts]
    steps = [int(own[2]) if len(own) > 2 else 1 for own in bounds]
    return context_of(
        "Slice", value, _numbers(*(own[0] for own in bounds)), _numbers(*(own[1] for own in bounds)),
        _numbers(*(axis for axis, _, _ in parts)), _numbers(*map(str, steps)), rows=rows,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("axes", "cut", "expected", "remedies"),
    [
        (("T", "3"), "0: 0, 9999999999", "T, 3; 5", ""), (("T", "3"), "0: 0, T", "T, 3; 5", ""),
        (("T", "3"), "1: 0, 2", "T, 2; 5", ""), (("T", "3"), "-1: 1, 9999999999", "T, 2; 5", ""),
        (("T", "3"), "1: -1, 9999999999", "T, 1; 5", ""), (("T", "3"), "1: 2, -9999999999, -1", "T, 3; 5", ""),
        (("T", "9"), "1: 0, 9, 2", "T, 5; 5", ""), (("T", "9"), "1: 8, 0, -3", "T, 3; 5", ""),
        (("T", "9"), "1: -3, -1", "T, 2; 5", ""), (("T", "9"), "1: -1, -4, -1", "T, 3; 5", ""),
        (("T",), "0: 1, 9999999999", "T-1", ""), (("T",), "0: 2, 9999999999", "T-min(T, 2)", ""),
        (("T",), "0: 0, -1", "T-1", ""), (("T",), "0: 0, 9999999999, 2", "T-(T//2)", ""),
        (("T",), "0: 1, 9999999999, 2", "T-((T+1)//2)", ""), (("T",), "0: 0, 5", "min(T, 5)", ""),
        (("T",), "0: -2, 9999999999", "", "Take"), (("T",), "0: -1, -9999999999, -1", "T", "Take"),
        (("T",), "0: 9999999999, -9999999999, -1", "T", "Take"), (("T",), "0: T-1, 9999999999", "1", "Take"),
        (("T",), "0: T, 9999999999", "an empty slice", ""), (("T",), "0: 3, 1", "an empty slice", ""),
        (("T",), "0: 3, 3", "an empty slice", ""),
        (("T", "U"), "0: -2, 9999999999; 1: -2, 9999999999", "along several axes at once", ""),
        (("T", "U"), "0: 0, T; 1: 0, U", "T, U; 5 5", ""), (("T", "U"), "0: 1, T; 1: 2, U", "T-1, U-2", ""),
        (("T x 3",), "0: 3, 9999999999", "3*T-3", ""), (("3 x T",), "0: 3, 9999999999", "interleaved", ""),
        (("2*T-1",), "0: T-1, 9999999999", "T; finite", "Take"), (("batch", "T"), "0: 0, 1", "the batch", ""),
        (("batch", "T"), "1: 1, 9999999999", "batch, T-1", ""), (("40",), "0: 20-T, 20+T", "2*T from T", ""),
        (("40",), "0: 0, T", "min(T, 40)", ""), (("40",), "0: 40-T, 40", "T", ""),
        (("T", "1"), "1: 0, 1", "T, 1; 5", ""),
    ],
)  # fmt: skip
def test_what_is_cut(axes: tuple[str, ...], cut: str, expected: str, remedies: str) -> None:
    value = tensor(*axes, pad=constant(5), finite=True)
    context = _sliced(value, cut, rows=None if "batch" in axes else 1)
    try:
        (found,) = slice_(context)
    except NoProof as error:
        assert expected in error.reason
        return
    assert told(found).startswith(expected), told(found)
    assert " ".join(type(remedy).__name__ for remedy in context.remedies) == remedies


@pytest.mark.parametrize(
    ("cut", "size", "first", "last"),
    [
        ("0: 2, 9", "min(T, 9)-min(T, 2)", 1, None), ("0: -3, 9999999999", None, 1, None),
        ("0: 0, -3", "max(T, 3)-3", 1, None),
        ("0: T-3, T", None, 1, None), ("0: T-4, T-2", None, 1, None),
        ("0: 0, 2*T", "T", 1, None), ("0: 1, T-1", "max(T, 2)-2", 1, None),
        ("0: 5-T, T", None, 1, 5),
    ],
)  # fmt: skip
def test_how_many_steps_a_cut_has(cut: str, size: str | None, first: int, last: int | None) -> None:
    """None at short lengths, as in native; the domain ends where the sign of a bound makes the steps fall in number."""
    context = _sliced(tensor("T", finite=True), cut)
    (found,) = slice_(context)
    span = context.scope.spans["T"]
    assert found is not None and (span.first, span.last) == (first, last)
    assert size is None or str(found.size(0)) == size


@pytest.mark.parametrize(
    ("cut", "told"),
    [
        ("0: 3, 3", "no step from min(T, 3) on"),
        ("0: T, 9", "no step from T on"),
        ("0: -1, 9999999999, -1", "no step from T-1 backwards lies behind T"),
        ("0: V%3+2, V%3+V%4", "end behind its start"),
    ],
)
def test_an_empty_slice_is_refused_with_advice(cut: str, told: str) -> None:
    with pytest.raises(NoProof) as error:
        slice_(_sliced(tensor("T"), cut))
    assert told in error.value.fix and "or leave it out" in error.value.fix, error.value


def test_the_entries_of_a_shape_that_are_cut() -> None:
    given = _numbers("T", "3", "U", "7")
    cuts = {
        "0: 0, 2": "T 3",
        "0: -1, 9": "7",
        "0: 3, -9, -1": "7 U 3 T",
        "0: 3, 0, -2": "7 3",
        "0: -2, -1": "U",
        "0: 1, 4, 2": "3 7",
        "0: 3, -4, -1": "7 U 3",
    }
    for cut, entries in cuts.items():
        (found,) = slice_(_sliced(given, cut))
        assert found is not None and isinstance(found.content, Elements)
        assert " ".join(str(x) for x in found.content.array.flat) == entries, cut


@pytest.mark.parametrize(
    ("cut", "placed"), [("0: 0, 2*T-2", False), ("0: 0, 2*T-1", True), ("0: 1, 2*T-2", False), ("1: 0, 2", True)]
)
def test_a_pending_remedy_is_placed_where_the_steps_that_are_wrong_are_read(cut: str, placed: bool) -> None:
    class Token:
        done = False

        def commit(self) -> None:
            self.done = True

    token = Token()
    value = tensor("2*T", "4", finite=True, pending=Pending(0, parse("2*T-2"), token))
    (found,) = slice_(_sliced(value, cut))
    assert found is not None and token.done == placed and found.pending is None


ANSWERS = table("""
Split(T, 6; 5) axis=1 outputs=2 => T, 3; 5; finite & T, 3; 5; finite
Split(T, 6; 5) axis=-1 outputs=3 => T, 2; 5; finite & T, 2; 5; finite & T, 2; 5; finite
Split(T, 7; 5) axis=1 outputs=2 => T, 4; 5; finite & T, 3; 5; finite
Split(T, 7; 5) axis=1 outputs=4 => T, 2; 5; finite & T, 2; 5; finite & T, 2; 5; finite & T, 1; 5; finite
Split(T, 7; 5 | = 3 4) axis=1 outputs=2 => T, 3; 5; finite & T, 4; 5; finite
Split(T, 7; 5 | = 1 6) axis=-1 outputs=2 => T, 1; 5; finite & T, 6; 5; finite
Split(T, 7; 5) axis=1 outputs=2 split=[2,5] => T, 2; 5; finite & T, 5; 5; finite
Split(4, T; image) outputs=2 => 2, T; finite; finite image & 2, T; finite; finite image
Split(4, T; image) outputs=4
    => 1, T; finite; finite image & 1, T; finite; finite image & 1, T; finite; finite image & 1,
    T; finite; finite image
Split(6, T) outputs=2 axis=-2 => 3, T; finite; finite & 3, T; finite; finite
Split(T, 2 x 3; 5) axis=1 outputs=3 => T, 2; 5; finite & T, 2; 5; finite & T, 2; 5; finite
Split(T, 3; 5) outputs=2
    => T-(T//2), 3; finite; finite & T//2, 3; finite; finite | Parts(PAD105; 0; 0 T-(T//2) T-(T//2) T//2)
Split(batch, 3) outputs=2 => refused: Split along the batch
Split(= 4 7 T 9) outputs=2 => 2; = 4 7; 1..inf; finite & 2; = T 9; 1..inf; finite
Split(= 4 7 T 9 | = 1 3) outputs=2 => 1; = 4; 1..inf; finite & 3; = 7 T 9; 1..inf; finite
Split(T, 4, U; any 5) axis=1 outputs=2 => T, 2, U; any 5; finite & T, 2, U; any 5; finite
Split(~ T, 4; 2 1 0 | = 1 3) axis=1 outputs=2 => T, 1; finite; 2..inf; finite & T, 3; finite; 2..inf; finite
Split(3, 5, T | = 2 3) axis=1 outputs=2 => 3, 2, T; finite; finite & 3, 3, T; finite; finite
Slice(T, 3; 5 | = 1 | = 9999999999 | = 0) => T-1, 3; 5; finite
Slice(T, 9 | = 0 | = 9 | = 1 | = 3) => T, 3; finite; finite
Slice(T, 9 | = 1 | = 8 | = -1 | = 3) => T, 3; finite; finite
Slice(T, 9; 5 | = -1 | = -10 | = -1 | = -2) => T, 5; 5; finite
Slice(T, 9; masked 0..1 | = 0 | = 5 | = 1) => T, 5; finite; 0..1; finite masked
Slice(T, 9; image | = 0 | = 5 | = 1) => T, 5; finite; finite image
Slice(T, 9 | = 2 | = 9) => min(T, 9)-min(T, 2), 9; finite; finite
Slice(3, 9 | = 1 2 | = 3 9) => 2, 7; finite
Slice(3, 9, T | = 1 2 | = 3 9) => 2, 7, T; finite; finite
Slice(3, 9, T | = 1 | = -1 | = 2) => 3, 9, max(T, 2)-2; finite; finite
Slice(3, T; 5 | = -2 | = 9999999999 | = -1)
    => 3, T-max(T, 2)+2; finite; finite | Take(PAD105; 0; 1; T-max(T, 2)+2; T; from 0: max(T, 2)-2 + 0 + 1k; True)
Slice(3, T; 5 | = -3 | = -1 | = -1)
    => 3, T-max(T, 3)+2; finite; finite | Take(PAD105; 0; 1; T-max(T, 3)+2; T; from 0: max(T, 3)-3 + 0 + 1k; True)
Slice(3, T; 5 | = -1 | = -9999999999 | = 1 | = -1)
    => 3, T; finite; finite | Take(PAD105; 0; 1; T; T; from 0: T-1 + 0 + -1k; True)
Slice(3, T; 5 | = -1 | = -9999999999 | = 1 | = -2)
    => 3, T-(T//2); finite; finite | Take(PAD105; 0; 1; T-(T//2); T; from 0: T-1 + 0 + -2k; True)
Slice(3, T; 5 | = 1 | = 9999999999 | = 1 | = 2) => 3, T-((T+1)//2); 5; finite
Slice(3, T; 5 | = 0 | = T-2 | = 1) => 3, T-min(T, 2); finite; finite
Slice(3, T; 5 | = 0 | = T-3 | = 1) => 3, T-3; finite; finite | T in 3..: the slice bound T-3 must not change its sign
Slice(3, T; 5 | = T-2 | = T | = 1)
    => 3, min(T, 2); finite; finite | Take(PAD105; 0; 1; min(T, 2); T; from 0: T-min(T, 2) + 0 + 1k; True)
Slice(3, T, 5 | = 1 -2 | = 9999999999 9999999999 | = 0 1) => refused: a slice from the end along several axes at once
Slice(3, T, 5 | = 0 -2 | = 9999999999 9999999999 | = 0 1)
    => 3, T-max(T, 2)+2, 5; finite; finite | Take(PAD105; 0; 1; T-max(T, 2)+2; T; from 0: max(T, 2)-2 + 0 + 1k; True)
Slice(3, T, 5 | = 0 -1 0 | = 3 -9 T+5 | = 0 1 2 | = 1 -1 1)
    => 3, T-max(T, 8)+8, 5; finite; finite | Take(PAD105; 0; 1; T-max(T, 8)+8; T; from 0: T-1 + 0 + -1k; True)
Slice(3, 2 x T | = 1 0 | = 3 2*T | = 0 1) => 2, 2 x T; finite; finite
Slice(3, V | = 0 | = V%3-1 | = 1) => refused: the slice bound V-3*(V//3)-1 changes its sign
Slice(3, V; 5 | = 0 | = V%3 | = 1)
    => 3, 2; axis 1: V-3*(V//3); finite | Take(PAD105; 0; 1; 2; V; from 0: 0 + 0 + 1k; True)
Slice(3, T; 5 | = 0 | = T%3 | = 1)
    => 3, 2; axis 1: T-3*(T//3); finite | Take(PAD105; 0; 1; 2; T; from 0: 0 + 0 + 1k; True)
Slice(3, T; 5 | = 1 | = T%3+1 | = 1)
    => 3, 2; axis 1: T-max(3*(T//3), 1); finite | Take(PAD105; 0; 1; 2; T; from 0: 1 + 0 + 1k; True)
Slice(3, T from T; 5 | = 0 | = T | = 1) => 3, T from T; 5; finite
Slice(3, T from T; 5 | = 1 | = T | = 1) => 3, T-1 from T; 5; finite
Slice(3, T from T; 5 | = 0 | = T | = 1 | = 2) => refused: a strided slice of a shifted axis
Slice(batch, 3 | = 0 | = 2 | = 1) => batch, 2; finite
Slice(T, U; any 5 | = 1 | = -1 | = 1) => T, U-2; any finite; finite
Slice(T, U; any 5 | = 1 | = -1 | = 0) => max(T, 2)-2, U; any 5; finite
Slice(3, T; 5 | = -1 | = -6 | = 1 | = -1)
    => 3, T-max(T, 5)+5; finite; finite | Take(PAD105; 0; 1; T-max(T, 5)+5; T; from 0: T-1 + 0 + -1k; True)
Slice(3, T; 5 | = 6 | = 1 | = 1 | = -1)
    => 3, max(min(T, 7), 2)-2; finite; finite | Take(PAD105; 0; 1; max(min(T, 7), 2)-2; T; from 0: min(T,
    7)-1 + 0 + -1k; True)
Slice(3, T; 5 | = 6 | = -3 | = 1 | = -2)
    => 3, 1; finite | Take(PAD105; 0; 1; 1; T; from 0: min(T, 7)-1 + 0 + -2k; True) |
    T in 1..8: a slice of 1-min((min(T, 7)+max(T, 2))//2-min(T, 7), 1) steps must not be empty
Slice(3, T; 5 | = 0 | = -3 | = 1) => 3, max(T, 3)-3; finite; finite
Slice(3, T; 5 | = 4 | = -3 | = 1 | = 2) => 3, -min((min(T, 4)+max(T, 3)+1)//2-max(T, 3), -1)-1; finite; finite
Slice(3, T; 5 | = 0 | = 2*T | = 1) => 3, T; 5; finite
Slice(3, T; 5 | = 2*T | = 0 | = 1 | = -1)
    => 3, T-1; finite; finite | Take(PAD105; 0; 1; T-1; T; from 0: T-1 + 0 + -1k; True)
Slice(3, T; 5 | = 0 | = 6 | = 1) => 3, min(T, 6); finite; finite
Slice(3, T; 5 | = -9999999999 | = 6 | = 1) => 3, min(T, 6); finite; finite
Slice(3, T; 5 | = 9999999999 | = -9999999999 | = 1 | = -1)
    => 3, T; finite; finite | Take(PAD105; 0; 1; T; T; from 0: T-1 + 0 + -1k; True)
Slice(3, T; 5 | = 2 | = T | = -1 | = 3) => 3, (T-min(T, 2)+2)//3; 5; finite
Slice(3, T; 5 | = 1-T | = 9999999999 | = 1)
    => 3, T-min(T, 2)+1; finite; finite | Take(PAD105; 0; 1; T-min(T, 2)+1; T; from 0: min(T, 2)-1 + 0 + 1k; True)
Slice(= 4 7 T 9 | = 0 | = -9 | = 0) => 0; = ; 1..inf; finite
Slice(= 4 7 T 9 | = 3 | = -9 | = 0 | = -1) => 4; = 9 T 7 4; 1..inf; finite
Slice(= 4 7 T 9 | = 3 | = -4 | = 0 | = -1) => 3; = 9 T 7; 1..inf; finite
Slice(= 4 7 T 9 | = 0 | = 9 | = -1 | = 2) => 2; = 4 T; 1..inf; finite
Slice(~ T, 9; 2 3 1 | = 2 | = 9 | = 1 | = 2) => T, 4; finite; = 4 + 3*i0 + 2*i1; 2..inf; finite
Slice(~ T, 9; 2 3 1 | = 8 | = -10 | = 1 | = -2) => T, 5; finite; = 10 + 3*i0 + -2*i1; 2..inf; finite
Slice(~ T, 9; 2 3 1 | = 2 | = 9999999999 | = 0) => T-min(T, 2), 9; finite; = 8 + 3*i0 + 1*i1; 2..inf; finite
Slice(~ T, 9; 2 3 0 | = 2 | = 9 | = 1) => T, 7; finite; = 2 + 3*i0; 2..inf; finite
Slice(~ T, 9; 2 0 0 | = 2 | = 9 | = 1) => T, 7; finite; = 2; 2..2; finite
Slice(~ 9, T; 2 3 1 | = 1 | = 9999999999 | = 1 | = 2) => 9, T-((T+1)//2); finite; = 3 + 3*i0 + 2*i1; 2..inf; finite
Slice(T, U; 5 | = 1 2 | = 9999999999 9999999999 | = 0 1) => T-1, U-2; 5 5; finite
Slice(T, U; any | = 1 | = -1 | = 1) => T, U-2; any any; finite
Slice(U, T; any | = 1 | = -1 | = 1) => U, max(T, 2)-2; any any; finite
Slice(9, 3 | = 0 | = T | = 0) => min(T, 9), 3; finite; finite
Slice(9, 3 | = 0 | = T | = 0 | = 2) => min(T-(T//2), 5), 3; finite; finite
Slice(9, 3 | = 9-T | = 9 | = 0)
    => T from T, 3; finite; finite | T in 1..9: the slice bound 9-T must not change its sign
Slice(9, 3 | = 4-T | = 4+T | = 0)
    => 2*T from T, 3; finite; finite | T in 1..4: the slice bound 4-T must not change its sign
Slice(~ 9, 3; 2 1 0 | = 1 | = T | = 0) => min(T, 9)-1, 3; finite; = 3 + 1*i0; 2..10; finite
Slice(T, U; 5 | = 0 | = T | = 1) => T, min(T, U); 5 finite; finite
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """Cuts and parts along an axis."""
    assert answer_to(question) == expected
