"""What exporters write for rolls, indices of one axis and SAME padding is said by plain operators."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnx_ir as ir
import onnxruntime
import pytest

from paddable.graph.prepare.idioms import IdiomsPass
from paddable.padding.deduce.pointwise import POINTWISE

ROLL = "s = Shape <start = 1, end = 2> (x) m = Mod (by, s) a = Slice (x, zero, m, axis)"
STATED = (
    "int64[1] by = {-3}, int64[1] zero = {0}, int64[1] axis = {1}, int64[1] two = {2}, "
    "int64[1] last = {-1}, int64[3] steps = {2, -1, 0}, float[2, 3, 4] w, float[2, 3, 3] v, int64[1] far = {9999999999}"
)

IDIOMS = {
    f"{ROLL} b = Slice (x, m, s, axis) y = Concat <axis = 1> (b, a)": "Gather",
    f"{ROLL} b = Slice (x, m, far, axis) y = Concat <axis = 1> (b, a)": "Gather",
    "i = Unsqueeze (steps, last) y = GatherND (x, i)": "Gather",
    "y = Conv <auto_pad = \"SAME_UPPER\", strides = [2]> (x, w)": "Pad",
    "y = Conv <auto_pad = \"SAME_LOWER\", strides = [3], kernel_shape = [3]> (x, v)": "Pad",
}  # fmt: skip

OTHERS = [
    f"{ROLL} b = Slice (x, m, s, axis) y = Concat <axis = 1> (a, b)",
    f"{ROLL} b = Slice (x, m, two, axis) y = Concat <axis = 1> (b, a)",
    f"{ROLL} b = Slice (x, m, s, two) y = Concat <axis = 1> (b, a)",
    "s = Shape <start = 2, end = 3> (x) m = Mod (by, s) a = Slice (x, zero, m, axis) b = Slice (x, m, s, axis) "
    "y = Concat <axis = 1> (b, a)",
    "i = Unsqueeze (steps, last) y = GatherND <batch_dims = 1> (x, i)",
    "y = Conv <auto_pad = \"SAME_UPPER\"> (x, w)", "y = Conv <strides = [2]> (x, w)",
]  # fmt: skip


def _model(body: str) -> onnx.ModelProto:
    text = f'<ir_version: 8, opset_import: ["": 18]> g (float[B, 3, T] x) => (float[B, C, U] y) <{STATED}> {{ {body} }}'
    model = onnx.parser.parse_model(text)
    rng = np.random.default_rng(0)
    for info in list(model.graph.value_info):
        shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
        if info.name in ("w", "v"):
            array = rng.standard_normal(shape).astype(np.float32)
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, info.name))
    del model.graph.value_info[:]
    return model


@pytest.mark.parametrize("body", IDIOMS)
def test_an_idiom_gives_the_same_answer(body: str) -> None:
    native = _model(body)
    model = ir.from_proto(native)
    assert IdiomsPass({}, POINTWISE)(model).modified
    made = ir.to_proto(model)
    assert IDIOMS[body] in {node.op_type for node in made.graph.node}
    sessions = [onnxruntime.InferenceSession(m.SerializeToString()) for m in (native, made)]
    for steps in (4, 5, 6, 7):
        x = np.random.default_rng(steps).standard_normal((3, 3, steps), dtype="f4")
        wanted, found = (session.run(None, {"x": x})[0] for session in sessions)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("body", OTHERS)
def test_what_is_none_stays(body: str) -> None:
    assert not IdiomsPass({}, POINTWISE)(ir.from_proto(_model(body))).modified


@pytest.mark.parametrize(
    ("declared", "read", "idiom"),
    [
        ({"x": {1: "T"}, "y": {1: "T//2"}}, "x", False),
        ({"x": {1: "T"}, "y": {1: "T"}}, "x", True),
        ({}, "x", False),
        ({"x": {1: "T"}, "y": {1: "T"}}, "h", True),
        ({"x": {1: "T"}, "y": {1: "T//2"}}, "h", False),
    ],
)
def test_a_name_is_no_proof_of_a_size(declared: dict[str, dict[int, str]], read: str, idiom: bool) -> None:
    """Two inputs whose axes have one name, and h that is computed from x; the size is that of y."""
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 18]>
        g (float[B, T, 4] x, float[B, T, 4] y) => (float[B, T, 4] z)
        <int64[1] by = {{-3}}, int64[1] zero = {{0}}, int64[1] axis = {{1}}, int64[1] far = {{9999999999}}> {{
        u = Neg (x) h = Mul (u, x) s = Shape <start = 1, end = 2> (y) m = Mod (by, s)
        a = Slice ({read}, zero, m, axis) b = Slice ({read}, m, far, axis) z = Concat <axis = 1> (b, a) }}""")
    assert IdiomsPass(declared, POINTWISE)(ir.from_proto(model)).modified == idiom
