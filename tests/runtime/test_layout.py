"""Models that the layout level of ONNX Runtime's optimiser ends the process on are opened without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from paddable.runtime.session.layout import left_out

BODIES = {
    "(float16[N, T, 4] x) => (float16[T, N, 4] y) { t = Transpose<perm = [1, 0, 2]>(x) y = MatMul(t, h) }": True,
    "(float[N, T, 4] x) => (float[T, N, 4] y) { c = Cast<to = 10>(x) t = Transpose<perm = [1, 0, 2]>(c) "
    "f = Cast<to = 1>(t) y = MatMul(f, w) }": True,
    "(int64[N, T, 4] x) => (float[T, N, 4] y) { t = Transpose<perm = [1, 0, 2]>(x) c = Cast<to = 1>(t) "
    "y = MatMul(c, w) }": True,
    "(float[N, T, 4] x) => (float[T, N, 4] y) { t = Transpose<perm = [1, 0, 2]>(x) y = MatMul(t, w) }": False,
    "(int64[N, T, 4] x) => (float[T, N, 4] y) { c = Cast<to = 1>(x) t = Transpose<perm = [1, 0, 2]>(c) "
    "y = MatMul(t, w) }": False,
    "(float[N, T, 4] x, bool b) => (float[N, T, 4] y) "
    "{ y = If (b) <then_branch = g () => (a) { a = Identity(x) }, else_branch = e () => (d) "
    "{ c = Cast<to = 10>(x) d = Cast<to = 1>(c) }> }": True,
    "(float[N, T, 4] x) => (float[N, T, 4] y) { c = Constant<value = float16[1] {1}>() s = Shape(c) "
    "y = Reshape(x, s) }": True,
}


def written(body: str) -> bytes:
    """A graph with the weight that it reads: h half [4, 4], w float [4, 4]."""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {body}')
    for name, kind in (("h", np.float16), ("w", np.float32)):
        if any(name in node.input for node in model.graph.node):
            model.graph.initializer.append(numpy_helper.from_array(np.eye(4, dtype=kind), name))
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("body", BODIES)
def test_it_is_left_out_of_models_in_half_and_of_casts_behind_a_transpose(body: str, tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(written(body))
    assert left_out(written(body)) == left_out(tmp_path / "a.onnx") == ["NchwcTransformer"] * BODIES[body]


def test_what_is_no_model_leaves_nothing_out(tmp_path: Path) -> None:
    (tmp_path / "empty.onnx").touch()
    for model in (b"no model at all", tmp_path / "empty.onnx", tmp_path / "absent.onnx"):
        assert left_out(model) == []


SCRIPT = """
import sys
import numpy as np
import paddable
from paddable.api import convert
x = np.ones((1, 9, 4), np.float16)
for precision in ("fp32", "int8", "fp16"):
    out = f"{sys.argv[2]}/{precision}"
    convert(sys.argv[1], ["x:1=T"], containers=[20], precision=precision, gate_lengths=2, out=out)
    for native in (False, True):
        got = paddable.load(out, "cpu", native=native).run({"x": x})["y"][0]
        assert got.shape == (9, 4)
assert paddable.load(sys.argv[1], "cpu").run({"x": x})["y"].shape == (1, 9, 4)
"""


def test_a_recurrent_model_in_half_is_converted_and_loaded(tmp_path: Path) -> None:
    """In a process of its own: where it fails, it ends the process."""
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 17]> g (float16[1, T, 4] x) => (float16[1, T, 4] y) '
        "{ a = Transpose<perm = [1, 0, 2]>(x) b = LSTM<hidden_size = 4>(a, v, r) c = Squeeze(b, axis) "
        "d = Transpose<perm = [1, 0, 2]>(c) y = MatMul(d, w) }"
    )
    random = np.random.default_rng(0)
    for name, shape in (("v", (1, 16, 4)), ("r", (1, 16, 4)), ("w", (4, 4))):
        model.graph.initializer.append(numpy_helper.from_array(random.normal(0, 0.4, shape).astype("f2"), name))
    model.graph.initializer.append(onnx.helper.make_tensor("axis", TensorProto.INT64, [1], [1]))
    onnx.save(model, tmp_path / "native.onnx")
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "native.onnx"), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, (run.returncode, run.stderr[-2000:])
