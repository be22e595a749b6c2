"""A depthwise convolution takes its own input's sum along: the same valid steps, and nothing where it does not fit."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from paddable.forms.form import Form, Known
from paddable.forms.residual_in_convolution import ResidualInConvolution

from .test_forms import drawn, operators, parsed, run

STEPS, CHANNELS = 9, 4
MEMORY = """<ir_version: 10, opset_import: ["" : 18]>
m (float[1, 9, 4] x, float[1, 9, 4] a, int64[1] n) => (float[1, 9, 4] y)
<float[4, 1, 3] w = {1, -2, 3, 1, 2, 1, -1, 0, 1, 0, 2, -3}, float zero = {0},
 int64[9] place = {0, 1, 2, 3, 4, 5, 6, 7, 8}, int64[3] other = {1, 9, 4}> {
    valid = Less(place, n)
    t = Transpose<perm = [0, 2, 1]>(x)
    f = Where(valid, t, zero)
    c = Conv<group = 4, kernel_shape = [3], pads = [1, 1]>(f, w)
    m = Transpose<perm = [0, 2, 1]>(c)
    s = Add(a, m)
    r = Add(s, x)
    y = Relu(r)
}"""


def formed(text: str, fill: str = "paddable/fill", **known: object) -> tuple[ir.Model, Form]:
    model = parsed(text)
    for node in model.graph:
        if node.op_type == "Where":
            node.name = fill
    form = ResidualInConvolution(Known(**known))  # type: ignore[arg-type]
    form(model)
    return model, form


def part(model: ir.Model, text: str, length: int) -> float:
    """How far valid steps of a form are from the graph that it was made of."""
    feeds = drawn("x", "a", shape=(1, STEPS, CHANNELS)) | {"n": np.array([length])}
    return float(np.abs(run(parsed(text), feeds)[0] - run(model, feeds)[0])[:, :length].max())


@pytest.mark.parametrize("length", [9, 5, 1])
def test_the_residual_becomes_a_tap(length: int) -> None:
    model, form = formed(MEMORY)
    assert form.taken.places == 1
    assert operators(model) == {"Less": 1, "Transpose": 2, "Where": 1, "Conv": 1, "Add": 1, "Relu": 1}
    assert part(model, MEMORY, length) < 1e-5


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ("pads = [1, 1]>", "pads = [2, 0]>", 1),
        ("pads = [1, 1]>", "pads = [2, 2], dilations = [2]>", 1),
        ("pads = [1, 1]>", "pads = [3, 1], dilations = [2]>", 0),  # no tap falls on the step itself
        ("pads = [1, 1]>", 'auto_pad = "SAME_UPPER">', 0),
        ("s = Add(a, m)\n", "s = Sub(a, m)\n", 0),
        ("r = Add(s, x)", "r = Add(s, a)", 0),
        (
            "m = Transpose<perm = [0, 2, 1]>(c)",
            "o = Transpose<perm = [1, 2, 0]>(c) m = Transpose<perm = [2, 1, 0]>(o)",
            1,
        ),
        ("    f = Where(valid, t, zero)\n", "    f = Identity(t)\n", 1),
        ("(f, w)", "(t, w)", 1),
        ("m = Transpose<perm = [0, 2, 1]>(c)", "m = Reshape(c, other)", 0),
        ("    f = Where(valid, t, zero)\n", "    d = Add(t, t)\n    f = Where(valid, d, zero)\n", 0),
    ],
)
def test_what_is_another_sum_is_left_and_right(old: str, new: str, places: int) -> None:
    assert old in MEMORY
    text = MEMORY.replace(old, new)
    model, form = formed(text)
    assert form.taken.places == places
    assert part(model, text, 9) < 1e-5


WIDE = """    two = Unsqueeze(f, height)
    v = Unsqueeze(w, height)
    d = Conv<group = 4, kernel_shape = [1, 3], pads = [0, 1, 0, 1]>(two, v)
    c = Squeeze(d, height)
"""


def test_a_convolution_in_two_dimensions_takes_it_too() -> None:
    one = "    c = Conv<group = 4, kernel_shape = [3], pads = [1, 1]>(f, w)\n"
    text = MEMORY.replace(one, WIDE).replace("float zero = {0},", "float zero = {0}, int64[1] height = {2},")
    model, form = formed(text)
    assert form.taken.places == 1 and operators(model)["Add"] == 1
    assert part(model, text, 6) < 1e-5


def test_a_mask_of_the_model_itself_is_no_padding() -> None:
    model, form = formed(MEMORY, fill="mask")
    assert form.taken.places == 0
    assert part(model, MEMORY, 5) == 0


@pytest.mark.parametrize("shown", ["c", "m", "s", "r"])
def test_what_others_read_stays(shown: str) -> None:
    shape = "[1, 4, 9]" if shown == "c" else "[1, 9, 4]"
    text = MEMORY.replace("=> (float[1, 9, 4] y)", f"=> (float[1, 9, 4] y, float{shape} {shown})")
    _, form = formed(text)
    assert form.taken.places == 0


@pytest.mark.parametrize("known", [{"coarse": True}, {"kept": {"m"}}, {"kept": {"r"}}])
def test_what_a_precision_needs_stays(known: dict[str, object]) -> None:
    _, form = formed(MEMORY, **known)
    assert form.taken.places == 0 and sum(form.taken.left.values()) == 1


def test_a_kernel_of_two_layers_stays_for_the_other() -> None:
    text = MEMORY.replace(
        "y = Relu(r)",
        "h = Transpose<perm = [0, 2, 1]>(r) k = Conv<group = 4, pads = [1, 1]>(h, w) "
        "y = Transpose<perm = [0, 2, 1]>(k)",
    )
    model, form = formed(text)
    assert form.taken.places == 1 and part(model, text, 9) < 1e-4
    onnx.checker.check_model(ir.to_proto(model))
