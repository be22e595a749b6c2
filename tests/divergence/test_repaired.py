"""A remedy that is wrong is told with its node and what is wrong in it, against native and against the right one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable
from paddable.testing import assert_padding_invariant

from .test_verdicts import save

RNG = np.random.default_rng(0)
V, W = (0.2 * RNG.standard_normal((4, 4, 3)).astype(np.float32) for _ in range(2))
CONV = "Conv <kernel_shape = [3], pads = [1, 1]>"
MEAN = "m = ReduceMean <keepdims = 1> (b, axes) s = Sub (b, m) y = Tanh (s)"
SCORES = "t = Transpose <perm = [0, 2, 1]> (b) q = MatMul (t, b) p = Softmax (q) c = MatMul (b, p) y = Tanh (c)"


def _both(place: Path, body: str, scale: float = 1.0) -> Path:
    """Native and padded, the first of which is returned, the second beside it."""
    text = f"(float[1, 4, T] x) => (float[1, 4, T] y) <int64[1] axes = {{2}}> {{ a = {CONV} (x, v) b = {CONV} (a, w) "
    native = save(place / "native.onnx", text + body + " }", v=V, w=np.float32(scale) * W)
    paddable.convert(native, ["x:2=T"], containers=[40], out=place / "padded.onnx", verify=False)
    return native


@pytest.fixture(scope="module")
def mean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _both(tmp_path_factory.mktemp("mean"), MEAN)


@pytest.mark.parametrize("against", ["native.onnx", "padded.onnx"])
def test_the_container_as_a_means_divisor(mean: Path, tmp_path: Path, against: str) -> None:
    model = onnx.load(mean.with_name("padded.onnx"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(40), "held"))
    (divide,) = (node for node in model.graph.node if node.op_type == "Div")
    divide.input[1] = "held"
    onnx.save(model, tmp_path / "wrong.onnx")
    fork = paddable.probe(tmp_path / "wrong.onnx", mean.with_name(against), at=17).fork
    assert fork is not None and (fork.node, fork.cause.kind) == (divide.name, "padding"), fork
    assert "input 1 (held) of Div" in fork.cause.text and "is 40 where 17 makes the runs agree" in fork.cause.text


@pytest.mark.parametrize("against", ["native.onnx", "padded.onnx"])
def test_a_mask_that_is_one_step_too_long(mean: Path, tmp_path: Path, against: str) -> None:
    model = onnx.load(mean.with_name("padded.onnx"))
    masks = {node.input[0] for node in model.graph.node if node.op_type == "Where" and "fill" in node.name}
    masks |= {node.input[0] for node in model.graph.node if node.output[0] in masks and node.op_type == "Unsqueeze"}
    (less, *_) = (node for node in model.graph.node if node.op_type == "Less" and node.output[0] in masks)
    less.op_type = "LessOrEqual"
    onnx.save(model, tmp_path / "wrong.onnx")
    fork = paddable.probe(tmp_path / "wrong.onnx", mean.with_name(against), at=17).fork
    assert fork is not None and (fork.node, fork.cause.kind) == (less.name, "padding"), fork
    assert "is wrong for 1 of 40 steps" in fork.cause.text and "Less" in fork.cause.fix


def test_a_length_whose_where_is_inverted(mean: Path, tmp_path: Path) -> None:
    model = onnx.load(mean.with_name("padded.onnx"))
    (length,) = (node for node in model.graph.node if node.output[0] == "paddable/length_T")
    length.input[1], length.input[2] = length.input[2], length.input[1]
    onnx.save(model, tmp_path / "wrong.onnx")
    fork = paddable.probe(tmp_path / "wrong.onnx", mean, at=17).fork
    assert fork is not None and fork.cause.kind == "padding" and "inputs in the wrong order" in fork.cause.text, fork
    assert length.name in fork.cause.text


def _unmasked(padded: Path, wrong: Path, operator: str) -> str:
    """Write the graph without the mask in front of the one node of an operator; the node's name."""
    model = onnx.load(padded)
    (reader,) = (node for node in model.graph.node if node.op_type == operator)
    (mask,) = (node for node in model.graph.node if node.output[0] == reader.input[0])
    reader.input[0] = mask.input[1]
    onnx.save(model, wrong)
    return str(reader.name)


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_a_key_mask_that_is_missing_where_scores_are_flat(tmp_path: Path, scale: float) -> None:
    native = _both(tmp_path, SCORES, scale)
    softmax = _unmasked(tmp_path / "padded.onnx", tmp_path / "wrong.onnx", "Softmax")
    fork = paddable.probe(tmp_path / "wrong.onnx", native, at=17).fork
    assert fork is not None and (fork.node, fork.cause.code) == (softmax, "PAD103"), fork


def test_a_mean_of_unmasked_steps_is_told_at_the_sum(mean: Path, tmp_path: Path) -> None:
    """Though what reads the mean is the first that has a partner."""
    total = _unmasked(mean.with_name("padded.onnx"), tmp_path / "wrong.onnx", "ReduceSum")
    fork = paddable.probe(tmp_path / "wrong.onnx", mean, at=17).fork
    assert fork is not None and (fork.node, fork.cause.code) == (total, "PAD101"), fork


def test_a_failing_assertion_tells_the_fork_where_errors_are_small(mean: Path, tmp_path: Path) -> None:
    """Smaller than a probe's own tolerance, at every length."""
    native, model = onnx.load(mean), onnx.load(mean.with_name("padded.onnx"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(40), "held"))
    (divide,) = (node for node in model.graph.node if node.op_type == "Div")
    divide.input[1] = "held"
    for each, name in ((native, "n.onnx"), (model, "p.onnx")):
        (subtract,) = (node for node in each.graph.node if node.op_type == "Sub" and node.output[0] == "s")
        less = onnx.helper.make_node("Mul", [subtract.input[1], "little"], ["little_m"], name="little")
        each.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(5e-5), "little"))
        index = list(each.graph.node).index(subtract)
        subtract.input[1] = "little_m"
        each.graph.node.insert(index, less)
        onnx.save(each, tmp_path / name)
    with pytest.raises(AssertionError, match=f"the runs part at Div {divide.name}"):
        assert_padding_invariant(tmp_path / "p.onnx", tmp_path / "n.onnx", report=tmp_path / "r.html")
