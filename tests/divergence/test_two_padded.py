"""A faulty padded graph against the right one: what the model lacks, and what its remedies do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable

from .test_verdicts import save

CONV = "Conv <kernel_shape = [3], pads = [1, 1]>"
MEAN = "e = Sigmoid (d) m = ReduceMean <keepdims = 1> (e, axes) s = Sub (e, m) y = Tanh (s)"
BODY = f"{{ a = {CONV} (x, v) b = Relu (a) c = {CONV} (b, w) d = Add (c, a) {MEAN} }}"
RNG = np.random.default_rng(0)
V, W = (0.2 * RNG.standard_normal((4, 4, 3)).astype(np.float32) for _ in range(2))


def _padded(place: Path, body: str = BODY, precision: str = "fp32") -> Path:
    text = f"(float[1, 4, T] x) => (float[1, 4, T] y) <int64[1] axes = {{2}}> {body}"
    native = save(place / "native.onnx", text, v=V, w=W)
    out = place / "padded.onnx"
    paddable.convert(native, ["x:2=T"], containers=[40], out=out, precision=precision, verify=False)
    return out


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _padded(tmp_path_factory.mktemp("right"))


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8-dynamic"])
@pytest.mark.parametrize(
    ("there", "without", "missing"),
    [
        (f"b = Relu (a) c = {CONV} (b, w) d = Add (c, a)", "d = Identity (a)", ("Conv", "Add")),
        (f"c = {CONV} (b, w)", "c = Identity (b)", ("Conv",)),
    ],
)
def test_a_layer_that_one_lacks_is_no_padding(
    right: Path, tmp_path: Path, there: str, without: str, missing: tuple[str, ...], precision: str
) -> None:
    wrong = _padded(tmp_path, BODY.replace(there, without), precision)
    fork = paddable.probe(wrong, right, at=17).fork
    assert fork is not None and (fork.cause.kind, fork.cause.code) == ("structure", ""), fork
    assert fork.cause.text.startswith("the first graph lacks") and all(op in fork.cause.text for op in missing)
    fork = paddable.probe(right, wrong, at=17).fork
    assert fork is not None and fork.cause.kind == "structure" and "which the second lacks" in fork.cause.text, fork


def test_a_mask_that_one_lacks_is_padding(right: Path, tmp_path: Path) -> None:
    model = onnx.load(right)
    masks = [node for node in model.graph.node if node.op_type == "Where" and "fill" in node.name]
    masks[-2].input[2] = masks[-2].input[1]
    onnx.save(model, tmp_path / "unmasked.onnx")
    fork = paddable.probe(tmp_path / "unmasked.onnx", right, at=17).fork
    assert fork is not None and fork.cause.kind == "padding", fork


def test_a_mean_over_the_container_is_padding(right: Path, tmp_path: Path) -> None:
    model = onnx.load(right)
    (sub,) = (node for node in model.graph.node if node.op_type == "Sub" and not node.name.startswith("paddable/"))
    mean = onnx.helper.make_node("ReduceMean", [sub.input[0], "axes"], ["over_all"], name="mean", keepdims=1)
    model.graph.node.insert(list(model.graph.node).index(sub), mean)
    sub.input[1] = "over_all"
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([2], np.int64), "axes"))
    onnx.save(model, tmp_path / "mean.onnx")
    fork = paddable.probe(tmp_path / "mean.onnx", right, at=17).fork
    assert fork is not None and fork.cause.kind == "padding", fork
