"""Transpose, Squeeze, Reshape, Expand and their like: facts follow their axes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from paddable.lengths import parse
from paddable.padding.deduce.regroup import Origin
from paddable.padding.facts.facts import Affine, Appended, Diagonal, Elements, Facts, PaddingFact, Pending
from paddable.padding.facts.kinds import FINITE, constant
from paddable.padding.facts.numbers import number
from paddable.padding.rules.movement import flatten, moved, reshape, squeeze, transpose, unsqueeze

from ..example import Example
from ..given import answer_to, axes_of, context_of, table, tensor
from ..native import assert_exact

SCORES = "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) p = Softmax (s)"

EXAMPLES = {
    "Expand of positions that end": Example(
        "n = Shape <start = 2> (x) p = Slice (w, zero, n) s = Concat <axis = 0> (two, n) "
        "e = Expand (p, s) y = Add (x, e)",
        "float[1, 2, T] y",
        constants="float[9] w, int64[1] zero = {0}, int64[1] two = {2}",
        claims="T finite; finite",
        last="T=9",
    ),
    "Expand of a vector computed from the length": Example(
        "n = Shape <start = 1, end = 2> (x) v = Add (n, k) e = Expand (v, s) f = Cast <to = 1> (e) y = Add (x, f)",
        "float[1, T, 4] y",
        "float[1, T, 4] x",
        "int64[4] k = {-1, -2, -3, 1}, int64[2] s = {1, 4}",
        finds="PAD106 Add",
        claims="T finite; finite",
    ),
    "Expand of such a vector along time": Example(
        "n = Shape <start = 2> (x) v = Add (n, k) u = Unsqueeze (v, two) s = Shape (x) e = Expand (u, s) "
        "f = Cast <to = 1> (e) y = Add (x, f)",
        "float[1, 4, T] y",
        "float[1, 4, T] x",
        "int64[4] k = {-1, -2, -3, 1}, int64[2] two = {0, 2}",
        finds="PAD106 Expand",
        claims="T finite; finite",
    ),
    "Expand of such a vector for every row": Example(
        "n = Shape <start = 1, end = 2> (x) v = Add (n, k) e = Expand (v, s) f = Cast <to = 1> (e) y = Add (x, f)",
        "float[batch, T, 4] y",
        "float[batch, T, 4] x",
        "int64[4] k = {-1, -2, -3, 1}, int64[2] s = {1, 4}",
        finds="PAD106 Add",
        claims="T finite; finite",
        rows=0,
    ),
    "Expand of places from the end for every row": Example(
        "n = Shape <start = 1, end = 2> (x) v = Add (n, k) u = Unsqueeze (v, ends) b = Shape <end = 1> (x) "
        "s = Concat <axis = 0> (b, rest) e = Expand (u, s) y = GatherElements <axis = 1> (x, e)",
        "float[batch, 3, 4] y",
        "float[batch, T, 4] x",
        "int64[3] k = {-1, -2, -3}, int64[2] ends = {0, 2}, int64[2] rest = {3, 4}",
        finds="PAD106 GatherElements, PAD105 GatherElements",
        claims="finite",
        first="T=2",
        harmless="PAD105",
        rows=0,
    ),
    "a table read by each row's own length, transposed": Example(
        "n = Shape <start = 2> (x) k = Squeeze (n) r = Range (nil, k, one) l = Sub (k, one) i = Sub (l, r) "
        "g = Gather <axis = 0> (w, i) t = Transpose <perm = [1, 0]> (g) y = Add (x, t)",
        "float[batch, 4, T] y",
        "float[batch, 4, T] x",
        "float[9, 4] w, int64 nil = {0}, int64 one = {1}",
        finds="PAD106 Gather",
        claims="T finite; finite",
        last="T=9",
        guards="Gather Transpose",
        rows=0,
    ),
    "transposed": Example("y = Transpose <perm = [0, 2, 1]> (x)", "float[1, T, 2] y", claims="T finite; finite; image"),
    "transposed by default": Example(
        "t = Transpose (x) y = Transpose <perm = [2, 1, 0]> (t)", "float[1, 2, T] y", claims="T finite; finite; image"
    ),
    "weights transposed": Example(
        f"{SCORES} y = Transpose <perm = [0, 2, 1]> (p)",
        "float[1, T, T] y",
        finds="PAD103 Softmax",
        claims="T 0|finite; T finite; 0..1; finite",
    ),
    "weights transposed and summed": Example(
        f"{SCORES} q = Transpose <perm = [0, 2, 1]> (p) y = ReduceSum <keepdims = 0> (q, axis)",
        "float[1, T] y",
        constants="int64[1] axis = {1}",
        finds="PAD103 Softmax",
        claims="T finite; 0..inf; finite",
        harmless="PAD103",
    ),
    "a mask transposed": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, one) r = Unsqueeze (i, first) c = "
        "Unsqueeze (i, second) g = Sub (r, c) q = Transpose <perm = [1, 0]> (g) m = GreaterOrEqual (q, nil) "
        "k = Cast <to = 1> (m) y = MatMul (x, k)",
        "float[1, 2, T] y",
        constants="int64 nil = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] second = {1}",
        finds="PAD108 MatMul",
        claims="T 0; finite",
    ),
    "a table of shapes": Example(
        "s = Shape (x) u = Unsqueeze (s, zero) q = Transpose <perm = [1, 0]> (u) f = Flatten <axis = 0> (q) r = "
        "Squeeze (f, zero) y = Reshape (x, r)",
        "float[1, 2, T] y",
        constants="int64[1] zero = {0}",
        claims="T finite; finite; image",
    ),
    "squeezed": Example(
        "y = Squeeze (x, axes)",
        "float[1, 2, T] y",
        "float[1, 1, 2, 1, T] x",
        "int64[2] axes = {1, -2}",
        claims="T finite; finite; image",
    ),
    "squeezed wherever there is one": Example(
        "v = Squeeze (x) y = Unsqueeze (v, first)",
        "float[1, 2, T] y",
        "float[1, 1, 2, 1, T] x",
        "int64[1] first = {0}",
        claims="T finite; finite; image",
        first="T=2",
    ),
    "squeezed of old": Example(
        "y = Squeeze <axes = [1]> (x)",
        "float[1, 2, T] y",
        "float[1, 1, 2, T] x",
        opset=12,
        claims="T finite; finite; image",
    ),
    "unsqueezed": Example(
        "y = Unsqueeze (x, axes)",
        "float[1, 1, 2, T, 1] y",
        constants="int64[2] axes = {1, -1}",
        claims="T finite; finite; image",
    ),
    "unsqueezed of old": Example(
        "y = Unsqueeze <axes = [1]> (x)", "float[1, 1, 2, T] y", opset=12, claims="T finite; finite; image"
    ),
    "reshaped to one row": Example(
        "y = Reshape (x, s)",
        "float[1, N] y",
        constants="int64[2] s = {1, -1}",
        finds="PAD105 ",
        claims="T finite; finite; image",
    ),
    "reshaped and back": Example(
        "a = Reshape (x, s) y = Reshape (a, b)",
        "float[1, 2, T] y",
        constants="int64[2] s = {1, -1}, int64[3] b = {1, 2, -1}",
        claims="T finite; finite; image",
    ),
    "features split": Example(
        "y = Reshape (x, s)",
        "float[1, 2, 3, T] y",
        "float[1, 6, T] x",
        "int64[4] s = {1, 2, 3, -1}",
        claims="T finite; finite; image",
    ),
    "features joined and split": Example(
        "y = Reshape (x, s)",
        "float[1, 2, 3, T] y",
        "float[1, 3, 2, T] x",
        "int64[4] s = {0, 2, 3, -1}",
        claims="T finite; finite; image",
    ),
    "features joined": Example(
        "y = Reshape (x, s)",
        "float[1, 6, T] y",
        "float[1, 2, 3, T] x",
        "int64[3] s = {0, 6, -1}",
        claims="T finite; finite; image",
    ),
    "features of zeros split": Example(
        "p = Pad (x, pads) y = Reshape (p, s)",
        "float[1, 2, 3, U] y",
        "float[1, 6, T] x",
        "int64[4] s = {1, 2, 3, -1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "time copied": Example(
        "y = Reshape (x, s)",
        "float[1, 2, T, 1] y",
        constants="int64[4] s = {0, 0, 0, 1}",
        claims="T finite; finite; image",
    ),
    "time split in twos": Example(
        "y = Reshape (x, s)",
        "float[1, 2, U, 2] y",
        constants="int64[4] s = {1, 2, -1, 2}",
        claims="T//2 finite; finite; image",
        first="T=2",
    ),
    "time split in threes, mean of each": Example(
        "r = Reshape (x, s) y = ReduceMean (r, axis)",
        "float[1, 2, U, 1] y",
        constants="int64[4] s = {1, 2, -1, 3}, int64[1] axis = {3}",
        claims="T//3 finite; finite",
        first="T=3",
    ),
    "time split in two halves": Example(
        "y = Reshape (x, s)",
        "float[1, 2, 2, U] y",
        constants="int64[4] s = {1, 2, 2, -1}",
        refused="Reshape [2*T] -> [1, 2, 2, T//2]: the padding of T stands at its end, and not behind each of",
    ),
    "time joined with features": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) r = Reshape (t, s) y = Softmax <axis = 1> (r)",
        "float[1, N] y",
        constants="int64[2] s = {1, -1}",
        finds="PAD103 Softmax",
        claims="T 0; 0..1; finite",
    ),
    "features joined with time": Example(
        "r = Reshape (x, s) y = Softmax <axis = 1> (r)",
        "float[1, N] y",
        constants="int64[2] s = {1, -1}",
        finds="PAD103 Softmax, PAD105 ",
        claims="T 0; 0..1; finite",
    ),
    "features joined with time, convolved": Example(
        "r = Reshape (x, s) y = Conv <pads = [1, 1]> (r, w)",
        "float[1, 1, N] y",
        constants="int64[3] s = {1, 1, -1}, float[1, 1, 3] w",
        finds="PAD105 Conv, PAD102 Conv",
        claims="2*T finite; finite",
    ),
    "time joined with features, convolved": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) r = Reshape (t, s) y = Conv <pads = [1, 1]> (r, w)",
        "float[1, 1, N] y",
        constants="int64[3] s = {1, 1, -1}, float[1, 1, 3] w",
        finds="PAD102 Conv",
        claims="2*T finite; finite",
    ),
    "a frozen target": Example(
        "y = Reshape (x, s)",
        "float[1, 2, 9] y",
        constants="int64[3] s = {1, 2, 9}",
        refused="Reshape [2*T] -> [1, 2, 9]: the varying size T cannot be cut",
    ),
    "a computed target": Example(
        "s = Shape <start = 2> (x) z = Concat <axis = 0> (one, s, two) y = Reshape (x, z)",
        "float[1, T, 2] y",
        constants="int64[1] one = {1}, int64[1] two = {2}",
        refused="Reshape [2*T] -> [1, T, 2]: T does not start at a multiple o",
    ),
    "twice as long": Example(
        "s = Shape <start = 2> (x) d = Mul (s, two) z = Concat <axis = 0> (one, d) y = Reshape (x, z)",
        "float[1, N] y",
        constants="int64[1] one = {1}, int64[1] two = {2}",
        finds="PAD105 ",
        claims="T finite; finite; image",
    ),
    "two lengths joined": Example(
        "y = Reshape (x, s)",
        "float[1, N] y",
        "float[1, T, V] x",
        "int64[2] s = {1, -1}",
        refused="padding is interleaved with valid steps on this axis",
    ),
    "two lengths joined and parted": Example(
        "s = Shape (x) r = Reshape (x, f) y = Reshape (r, s)",
        "float[1, T, V] y",
        "float[1, T, V] x",
        "int64[2] f = {1, -1}",
        claims="T finite; V finite; finite; image",
    ),
    "zeros allowed": Example(
        "y = Reshape <allowzero = 1> (x, s)",
        "float[1, 2, T] y",
        constants="int64[3] s = {1, 2, -1}",
        claims="T finite; finite; image",
    ),
    "flattened": Example("y = Flatten (x)", "float[1, N] y", finds="PAD105 ", claims="T finite; finite; image"),
    "flattened behind": Example("y = Flatten <axis = 2> (x)", "float[2, T] y", claims="T finite; finite; image"),
    "flattened from the end": Example("y = Flatten <axis = -1> (x)", "float[2, T] y", claims="T finite; finite; image"),
    "flattened positions": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, one) f = Flatten <axis = 0> (i) k = Cast "
        "<to = 1> (f) y = Add (x, k)",
        "float[1, 2, T] y",
        constants="int64 nil = {0}, int64 one = {1}",
        claims="T finite; finite",
    ),
    "expanded": Example(
        "y = Expand (x, s)",
        "float[1, 2, 3, T] y",
        "float[1, 2, 1, T] x",
        "int64[4] s = {1, 2, 3, 1}",
        claims="T finite; finite; image",
    ),
    "expanded to a longer shape": Example(
        "y = Expand (x, s)",
        "float[1, 2, T] y",
        "float[1, T] x",
        "int64[3] s = {1, 2, 1}",
        claims="T finite; finite; image",
    ),
    "a token expanded to time": Example(
        "s = Shape (x) e = Expand (w, s) y = Concat <axis = 1> (x, e)",
        "float[1, 4, T] y",
        constants="float[1, 2, 1] w",
        claims="T finite; finite",
    ),
    "zeros expanded to time": Example(
        "s = Shape (x) e = Expand (w, s) y = Concat <axis = 1> (x, e)",
        "float[1, 4, T] y",
        constants="float w = {0}",
        claims="T finite; finite",
    ),
    "zeros expanded": Example(
        "p = Pad (x, pads) y = Expand (p, s)",
        "float[1, 3, U] y",
        "float[1, 1, T] x",
        "int64[3] s = {1, 3, 1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "steps expanded to another length": Example(
        "s = Shape (z) e = Expand (x, s) y = Add (e, z)",
        "float[1, T, V] y",
        "float[1, T, 1] x, float[1, T, V] z",
        claims="T finite; V finite; finite",
    ),
    "zeros expanded to another length": Example(
        "p = Softmax <axis = 1> (x) s = Shape (z) y = Expand (p, s)",
        "float[1, T, V] y",
        "float[1, T, 1] x, float[1, T, V] z",
        finds="PAD103 Softmax",
        claims="T 0; V finite; 0..1; finite",
    ),
    "expanded to another size": Example(
        "y = Expand (x, s)", "float[1, 2, 9] y", constants="int64[3] s = {1, 2, 9}", refused="Expand of size T to 9"
    ),
    "positions expanded": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, one) q = Shape (x) e = Expand (i, q) f = "
        "Cast <to = 1> (e) y = Add (x, f)",
        "float[1, 2, T] y",
        constants="int64 nil = {0}, int64 one = {1}",
        claims="T finite; finite",
    ),
    "features tiled": Example(
        "y = Tile (x, r)", "float[1, 6, T] y", constants="int64[3] r = {1, 3, 1}", claims="T finite; finite; image"
    ),
    "zeros tiled": Example(
        "p = Pad (x, pads) y = Tile (p, r)",
        "float[1, 6, U] y",
        constants="int64[3] r = {1, 3, 1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "time tiled": Example(
        "y = Tile (x, r)",
        "float[1, 2, U] y",
        constants="int64[3] r = {1, 1, 2}",
        finds="PAD105 ",
        claims="T finite; finite; image",
    ),
    "tiled to the length": Example(
        "s = Shape <start = 2> (x) r = Concat <axis = 0> (one, one, s) e = Tile (w, r) y = Concat <axis = 1> (x, e)",
        "float[1, 4, T] y",
        constants="float[1, 2, 1] w, int64[1] one = {1}",
        claims="T finite; finite",
    ),
    "a shape tiled": Example(
        "s = Shape <start = 2> (x) d = Tile (s, two) p = ReduceProd <keepdims = 0> (d) f = Cast <to = 1> (p) y = "
        "Div (x, f)",
        "float[1, 2, T] y",
        constants="int64[1] two = {2}",
        finds="PAD106 ReduceProd",
        claims="T any; any",
    ),
    "rows tiled": Example(
        "y = Tile (x, r)",
        "float[N, 2, T] y",
        "float[batch, 2, T] x",
        "int64[3] r = {2, 1, 1}",
        rows=0,
        refused="Tile along the batch mixes rows of different lengths",
    ),
    "rows joined with features": Example(
        "r = Reshape (x, s) y = Softmax <axis = 1> (r)",
        "float[N, T] y",
        "float[batch, 2, T] x",
        "int64[2] s = {-1, 7}",
        rows=0,
        refused="padding is interleaved with valid steps on this axis",
    ),
    "rows copied": Example(
        "y = Reshape (x, s)",
        "float[batch, 1, 2, T] y",
        "float[batch, 2, T] x",
        "int64[4] s = {0, 1, 2, -1}",
        rows=0,
        claims="T finite; finite; image",
    ),
    "a transposed convolution, unsqueezed and cropped": Example(
        "c = ConvTranspose <strides = [2]> (x, w) u = Unsqueeze (c, two) r = Reshape (u, whole) y = Slice (r, "
        "from, to, two)",
        constants="float[2, 2, 3] w, int64[1] two = {2}, int64[3] whole = {1, 2, -1}, int64[1] from = {0}, "
        "int64[1] to = {-1}",
        claims="2*T finite; finite",
    ),
    "a transposed convolution, joined with its features": Example(
        "c = ConvTranspose <strides = [2]> (x, w) y = Reshape (c, whole)",
        "float[1, N] y",
        constants="float[2, 2, 3] w, int64[2] whole = {1, -1}",
        finds="PAD102 ConvTranspose, PAD105 ",
        claims="2*T+1 finite; finite",
    ),
    "a mask of a causal kind, unsqueezed": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) l = Shape <start = 2> (x) n = Squeeze (l) i = "
        "Range (nil, n, one) c = Unsqueeze (i, first) r = Unsqueeze (i, second) k = GreaterOrEqual (r, c) "
        "q = Unsqueeze (k, first) m = Where (q, s, low) p = Softmax (m) y = MatMul (p, t)",
        "float[1, T, 2] y",
        constants="int64 nil = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] second = {1}, float low = {-inf}",
        claims="T finite; finite",
    ),
    "the first axis expanded to a size that does not grow": Example(
        "s = Shape <start = 2> (x) m = Mod (s, two) p = Add (m, two) k = Concat <axis = 0> (p, s) "
        "t = Squeeze (x, nil) e = Expand (t, k) y = Unsqueeze (e, nil)",
        "float[1, 2, T] y",
        constants="int64[1] two = {2}, int64[1] nil = {0}",
        refused="Expand to the size T-2*(T//2)+2, which does not grow with the length",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


def test_a_length_times_a_constant_is_cut_by_another_constant() -> None:
    """3T x 2 elements as 2T x 3: neither factor divides alone."""
    assert_exact(
        """g (float[1, T, 4] x) => (float[1, N, 4] y) <int64[3] rows = {1, -1, 4}, int64[3] chunks = {-1, 3, 4},
           int64[1] axis = {2}, int64[4] twice = {1, 1, 2, 1}> {
           a = Concat <axis = 1> (x, x, x)
           b = Unsqueeze (a, axis)
           c = Tile (b, twice)
           d = Reshape (c, rows)
           e = Reshape (d, chunks)
           f = Softmax <axis = 1> (e)
           y = Reshape (f, rows)
        }""",
        "x:1=T",
    )


class _Token:
    done = False

    def commit(self) -> None:
        self.done = True


@pytest.mark.parametrize(
    ("origins", "pads", "pending", "diagonal"),
    [
        ([0, 1, 2], "5 6 7", 1, (0, 2)), ([2, 1, 0], "7 6 5", 1, (2, 0)), ([1, 0, 2], "6 5 7", 0, (1, 2)),
        ([0, 2], "5 7", None, (0, 1)), ([0, 1], "5 6", 1, None), ([0, 0, 1, 2], "5 5 6 7", 2, None),
        ([0, None, 1, 2], "5 any 6 7", 2, (0, 3)), ([1, 1, 0, 2], "6 6 5 7", None, (2, 3)),
    ],
)  # fmt: skip
def test_facts_follow_their_factors(
    origins: list[int | None], pads: str, pending: int | None, diagonal: tuple[int, int] | None
) -> None:
    """A remedy that waits hangs on one factor whole, and so does what is known where two indices are equal."""
    token, (axis,) = _Token(), axes_of("T x U x V")
    value = Facts(
        ir.DataType.FLOAT, (axis,), tuple(PaddingFact.of(constant(k)) for k in (5, 6, 7)),
        pending=Pending(1, parse("U"), token), diagonal=Diagonal(0, 2, FINITE),
    )  # fmt: skip
    factors = tuple(axis[own or 0] for own in origins)
    found = moved(value, (factors,), [Origin(own) for own in origins], None)
    assert " ".join(str(pad.weak) for pad in found.pads) == pads
    assert (found.pending.atom if found.pending else None) == pending and token.done == (pending is None)
    assert ((found.diagonal.row, found.diagonal.column) if found.diagonal else None) == diagonal
    split = moved(value, (factors,), [Origin(own, 3 if own == 1 else 1) for own in origins], None)
    assert split.pending is None  # a part of a factor is not the factor


def _integers(numbers: list[int]) -> Facts:
    array = np.array([number(k) for k in numbers], dtype=object)
    return Facts.known(ir.DataType.INT64, axes_of(str(len(numbers))), Elements(array))


def _counted(*steps: int, axes: tuple[str, ...]) -> Facts:
    coefficients = tuple((k, Fraction(c)) for k, c in enumerate(steps) if c)
    return Facts.known(ir.DataType.INT64, axes_of(*axes), Affine(number(2), coefficients))


@pytest.mark.parametrize(
    ("op_type", "value", "arguments", "attributes", "expected"),
    [
        ("Transpose", _counted(1, 7, axes=("T", "U")), [], {"perm": [1, 0]}, "U, T; 2 1*1 7*0"),
        ("Transpose", _counted(1, 7, axes=("T", "U")), [], {}, "U, T; 2 1*1 7*0"),
        ("Transpose", _counted(0, 7, 1, axes=("T", "U", "3")), [], {"perm": [2, 0, 1]}, "3, T, U; 2 7*2 1*0"),
        ("Squeeze", _counted(1, axes=("1", "T", "1")), [[0]], {}, "T, 1; 2 1*0"),
        ("Squeeze", _counted(1, axes=("1", "T", "1")), [[-1]], {}, "1, T; 2 1*0"),
        ("Squeeze", _counted(1, axes=("1", "T", "1")), [], {}, "T; 2 1*0"),
        ("Squeeze", _counted(1, axes=("1", "T", "1")), [], {"axes": [0, 2]}, "T; 2 1*0"),
        ("Unsqueeze", _counted(1, axes=("T",)), [[0]], {}, "1, T; 2 1*0"),
        ("Unsqueeze", _counted(1, axes=("T",)), [[-1]], {}, "T, 1; 2 1*0"),
        ("Unsqueeze", _counted(1, axes=("T",)), [[0, 2]], {}, "1, T, 1; 2 1*0"),
        ("Unsqueeze", _counted(1, 3, axes=("T", "U")), [[1]], {}, "T, 1, U; 2 1*0 3*1"),
        ("Flatten", _counted(1, 7, axes=("T", "3")), [], {"axis": 1}, "T, 3; 2 1*0 7*1"),
        ("Flatten", _counted(1, 7, 9, axes=("T", "3", "2")), [], {"axis": 2}, "T x 3, 2; 2 1*0 7*1 9*2"),
        ("Flatten", _counted(1, 7, axes=("T", "3")), [], {"axis": 0}, "1, T x 3; 2 1*0 7*1"),
        ("Flatten", _counted(1, 7, 9, axes=("T", "3", "2")), [], {"axis": -1}, "T x 3, 2; 2 1*0 7*1 9*2"),
        ("Reshape", _counted(1, 7, axes=("T", "6")), [[0, 2, 3]], {}, "T, 2, 3; 2 1*0 21*1 7*2"),
        ("Reshape", _counted(1, 7, axes=("T", "6")), [[-1]], {}, "T x 6; 2 1*0 7*1"),
        ("Reshape", _counted(1, 7, axes=("T", "6")), [[0, -1, 1, 2]], {}, "T, 3, 1, 2; 2 1*0 14*1 7*2"),
    ],
)  # fmt: skip
def test_positions_follow_their_factors(
    op_type: str, value: Facts, arguments: list[list[int]], attributes: dict[str, Any], expected: str
) -> None:
    """A step along a factor that is split is so many along its front part."""
    given = [
        Facts.known(
            ir.DataType.INT64, axes_of(str(len(own))), Elements(np.array([number(k) for k in own], dtype=object))
        )
        for own in arguments
    ]
    rules = {"Transpose": transpose, "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Flatten": flatten, "Reshape": reshape}
    (found,) = rules[op_type](context_of(op_type, value, *given, **attributes))
    assert found is not None and isinstance(found.content, Affine)
    steps = " ".join(f"{c}*{k}" for k, c in found.content.coefficients)
    axes = ", ".join(" x ".join(map(str, axis)) or "1" for axis in found.axes)
    assert f"{axes}; {found.content.base} {steps}" == expected


def test_what_was_appended_is_told_while_its_axis_is_the_last() -> None:
    value = tensor("3", "T x 6", appended=Appended(parse("T")))
    for target, kept in (([3, -1], True), ([-1], True), ([3, -1, 6], True), ([3, -1, 2], False)):
        shape = Elements(np.array([number(k) for k in target], dtype=object))
        (found,) = reshape(
            context_of("Reshape", value, Facts.known(ir.DataType.INT64, axes_of(str(len(target))), shape))
        )
        assert found is not None and (found.appended is not None) == kept, target


ANSWERS = table("""
Squeeze(1, T, 1) => T; finite; finite | T in 2..: Squeeze without axes drops an axis of one step
Squeeze(1, T, 1 | = 0) => T, 1; finite; finite
Squeeze(1, T, 1 | = -1) => 1, T; finite; finite
Squeeze(1, T, 1 | = 0 2) => T; finite; finite
Squeeze(1, T, 1) axes=[-1] => 1, T; finite; finite
Squeeze(1, T | = 1) => refused: Squeeze of an axis of size T
Squeeze(1, 3 | = 1) => refused: Squeeze of an axis of size 3
Squeeze(T, 2*T-1 | = 0) => refused: Squeeze of an axis of size T
Squeeze(3, T x 2) => 3, T x 2; finite; finite
Squeeze(batch, T | = 0) => refused: Squeeze of an axis of size batch
Squeeze(batch, 1, T; rows_in_front | = 0) => batch, T; finite; finite rows_in_front | SqueezeBehindRows(; 1)
Squeeze(batch, 1, T; rows_in_front | = -2) => batch, T; finite; finite rows_in_front | SqueezeBehindRows(; 1)
Squeeze(batch, T, 1; rows_in_front | = 1) => batch, T; finite; finite rows_in_front | SqueezeBehindRows(; 2)
Squeeze(batch, T, 1; rows_in_front | = -1) => batch, T; finite; finite rows_in_front | SqueezeBehindRows(; 2)
Squeeze(1, 2 x T, 1 | = 0) => 2 x T, 1; finite; finite
Squeeze(1, T-1) => T-1; finite; finite | T in 3..: Squeeze without axes drops an axis of one step
Squeeze(1, T, U) => T, U; finite finite; finite | T in 2..: Squeeze without axes drops an axis of one step
Squeeze(= 4) => = 4; 4..4; finite
Unsqueeze(T | = 0) => 1, T; finite; finite
Unsqueeze(T | = -1) => T, 1; finite; finite
Unsqueeze(T | = -2) => 1, T; finite; finite
Unsqueeze(T, 3 | = 1) => T, 1, 3; finite; finite
Unsqueeze(T, 3) axes=[0,-1] => 1, T, 3, 1; finite; finite
Unsqueeze(batch, T; rows_in_front | = 0) => batch, 1, T; finite; finite rows_in_front | UnsqueezeBehindRows(; 1)
Unsqueeze(batch, T; rows_in_front | = 1) => batch, T, 1; finite; finite rows_in_front | UnsqueezeBehindRows(; 2)
Unsqueeze(batch, T; rows_in_front | = -1) => batch, T, 1; finite; finite rows_in_front | UnsqueezeBehindRows(; 2)
Unsqueeze(batch, T, 3; rows_in_front | = 0 2)
    => batch, 1, T, 1, 3; finite; finite rows_in_front | UnsqueezeBehindRows(; 1 3)
Unsqueeze(= 4 7 | = 1) => 2, 1; = 4 7; 4..7; finite
Transpose(T, 3; 5) => 3, T; 5; finite
Transpose(T, 3; 5) perm=[0,1] => T, 3; 5; finite
Transpose(T, U, 3; image) perm=[1,2,0] => U, 3, T; finite finite; finite image
Transpose(T, U; any 5) => U, T; 5 any; finite
Transpose(T, U; any 5) perm=[0,1] => T, U; any 5; finite
Transpose(T, U, V) perm=[2,0,1] => V, T, U; finite finite finite; finite
Transpose(= 4 7) => 2; = 4 7; 4..7; finite
Reshape(T, 6 | = 0 2 3) => T, 2, 3; finite; finite
Reshape(T, 6 | = 0 -1) => T, 6; finite; finite
Reshape(T, 6 | = -1) => T x 6; finite; finite
Reshape(T, 6 | = -1 3) => T x 2, 3; finite; finite
Reshape(T, 6 | = -1 4) => T+T//2, 4; finite; finite | T in 2.. by 2: 6*T must be a multiple of 4
Reshape(T, 6 | = -1 5) => T+T//5, 5; finite; finite | T in 5.. by 5: 6*T must be a multiple of 5
Reshape(T, 6 | = -1 12) => T//2, 2 x 6; finite; finite | T in 2.. by 2: 6*T must be a multiple of 12
Reshape(T, 6 | = 2 -1) => refused: Reshape [6*T] -> [2, 3*T]: the varying size T cannot be cut into 2
Reshape(T, 6 | = 6 -1) => refused: Reshape [6*T] -> [6, T]: the varying size T cannot be cut into 6
Reshape(T, 6 | = T 6) => T, 6; finite; finite
Reshape(T, 6 | = T 2 3) => T, 2, 3; finite; finite
Reshape(T, 6 | = T -1 3) => T, 2, 3; finite; finite
Reshape(T, 6 | = 3*T 2) => T x 3, 2; finite; finite
Reshape(T, 6 | = 2 3*T) => refused: Reshape [6*T] -> [2, 3*T]: the varying size T cannot be cut into 2
Reshape(T, 6 | = U 6) => refused: Reshape [6*T] -> [U, 6]: the varying size T is neither part nor multiple of U
Reshape(T, 6 | = T 7) => refused: Reshape [6*T] -> [T, 7]: 6 elements cannot be regrouped to 7
Reshape(T, 6 | = 0 0) => T, 6; finite; finite
Reshape(T, 6 | = 0 6 1) => T, 6, 1; finite; finite
Reshape(T, 6 | = 0 6) allowzero=1 => refused: Reshape [6*T] -> [0, 6]: the varying size T cannot be cut into 0
Reshape(T, 6 | = 1 0 -1) => refused: Reshape [6*T] -> [1, 6, T]: the varying size T cannot be cut into 6
Reshape(T, U | = 0 -1) => T, U; finite finite; finite
Reshape(T, U | = -1 U) => T, U; finite finite; finite
Reshape(T, U | = U -1) => refused: Reshape [(T)*(U)] -> [U, T]: the varying size T is neither part nor multiple of U
Reshape(T, U | = -1) => T x U; finite finite; finite
Reshape(6*T | = -1 6) => T, 6; finite; finite
Reshape(6*T | = 6 -1)
    => refused: Reshape [6*T] -> [6, T]: the padding of 6*T stands at its end, and not behind each of the 6 parts
Reshape(6*T | = T 6) => T, 6; finite; finite
Reshape(4*T+8 | = -1 4) => T+2, 4; finite; finite
Reshape(4*T+8 | = -1 3) => T+(T+2)//3+2, 3; finite; finite | T in 1.. by 3: 4*T+8 must be a multiple of 3
Reshape(V | = -1 4) => V//4, 4; finite; finite
Reshape(V | = -1 2) => V//2, 2; finite; finite
Reshape(T x 2, 3 | = -1 3) => T x 2, 3; finite; finite
Reshape(T, 2, 6; 5 | = -1 3) => T x 2 x 2, 3; 5; finite
Reshape(batch, T, 6 | = 0 -1 3) => batch, T x 2, 3; finite; finite
Reshape(batch, T, 6 | = 0 0 2 3) => batch, T, 2, 3; finite; finite
Reshape(batch, T, 6 | = -1 6) => batch x T, 6; finite; finite
Reshape(batch, T, 6 | = -1 T 6) => batch, T, 6; finite; finite
Reshape(batch, 4, T | = -1 T) => batch x 4, T; finite; finite
Reshape(batch x 4, T | = -1 4 T) => batch, 4, T; finite; finite
Reshape(batch, T, 6; rows_in_front | = 0 2 3)
    => batch, T, 2, 3; finite; finite rows_in_front | UseSize(; 1; batch T 2 3)
Reshape(batch, T, 6; rows_in_front | = -1) => batch, T x 6; finite; finite rows_in_front | UseSize(; 1; batch 6*T)
Reshape(batch, T, 6; rows_in_front | = T -1 2)
    => batch, T, 3, 2; finite; finite rows_in_front | UseSize(; 1; batch T 3 2)
Reshape(batch, T, 3 x 2; rows_in_front 5 | = 0 -1)
    => batch, T, 3 x 2; 5; finite rows_in_front | UseSize(; 1; batch T 6)
Reshape(batch, T, 3 x 2, U; rows_in_front any finite | = 0 2 3 U)
    => batch, T, 2, 3, U; any finite; finite rows_in_front | UseSize(; 1; batch T 2 3 U)
Reshape(~ T, 2; 7 0 0 | = -1 3)
    => T-((T+2)//3), 3; finite; = 7; 7..7; finite | T in 3.. by 3: 2*T must be a multiple of 3
Reshape(~ T, 2; 7 1 5 | = -1 3) => T-((T+2)//3), 3; finite; 7..inf; finite | T in 3.. by 3: 2*T must be a multiple of 3
Reshape(= 4 7 5 2 | = 2 2) => 2, 2; = 4 7 5 2; 2..7; finite
Reshape(3, 2 x T | = -1) => 3 x 2 x T; finite; finite
Reshape(3, T x 2 | = 3 -1) => 3, T x 2; finite; finite
Reshape(3, T, 2 | = 3 -1) => 3, T x 2; finite; finite
Reshape(3, T, 2 | = 3 2 -1) => refused: Reshape [6*T] -> [3, 2, T]: the varying size T cannot be cut into 2
Reshape(3, T, 2 | = -1 2) => 3 x T, 2; finite; finite
Reshape(T, 2, U | = T -1) => T, 2 x U; finite finite; finite
Reshape(T, 2, U | = -1 U) => T x 2, U; finite finite; finite
Reshape(T, 2, U | = -1) => T x 2 x U; finite finite; finite
Reshape(T, 8 | = T 2 -1) => T, 2, 4; finite; finite
Reshape(T, 8 | = T 3 -1) => refused: 8*T elements do not divide into 3*T
Reshape(3*T, 2 | = -1 3) => 2*T, 3; finite; finite
Reshape(3*T, 2 | = T 3 2) => T, 3, 2; finite; finite
Reshape(3*T, 2 | = T 6) => T, 3 x 2; finite; finite
Reshape(3*T, 2 | = T 2 3) => T, 2, 3; finite; finite
Reshape(T, 4, 9 | = T 6 6) => T, 6, 6; finite; finite
Reshape(T, 4, 9 | = T 12 3) => T, 4 x 3, 3; finite; finite
Reshape(T, 4, 9 | = T 5 -1) => refused: 36*T elements do not divide into 5*T
Reshape(T, 1, 6 | = T 6) => T, 6; finite; finite
Reshape(1, T, 6 | = T 1 6 1) => T, 1, 6, 1; finite; finite
Flatten(T, 3) => T, 3; finite; finite
Flatten(T, 3, 4) => T, 3 x 4; finite; finite
Flatten(T, 3, 4) axis=2 => T x 3, 4; finite; finite
Flatten(T, 3, 4) axis=-1 => T x 3, 4; finite; finite
Flatten(T, 3, 4) axis=-2 => T, 3 x 4; finite; finite
Flatten(T, 3, 4) axis=0 => 1, T x 3 x 4; finite; finite
Flatten(T, 3, 4) axis=3 => T x 3 x 4, 1; finite; finite
Flatten(3, T, 4; 0) => 3, T x 4; 0; finite
Flatten(T, 3, U; any 5) axis=2 => T x 3, U; any 5; finite
Expand(1, T | = 3 T) => 3, T; finite; finite
Expand(1, T; 5 | = 3 1) => 3, T; 5; finite
Expand(T | = 3 1) => 3, T; finite; finite
Expand(T | = 3 T) => 3, T; finite; finite
Expand(T | = 2 3 T) => 2, 3, T; finite; finite
Expand(T; masked 0..1 | = 3 T) => 3, T; finite; 0..1; finite masked
Expand(T, 1 | = T U) => T, U; finite finite; finite
Expand(T, 1 | = 1 4) => T, 4; finite; finite
Expand(T, 3 | = 4) => refused: Expand of size 3 to 4
Expand(T, 3 | = U 3) => refused: Expand of size T to U
Expand(T, 3 | = 1) => T, 3; finite; finite
Expand(1 | = T U) => T, U; finite finite; finite
Expand(3, 1 | = T 1 4) => T, 3, 4; finite; finite
Expand(1, 3 | = T-4 3) => T-4, 3; finite; finite | T in 4..: the size T-4 must not be negative
Expand(1, 3 | = T%3 3) => 1, 3; axis 0: T-3*(T//3) equal; finite | UseSize(; 1; 1 3)
Expand(3 | = T%3 1) => 1, 3; axis 0: T-3*(T//3) equal; finite | UseSize(; 1; 1 1)
Expand(T, 3 | = T%3 3) => refused: Expand to the size T-3*(T//3), which does not grow with the length
Expand(1, 3 | = 4 T%3 1) => 4, 1, 3; axis 1: T-3*(T//3) equal; finite | UseSize(; 1; 4 1 1)
Expand(1 | = T//2) => T//2; finite; finite
Expand(batch, 1 | = batch T) => batch, T; finite; finite
Expand(1, T | = batch T) => batch, T; finite; finite
Expand(1, T | = 3*batch T) => batch x 3, T; finite; finite
Expand(batch, T; rows_in_front | = 3 T) => batch, 3, T; finite; finite rows_in_front | Spread(; 0; 1)
Expand(batch, T; rows_in_front | = batch 3 T) => batch, 3, T; finite; finite | Spread(; 0; 1)
Expand(batch, T; rows_in_front | = batch T) => batch, T; finite; finite
Expand(= 4 | = T) => T; 4; = 4; 4..4; finite
Expand(= 4 5 | = 3 2) => 3, 2; = 4 5 4 5 4 5; 4..5; finite
Expand(T, 1, U; any 5 | = 1 V 1) => T, V, U; any finite 5; finite
Expand(= 4 | = 3 1) => 3, 1; = 4; 4..4; finite
Expand(~ T; 2 1 | = 3 T) => 3, T; finite; = 2 + 1*i1; 2..inf; finite
Expand(~ T; 2 1 | = 3 1) => 3, T; finite; = 2 + 1*i1; 2..inf; finite
Expand(~ T, 1; 2 1 | = T U) => T, U; finite finite; = 2 + 1*i0; 2..inf; finite
Expand(~ T, 3; 2 1 5 | = 2 T 3) => 2, T, 3; finite; = 2 + 1*i1 + 5*i2; 2..inf; finite
Expand(T, U; any | = 3 T U) => 3, T, U; any any; finite
Expand(1, U, 1; 5 | = T 1 V) => T, U, V; finite 5 finite; finite
Expand(batch, 1, T; rows_in_front | = 2 3 T) => batch, 2, 3, T; finite; finite rows_in_front | Spread(; 0; 1)
Expand(batch, T; rows_in_front | = 5 1 1) => batch, 5, 1, T; finite; finite rows_in_front | Spread(; 0; 2)
Tile(T, 3; 5 | = 1 2) => T, 2 x 3; 5; finite
Tile(T, 3; 5 | = 2 1) => 2 x T, 3; 5; finite
Tile(T, 3; 5 | = 2 2) => 2 x T, 2 x 3; 5; finite
Tile(3, T; image | = 1 1) => 3, T; finite; finite image
Tile(3, 1 | = 1 T) => 3, T; finite; finite
Tile(3, 1 | = T 1) => T x 3, 1; finite; finite
Tile(batch, T | = 1 2) => batch, 2 x T; finite; finite
Tile(batch, T | = 2 1) => refused: Tile along the batch mixes rows of different lengths
Tile(batch, 3 | = 1 0) => batch, 0 x 3; finite
Tile(= 4 7 | = 2) => 2 x 2; = 4 7 4 7; 4..7; finite
Tile(= 4 7 | = 1) => 2; = 4 7; 4..7; finite
Tile(= 4 7 | = T) => T x 2; finite; 4..7; finite
Tile(= 4 | = T) => T; 4; = 4; 4..4; finite
Tile(T, U; any 5 | = 1 2) => T, 2 x U; any 5; finite
Tile(~ T; 2 1 | = 2) => 2 x T; finite; = 2 + 1*i1; 2..inf; finite
Tile(~ T, 3; 2 1 5 | = 2 1) => 2 x T, 3; finite; = 2 + 1*i1 + 5*i2; 2..inf; finite
Tile(~ T, 3; 2 1 5 | = 1 3) => T, 3 x 3; finite; = 2 + 1*i0 + 5*i2; 2..inf; finite
Tile(~ T, 3; 2 0 0 | = 1 3) => T, 3 x 3; 2; = 2; 2..2; finite
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """Axes come, go and are regrouped; facts follow them."""
    assert answer_to(question) == expected
