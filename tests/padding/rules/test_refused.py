"""Operators for which no fixed shape exists."""

from __future__ import annotations

import pytest

from ..example import Example

EXAMPLES = {
    "NonZero": Example(
        "y = NonZero (x)", "int64[3, N] y", refused="NonZero has results whose size or order depends on data"
    ),
    "Unique": Example("y = Unique (x)", "float[N] y", refused="Unique has results whose size or order depends on data"),
    "Compress": Example(
        "y = Compress <axis = 2> (x, c)",
        constants="bool[2] c = {1, 0}",
        refused="Compress has results whose size or order depends on data",
    ),
    "Loop": Example(
        "y, z = Loop (n, c, x) <body = b (int64 i, bool k, float[1, 2, T] h) => (bool g, float[1, 2, T] o, "
        "float[1] e) { g = Identity (k) o = Sin (h) e = Constant <value = float[1] {1}> () }>",
        "float[1, 2, T] y, float[3, 1] z",
        constants="int64 n = {3}, bool c = {1}",
        refused="Loop runs as often as there are steps, and what it carries",
    ),
    "Scan": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) i = Constant <value = float[1, 2] {0, 0}> () l, a = Scan "
        "<num_scan_inputs = 1, body = b (float[1, 2] h, float[1, 2] v) => (float[1, 2] o, float[1, 2] e) { o = "
        "Add (h, v) e = Identity (o) }> (i, t) y = Transpose <perm = [1, 2, 0]> (a)",
        refused="Scan runs as often as there are steps, and what it carries",
    ),
    "NonMaxSuppression": Example(
        "y = NonMaxSuppression (x, s)",
        "int64[N, 3] y",
        "float[1, T, 4] x",
        "float[1, 1, 9] s",
        refused="NonMaxSuppression has results whose size or order depends on",
    ),
    "SequenceMap": Example(
        "q = SplitToSequence <axis = 2> (x, o) r = SequenceMap (q) <body = b (float[1, 2, 1] v) => (float[1, 2, "
        "1] w) { w = Sin (v) }> y = ConcatFromSequence <axis = 2> (r)",
        constants="int64 o = {1}",
        refused="SplitToSequence has results whose size or order depends on d",
    ),
    "SplitToSequence": Example(
        "q = SplitToSequence <axis = 2> (x, o) y = ConcatFromSequence <axis = 2> (q)",
        constants="int64 o = {1}",
        refused="SplitToSequence has results whose size or order depends on d",
    ),
    "RandomNormalLike": Example(
        "n = RandomNormalLike (x) y = Add (x, n)", refused="RandomNormalLike draws random numbers, so no two runs agree"
    ),
    "RandomUniformLike": Example(
        "n = RandomUniformLike (x) y = Add (x, n)",
        refused="RandomUniformLike draws random numbers, so no two runs agree",
    ),
    "RandomNormal": Example(
        "n = RandomNormal <shape = [1]> () y = Add (x, n)",
        refused="RandomNormal draws random numbers, so no two runs agree",
    ),
    "RandomUniform": Example(
        "n = RandomUniform <shape = [1]> () y = Add (x, n)",
        refused="RandomUniform draws random numbers, so no two runs agree",
    ),
    "Multinomial": Example(
        "q = Squeeze (x, o) y = Multinomial (q)",
        "int32[2, 1] y",
        constants="int64[1] o = {0}",
        refused="Multinomial draws random numbers, so no two runs agree",
    ),
    "Bernoulli": Example(
        "s = Sigmoid (x) y = Bernoulli (s)", refused="Bernoulli draws random numbers, so no two runs agree"
    ),
    "ReverseSequence": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) r = ReverseSequence (t, l) y = Transpose <perm = [1, 2, 0]> (r)",
        constants="int64[1] l = {3}",
        refused="ReverseSequence turns round as many steps as an input says",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()
