"""``x[mask] = value`` becomes a Where, and nothing else does."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnx_ir as ir
import onnxruntime
import pytest

from paddable.graph.prepare.masked_assign import MaskedAssignPass

PLACES = "n = NonZero (m) p = Transpose <perm = [1, 0]> (n)"


def _model(body: str, mask: str = "bool[2, 3, 4] m", reduction: str = "") -> onnx.ModelProto:
    text = f"""<ir_version: 8, opset_import: ["": 18]> g (float[2, 3, 4] x, {mask}) => (float[2, 3, 4] y)
        <float zero = {{0}}, int64[1] flat = {{-1}}, int64[1] one = {{1}}> {{ {PLACES} {body} }}"""
    return onnx.parser.parse_model(text)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_an_assignment_of_one_value(rank: int) -> None:
    sizes = [2, 3, 4][:rank]
    rest = ", ".join(["c", *(f"d{k}" for k in range(rank, 3))])
    sized = " ".join(f"d{k} = Shape <start = {k}, end = {k + 1}> (x)" for k in range(rank, 3))
    body = (
        f"c = Shape <start = 1> (n) {sized} e = Concat <axis = 0> ({rest}) u = Expand (zero, e) y = ScatterND (x, p, u)"
    )
    native = _model(body, f"bool[{', '.join(map(str, sizes))}] m")
    model = ir.from_proto(native)
    assert MaskedAssignPass()(model).modified
    made = ir.to_proto(model)
    assert "Where" in {node.op_type for node in made.graph.node}
    rng = np.random.default_rng(0)
    feeds = {"x": rng.standard_normal((2, 3, 4), dtype="f4"), "m": rng.random(sizes) < 0.5}
    wanted, found = (onnxruntime.InferenceSession(m.SerializeToString()).run(None, feeds)[0] for m in (native, made))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("body", "mask"),
    [
        (
            'c = Shape <start = 1> (n) u = Expand (zero, c) y = ScatterND <reduction = "add"> (x, p, u)',
            "bool[2, 3, 4] m",
        ),
        ("u = GatherND (x, p) v = Exp (u) y = ScatterND (x, p, v)", "bool[2, 3, 4] m"),
        ("c = Shape <start = 1> (n) u = Expand (zero, c) y = ScatterND (x, p, u)", "float[2, 3, 4] m"),
    ],
)
def test_what_is_no_assignment_of_one_value_stays(body: str, mask: str) -> None:
    assert not MaskedAssignPass()(ir.from_proto(_model(body, mask))).modified
