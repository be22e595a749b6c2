"""Reading by index: tables, features, steps from either end, and index tensors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import onnx.parser
import onnx_ir as ir
import pytest

from paddable.api.opened import open_model
from paddable.padding.deduce.context import NoProof, RuleContext
from paddable.padding.facts.facts import Elements, Facts
from paddable.padding.facts.kinds import FINITE, constant
from paddable.padding.facts.numbers import number
from paddable.padding.remedies.forms import RowGather
from paddable.padding.rules.gathering import gather, gather_elements, gather_nd

from ..example import Example
from ..given import answer_to, axes_of, context_of, table, tensor, told
from ..native import assert_exact, verdict_of

TABLE = "float[20, 3] w"
CODES = "int64[1, T] x"

EXAMPLES = {
    "the step before a length that is given, of joined rows": Example(
        "b = Shape <end = 1> (x) c = Squeeze (b) r = Range (nil, c, one) n = Shape <start = 1, end = 2> (x) "
        "k = Squeeze (n) f = Mul (r, k) p = Sub (l, one) i = Add (p, f) j = Flatten <axis = 2> (x) "
        "y = Gather <axis = 0> (j, i)",
        "float[batch, 4] y",
        "float[batch, T, 4] x, int64[batch] l",
        "int64 nil = {0}, int64 one = {1}",
        claims="finite",
        held="l=T",
        rows=0,
    ),
    "steps from the end of every row, with the rows in front": Example(
        "n = Shape <start = 1, end = 2> (x) k = Squeeze (n) r = Range (nil, k, one) i = Sub (r, n) "
        "u = Unsqueeze (i, ends) b = Shape <end = 1> (x) s = Concat <axis = 0> (b, n, one1) e = Expand (u, s) "
        "y = GatherND <batch_dims = 1> (x, e)",
        "float[batch, T, 4] y",
        "float[batch, T, 4] x",
        "int64 nil = {0}, int64 one = {1}, int64[1] one1 = {1}, int64[2] ends = {0, 2}",
        finds="PAD106 GatherND, PAD105 GatherND",
        claims="T finite; finite",
        guards="GatherND",
        rows=0,
    ),
    "a step before the end of every row, by tuples": Example(
        "n = Shape <start = 1, end = 2> (x) b = Shape <end = 1> (x) c = Squeeze (b) r = Range (nil, c, one) "
        "m = Sub (n, three) e = Expand (m, b) ru = Unsqueeze (r, axis) eu = Unsqueeze (e, axis) "
        "p = Concat <axis = 1> (ru, eu) y = GatherND (x, p)",
        "float[batch, 4] y",
        "float[batch, T, 4] x",
        "int64 nil = {0}, int64 one = {1}, int64[1] axis = {1}, int64 three = {3}",
        finds="PAD106 Concat, PAD105 GatherND",
        claims="finite",
        first="T=2",
        harmless="PAD105",
        rows=0,
    ),
    "a step before the end, by tuples": Example(
        "n = Shape <start = 1, end = 2> (x) b = Shape <end = 1> (x) c = Squeeze (b) r = Range (nil, c, one) "
        "m = Sub (n, three) e = Expand (m, b) ru = Unsqueeze (r, axis) eu = Unsqueeze (e, axis) "
        "p = Concat <axis = 1> (ru, eu) y = GatherND (x, p)",
        "float[1, 4] y",
        "float[1, T, 4] x",
        "int64 nil = {0}, int64 one = {1}, int64[1] axis = {1}, int64 three = {3}",
        finds="PAD106 GatherND, PAD105 GatherND",
        claims="finite",
        first="T=2",
        harmless="PAD105",
    ),
    "sizes as data, by an index that is data": Example(
        "s = Shape (x) k = ArgMax <axis = 1> (x) i = Add (k, one) y = Gather (s, i)",
        "int64[1, 1, T] y",
        constants="int64 one = {1}",
        finds="PAD106 Gather",
        claims="T finite; 1..inf; finite",
        guards="Gather",
    ),
    "elements of the first features": Example(
        "y = GatherElements <axis = 1> (x, i)",
        "float[1, 2, 2] y",
        "float[1, 3, T] x",
        "int64[1, 2, 2] i = {2, 0, 1, 1}",
        claims="finite",
        first="T=2",
    ),
    "elements of the first steps": Example(
        "s = Slice (c, one, most, one) i = Mod (s, two) y = GatherElements <axis = 2> (x, i)",
        "float[1, U, 2] y",
        "float[1, T, 3] x, int64[1, T, 2] c",
        "int64[1] one = {1}, int64[1] most = {2147483647}, int64 two = {2}",
        claims="T-1 finite; finite",
        first="T=2",
    ),
    "a table": Example("y = Gather (w, x)", "float[1, T, 3] y", CODES, TABLE, claims="T finite; -1.4..1.4; finite"),
    "a column of a table": Example(
        "t = Gather <axis = 1> (w, x) y = Transpose <perm = [1, 0, 2]> (t)",
        "float[1, 3, T] y",
        CODES,
        "float[3, 20] w",
        claims="T finite; -1.4..1.4; finite",
    ),
    "a table of bounded codes": Example(
        "m = Mod (x, four) y = Gather (w, m)",
        "float[1, T, 3] y",
        CODES,
        "float[4, 3] w, int64 four = {4}",
        claims="T finite; -1.39..1.25; finite",
        guards="Gather",
    ),
    "a table of sums": Example(
        "c = CumSum (x, one) m = Mod (c, four) y = Gather (w, m)",
        "float[1, T, 3] y",
        CODES,
        "float[4, 3] w, int64 four = {4}, int64 one = {1}",
        claims="T finite; -1.39..1.25; finite",
        guards="Gather",
    ),
    "a table of halves": Example(
        "h = Div (x, two) k = CumSum (h, one) f = Min (k, nine) y = Gather (w, f)",
        "float[1, T, 3] y",
        CODES,
        "float[10, 3] w, int64 two = {2}, int64 one = {1}, int64 nine = {9}",
        claims="T finite; -1.14..1.3; finite",
        guards="Gather",
    ),
    "a feature": Example(
        "y = Gather <axis = 1> (x, i)", "float[1, T] y", constants="int64 i = {1}", claims="T finite; finite; image"
    ),
    "features": Example(
        "y = Gather <axis = 1> (x, i)",
        "float[1, 3, T] y",
        constants="int64[3] i = {1, 0, -1}",
        claims="T finite; finite; image",
    ),
    "features of zeros": Example(
        "p = Pad (x, pads) y = Gather <axis = 1> (p, i)",
        "float[1, 3, U] y",
        constants="int64[3] i = {1, 0, 1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "features of codes": Example(
        "y = Gather <axis = 1> (x, i)",
        "int64[1, 3, T] y",
        "int64[1, 2, T] x",
        "int64[3] i = {1, 0, 1}",
        claims="T finite; finite; image",
    ),
    "the first step": Example(
        "y = Gather <axis = 2> (x, i)", "float[1, 2] y", constants="int64 i = {0}", claims="finite"
    ),
    "the third step": Example(
        "y = Gather <axis = 2> (x, i)", "float[1, 2] y", constants="int64 i = {2}", claims="finite", first="T=3"
    ),
    "the last step": Example(
        "y = Gather <axis = 2> (x, i)",
        "float[1, 2] y",
        constants="int64 i = {-1}",
        finds="PAD105 Gather",
        claims="finite",
        harmless="PAD105",
    ),
    "steps from both ends": Example(
        "y = Gather <axis = 2> (x, i)",
        "float[1, 2, 3] y",
        constants="int64[3] i = {0, -3, 1}",
        finds="PAD105 Gather",
        claims="finite",
        first="T=3",
    ),
    "the middle step": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) h = Div (n, two) y = Gather <axis = 2> (x, h)",
        "float[1, 2] y",
        constants="int64 two = {2}",
        finds="PAD106 Gather",
        claims="finite",
    ),
    "the last step by its number": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) h = Sub (n, one) y = Gather <axis = 2> (x, h)",
        "float[1, 2] y",
        constants="int64 one = {1}",
        finds="PAD106 Gather",
        claims="finite",
        harmless="PAD106",
    ),
    "the last steps of rows": Example(
        "y = Gather <axis = 2> (x, i)",
        "float[batch, 2, 2] y",
        "float[batch, 2, T] x",
        "int64[2] i = {-1, -3}",
        rows=0,
        finds="PAD105 Gather",
        claims="finite",
        guards="Gather",
        first="T=3",
    ),
    "the first step of rows": Example(
        "y = Gather <axis = 2> (x, i)",
        "float[batch, 2] y",
        "float[batch, 2, T] x",
        "int64 i = {1}",
        rows=0,
        claims="finite",
        first="T=2",
    ),
    "the second row": Example(
        "y = Gather <axis = 0> (x, i)",
        "float[1, 2, T] y",
        "float[batch, 2, T] x",
        "int64[1] i = {1}",
        rows=0,
        refused="an index reads across the batch",
    ),
    "every other step": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, two) y = Gather <axis = 2> (x, i)",
        constants="int64 nil = {0}, int64 two = {2}",
        claims="T-(T//2) finite; finite",
    ),
    "steps backward": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) l = Sub (n, one) i = Range (l, back, back) y = Gather <axis = "
        "2> (x, i)",
        constants="int64 one = {1}, int64 back = {-1}",
        finds="PAD105 ",
        claims="T from T finite; finite",
        guards="Gather",
    ),
    "steps by data": Example(
        "m = ArgMax <axis = 2, keepdims = 0> (x) y = Gather <axis = 2> (x, m)",
        "float[1, 2, 1, 2] y",
        finds="PAD107 ArgMax",
        claims="finite",
        harmless="PAD107",
    ),
    "steps by data that may be infinite": Example(
        "e = Exp (x) m = ArgMax <axis = 2, keepdims = 0> (x) y = Gather <axis = 2> (e, m)",
        "float[1, 2, 1, 2] y",
        finds="PAD107 ArgMax",
        claims="0..inf; any",
        harmless="PAD107",
    ),
    "positions in a table": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, one) r = Gather (w, i) t = Transpose <perm "
        "= [1, 0]> (r) y = Add (x, t)",
        "float[1, 2, T] y",
        constants="int64 nil = {0}, int64 one = {1}, float[20, 2] w",
        claims="T finite; finite",
        last="T=20",
    ),
    "every other position in a table": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, one) d = Mul (i, two) r = Gather (w, d) t "
        "= Transpose <perm = [1, 0]> (r) y = Add (x, t)",
        "float[1, 2, T] y",
        constants="int64 nil = {0}, int64 one = {1}, int64 two = {2}, float[20, 2] w",
        claims="T finite; finite",
        last="T=10",
    ),
    "positions from the third in a table": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, one) d = Add (i, two) r = Gather (w, d) t "
        "= Transpose <perm = [1, 0]> (r) y = Add (x, t)",
        "float[1, 2, T] y",
        constants="int64 nil = {0}, int64 one = {1}, int64 two = {2}, float[20, 2] w",
        claims="T finite; finite",
        last="T=18",
    ),
    "the length in a table": Example(
        "s = Shape <start = 2> (x) r = Gather (w, s) y = Mul (x, r)",
        "float[1, 2, T] y",
        constants="float[20] w",
        finds="PAD106 Gather",
        claims="T finite; finite",
        last="T=19",
    ),
    "one number, wherever it is read": Example(
        "s = Shape (x) o = ConstantOfShape <value = float[1] {3}> (s) m = ArgMax <axis = 2, keepdims = 0> (x) y "
        "= Gather <axis = 2> (o, m)",
        "float[1, 2, 1, 2] y",
        finds="PAD107 ArgMax",
        claims="3..3; 3",
        harmless="PAD107",
    ),
    "a shape, two entries": Example(
        "s = Shape (x) p = Gather (s, i) q = ReduceProd <keepdims = 0> (p) f = Cast <to = 1> (q) y = Div (x, f)",
        "float[1, 2, T] y",
        constants="int64[2] i = {1, 2}",
        finds="PAD106 Div",
        claims="T finite; finite",
    ),
    "elements of features": Example(
        "m = Greater (x, nil) k = Cast <to = 7> (m) y = GatherElements <axis = 1> (x, k)",
        "float[1, 2, T] y",
        constants="float nil = {0}",
        claims="T finite; finite",
    ),
    "elements of time": Example(
        "m = ArgMax <axis = 2> (x) y = GatherElements <axis = 2> (x, m)",
        "float[1, 2, 1] y",
        finds="PAD107 ArgMax",
        claims="finite",
        harmless="PAD107",
    ),
    "elements of time that may be infinite": Example(
        "e = Exp (x) m = ArgMax <axis = 2> (x) y = GatherElements <axis = 2> (e, m)",
        "float[1, 2, 1] y",
        finds="PAD107 ArgMax",
        claims="0..inf; any",
        harmless="PAD107",
    ),
    "elements of time from the end": Example(
        "m = ArgMax <axis = 2> (x) k = Sub (m, one) y = GatherElements <axis = 2> (x, k)",
        "float[1, 2, 1] y",
        constants="int64 one = {1}",
        finds="PAD107 ArgMax, PAD105 GatherElements",
        claims="finite",
        harmless="PAD107 PAD105",
    ),
    "elements of time of rows": Example(
        "m = ArgMax <axis = 2> (x) y = GatherElements <axis = 2> (x, m)",
        "float[batch, 2, 1] y",
        "float[batch, 2, T] x",
        rows=0,
        finds="PAD107 ArgMax",
        claims="finite",
        harmless="PAD107",
    ),
    "elements from the end of rows": Example(
        "m = ArgMax <axis = 2> (x) n = Neg (m) k = Sub (n, one) e = Neg (x) y = GatherElements <axis = 2> (e, k)",
        "float[batch, 2, 1] y",
        "float[batch, 2, T] x",
        "int64 one = {1}",
        rows=0,
        finds="PAD107 ArgMax, PAD105 GatherElements",
        claims="finite",
        harmless="PAD107",
    ),
    "steps from both ends, the same of all rows": Example(
        "y = Gather <axis = 2> (x, i)",
        "float[batch, 2, 2, 2] y",
        "float[batch, 2, T] x",
        "int64[2, 2] i = {-1, 0, -3, 2}",
        rows=0,
        finds="PAD105 Gather",
        claims="finite",
        guards="Gather",
        first="T=3",
    ),
    "the step before the last of each row, as one number": Example(
        "s = Shape (x) n = Gather (s, time) k = Sub (n, two) y = Gather <axis = 2> (x, k)",
        "float[batch, 2] y",
        "float[batch, 2, T] x",
        "int64 time = {2}, int64 two = {2}",
        rows=0,
        finds="PAD105 Gather",
        claims="finite",
        guards="Gather",
    ),
    "elements from the end of rows, by one index": Example(
        "m = ArgMax <axis = 2, keepdims = 0> (w) n = Neg (m) k = Sub (n, one) c = CumSum (x, two) "
        "y = Gather <axis = 2> (c, k)",
        "float[batch, 2, 1, 4] y",
        "float[batch, 2, T] x",
        "float[1, 4, 1] w, int64 one = {1}, int64 two = {2}",
        rows=0,
        finds="PAD105 Gather",
        claims="finite",
        guards="Gather Gather",
    ),
    "elements of one row for all": Example(
        "y = GatherElements <axis = 2> (x, i)",
        "float[1, 2, 1] y",
        "float[batch, 2, T] x",
        "int64[1, 2, 1] i = {0, 1}",
        rows=0,
        refused="GatherElements with one index for all rows of a batch reads ",
    ),
    "elements of some features": Example(
        "y = GatherElements <axis = 2> (x, i)",
        "float[1, 2, 1] y",
        "float[1, 3, T] x",
        "int64[1, 2, 1] i = {0, 1}",
        claims="finite",
        first="T=2",
    ),
    "elements across rows": Example(
        "m = ArgMax <axis = 0> (x) y = GatherElements <axis = 0> (x, m)",
        "float[1, 2, T] y",
        "float[batch, 2, T] x",
        rows=0,
        refused="an extremum over the batch mixes rows of different lengths",
    ),
    "tuples": Example(
        "m = ArgMax <axis = 2> (x) y = GatherND <batch_dims = 2> (x, m)",
        "float[1, 2] y",
        finds="PAD107 ArgMax",
        claims="finite",
        harmless="PAD107",
    ),
    "tuples of a table": Example(
        "u = Unsqueeze (x, two) y = GatherND (w, u)",
        "float[1, T, 3] y",
        CODES,
        f"{TABLE}, int64[1] two = {{2}}",
        claims="T finite; -1.4..1.4; finite",
    ),
    "tuples of two": Example(
        "u = Unsqueeze (x, two) k = Concat <axis = 2> (u, u) y = GatherND (w, k)",
        "float[1, T] y",
        CODES,
        "float[20, 20] w, int64[1] two = {2}",
        claims="T finite; -1.4..1.39; finite",
        guards="GatherND",
    ),
    "tuples of two along time": Example(
        "y = GatherND (x, i)",
        "float[1, 2] y",
        "float[1, 2, T] x",
        "int64[1, 2, 3] i = {0, 1, 0, 0, 0, 0}",
        claims="finite",
    ),
    "tuples of two along time from the end": Example(
        "m = ArgMax <axis = 2, keepdims = 0> (x) n = Neg (m) k = Sub (n, one) u = Unsqueeze (k, last) "
        "o = Mul (u, nil) z = Concat <axis = 2> (o, u) y = GatherND <batch_dims = 1> (x, z)",
        "float[1, 2] y",
        constants="int64 one = {1}, int64 nil = {0}, int64[1] last = {2}",
        finds="PAD107 ArgMax, PAD105 GatherND",
        claims="finite",
        harmless="PAD107",
    ),
    "tuples of two steps of rows, both from the end": Example(
        "m = ArgMax <axis = 1, keepdims = 0> (x) n = Neg (m) k = Sub (n, step) u = Unsqueeze (k, two) "
        "z = Concat <axis = 2> (u, u) c = ReduceSum (x, two) d = Transpose <perm = [0, 2, 1]> (c) v = Mul (c, d) "
        "y = GatherND <batch_dims = 1> (v, z)",
        "float[batch, 2] y",
        "float[batch, T, 2] x",
        "int64[1] two = {2}, int64 step = {1}",
        rows=0,
        finds="PAD107 ArgMax, PAD105 GatherND",
        claims="finite",
        harmless="PAD107",
    ),
    "tuples of known steps": Example(
        "y = GatherND (x, i)",
        "float[2] y",
        "float[1, T, 5] x",
        "int64[2, 3] i = {0, -2, 4, 0, 3, -5}",
        finds="PAD105 GatherND",
        claims="finite",
        first="T=4",
    ),
    "steps before the last, more than there may be": Example(
        "s = Shape (x) n = Gather (s, time) k = Sub (n, three) y = Gather <axis = 2> (x, k)",
        "float[1, 2, 1] y",
        constants="int64[1] time = {2}, int64[1] three = {3}",
        finds="PAD106 Gather, PAD105 Gather",
        claims="finite",
        harmless="PAD105",  # the input's last step is repeated
        first="T=2",
    ),
    "tuples of what may be infinite": Example(
        "e = Exp (x) m = ArgMax <axis = 2> (x) y = GatherND <batch_dims = 2> (e, m)",
        "float[1, 2] y",
        finds="PAD107 ArgMax",
        claims="0..inf; any",
        harmless="PAD107",
    ),
    "tuples across rows": Example(
        "y = GatherND (x, i)",
        "float[1, 2, T] y",
        "float[batch, 2, T] x",
        "int64[1, 1] i = {1}",
        rows=0,
        refused="an index reads across the batch",
    ),
    "a table of codes up to its end": Example(
        "c = Clip (x, nil, top) y = Gather (w, c)",
        "float[1, T, 3] y",
        CODES,
        f"{TABLE}, int64 nil = {{0}}, int64 top = {{19}}",
        claims="T finite; -1.4..1.4; finite",
    ),
    "steps counted from the end, by an index of data": Example(
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, unit) d = Sub (n, i) "
        "a = ArgMax <axis = 2, keepdims = 0> (x) g = Gather (d, a) f = Cast <to = 1> (g) y = Unsqueeze (f, last)",
        "float[1, 2, 1] y",
        constants="int64 nil = {0}, int64 unit = {1}, int64[1] last = {-1}",
        finds="PAD107 ArgMax, PAD106 Gather",
        claims="0.9922..inf; finite",
        harmless="PAD107",
    ),
    "three hundred steps by their numbers": Example(
        "i = Range (one, most, one) y = Gather <axis = 2> (x, i)",
        "float[1, 2, 299] y",
        constants="int64 one = {1}, int64 most = {300}",
        claims="finite",
        first="T=300",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


def test_an_index_of_each_rows_own_is_guarded_where_it_may_be_out_of_range() -> None:
    """Of four features it picks one at least and the last at most, in the padding too."""
    sites = Example(
        "s = Shape (x) t = Slice (s, one, end) n = Squeeze (t) half = Div (n, two) more = Add (n, half) "
        "p = Range (none, more, step) far = Mul (p, n) j = Div (far, more) i = Min (j, three) u = Unsqueeze (i, one) "
        "q = Transpose <perm = [2, 0, 1]> (x) g = GatherND (q, u) y = Transpose <perm = [1, 0, 2]> (g)",
        "float[batch, U, T] y",
        "float[batch, T, 4] x",
        "int64 none = {0}, int64 step = {1}, int64 two = {2}, int64 three = {3}, int64[1] one = {1}, "
        "int64[1] end = {2}",
        rows=0,
    ).compiled().analysis.sites  # fmt: skip
    assert [type(r) for site in sites if site.node.op_type == "GatherND" for r in site.remedies] == [RowGather]


def test_a_flip_by_index_can_be_the_output() -> None:
    assert_exact(
        """g (float[1, T, 4] x) => (float[1, T, 4] y) <int64 axis = {1}, int64 one = {1}, int64 back = {-1}> {
           s = Shape (x)
           n = Gather (s, axis)
           last = Sub (n, one)
           index = Range (last, back, back)
           y = Gather <axis = 1> (x, index)
        }""",
        "x:1=T",
    )  # fmt: skip


ARANGE = """
    s = Shape (x)
    n = Gather <axis = 0> (s, axis)
    i = Range (zero, n, one)
"""


NUMBERS = "int64 axis = {1}, int64 zero = {0}, int64 one = {1}"


def test_a_computed_negative_index_counts_from_the_valid_end() -> None:
    """arange - 1 begins with -1, which read the last step of the container."""
    assert_exact(
        f"""g (float[1, T, 2] x) => (float[1, T, 2] y) <{NUMBERS}> {{{ARANGE}
           earlier = Sub (i, one)
           total = CumSum (x, axis)
           y = Gather <axis = 1> (total, earlier)
        }}""",
        "x:1=T",
    )  # fmt: skip


def test_a_constant_negative_index_counts_from_the_valid_end() -> None:
    assert_exact(
        "g (float[1, T, 2] x) => (float[1, 2] y) <int64 last = {-1}> { y = Gather <axis = 1> (x, last) }", "x:1=T"
    )


def test_gather_nd_reads_a_merged_axis_and_wraps() -> None:
    assert_exact(
        f"""g (float[1, T, 4] x) => (float[1, N, 2] y)
           <{NUMBERS}, int64[2] flat = {{-1, 2}}, int64[1] front = {{0}}, int64[1] back = {{1}}> {{{ARANGE}
           wide = Reshape (x, flat)
           earlier = Sub (i, one)
           tuples = Unsqueeze (earlier, back)
           z = GatherND (wide, tuples)
           y = Unsqueeze (z, front)
        }}""",
        "x:1=T",
    )  # fmt: skip


def test_a_table_read_from_the_end_bounds_the_container() -> None:
    """T - 1 - arange became a shifted vector, and the end of the table was forgotten."""
    table = ", ".join(map(str, np.linspace(0, 1, 20).round(3)))
    text = f"""g (float[1, T] x) => (float[1, T] y) <{NUMBERS}, float[20] table = {{{table}}}> {{{ARANGE}
           last = Sub (n, one)
           left = Sub (last, i)
           row = Gather <axis = 0> (table, left)
           y = Add (x, row)
        }}"""
    verdict = verdict_of(text, "x:1=T")
    assert verdict.outcome == "exact", verdict.reason
    assert verdict.spans["T"].high == 20


def test_codes_below_the_shortest_length_are_never_read() -> None:
    """A row of no steps has no valid code to repeat; junk became an index out of range."""
    assert_exact(
        """g (int64[1, T] x) => (float[1, N, 2] y)
           <float[20, 2] table = {TABLE}, int64[1] a = {0}, int64[1] b = {-2}, int64[1] axis = {1}> {
           e = Gather <axis = 0> (table, x)
           y = Slice (e, a, b, axis)
        }""".replace("TABLE", ", ".join(map(str, range(40)))),
        "x:1=T",
    )


def test_an_integer_made_of_nan_is_no_index() -> None:
    """Where padding may be NaN, its integer keeps to no bounds."""
    assert_exact(
        """g (float[1, T, 2] x) => (float[1, T, 2] y)
           <float[3, 2] table = {1, 2, 3, 4, 5, 6}, int64[1] two = {2}, float scale = {2.9},
            int64[1] zero = {0}, int64[1] one = {1}, int64 axis = {1}> {
           c = CumSum (x, axis)
           q = Mul (c, c)
           l = Log (q)
           r = Relu (l)
           first = Slice (r, zero, one, two)
           flat = Squeeze (first, two)
           h = Tanh (flat)
           a = Abs (h)
           k = Cast <to = 7> (a)
           e = Gather <axis = 0> (table, k)
           y = Add (x, e)
        }""",
        "x:1=T",
    )  # fmt: skip


def test_a_constant_vector_compared_with_a_length_reads_the_length() -> None:
    """An undecided element counted as a constant, so that the container's size stayed in the comparison."""
    assert_exact(
        """g (float[1, T] x) => (float[1, T] y, float[8] z)
           <int64[1] axis = {1}, int64 eight = {8},
            int64[8] places = {0, 1, 2, 3, 4, 5, 6, 7}, float one = {1}, float nil = {0}> {
           s = Shape (x)
           n = Gather <axis = 0> (s, axis)
           w = Min (n, eight)
           keep = Less (places, w)
           z = Where (keep, one, nil)
           y = Identity (x)
        }""",
        "x:1=T",
    )  # fmt: skip


def test_a_table_that_is_read_at_the_length_ends_the_domain() -> None:
    text = """g (float[1, T, 4] x) => (float[1, T, 4] y) <int64 one = {1}, float[4] table = {1.0, 2.0, 3.0, 4.0}> {
        s = Shape (x)
        n = Gather (s, one)
        row = Gather (table, n)
        y = Mul (x, row)
    }"""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]>\n{text}')
    assert open_model(model, ["x:1=T"]).analyse().scope.spans["T"].last == 3
    assert_exact(text, "x:1=T")


def test_an_integer_divisor_is_not_0_in_the_padding() -> None:
    """Relu makes 0 of the copies that the tail fill leaves there; a runtime stops at the division."""
    assert_exact(
        """g (int64[1, T] x) => (int64[1, T] y) <int64 big = {100}, int64 one = {1}> {
           clamped = Max (x, one)
           shifted = Sub (clamped, one)
           kept = Add (shifted, one)
           q = Div (big, kept)
           total = CumSum (kept, one)
           r = Mod (big, total)
           y = Add (q, r)
        }""",
        "x:1=T",
    )


INT64 = ir.DataType.INT64


def _constants(*picks: float) -> Facts:
    array = np.array([number(Fraction(p)) for p in picks], dtype=object)
    return Facts.known(INT64, axes_of(str(len(picks))), Elements(array), min(picks), max(picks))


def _index(*axes: str, low: float = 0.0, high: float = 1.0) -> Facts:
    return tensor(*axes, dtype=INT64, low=low, high=high, pad=FINITE)


RULES = {"Gather": gather, "GatherElements": gather_elements, "GatherND": gather_nd}


def _answer(context: RuleContext) -> tuple[str, str]:
    """What is read, and the remedies; or why it is refused."""
    try:
        (found,) = RULES[context.type](context)
    except NoProof as error:
        return error.reason, ""
    return told(found), " ".join(type(remedy).__name__ for remedy in context.remedies)


@pytest.mark.parametrize(
    ("axes", "axis", "index", "first", "expected", "remedies"),
    [
        (("3", "T"), 0, _constants(2, 0), 1, "2, T; 5", ""), (("T", "3"), 1, _index("U"), 1, "T, U; 5 any", ""),
        (("T", "3"), -1, _index("U", "2"), 1, "T, U, 2; 5 any", ""), (("3", "T"), 1, _constants(2, 0), 3, "3, 2", ""),
        (("3", "T"), 1, _constants(-3, -1), 3, "3, 2", "FromEnd"),
        (("3", "T"), 1, _constants(-2, 4), 5, "3, 2", "FromEnd"),
        (("3", "T"), 1, _index("U", low=0.0), 1, "3, U; any", "Fill"),
        (("3", "T"), 1, _index("U", low=-1.0), 1, "3, U; any", "Fill FromEnd"),
        (("3", "T"), 1, _index("2", low=-1.0), 1, "3, 2", "FromEnd"),
        (("9", "T"), 0, _index("U", low=-9.0, high=8.0), 1, "U, T; any 5", ""),
        (("9", "T"), 0, _index("U", low=-9.0, high=9.0), 1, "U, T; any 5", "Fill"),
        (("9", "T"), 0, _index("U", low=-10.0, high=8.0), 1, "U, T; any 5", "Fill"),
        (("T x 3",), 0, _constants(7), 3, "1", ""), (("3 x T",), 0, _constants(7), 3, "1", "Take"),
    ],
)  # fmt: skip
def test_steps_of_one_axis(
    axes: tuple[str, ...], axis: int, index: Facts, first: int, expected: str, remedies: str
) -> None:
    """Constants need as many steps; what may be out of range in the padding is 0 there; -1 is the last valid step."""
    context = context_of("Gather", tensor(*axes, pad=constant(5)), index, axis=axis)
    found, asked = _answer(context)
    assert found.startswith(expected) and asked == remedies
    assert context.scope.spans["T"].first == first


def test_rows_are_read_one_by_one() -> None:
    value = tensor("batch", "T", pad=constant(5))
    assert "batch" in _answer(context_of("Gather", value, _constants(1), rows=None, axis=0))[0]
    assert "counts from an end" in _answer(context_of("Gather", value, _index(low=-1.0), rows=None, axis=1))[0]
    given = _answer(context_of("Gather", value, _index("2", low=-1.0), rows=None, axis=1))
    assert given == ("batch, 2", "GiveRows FromEnd RowGather")
    front = tensor("T", rows_in_front=True)
    assert "read by index" in _answer(context_of("Gather", front, _constants(1)))[0]


@pytest.mark.parametrize(
    ("axes", "axis", "index", "expected", "remedies"),
    [
        (("T", "3"), 1, _index("T", "2"), "T, 2; any", ""), (("3", "T"), 0, _index("1", "T", low=0.0), "1, T; any", ""),
        (("3", "T"), 1, _index("3", "2"), "3, 2", ""), (("3", "T"), 1, _index("3", "2", low=-1.0), "3, 2", "FromEnd"),
        (("T", "3"), 1, _index("U", "2"), "U, 2; any", ""), (("T", "3"), 1, _index("2", "2"), "2, 2", ""),
        (("T", "3"), 1, _index("T from T", "2"), "", "Take"), (("3", "T x 2"), 1, _index("3", "4"), "3, 4", ""),
        (("3", "2 x T"), 1, _index("3", "4"), "along a merged axis", ""),
        (("batch", "3"), 0, _index("1", "3"), "along the batch", ""),
        (("batch", "T"), 1, _index("1", "2"), "one index for all rows", ""),
        (("batch", "T"), 1, _index("batch", "2"), "batch, 2", ""), (("4", "3"), 1, _index("2", "3"), "2, 3", ""),
        (("T x 2", "3"), 1, _index("2*T", "2"), "2*T, 2; any", ""),
    ],
)  # fmt: skip
def test_elements_along_one_axis(axes: tuple[str, ...], axis: int, index: Facts, expected: str, remedies: str) -> None:
    context = context_of("GatherElements", tensor(*axes), index, axis=axis, rows=None if "batch" in axes else 1)
    found, asked = _answer(context)
    assert expected in found and asked == remedies, (found, asked)


def test_an_index_covers_as_many_steps_as_there_are() -> None:
    context = context_of("GatherElements", tensor("T", "3"), _index("5", "2"), axis=1)
    _answer(context)
    assert context.scope.spans["T"].first == 5


@pytest.mark.parametrize(
    ("axes", "index", "batch_dims", "expected", "remedies"),
    [
        (("3", "T"), _index("2", "1"), 0, "2, T; finite", ""), (("T", "3"), _index("2", "1"), 0, "2, 3", ""),
        (("T", "3"), _index("2", "1", low=-1.0), 0, "2, 3", "FromEnd"), (("T", "U"), _index("2", "2"), 0, "2", ""),
        (("T", "U"), _index("2", "2", low=-1.0), 0, "2", "FromEnd"),
        (("4", "3"), _index("2", "2", low=-1.0), 0, "2", ""), (("T", "3"), _index("T", "1"), 1, "T; finite", ""),
        (("T", "3"), _index("U", "1"), 1, "batch axes that differ", ""),
        (("2", "T", "3"), _index("2", "5", "1"), 1, "2, 5, 3", ""),
        (("batch", "T"), _index("2", "1"), 0, "across the batch", ""),
        (("batch", "T"), _index("batch", "2", "1"), 1, "batch, 2", ""),
        (("3 x T", "3"), _index("2", "1"), 0, "interleaved", ""), (("T x 2", "3"), _index("2", "1"), 0, "2, 3", ""),
        (("T", "3"), _index("2", "T"), 0, "varying width", ""),
        (("T", "3"), _index("U", "1", low=0.0, high=9.0), 0, "U, 3; finite", "Fill"),
    ],
)  # fmt: skip
def test_steps_by_tuples(axes: tuple[str, ...], index: Facts, batch_dims: int, expected: str, remedies: str) -> None:
    value = tensor(*axes, pad=FINITE, finite=True)
    context = context_of("GatherND", value, index, batch_dims=batch_dims, rows=None if "batch" in axes else 1)
    found, asked = _answer(context)
    assert expected in found and asked == remedies, (found, asked)


ANSWERS = table("""
Gather(9, 3 | T; int64; 0..8) axis=0 => T, 3; finite; finite
Gather(9, 3 | T; int64; 0..9) => T, 3; finite; finite | Fill(; 1; 0; 0.0)
Gather(9, 3 | T; int64; -9..8) => T, 3; finite; finite
Gather(9, 3 | T; int64; -10..8) => T, 3; finite; finite | Fill(; 1; 0; 0.0)
Gather(9, 3; any infinite masked | T; int64; 0..8) => T, 3; any; masked
Gather(9, 3; 0..1 image | 2; int64; 0..8) => 2, 3; 0..1; finite image
Gather(3, 9, 4 | T, 2; int64; 0..8) axis=1 => 3, T, 2, 4; finite; finite
Gather(3, 9, 4 | T, 2; int64; 0..8) axis=-2 => 3, T, 2, 4; finite; finite
Gather(3, T; 5 | = 0) axis=1 => 3, 1; finite
Gather(3, T; 5 | = 2) axis=-1 => 3, 1; finite | T in 3..: index 2 needs 3 steps
Gather(3, T; 5 | = -1) axis=1 => 3, 1; finite | FromEnd(PAD105; 1; T)
Gather(3, T; 5 | = -2 1) axis=1 => 3, 2; finite | FromEnd(PAD105; 1; T) | T in 2..: index -2 needs 2 steps
Gather(3, T; 5 | = -2 5) axis=1 => 3, 2; finite | FromEnd(PAD105; 1; T) | T in 6..: index 5 needs 6 steps
Gather(3, T; 5 | = T-1) axis=1 => 3, 1; finite | UseLength(PAD106; 1; T-1; 2)
Gather(3, T; 5 | = T-2) axis=1 => 3, 1; finite | UseLength(PAD106; 1; T-2; 2), FromEnd(PAD105; 1; T)
Gather(3, T; 5 | 2; int64; 0..8) axis=1 => 3, 2; finite
Gather(3, T; 5 | 2; int64; -1..8) axis=1 => 3, 2; finite | FromEnd(PAD105; 1; T)
Gather(3, T; 5 image | 2; int64; 0..8) axis=0 => 2, T; 5; finite image
Gather(3, T; 5 | U; int64; 0..8) axis=1 => 3, U; finite; finite | Fill(; 1; 0; 0.0)
Gather(3, T; any | U; int64; 0..8) axis=1 => 3, U; any; finite | Fill(; 1; 0; 0.0)
Gather(batch, T, 3 | = -1) axis=1
    => batch, 1, 3; finite | UseSize(; 1; 0), Take(PAD105; 0; 1; 1; T; from 0: T-1 + 0 + 0k)
Gather(batch, T, 3 | = -2 -1) axis=1
    => batch, 2, 3; finite | UseSize(; 1; 0 1), Take(PAD105; 0; 1; 2; T; from 0: T-2 + 0 + 0k from 1: T-1 + 0 + 0k) |
    T in 2..: index -2 needs 2 steps
Gather(batch, T, 3 | = -2 1) axis=1
    => batch, 2, 3; finite | UseSize(; 1; 0 1), Take(PAD105; 0; 1; 2; T; from 0: T-2 + 0 + 0k from 1: 1 + 0 + 0k) |
    T in 2..: index -2 needs 2 steps
Gather(batch, T, 3 | = T-2 0) axis=1
    => batch, 2, 3; finite | UseSize(; 1; 0 1), Take(PAD105; 0; 1; 2; T; from 0: T-min(T, 2) + 0 + 0k
    from 1: 0 + 0 + 0k)
Gather(batch, T, 3 | = T-3) axis=1
    => batch, 1, 3; finite | UseSize(; 1; 0), Take(PAD105; 0; 1; 1; T; from 0: T-2*min(T, 3)+3 + 0 + 0k) |
    T in 2..: index T-3 needs a step there
Gather(T, 3 | = -1) rows=None => refused: an index may be negative, and counts from an end that differs by row
Gather(T, 3 | = T-1) rows=None => batch, 1, 3; finite rows_in_front | UseLength(PAD106; 1; T-1; 2)
Gather(batch, T, 3 | = 1) axis=1 => batch, 1, 3; finite | T in 2..: index 1 needs 2 steps
Gather(batch, T, 3 | = 0) axis=0 => refused: an index reads across the batch
Gather(batch, T; rows_in_front | = 0) axis=1 => refused: what each row's own length made is read by index
Gather(7, 3 | = T) => 1, 3; finite | UseLength(PAD106; 1; T; 2) | T in 1..6: the table of 7 rows ends
Gather(7, 3 | = T -1) => 2, 3; finite | UseLength(PAD106; 1; T -1; 2) | T in 1..6: the table of 7 rows ends
Gather(7, 3 | = T-3) => 1, 3; finite | UseLength(PAD106; 1; T-3; 2) | T in 1..9: the table of 7 rows ends
Gather(7, 3 | ~ T; 0 1) => T, 3; finite; finite | T in 1..7: the table of 7 rows ends
Gather(7, 3 | ~ T; 2 1) => T, 3; finite; finite | T in 1..5: the table of 7 rows ends
Gather(7, 3 | ~ T; 0 2) => T, 3; finite; finite | T in 1..4: the table of 7 rows ends
Gather(7, 3 | ~ T; T-1 -1) => T from T, 3; finite; finite | T in 1..7: the table of 7 rows ends
Gather(3, T | ~ U; 0 1) axis=1 => 3, U; finite; finite | T in 100..: index U-1 needs U steps
Gather(3, T | ~ T; 0 1) axis=1 => 3, T; finite; finite
Gather(3, T | ~ 4; 1 1) axis=1 => 3, 4; finite | T in 5..: index 4 needs 5 steps
Gather(3, T | ~ T; T-1 -1) axis=1 => 3, T; finite; finite | Take(PAD105; 0; 1; T; T; from 0: T-1 + 0 + -1k; True)
Gather(3, T; 5 any | ~ T; T-1 -1) axis=1
    => 3, T; finite; finite | Take(PAD105; 0; 1; T; T; from 0: T-1 + 0 + -1k; True)
Gather(3, T | ~ U; T-1 -1) axis=1
    => 3, U; finite; finite | UseLength(PAD106; 1; T-1 + -1*i0; 2), Fill(; 1; 0; 0.0), FromEnd(PAD105; 1; T) |
    T in 50..: index T-U needs U-T steps
Gather(3, T | ~ T; T-3 -1) axis=1
    => 3, T from T; finite; finite | Fill(; 1; 0; 0.0), FromEnd(PAD105; 1; T) | T in 2..: index -2 needs 2 steps
Gather(3, T | ~ T; T 1) axis=1 => refused: index 2*T-1 needs 2*T steps: -T >= 0 holds at no length
Gather(3, 2*T | ~ T; 2*T-1 -2) axis=1
    => 3, T; finite; finite | Take(PAD105; 0; 1; T; 2*T; from 0: 2*T-1 + 0 + -2k; True)
Gather(3, 2*T | ~ T; 2*T-1 -2) axis=-1
    => 3, T; finite; finite | Take(PAD105; 0; 1; T; 2*T; from 0: 2*T-1 + 0 + -2k; True)
Gather(2*T, 3 | ~ T; 2*T-1 -2) axis=0
    => T, 3; finite; finite | Take(PAD105; 0; 0; T; 2*T; from 0: 2*T-1 + 0 + -2k; True)
Gather(~ T; 2 3 | = 0) => 1; = 2; 2..2; finite
Gather(~ T; 2 3 | = 4) => 1; = 14; 14..14; finite | T in 5..: index 4 needs a step there
Gather(~ T; 2 3 | = -1) => 1; = 3*T-1; 2..inf; finite
Gather(~ T; 2 3 | = -2) => 1; = 3*T-4; 2..inf; finite | T in 2..: index -2 needs a step there
Gather(~ T; T -1 | = -1) => 1; = 1; 1..1; finite
Gather(~ T, U; 2 3 7 | = 4) axis=0 => 1, U; finite; = 14 + 7*i0; 14..707; finite | T in 5..: index 4 needs a step there
Gather(~ T, U; 2 3 7 | = 4) axis=1
    => T, 1; finite; = 30 + 3*i0; 30..inf; finite | U in 5..100: index 4 needs a step there
Gather(~ T, U; 2 3 7 | = -1) axis=-1 => T, 1; finite; = 7*U-5 + 3*i0; 23..inf; finite
Gather(~ T, 3; 2 0 7 | = 1) axis=1 => T, 1; finite; = 9; 9..9; finite
Gather(~ T; 2 0 | U; int64; 0..1) => U; finite; = 2; 2..2; finite | Fill(; 1; 0; 0.0)
Gather(~ T; T 0 | U; int64; 0..1) => U; finite; = T; 1..inf; finite | Fill(; 1; 0; 0.0)
Gather(= 4 7 T 9 | = 2) => 1; = T; finite
Gather(= 4 7 T 9 | = -1 0) => 2; = 9 4; finite
Gather(= 4 7 T 9 | 2; int64; 0..1) => 2; 1..inf; finite | UseLength(PAD106; 0; 4 7 T 9)
Gather(T x 3, 2 | = 7) => 1, 2; finite | T in 3..: index 7 needs 8 steps
Gather(3 x T, 2 | = 7)
    => 1, 2; finite | Take(PAD105; 0; 0; 3*T; 3*T; from 0: 0 + 0 + 1k from T: -T + T + 1k from 2*T: -2*T + 2*T + 1k)
    | T in 3..: index 7 needs 8 steps
Gather(T, 3 | = -1) => 1, 3; finite | FromEnd(PAD105; 1; T)
Gather(T from T, 3 | = 0) => 1, 3; finite | Take(PAD105; 0; 0; T; T; from 0: -T + T + 1k)
Gather(9, 3 | U; int64; from_sizes 0..9) rows=None => U, 3; finite; finite
Gather(9, 3 | U; int64; from_sizes 0..9) => U, 3; finite; finite | Fill(; 1; 0; 0.0)
Gather(9, 3 | U; int64; 0..9) rows=None
    => refused: what depends on the length has no batch axis here, and each row has a length of its own
Gather(3, T | ~ T; T -1/2) axis=1 => refused: index T needs T+1 steps: -1 >= 0 holds at no length
Gather(3, T | ~ T; T-1 -1/2) axis=1
    => 3, T; finite; finite | UseLength(PAD106; 1; T-1 + -1/2*i0; 2), Fill(; 1; 0; 0.0)
Gather(V, 3, T; any 5 | U; int64; 0..2) axis=1 => V, U, T; any finite 5; finite
Gather(V, T, 3; any 5 | = 1) axis=1 => V, 1, 3; any; finite | T in 2..: index 1 needs 2 steps
Gather(~ T, 3; 2 0 0 | U; int64; 0..1) axis=0 => U, 3; finite; = 2; 2..2; finite | Fill(; 1; 0; 0.0)
Gather(~ T, 3; 2 0 0 | U; int64; 0..1) axis=1 => T, U; finite finite; = 2; 2..2; finite
Gather(~ 3, T, 4; 2 0 0 0 | U; int64; 0..1) axis=1 => 3, U, 4; finite; = 2; 2..2; finite | Fill(; 1; 0; 0.0)
Gather(~ batch, 3; T 0 0 | U; int64; 0..1) axis=1 => batch, U; finite; = T; 1..inf; finite
Gather(batch, T | batch; int64; rows_in_front 0..1) axis=1 => refused: rows are gathered by each row's own length
Gather(batch, T, 3 | batch, 2; int64; rows_in_front 0..1) axis=1 => batch, 2, 3; finite | RowGather(; 1; False)
Gather(T, 3 | batch, 2; int64; rows_in_front 0..1) => batch, 2, 3; finite rows_in_front
Gather(3, T | batch, 2; int64; rows_in_front 0..1) axis=1 => refused: rows are gathered by each row's own length
Gather(3, T | = -5) axis=1 => 3, 1; finite | FromEnd(PAD105; 1; T) | T in 5..: index -5 needs 5 steps
Gather(3, T | ~ 4; -5 1) axis=1 => 3, 4; finite | FromEnd(PAD105; 1; T) | T in 5..: index -5 needs 5 steps
Gather(3, T | ~ 4; 3 -2) axis=1 => 3, 4; finite | FromEnd(PAD105; 1; T) | T in 4..: index 3 needs 4 steps
Gather(3, T | ~ 4, 2; 0 2 3) axis=1 => 3, 4, 2; finite | T in 10..: index 9 needs 10 steps
Gather(3, T | ~ 4; 7 0) axis=1 => 3, 4; finite | T in 8..: index 7 needs 8 steps
GatherElements(3, T; 5 | 3, 2; int64; 0..8) axis=1 => 3, 2; finite
GatherElements(3, T; 5 | 3, 2; int64; 0..8) axis=-1 => 3, 2; finite
GatherElements(3, T; 5 | 3, T; int64; 0..8) axis=-1 => 3, T; finite; finite | Fill(; 1; 1; 0.0)
GatherElements(3, T; 5 | 3, T; int64; 0..2) axis=0 => 3, T; finite; finite
GatherElements(3, T; any | 2, T; int64; 0..2) => 2, T; any; finite
GatherElements(3, T; infinite masked image | 2, T; int64; 0..2) => 2, T; any; masked
GatherElements(3, T; 5 | 2, T; int64; -3..2) axis=0 => 2, T; finite; finite
GatherElements(3, T; 5 | 2, T; int64; -4..2) axis=0 => 2, T; finite; finite | Fill(; 1; 1; 0.0)
GatherElements(T, 3 | 5, 2; int64; 0..2) axis=1 => 5, 2; finite | T in 5..: GatherElements reads 5 of T steps
GatherElements(T | = 0) => 1; finite
GatherElements(T | = -1 3) => 2; finite | FromEnd(PAD105; 1; T) | T in 4..: index 3 needs 4 steps
GatherElements(T | = 1 3) => 2; finite | T in 4..: index 3 needs 4 steps
GatherElements(T x 2, 3 | 5, 2; int64; 0..1) axis=1 => 5, 2; finite | T in 3..: GatherElements reads 5 of 2*T steps
GatherElements(2 x T, 3 | 5, 2; int64; 0..1) axis=1
    => refused: GatherElements with an index whose axes are not those of the data, nor their beginning
GatherElements(T, 3 | T-1, 2; int64; 0..1) axis=1 => T-1, 2; finite; finite
GatherElements(batch, T | 3, 2; int64; 0..1) axis=1
    => refused: GatherElements with an index whose axes are not those of the data, nor their beginning
GatherElements(5, 3, T | 5, 2, T; int64; 0..1) axis=1 => 5, 2, T; finite; finite
GatherElements(5, 3, T | 4, 2, T; int64; 0..1) axis=1 => 4, 2, T; finite; finite
GatherElements(3, T | ~ 3, 4; 7 0 1) axis=1 => 3, 4; finite | T in 11..: index 10 needs 11 steps
GatherND(3, T; 5 | 2, 1; int64; 0..2) => 2, T; finite; finite
GatherND(3, T; 5 | 2, 2; int64; 0..2) => 2; finite
GatherND(T, 3; 5 | 2, 1; int64; -1..2) => 2, 3; finite | FromEnd(PAD105; 1; T)
GatherND(T, 3 | T, 1; int64; 0..2) batch_dims=1 => T; finite; finite
GatherND(2, T, 3; any | 2, 5, 1; int64; 0..2) batch_dims=1 => 2, 5, 3; finite
GatherND(2, T, 3 | 2, 1; int64; 0..2) batch_dims=1 => 2, 3; finite
GatherND(T, 3 | U, 1; int64; 0..9) => U, 3; finite; finite | Fill(; 1; 0; 0.0)
GatherND(9, 3 | U, 1; int64; 0..9) => U, 3; finite; finite | Fill(; 1; 0; 0.0)
GatherND(9, 3 | U, 1; int64; 0..8) => U, 3; finite; finite
GatherND(~ T, 3; 2 0 0 | U, 1; int64; 0..9) => U, 3; finite; = 2; 2..2; finite | Fill(; 1; 0; 0.0)
GatherND(~ T, 3; 2 0 0 | U, 2; int64; 0..9) => U; finite; = 2; 2..2; finite | Fill(; 1; 0; 0.0)
GatherND(3, T, 4 | 2, 2; int64; 0..1) => 2, 4; finite
GatherND(2, 3, T; any | 2, 5, 1; int64; 0..1) batch_dims=1 => 2, 5, T; any; finite
GatherND(T, 3, 2 | T, 3, 1; int64; 0..1) batch_dims=2 => T, 3; finite; finite
GatherND(T, 3; infinite masked | 2, 1; int64; 0..1) => 2, 3; masked
GatherND(5, 3 | U, 2; int64; -9..9) => U; finite; finite | Fill(; 1; 0; 0.0)
GatherND(T, 3 | U, 3; int64; 0..2) => refused: GatherND by tuples of 3 indices into 2 axes
GatherND(T, 3 | T, 2; int64; 0..2) batch_dims=1 => refused: GatherND by tuples of 2 indices into 1 axes
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """Reading by index; lengths that are too short for it are refused."""
    assert answer_to(question) == expected
