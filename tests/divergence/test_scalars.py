"""Values without an axis that counts: lengths, and means over everything."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import paddable
from paddable.bundle import Metadata
from paddable.divergence.regions import from_facts, from_sizes, of_output
from paddable.gates.regions import Frame
from paddable.padding.facts.facts import Facts

from .test_verdicts import save

W = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
MEAN = (
    "(float[1, T, 4] x, int64[1] n) => (float[1, 4] y) <int64[1] axes = {1}> { a = MatMul (x, w) "
    "c = Add (a, d) b = Exp (c) s = ReduceSum <keepdims = 0> (b, axes) m = Cast <to = 1> (n) y = Div (s, m) }"
)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_the_valid_part_of_one_number_can_be_marked(shape: tuple[int, ...]) -> None:
    for part in (
        lambda marks: from_facts(marks, Facts(ir.DataType.BOOL, ()), Frame({}, [{}], True)).array,  # type: ignore[union-attr]
        lambda marks: from_sizes(marks, None, {}, {}).array,
        lambda marks: of_output("y", marks, Metadata(symbols={}, lengths={"y": {}}), {}, {}),
    ):
        marks = np.zeros(shape, bool)
        part(marks)[...] = True
        assert marks.all()


def test_padding_is_tried_where_a_length_is_read(tmp_path: Path) -> None:
    native = save(tmp_path / "native.onnx", MEAN, w=W, d=np.ones(4, np.float32))
    out = tmp_path / "padded.onnx"
    paddable.convert(native, ["x:1=T"], containers=[40], out=out, length_inputs=["n=T"], verify=False)
    model = onnx.load(out)
    (sum_,) = (node for node in model.graph.node if node.op_type == "ReduceSum")
    (mask,) = (node for node in model.graph.node if node.output[0] == sum_.input[0])
    mask.input[2] = mask.input[1]
    onnx.save(model, out)
    fork = paddable.probe(out, native, at=17).fork
    assert fork is not None and (fork.op, fork.cause.kind) == ("ReduceSum", "padding"), fork


def test_a_case_of_one_number_runs(tmp_path: Path) -> None:
    text = "(float[1, T, 4] x) => (float y) {{ a = Relu (x) y = ReduceMean <keepdims = 0> (a) {} }}"
    one, other = (save(tmp_path / f"{axis}.onnx", text.format("")) for axis in "ab")
    model = onnx.load(one)
    model.graph.node[1].op_type = "ReduceSum"
    onnx.save(model, one)
    report = paddable.probe(one, other, ["x:1=T"], isolate=tmp_path / "case")
    assert report.isolated is not None, report
    assert np.load(tmp_path / "case" / "expected.npy").shape == ()
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(tmp_path / "case" / "run.py"))
    assert end.value.code == 1


OF_A_LENGTH = MEAN.replace("Cast <to = 1> (n)", "Cast <to = 1> (n) k = Mul (m, s)").replace("Div (s, m)", "Div (t, k)")
OF_A_LENGTH = OF_A_LENGTH.replace("s = ReduceSum", "t = ReduceSum")
OF_A_MEAN = (
    "(float[1, T, 4] x) => (float y) { a = MatMul (x, w) b = Exp (a) m = ReduceMean <keepdims = 0> (b) y = Mul (m, s) }"
)


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8-dynamic"])
@pytest.mark.parametrize("text", [OF_A_LENGTH, OF_A_MEAN])
def test_another_number_beside_a_length_or_behind_a_mean_is_named(tmp_path: Path, text: str, precision: str) -> None:
    """A padded graph makes its masks of lengths too, and divides a sum by one, next to what the model makes of it."""
    held = {"w": W, "d": np.ones(4, np.float32)} if "(a, d)" in text else {"w": W}
    right, wrong = (save(tmp_path / f"{s}.onnx", text, s=np.float32(s), **held) for s in (0.5, 0.85))
    given = {"length_inputs": ["n=T"]} if "int64[1] n" in text else {}
    out = tmp_path / "padded.onnx"
    paddable.convert(wrong, ["x:1=T"], containers=[40], out=out, verify=False, precision=precision, **given)  # type: ignore[arg-type]
    for files in ((out, right), (right, out)):
        fork = paddable.probe(*files, at=17).fork
        assert fork is not None and fork.cause.kind == "weights" and "input 1 (s" in fork.cause.text, fork
