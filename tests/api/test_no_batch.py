"""Inputs without rows: axis 0 is mel, and there is one length. One row where several are not understood."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable
from paddable.api import check, convert, verify
from paddable.bundle import read_metadata
from paddable.errors import MisuseError, RefusedError

MIXED = """<ir_version: 9, opset_import: ["" : 17]>
net (float[6, T] mel) => (float[1] y) <int64[2] axes = {0, 1}> {
  s = Relu(mel) m = ReduceMean<axes = [0, 1], keepdims = 0>(s) one = Constant<value_ints = [1]>() y = Reshape(m, one)
}"""
APART = '<ir_version: 9, opset_import: ["" : 17]> net (float[6, T] mel) => (float[6, T] y) { y = Relu(mel) }'


@pytest.fixture
def native(tmp_path: Path) -> Path:
    path = tmp_path / "native.onnx"
    onnx.save(onnx.parser.parse_model(MIXED), path)
    return path


@pytest.mark.parametrize("batch", [None, "none"])
def test_there_is_one_length(native: Path, batch: str | None) -> None:
    out = native.with_name("padded.onnx")
    told: list[str] = []
    convert(native, ["mel:1=T"], containers=[20], out=out, gate_lengths=4, batch=batch, on_message=told.append)
    assert read_metadata(out).batch is None
    assert verify(out, native, limit=4).ok
    x = np.random.default_rng(0).standard_normal((6, 11), dtype="f4")
    with paddable.load(out, "cpu") as model:
        answer = model.run({"mel": x})["y"]
    np.testing.assert_allclose(answer, [np.maximum(x, 0).mean()], rtol=1e-5)
    assert any("`batch='none'`" in line for line in told) == (batch is None)


def test_check_says_what_it_took_axis_0_for(native: Path) -> None:
    assert "axis 0 of mel is taken for data" in check(native, ["mel:1=T"]).notes[0]
    assert not check(native, ["mel:1=T"], batch="none").notes


def test_rows_that_were_asked_for_are_not_given_up(native: Path) -> None:
    with pytest.raises(RefusedError, match="batch"):
        convert(native, ["mel:1=T"], containers=[20], batch="mel:0")
    with pytest.raises(MisuseError, match="`batch='none'`, but `batch_size=6`"):
        check(native, ["mel:1=T"], batch="none", batch_size=6)


def test_rows_that_stay_apart_keep_their_lengths() -> None:
    native = onnx.parser.parse_model(APART)
    for batch, rows in ((None, 6), ("none", 1)):
        padded = convert(native, ["mel:1=T"], containers=[8], gate_lengths=2, batch=batch)
        assert isinstance(padded, onnx.ModelProto)
        assert padded.graph.input[1].type.tensor_type.shape.dim[0].dim_value == rows


@pytest.mark.parametrize(("added", "helps"), [("m = Identity(y)", True), ("m = NonZero(y)", False)])
def test_one_row_of_a_file_that_takes_any_needs_no_other_export(added: str, helps: bool) -> None:
    """The number of rows is data, and it is 1 of one row. With NonZero one row is refused too."""
    text = f"""<ir_version: 9, opset_import: ["" : 17]> net (float[B, T] x) => (float[B, T] y, float[B, U] m) {{
      s = Shape<end = 1>(x) n = ReduceSum<keepdims = 0>(s) f = Cast<to = 1>(n) y = Mul(x, f) {added} }}"""
    native, told = onnx.parser.parse_model(text), "convert with `batch_size=1`, which needs no other export"
    found = check(native, ["x:1=T"], batch_size=2)
    assert found.refusal is not None and "rows is used as data" in found.refusal
    assert (told in found.refusal, told in found.findings[-1].remedy) == (helps, helps)
    assert (check(native, ["x:1=T"], batch_size=1).refusal is None) == helps
