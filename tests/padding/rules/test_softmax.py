"""Softmax over time and over features, the rows of a causal mask, and masks of native's own."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

from paddable.api import check, convert
from paddable.gates.engine import Engine

from ..example import Example
from ..native import assert_exact

SCORES = "t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, t)"
X = "float[1, T, 3] x"
Y = "float[1, T, T] y"

EXAMPLES = {
    "over features": Example("y = Softmax <axis = 1> (x)", claims="T finite; 0..1; finite"),
    "over features, of zeros": Example(
        "p = Pad (x, pads) y = Softmax <axis = 1> (p)",
        constants="int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 finite; 0..1; finite",
    ),
    "over features of what may be infinite": Example(
        "e = Exp (x) y = Softmax <axis = 1> (e)", claims="T any; 0..1; any"
    ),
    "over time": Example("y = Softmax <axis = 2> (x)", finds="PAD103 Softmax", claims="T 0; 0..1; finite"),
    "over time by default": Example("y = Softmax (x)", finds="PAD103 Softmax", claims="T 0; 0..1; finite"),
    "over the last two axes by default of old": Example(
        "y = Softmax (x)", opset=12, finds="PAD103 Softmax", claims="T 0; 0..1; finite"
    ),
    "over time alone of old": Example(
        "y = Softmax <axis = 2> (x)", opset=12, finds="PAD103 Softmax", claims="T 0; 0..1; finite"
    ),
    "over time of what may be infinite": Example(
        "e = Exp (x) y = Softmax (e)", finds="PAD103 Softmax", claims="T 0; 0..1; any"
    ),
    "over keys": Example(
        f"{SCORES} y = Softmax <axis = 2> (s)",
        Y,
        X,
        finds="PAD103 Softmax",
        claims="T finite; T 0|finite; 0..1; finite",
    ),
    "over queries": Example(
        f"{SCORES} y = Softmax <axis = 1> (s)",
        Y,
        X,
        finds="PAD103 Softmax",
        claims="T 0|finite; T finite; 0..1; finite",
    ),
    "over keys and queries of old": Example(
        f"{SCORES} y = Softmax <axis = 1> (s)", Y, X, opset=12, finds="PAD103 Softmax", claims="T 0; T 0; 0..1; finite"
    ),
    "twice": Example(
        f"{SCORES} p = Softmax <axis = 2> (s) y = Softmax <axis = 2> (p)",
        Y,
        X,
        finds="PAD103 Softmax, PAD103 Softmax",
        claims="T finite; T 0|finite; 0..1; finite",
    ),
    "over keys that are masked": Example(
        f"{SCORES} l = Shape <start = 1, end = 2> (x) n = Squeeze (l, first) i = Range (nil, n, one) "
        "c = Unsqueeze (i, first) r = Unsqueeze (i, second) k = GreaterOrEqual (r, c) m = Where (k, s, low) "
        "y = Softmax <axis = 2> (m)",
        Y,
        X,
        "int64[1] first = {0}, int64[1] second = {1}, int64 nil = {0}, int64 one = {1}, float low = {-inf}",
        claims="T finite; T 0|finite; 0..1; finite",
    ),
    "over keys that are masked by the lowest number": Example(
        f"{SCORES} l = Shape <start = 1, end = 2> (x) n = Squeeze (l, first) i = Range (nil, n, one) "
        "c = Unsqueeze (i, first) r = Unsqueeze (i, second) k = GreaterOrEqual (r, c) m = Where (k, s, low) "
        "y = Softmax <axis = 2> (m)",
        Y,
        X,
        "int64[1] first = {0}, int64[1] second = {1}, int64 nil = {0}, int64 one = {1}, float low = "
        "{-3.4028234663852886e38}",
        finds="PAD103 Softmax",
        claims="T any; T 0|any; 0..1; finite",
        harmless="PAD103",
    ),
    "over keys that are masked, read over time": Example(
        f"{SCORES} l = Shape <start = 1, end = 2> (x) n = Squeeze (l, first) i = Range (nil, n, one) "
        "c = Unsqueeze (i, first) r = Unsqueeze (i, second) k = GreaterOrEqual (r, c) m = Where (k, s, low) "
        "p = Softmax <axis = 2> (m) y = MatMul (p, x)",
        "float[1, T, 3] y",
        X,
        "int64[1] first = {0}, int64[1] second = {1}, int64 nil = {0}, int64 one = {1}, float low = {-inf}",
        claims="T finite; finite",
    ),
    "over earlier keys alone": Example(
        f"{SCORES} l = Shape <start = 1, end = 2> (x) n = Squeeze (l, first) i = Range (nil, n, one) "
        "c = Unsqueeze (i, first) r = Unsqueeze (i, second) k = LessOrEqual (r, c) m = Where (k, s, low) "
        "y = Softmax <axis = 2> (m)",
        Y,
        X,
        "int64[1] first = {0}, int64[1] second = {1}, int64 nil = {0}, int64 one = {1}, float low = {-1e4}",
        finds="PAD103 Softmax",
        claims="T finite; T 0|finite; 0..1; finite",
    ),
    "of scores that data masks": Example(
        f"{SCORES} k = Greater (s, nil) m = Where (k, s, low) y = Softmax <axis = 2> (m)",
        Y,
        X,
        "float nil = {-9}, float low = {-inf}",
        finds="PAD103 Softmax",
        claims="T any; T 0|any; 0..1; any",
    ),
    "over keys of another sequence": Example(
        "t = Transpose <perm = [0, 2, 1]> (z) s = MatMul (x, t) p = Softmax <axis = 2> (s) y = MatMul (p, z)",
        "float[1, T, 3] y",
        "float[1, T, 3] x, float[1, U, 3] z",
        finds="PAD103 Softmax",
        claims="T finite; finite",
    ),
    "logarithms over time": Example(
        "y = LogSoftmax <axis = 2> (x)", finds="PAD103 LogSoftmax", claims="T any; -inf..0; finite; masked"
    ),
    "logarithms over features": Example("y = LogSoftmax <axis = 1> (x)", claims="T any; -inf..0; finite; masked"),
    "logarithms over time, then a mean": Example(
        "l = LogSoftmax <axis = 2> (x) y = ReduceMean <axes = [2], keepdims = 1> (l)",
        "float[1, 2, 1] y",
        opset=17,
        finds="PAD103 LogSoftmax, PAD101 ReduceMean",
        claims="-inf..0; finite; masked",
    ),
    "the hardest over time": Example(
        "y = Hardmax <axis = 2> (x)", finds="PAD103 Hardmax", claims="T finite; 0..1; finite", harmless="PAD103"
    ),
    "the hardest over time, behind a sum": Example(
        "c = CumSum (x, axis) y = Hardmax <axis = 2> (c)",
        constants="int64 axis = {2}",
        finds="PAD103 Hardmax",
        claims="T finite; 0..1; finite",
    ),
    "the hardest over features": Example("y = Hardmax <axis = 1> (x)", claims="T finite; 0..1; finite"),
    "the hardest over time, read over time": Example(
        "c = CumSum (x, axis) h = Hardmax <axis = 2> (c) t = Transpose <perm = [0, 2, 1]> (c) y = MatMul (h, t)",
        "float[1, 2, 2] y",
        constants="int64 axis = {2}",
        finds="PAD103 Hardmax, PAD108 MatMul",
        claims="finite",
        harmless="PAD108",
    ),
    "of rows": Example(
        "y = Softmax <axis = 2> (x)",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x",
        rows=0,
        finds="PAD103 Softmax",
        claims="T 0; 0..1; finite",
    ),
    "over rows": Example(
        "y = Softmax <axis = 0> (x)",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x",
        rows=0,
        refused="a softmax over the batch mixes rows of different lengths",
    ),
    "in half precision": Example(
        "h = Cast <to = 10> (x) p = Softmax <axis = 2> (h) y = Cast <to = 1> (p)",
        "float[1, 2, T] y",
        finds="PAD103 Softmax",
        claims="T 0; 0..1.008; finite",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


LAYER = """
    s{i} = MatMul (h{i}, k{i}T)
    m{i} = Where (keep, s{i}, low)
    p{i} = Softmax <axis = -1> (m{i})
    a{i} = MatMul (p{i}, h{i})
    h{j} = Add (h{i}, a{i})
"""


def _graph(keep: str) -> str:
    layers = ""
    for i in range(4):  # what a layer does not prove finite is met by the layer after the next
        layers += f"k{i}T = Transpose <perm = [0, 2, 1]> (h{i})" + LAYER.format(i=i, j=i + 1)
    return f"""g (float[1, T, 4] x) => (float[1, T, 4] y)
        <int64 zero = {{0}}, int64 unit = {{1}}, int64 window = {{3}}, int64[1] back = {{1}}, int64[1] front = {{0}},
         float low = {{-inf}}> {{
        s = Shape <start = 1, end = 2> (x)
        n = Squeeze (s, front)
        i = Range (zero, n, unit)
        row = Unsqueeze (i, back)
        column = Unsqueeze (i, front)
        age = Sub (row, column)
        past = GreaterOrEqual (age, zero)
        near = Less (age, window)
        keep = {keep}
        h0 = Identity (x)
        {layers}
        y = Identity (h4)
    }}"""


def test_sliding_causal_attention_has_no_leak() -> None:
    text = _graph("And (past, near)")
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]>\n{text}')
    report = check(model, ["x:1=T"])
    assert report.refusal is None
    assert [str(finding) for finding in report.findings] == []
    assert_exact(text, "x:1=T")


def test_a_mask_that_may_empty_a_row_is_not_trusted() -> None:
    """Strictly earlier steps only: the first row keeps nothing, and later layers may meet its NaN."""
    text = _graph("Less (column, row)")
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]>\n{text}')
    assert any(finding.code == "PAD108" for finding in check(model, ["x:1=T"]).findings)


@pytest.mark.parametrize("masked_to", [np.finfo(np.float32).min, -np.inf])
def test_scores_that_native_masks_away_altogether(masked_to: float) -> None:
    """An additive mask that is an input: beside a row of the lowest number, a fill of it would take its share."""
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 17]>
        g (float[1, T, 4] x, float[1, 1, T] mask) => (float[1, T, 4] y) {
           t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, t) m = Add (s, mask) p = Softmax <axis = 2> (m)
           y = MatMul (p, x) }"""
    )  # fmt: skip
    padded = convert(model, ["x:1=T", "mask:2=T"], containers=[20], verify=False)
    x = np.random.default_rng(0).standard_normal((1, 20, 4)).astype(np.float32)
    mask = np.full((1, 1, 20), masked_to, np.float32)
    native = Engine(model.SerializeToString()).run({"x": x[:, :5], "mask": mask[..., :5]})["y"]
    got = Engine(padded.SerializeToString()).run({"x": x, "mask": mask, "ilens": np.array([5])})["y"]
    np.testing.assert_allclose(got[:, :5], native, rtol=1e-6, atol=1e-6)
    assert not got[:, 5:].any()
