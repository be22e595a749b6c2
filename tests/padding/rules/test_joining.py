"""Concatenations along time and along features."""

from __future__ import annotations

import pytest

from ..example import Example
from ..given import answer_to, table

AT = "int64[1] axis = {2}, int64[1] end = {9223372036854775807}"

EXAMPLES = {
    "a joined part of features": Example(
        "s = Sin (x) y = Concat <axis = 1> (x, s)", "float[1, 4, T] y", claims="T finite; finite"
    ),
    "joined features, bounded": Example(
        "s = Sin (x) c = Sigmoid (x) y = Concat <axis = 1> (c, s)", "float[1, 4, T] y", claims="T finite; -1..1; finite"
    ),
    "joined features, one of zeros": Example(
        "p = Pad (x, pads) s = Sin (p) c = Cos (p) y = Concat <axis = -2> (s, p)",
        "float[1, 4, U] y",
        constants="int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "joined features, one that may be infinite": Example(
        "e = Exp (x) y = Concat <axis = 1> (x, e)", "float[1, 4, T] y", claims="T any; any"
    ),
    "a token in front": Example(
        "y = Concat <axis = 2> (w, x)", constants="float[1, 2, 1] w", claims="T+1 finite; finite"
    ),
    "a token behind": Example(
        "y = Concat <axis = 2> (x, w)", constants="float[1, 2, 1] w", finds="PAD105 Concat", claims="T+1 finite; finite"
    ),
    "zeros behind": Example(
        "y = Concat <axis = 2> (x, w)",
        constants="float[1, 2, 2] w = {0, 0, 0, 0}",
        finds="PAD102 Concat",
        claims="T+2 0; finite",
    ),
    "zeros behind what may be infinite": Example(
        "e = Exp (x) y = Concat <axis = 2> (e, w)",
        constants="float[1, 2, 2] w = {0, 0, 0, 0}",
        finds="PAD102 Concat",
        claims="T+2 0; 0..inf; any",
    ),
    "tokens on both sides": Example(
        "y = Concat <axis = 2> (w, x, w)",
        constants="float[1, 2, 1] w",
        finds="PAD105 Concat",
        claims="T+2 finite; finite",
    ),
    "twice": Example("s = Sin (x) y = Concat <axis = 2> (x, s)", finds="PAD105 Concat", claims="2*T finite; finite"),
    "two lengths": Example(
        "y = Concat <axis = 2> (x, z)",
        "float[1, 2, N] y",
        "float[1, 2, T] x, float[1, 2, U] z",
        finds="PAD105 Concat",
        claims="T+U finite; finite",
    ),
    "two lengths and a token": Example(
        "y = Concat <axis = 2> (x, w, z, w)",
        "float[1, 2, N] y",
        "float[1, 2, T] x, float[1, 2, U] z",
        "float[1, 2, 1] w",
        finds="PAD105 Concat",
        claims="T+U+2 finite; finite",
    ),
    "tokens and two axes": Example(
        "y = Concat <axis = 2> (x, w)",
        "float[1, 1, N, V] y",
        "float[1, 1, T, V] x, float[1, 1, 1, V] w",
        finds="PAD105 Concat",
        claims="T+1 finite; V finite; finite",
    ),
    "scores joined": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) p = Softmax (s) y = Concat <axis = 2> (s, p)",
        "float[1, T, U] y",
        finds="PAD103 Softmax, PAD105 Concat",
        claims="T finite; 2*T finite; finite",
    ),
    "weights joined along queries": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) p = Softmax (s) q = Softmax (p) y = Concat <axis "
        "= 1> (p, q)",
        "float[1, U, T] y",
        finds="PAD103 Softmax, PAD103 Softmax, PAD105 Concat",
        claims="2*T finite; T finite; 0..1; finite",
    ),
    "sizes that must agree": Example(
        "y = Concat <axis = 1> (x, w)",
        "float[1, 4, T] y",
        constants="float[1, 2, 9] w",
        refused="Concat of sizes T and 9",
    ),
    "rows joined": Example(
        "y = Concat <axis = 2> (x, x)",
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        rows=0,
        finds="PAD105 Concat",
        claims="2*T finite; finite",
    ),
    "rows joined with a token": Example(
        "s = Shape <start = 0, end = 1> (x) z = Concat <axis = 0> (s, two, one) e = Expand (w, z) y = Concat "
        "<axis = 2> (e, x)",
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        "float[1, 2, 1] w, int64[1] one = {1}, int64[1] two = {2}",
        rows=0,
        claims="T+1 finite; finite",
    ),
    "a masked part": Example(
        "p = Pad (x, pads, c) y = Concat <axis = 1> (p, p)",
        "float[1, 4, U] y",
        constants="int64[6] pads = {0, 0, 0, 0, 0, 2}, float c = {-inf}",
        finds="PAD102 Pad",
        claims="T+2 -inf; any; masked",
    ),
    "from a step that may be the last": Example(
        "c = Slice (x, three, end, axis) y = Concat <axis = 2> (w, c)",
        "float[1, 2, U] y",
        constants=f"float[1, 2, 1] w, int64[1] three = {{3}}, {AT}",
        claims="T-min(T, 3)+1 finite; finite",
    ),
    "the length beside steps of rows": Example(
        "v = Shape <start = 2> (x) f = Cast <to = 1> (v) e = Unsqueeze (f, front) m = Mul (e, one) "
        "y = Concat <axis = 2> (m, x)",
        "float[batch, 1, U] y",
        "float[batch, 1, T] x",
        "int64[2] front = {0, 1}, float[1] one = {1}",
        rows=0,
        finds="PAD106 Concat",
        claims="T+1 finite; finite",
        harmless="PAD106",
    ),
    "two windows of a table": Example(
        "n = Shape <start = 2> (x) b = Sub (nine, n) t = Slice (w, b, nine, o) g = Neg (t) j = Concat <axis = 1> "
        "(t, g) y = MatMul (x, j)",
        "float[1, 2, 6] y",
        constants="int64[1] nine = {9}, float[9, 3] w, int64[1] o = {0}",
        finds="PAD105 MatMul, PAD108 MatMul",
        claims="finite",
        last="T=9",
    ),
    "positions from the end, the last of them repeated": Example(
        "v = Shape <start = 2> (x) n = Squeeze (v) i = Range (nil, n, one) d = Sub (n, i) f = Cast <to = 1> (d) "
        "u = Unsqueeze (f, front) l = Mod (v, two) e = Expand (k, l) r = Unsqueeze (e, front) "
        "y = Concat <axis = 2> (u, r) z = Neg (x)",
        "float[1, 1, U] y, float[1, 1, T] z",
        "float[1, 1, T] x",
        "int64[2] front = {0, 1}, int64 nil = {0}, int64 one = {1}, int64[1] two = {2}, float[1] k",
        refused="the size T-2*(T//2) does not grow with the length, so no con",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


ANSWERS = table("""
Concat(T | U) axis=0
    => T+U; finite; finite | Take(PAD105; 0; 0; T+U; T+U; from 0: 0 + 0 + 1k from T: -T + T + 1k; True)
Concat(T, 3 | T, 4) axis=1 => T, 7; finite; finite
Concat(T, 3; 5 | T, 4; 5) axis=-1 => T, 7; 5; finite
Concat(T, 3; 5 | T, 4; 0) axis=-1 => T, 7; finite; finite
Concat(T, 3; any | T, 4) axis=1 => T, 7; any; finite
Concat(T, 3; infinite | T, 4) axis=1 => T, 7; finite
Concat(T, 3; masked | T, 4) axis=1 => T, 7; finite; finite masked
Concat(T, 3 | T, 4; masked) axis=1 => T, 7; finite; finite masked
Concat(T, 3; 0..1 | T, 4; -2..0) axis=1 => T, 7; finite; -2..1; finite
Concat(T, 3; 0..1 | T, 4; -2..9) axis=1 => T, 7; finite; -2..9; finite
Concat(T, 3; -9..1 | T, 4; -2..0) axis=1 => T, 7; finite; -9..1; finite
Concat(T, 3 | U, 4) axis=1 => refused: Concat of sizes T and U
Concat(T, 3 | 5, 4) axis=1 => refused: Concat of sizes T and 5
Concat(2, 3; 5 | T, 3; 5) axis=0 => T+2, 3; 5; finite
Concat(2, 3 | 1, 3 | T, 3; 5) axis=0 => T+3, 3; 5; finite
Concat(T, 3; 5 | 2, 3) axis=0
    => T+2, 3; 5; finite | Take(PAD105; 0; 0; T+2; T+2; from 0: 0 + 0 + 1k from T: -T + T + 1k; True)
Concat(T, 3 | 2, 3; 0..0) axis=0 => T+2, 3; 0; finite | Fill(PAD102; 0; 0; 0.0)
Concat(1, 3 | T, 3 | 2, 3) axis=0
    => T+3, 3; finite; finite | Take(PAD105; 0; 0; T+3; T+3; from 0: 0 + 0 + 1k from T+1: -T-1 + T+1 + 1k; True)
Concat(T, 3; 5 | U, 3; 0) axis=0
    => T+U, 3; 0; finite | Take(PAD105; 0; 0; T+U; T+U; from 0: 0 + 0 + 1k from T: -T + T + 1k; True)
Concat(T, 3 | T, 3) axis=0
    => 2*T, 3; finite; finite | Take(PAD105; 0; 0; 2*T; 2*T; from 0: 0 + 0 + 1k from T: -T + T + 1k; True)
Concat(T, 3 | T, 3 | T, 3) axis=0
    => 3*T, 3; finite; finite | Take(PAD105; 0; 0; 3*T; 3*T; from 0: 0 + 0 + 1k from T: -T + T + 1k
    from 2*T: -2*T + 2*T + 1k; True)
Concat(T, 3 | 2, 3 | T, 3) axis=0
    => 2*T+2, 3; finite; finite | Take(PAD105; 0; 0; 2*T+2; 2*T+2; from 0: 0 + 0 + 1k from T: -T + T + 1k
    from T+2: -T-2 + T+2 + 1k; True)
Concat(T, 3 | 0, 3) axis=0 => T, 3; finite; finite
Concat(0, 3 | T, 3) axis=0 => T, 3; finite; finite
Concat(0, 3 | 0, 3) axis=0 => 0, 3; finite
Concat(T, 3) axis=0 => T, 3; finite; finite
Concat(T x 2, 3 | T, 3) axis=0
    => 3*T, 3; finite; finite | Take(PAD105; 0; 0; 3*T; 3*T; from 0: 0 + 0 + 1k from 2*T: -2*T + 2*T + 1k; True)
Concat(2 x T, 3 | T, 3) axis=0 => refused: Concat along a merged axis whose padding is interleaved with valid steps
Concat(T x 2, 3 | 2*T, 4) axis=1 => 2*T, 7; finite; finite
Concat(2 x T, 3 | 2*T, 4) axis=1 => refused: Concat of operands that factor an axis differently
Concat(batch, T, 3 | batch, 2, 3) axis=1
    => batch, T+2, 3; finite; finite | Take(PAD105; 0; 1; T+2; T+2; from 0: 0 + 0 + 1k from T: -T + T + 1k; True)
Concat(batch, 2, T | batch, 3, T) axis=1 => batch, 5, T; finite; finite
Concat(batch, T | batch, T) axis=0 => refused: Concat along the batch mixes rows of different lengths
Concat(T from T, 3 | T from T, 4) axis=1 => T from T, 7; finite; finite
Concat(T from T, 3 | T, 4) axis=1 => T, 7; finite; finite | Take(PAD105; 0; 0; T; T; from 0: -T + T + 1k)
Concat(T from T, 3 | 2, 3) axis=0
    => T+2, 3; finite; finite | Take(PAD105; 0; 0; T; T; from 0: -T + T + 1k), Take(PAD105; 0; 0; T+2; T+2;
    from 0: 0 + 0 + 1k from T: -T + T + 1k; True)
Concat(= 3 4 | = T) axis=0 => 3; = 3 4 T; finite
Concat(= 3 4 | = T) axis=-1 => 3; = 3 4 T; finite
Concat(= 3 | 2; int64) axis=0 => 3; finite
Concat(2, T; int64 | 3, T; int64; 5) axis=0 => 5, T; finite; finite
Concat(batch, T, 3 | 2, T, 4) axis=2 rows=2 => batch, T, 7; finite; finite
Concat(2, T, 3 | batch, T, 4) axis=2 rows=2 => batch, T, 7; finite; finite
Concat(T, U; any 5 | T, 2; 5) axis=1
    => T, U+2; any 5; finite | Take(PAD105; 0; 1; U+2; U+2; from 0: 0 + 0 + 1k from U: -U + U + 1k; True)
Concat(T, 3, U; any 5 | T, 4, U; 5 5) axis=1 => T, 7, U; any 5; finite
Concat(T, 3, U | T, 4, U) axis=1 => T, 7, U; finite finite; finite
Concat(3, T, 4; 5 | 3, 2, 4; 0..0) axis=1 => 3, T+2, 4; 0; finite | Fill(PAD102; 0; 1; 0.0)
Concat(T, U | T, 2; 0..0) axis=1 => T, U+2; finite 0; finite | Fill(PAD102; 0; 1; 0.0)
Concat(T, U; any | T, 2) axis=1
    => T, U+2; any any; finite | Take(PAD105; 0; 1; U+2; U+2; from 0: 0 + 0 + 1k from U: -U + U + 1k; True)
Concat(T, 2 | T, U; any) axis=1 => T, U+2; any any; finite
Concat(T, U; any | T, 2) axis=0 => refused: Concat of sizes U and 2
Concat(1, 3 | T, 3 | 2, 3; 0..0 | 1, 3; 0..0) axis=0 => T+4, 3; 0; finite | Fill(PAD102; 1; 0; 0.0)
Concat(T, 3 | 2, 3; 0..0 | U, 3) axis=0
    => T+U+2, 3; finite; finite | Take(PAD105; 0; 0; T+U+2; T+U+2; from 0: 0 + 0 + 1k from T: -T + T + 1k
    from T+2: -T-2 + T+2 + 1k; True)
Concat(V, 3 | V, 3 | V, 4) axis=1 => V, 10; finite; finite
Concat(V, 3 | T, 4) axis=1 => refused: Concat of sizes V and T
Concat(T x 2, 3 | 2*T, 4 | T x 2, 5) axis=1 => 2*T, 12; finite; finite
Concat(T from T, 3 | T from T, 4 | T from T, 5) axis=1 => T from T, 12; finite; finite
Concat(T from T, 3 | T from T, 4 | T, 5) axis=1
    => T, 12; finite; finite | Take(PAD105; 0; 0; T; T; from 0: -T + T + 1k), Take(PAD105; 1; 0; T; T;
    from 0: -T + T + 1k)
Concat(2; int64 | = T 2) axis=0 => 4; finite | UseLength(PAD106; 1; T 2)
Concat(batch, T; masked | batch, 2) axis=-1
    => batch, T+2; finite; finite masked | Take(PAD105; 0; 1; T+2; T+2; from 0: 0 + 0 + 1k
    from T: -T + T + 1k; True)
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """Parts that are joined along an axis."""
    assert answer_to(question) == expected
