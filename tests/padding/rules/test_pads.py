"""Pad along time: appended constants, crops, and amounts whose sign changes with the length."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnx_ir as ir
import onnxruntime as ort
import pytest

import paddable
from paddable.api.opened import open_model
from paddable.lengths import Span, parse
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.facts import Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, ZERO
from paddable.padding.rules.slicing import cut_pad
from paddable.testing import assert_convertible

from .native import verdict_of

# h is one or two steps longer than x, or as long: 3 * ceil(T / 3); the amount is T less that.
UP = """
    s = Shape <start = 2, end = 3> (x)
    more = Add (s, two) thirds = Div (more, three) whole = Mul (thirds, three)
    room = Sub (whole, s) none = Sub (room, room)
    longer = Concat <axis = 0> (none, none, none, none, none, room)
    h = Pad (x, longer)
    shift = Sub (s, whole)
"""
UP_NUMBERS = "int64[1] two = {2}, int64[1] three = {3}, int64[1] one = {1}, int64[1] front = {FRONT}"


def assert_exact(text: str, *lengths: str) -> None:
    """Native's answer wherever native has one."""
    verdict = verdict_of(text, *lengths)
    assert (verdict.outcome, verdict.tight) == ("exact", ""), verdict.reason


def _model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 17]>\n{text}')


def _matched(mode: str, front: int, more: int, fill: str = "") -> str:
    """x, filled up to a multiple of three, padded by ``front`` and by T - whole + more: -2+more .. more steps."""
    numbers = UP_NUMBERS.replace("FRONT", str(front))
    return f"""g (float[1, 2, T] x) => (float[1, 2, U] y, float[1, 2, U] z)
        <{numbers}, int64[1] extra = {{{more}}}, float c = {{1.5}}, float[2, 2, 3] w = {{1, 2, -3, 4, 5, -6, 7, 8, 9, 1, 2, 3}}> {{{UP}
        after = Add (shift, extra)
        pads = Concat <axis = 0> (none, none, front, none, none, after)
        y = Pad <mode = "{mode}"> (h, pads{fill})
        z = Conv <pads = [1, 1]> (y, w)
    }}"""  # noqa: E501


@pytest.mark.parametrize("fill", ["", ", c"])
@pytest.mark.parametrize(("front", "more"), [(0, 0), (0, 1), (2, 0), (2, 1), (-1, 1), (-1, 3), (1, 2)])
def test_a_constant_pad_of_either_sign(front: int, more: int, fill: str) -> None:
    assert_exact(_matched("constant", front, more, fill), "x:2=T")


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize(("front", "more"), [(0, 0), (0, 1), (2, 0), (2, 1), (-1, 1), (-1, 3), (1, 2)])
def test_a_continued_tail_of_either_sign(mode: str, front: int, more: int) -> None:
    assert_exact(_matched(mode, front, more), "x:2=T")


def test_a_constant_crop_beside_a_pad() -> None:
    """The crop in front was refused beside a pad behind."""
    for pads in ("-2, 0, 0, 3", "3, 0, 0, -2"):
        front, _, _, back = pads.split(", ")
        assert_exact(
            f"""g (float[1, 2, T] x) => (float[1, 2, U] y, float[1, 2, 1] m)
               <int64[6] pads = {{0, 0, {front}, 0, 0, {back}}}, float c = {{0.5}}> {{
               y = Pad (x, pads, c) m = ReduceMax <axes = [2], keepdims = 1> (y) }}""",
            "x:2=T",
        )  # fmt: skip


def test_two_axes_of_either_sign() -> None:
    assert_exact(
        f"""g (float[1, 1, T, V] x) => (float[1, 1, U, W] y, float[1, 1, U, 1] m)
           <{UP_NUMBERS.replace("FRONT", "0")}, float c = {{0.5}}> {{
           s = Shape <start = 2, end = 3> (x) v = Shape <start = 3, end = 4> (x)
           more = Add (s, two) thirds = Div (more, three) whole = Mul (thirds, three) shift = Sub (whole, s)
           half = Div (v, two) even = Mul (half, two) rest = Sub (v, even) none = Sub (rest, rest)
           left = Sub (shift, one) right = Sub (rest, one)
           pads = Concat <axis = 0> (none, none, none, none, none, none, left, right)
           y = Pad (x, pads, c)
           e = Exp (y)
           m = ReduceMean <axes = [3], keepdims = 1> (e)
        }}""",
        "x:2=T",
        "x:3=V",
    )  # fmt: skip


def test_a_crop_by_a_floor_that_was_meant_as_a_ceiling() -> None:
    """EnCodec's extra padding, its ceiling exported as an integer division: none is added, up to two steps are cut."""
    assert_exact(
        """g (float[1, 2, T] x) => (float[1, 2, U] y)
           <int64[1] three = {3}, int64[2] zeros = {0, 0}, int64[1] front = {3},
            float[2, 2, 6] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6}> {
           s = Shape <start = 2, end = 3> (x)
           less = Sub (s, three) frames = Div (less, three) more = Mul (frames, three)
           ideal = Add (more, three) extra = Sub (ideal, s)
           pads = Concat <axis = 0> (zeros, front, zeros, extra)
           h = Pad <mode = "reflect"> (x, pads)
           y = Conv <strides = [3]> (h, w)
        }""",
        "x:2=T",
    )  # fmt: skip


def test_zeros_appended_before_a_convolution_that_overhangs_pass_the_gates() -> None:
    """The padding was still said to repeat valid steps, and gate L filled it with some."""
    model = _model(
        """g (float[1, 2, T] x) => (float[1, 2, U] y)
           <int64[6] pads = {0, 0, 0, 0, 0, 2}, float[2, 2, 3] w = {1, 2, -3, 4, 5, -6, 7, 8, 9, 1, 2, 3}> {
           h = Pad (x, pads) y = Conv <pads = [1, 1]> (h, w) }"""
    )
    assert_convertible(model, ["x:2=T"], containers=["9"])


@pytest.mark.parametrize(
    "cut", ["h = Slice (x, zero, last, axis)", "h = Pad (x, pads)", "h = Gather <axis = 1> (x, i)"]
)
def test_codes_cut_off_are_no_index(cut: str) -> None:
    """The last code may be one that native never looks up, and the tail fill repeats it."""
    model = _model(
        f"""g (int64[1, T] x) => (float[1, U, 2] y)
           <float[4, 2] table = {{1, 2, 3, 4, 5, 6, 7, 8}}, int64[1] zero = {{0}}, int64[1] last = {{-1}},
            int64[1] axis = {{1}}, int64[4] pads = {{0, 0, 0, -1}}, int64 nil = {{0}}, int64 one = {{1}}> {{
           s = Shape <start = 1, end = 2> (x) n = Squeeze (s) m = Sub (n, one) i = Range (nil, m, one)
           {cut}
           y = Gather <axis = 0> (table, h)
        }}"""
    )
    padded = paddable.convert(model, ["x:1=T"], containers=["9"], verify=False)
    feeds = {"x": np.array([[3, 1, 2, 99, 0, 0, 0, 0, 0]]), "ilens": np.array([4])}
    got = ort.InferenceSession(padded.SerializeToString()).run(["y"], feeds)[0]
    assert got[0, :4, 0].tolist() == [7, 3, 5, 0]


def test_codebooks_picked_one_by_one_need_no_select() -> None:
    """Padding repeats valid codes whichever codebook is read."""
    model = _model(
        """g (int64[1, 3, T] x) => (float[1, T, 2] y)
           <float[4, 2] table = {1, 2, 3, 4, 5, 6, 7, 8}, int64 one = {1}> {
           h = Gather <axis = 1> (x, one) y = Gather <axis = 0> (table, h) }"""
    )
    assert not any(site.remedies for site in open_model(model, ["x:2=T"]).analyse().sites)


def test_a_cut_step_holds_what_the_other_axis_holds_there() -> None:
    """Steps that a slice cuts off are padding now, and cross the padding of the other axis."""
    scope = Scope({"T": Span(4, None), "V": Span(4, None)})
    axes = (scope.axis(parse("T")), scope.axis(parse("V")))
    value = Facts(ir.DataType.FLOAT, axes, (PaddingFact(FINITE, ZERO), PaddingFact(ANY, ANY)), finite=True)
    assert cut_pad(value, 0) == PaddingFact(FINITE, ANY)
    assert cut_pad(value, 1) == PaddingFact(ANY, ANY)


def test_a_union_of_residues_is_no_longest_length() -> None:
    """T - 2 * ceil(T / 2) is 0 at even lengths and -1 at odd ones: once "at no length", once "at most T = 4"."""
    scope = Scope({"T": Span(1, None)})
    for text in ("T-2*((T+1)//2)", "T-4*((T+3)//4)"):
        length = parse(text)
        assert not scope.need(length, "a test")
        assert scope.spans["T"] == Span(1, None) and not scope.never(length)
    assert scope.never(parse("-T"))
    assert scope.need(parse("9-T"), "a table") and scope.spans["T"] == Span(1, 9)
