"""Each form alone: the same answer as the nodes it replaces, whatever the padding holds, and where it does not fit."""

from __future__ import annotations

import collections

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort
import pytest

from paddable.api.running import Sampled
from paddable.errors import MisuseError
from paddable.forms import applying
from paddable.forms.applying import FORMS, apply_forms, chosen_forms
from paddable.forms.form import Form, Known
from paddable.linter.new_parts import Parts
from paddable.padding.rewrite.specialise import infer_shapes
from paddable.providers.registry import providers

ROWS, STEPS, HEADS, WIDTH = 2, 9, 2, 4
JUNK = (0.0, 3.7, 1e30, -1e30)

ATTENTION = """<ir_version: 10, opset_import: ["" : 18]>
m (float[2, 9, 8] q, float[2, 9, 8] k, float[2, 9, 8] v, int64[2] n) => (float[2, 9, 8] y)
<int64[4] split = {2, 9, 2, 4}, int64[4] askew = {2, 2, 9, 4}, int64[3] join = {2, 9, 8},
 int64[1] last = {1}, int64[2] inner = {1, 2},
 int64[9] place = {0, 1, 2, 3, 4, 5, 6, 7, 8}, float low = {-3.4028235e38}, float half = {0.5}> {
    column = Unsqueeze(n, last)
    valid = Less(place, column)
    mask = Unsqueeze(valid, inner)
    scaled = Mul(q, half)
    q4 = Reshape(scaled, split)
    k4 = Reshape(k, split)
    v4 = Reshape(v, split)
    qh = Transpose<perm = [0, 2, 1, 3]>(q4)
    kh = Transpose<perm = [0, 2, 3, 1]>(k4)
    vh = Transpose<perm = [0, 2, 1, 3]>(v4)
    scores = MatMul(qh, kh)
    selected = Where(mask, scores, low)
    weights = Softmax<axis = -1>(selected)
    mixed = MatMul(weights, vh)
    back = Transpose<perm = [0, 2, 1, 3]>(mixed)
    y = Reshape(back, join)
}"""

FEED_FORWARD = """<ir_version: 10, opset_import: ["" : 18]>
m (float[1, 5, 3] x) => (float[1, 5, 2] y)
<float[3, 4] w = {1, -2, 3, 1, 2, 1, -1, 0, 1, 0, 2, -3}, float[4] b = {0.5, -0.5, 2, -3},
 float[4, 2] u = {1, 2, 3, 4, -1, 2, 0, 1}, float[2] c = {0.25, -1}> {
    p = MatMul(x, w)
    s = Add(p, b)
    r = Relu(s)
    z = MatMul(r, u)
    y = Add(z, c)
}"""

RESIDUAL = """<ir_version: 10, opset_import: ["" : 18]>
m (float[1, 5, 4] x, float[1, 5, 4] a, float[1, 5, 4] b) => (float[1, 5, 4] y, float[1, 5, 4] z)
<float[4] g = {1, 2, -1, 0.5}, float[4] d = {0, 1, 2, 3}, float[4] c = {0.5, -0.5, 2, -3}> {
    e = Add(a, c)
    f = Add(e, b)
    s = Add(x, f)
    y = LayerNormalization<epsilon = 0.001>(s, g, d)
    z = Mul(s, s)
}"""


def parsed(text: str) -> ir.Model:
    model = ir.from_proto(onnx.parser.parse_model(text))
    infer_shapes(model)
    return model


def formed(text: str, name: str, **known: object) -> tuple[ir.Model, Form]:
    """The model after one form, and the form."""
    model = parsed(text)
    form = FORMS[name](Known(**known))  # type: ignore[arg-type]
    form(model)
    return model, form


def run(model: ir.Model, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    return ort.InferenceSession(ir.to_proto(model).SerializeToString()).run(None, feeds)


def operators(model: ir.Model) -> collections.Counter[str]:
    return collections.Counter(node.op_type for node in model.graph)


def drawn(*names: str, shape: tuple[int, ...], seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape).astype(np.float32) for name in names}


ONE_ROW = ATTENTION.replace("[2, 9", "[1, 9").replace("{2, ", "{1, ").replace("int64[2] n", "int64[1] n")


@pytest.mark.parametrize(
    ("text", "name", "operator", "lengths"),
    [
        *((ATTENTION, "attention", "MultiHeadAttention", lengths) for lengths in [(9, 9), (5, 1), (3, 8)]),
        *((ONE_ROW, "attention-in-place", "FusedMatMul", lengths) for lengths in [(9,), (5,), (1,)]),
    ],
)
def test_attention_reads_no_key_past_the_length(text: str, name: str, operator: str, lengths: tuple[int, ...]) -> None:
    model, form = formed(text, name, finite={"k", "v"})
    assert form.taken.places == 1 and operators(model)[operator] and not operators(model)["MatMul"]
    feeds = drawn("q", "k", "v", shape=(len(lengths), STEPS, HEADS * WIDTH)) | {"n": np.array(lengths)}
    answers = []
    for junk in JUNK:
        filled = {name: array.copy() for name, array in feeds.items()}
        for row, length in enumerate(lengths):
            for name in ("q", "k", "v"):
                filled[name][row, length:] = junk
        answers.append(run(model, filled)[0])
    for row, length in enumerate(lengths):
        alone = {name: feeds[name][row : row + 1, :length] for name in ("q", "k", "v")}
        want = native_attention(**alone)
        assert np.abs(answers[0][row, :length] - want[0]).max() < 1e-6
        for answer in answers[1:]:
            np.testing.assert_array_equal(answer[row, :length], answers[0][row, :length])


def native_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Without a mask, in fp64, of [1, steps, channels]."""
    q, k, v = (x.astype(np.float64).reshape(1, -1, HEADS, WIDTH).transpose(0, 2, 1, 3) for x in (0.5 * q, k, v))
    weights = np.exp(q @ k.transpose(0, 1, 3, 2))
    mixed = weights / weights.sum(-1, keepdims=True) @ v
    return mixed.transpose(0, 2, 1, 3).reshape(1, -1, HEADS * WIDTH)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("weights = Softmax<axis = -1>(selected)", "t = Add(selected, low) weights = Softmax<axis = -1>(t)", "added"),
        ("{-3.4028235e38}", "{-10000.0}", "lowest number"),
        ("valid = Less(place, column)", "valid = LessOrEqual(place, column)", "length of the keys"),
        ("{0, 1, 2, 3, 4, 5, 6, 7, 8}", "{1, 2, 3, 4, 5, 6, 7, 8, 9}", "length of the keys"),
        ("vh = Transpose<perm = [0, 2, 1, 3]>(v4)", "vh = Reshape(v, askew)", "heads are not split"),
        ("v4 = Reshape(v, split)", "w = Mul(v, half) v4 = Reshape(w, split)", None),
        ("mixed = MatMul(weights, vh)", "vs = Mul(vh, half) mixed = MatMul(weights, vs)", "values are scaled"),
        ("scaled = Mul(q, half)", "scaled = Mul(q, k)", None),
    ],
)
@pytest.mark.parametrize("name", ["attention", "attention-in-place"])
def test_attention_with_anything_else_in_it_is_left_or_right(old: str, new: str, why: str | None, name: str) -> None:
    assert old in ATTENTION
    whole, rows = (ATTENTION, ROWS) if name == "attention" else (ONE_ROW, 1)
    text = whole.replace(old, new)
    model, form = formed(text, name, finite={"k", "v", "w"})
    if why is not None:
        assert form.taken.places == 0 and any(why in reason for reason in form.taken.left)
    feeds = drawn("q", "k", "v", shape=(rows, STEPS, HEADS * WIDTH)) | {"n": np.array([7, 9][:rows])}
    want, got = run(parsed(text), feeds)[0], run(model, feeds)[0]
    assert np.abs(want - got)[0, :7].max() < 1e-6


def test_attention_of_several_rows_in_fp32_is_one_operator() -> None:
    before = parsed(ATTENTION)
    model, report = apply_forms(before, ["attention", "attention-in-place"], Known({"k", "v"}), Sampled())
    assert operators(model)["MultiHeadAttention"] == 1 and report.applied == {"attention": 1}
    assert next(iter(report.left["attention-in-place"])).startswith("it has several rows")


def test_attention_needs_finite_padding() -> None:
    model, form = formed(ATTENTION, "attention", finite={"v"})
    assert form.taken.places == 0 and "not proven finite" in next(iter(form.taken.left))
    assert operators(model)["Softmax"] == 1


@pytest.mark.parametrize("kept", ["scores", "weights", "selected"])
def test_a_value_that_measurement_keeps_stays(kept: str) -> None:
    _, form = formed(ATTENTION, "attention", finite={"k", "v"}, kept={kept})
    assert form.taken.places == 0 and "kept in fp32" in next(iter(form.taken.left))


def test_relu_as_max() -> None:
    model, form = formed(FEED_FORWARD, "relu-as-max")
    assert form.taken.places == 1
    assert operators(model) == {"MatMul": 2, "Max": 1, "Add": 1}
    feeds = drawn("x", shape=(1, 5, 3))
    assert np.abs(run(parsed(FEED_FORWARD), feeds)[0] - run(model, feeds)[0]).max() < 1e-5


def test_relu_that_others_read_is_left() -> None:
    text = FEED_FORWARD.replace("(float[1, 5, 2] y)", "(float[1, 5, 2] y, float[1, 5, 4] r)")
    model, form = formed(text, "relu-as-max")
    assert form.taken.places == 0 and operators(model)["Relu"] == 1


def test_residual_and_norm() -> None:
    model, form = formed(RESIDUAL, "skip-normalisation")
    assert form.taken.places == 1
    assert operators(model) == {"Add": 1, "SkipLayerNormalization": 1, "Mul": 1}
    feeds = drawn("x", "a", "b", shape=(1, 5, 4))
    for want, got in zip(run(parsed(RESIDUAL), feeds), run(model, feeds), strict=True):
        assert np.abs(want - got).max() < 1e-5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float[1, 5, 4]", "float[1, 1, 5, 4]"),
        ("y = LayerNormalization<epsilon = 0.001>", "y = LayerNormalization<axis = 1, epsilon = 0.001>"),
        ("=> (float[1, 5, 4] y,", "=> (float[1, 5, 4] y, float[1, 5, 4] s,"),
    ],
)
def test_another_norm_is_left_and_told(old: str, new: str) -> None:
    text = RESIDUAL.replace(old, new)
    if "axis = 1" in new:
        text = text.replace(
            "float[4] g = {1, 2, -1, 0.5}, float[4] d = {0, 1, 2, 3}", "float[1] g = {2}, float[1] d = {1}"
        )
    _, form = formed(text, "skip-normalisation")
    assert form.taken.places == 0 and len(form.taken.left) == 1


class Spoiled(Form):
    """Moves every number."""

    name = "spoiled"
    anchor = "Relu"

    def write(self, node: ir.Node, parts: Parts) -> bool:
        twice = ir.node("Add", [node.inputs[0], node.inputs[0]])
        parts.replace(node, [twice], [twice.outputs[0]])
        return True


def test_a_form_that_moves_the_numbers_is_taken_back_and_the_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "FORMS", {"spoiled": Spoiled, **FORMS})
    text = FEED_FORWARD.replace("y = Add(z, c)", "y = Add(z, c) other = Relu(x)").replace(
        "(float[1, 5, 2] y)", "(float[1, 5, 2] y, float[1, 5, 3] other)"
    )
    model, report = apply_forms(parsed(text), ["spoiled", "relu-as-max"], Known(), Sampled())
    assert report.applied == {"relu-as-max": 1}
    assert "it would change the outputs" in next(iter(report.left["spoiled"]))
    assert operators(model) == {"MatMul": 2, "Max": 1, "Add": 1, "Relu": 1}


def test_without_a_runner_nothing_is_compared_and_nothing_applied() -> None:
    _, report = apply_forms(parsed(FEED_FORWARD), list(FORMS), Known())
    assert not report.applied


def test_the_names_that_are_asked_for() -> None:
    assert chosen_forms(None) is None and chosen_forms("none") == ()
    assert chosen_forms("skip-normalisation,attention") == ("attention", "skip-normalisation")
    with pytest.raises(MisuseError, match="no form is called 'fast'"):
        chosen_forms("attention,fast")


def test_every_provider_names_forms_that_there_are() -> None:
    assert {name for record in providers().values() for name in record.forms} <= FORMS.keys()
