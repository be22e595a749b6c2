"""A shortest length that the user asks for: ONNX Runtime cuts a pool's only window short where ONNX gives none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import paddable
from paddable.bundle import read_metadata
from paddable.errors import GateFailedError, MisuseError

TEXT = """
<ir_version: 9, opset_import: ["" : 17]>
unet (float[1, 2, T] x) => (float[1, 2, T] y)
  <float[2, 2, 2] w = {1, -2, 3, 4, -5, 6, 7, 8}, int64[1] two = {2}, int64[5] zeros = {0, 0, 0, 0, 0}> {
  down = MaxPool<kernel_shape = [2], strides = [2]>(x)
  up = ConvTranspose<strides = [2]>(down, w)
  long = Shape<start = 2>(x)
  short = Shape<start = 2>(up)
  room = Sub(long, short)
  pads = Concat<axis = 0>(zeros, room)
  level = Pad(up, pads)
  y = Add(x, level)
}
"""


@pytest.fixture
def native(tmp_path: Path) -> Path:
    onnx.save(onnx.parser.parse_model(TEXT), tmp_path / "unet.onnx")
    return tmp_path / "unet.onnx"


def test_the_refusal_names_the_option_and_the_length(native: Path) -> None:
    with pytest.raises(GateFailedError, match=r"native answers, and MaxPool needs .* add `shortest=\['T=2'\]`$"):
        paddable.convert(native, ["x:2=T"], containers=["9"], out=native.with_name("out.onnx"))
    assert not native.with_name("out.onnx").exists()


@pytest.mark.parametrize("out", ["out.onnx", "bundle"])
def test_asked_for_it_is_the_domain(native: Path, out: str) -> None:
    place = native.with_name(out)
    paddable.convert(native, ["x:2=T"], containers=["9"], out=place, shortest=["T=2"])
    metadata = read_metadata(place)
    assert (metadata.symbols["T"].min, metadata.symbols["T"].shortest) == (2, 2)
    report = paddable.verify(place, native)
    assert report.ok, report.to_json()
    file = place if place.is_file() else next(place.glob("cpu-*.onnx"))
    y, length = ort.InferenceSession(file).run(None, {"x": np.ones((1, 2, 9), np.float32), "ilens": np.array([1])})
    assert not y.any() and length.tolist() == [0]


def test_more_may_be_asked_than_native_needs_and_no_less(native: Path) -> None:
    place = native.with_name("out.onnx")
    paddable.convert(native, ["x:2=T"], containers=["9"], out=place, shortest=["T=5"])
    assert read_metadata(place).symbols["T"].min == 5
    with pytest.raises(GateFailedError, match=r"`shortest=\['T=2'\]`"):
        paddable.convert(native, ["x:2=T"], containers=["9"], out=place, shortest=["T=1"], force=True)
    with pytest.raises(MisuseError, match=r"a container of 4 steps .* a shortest T of 5 was asked for"):
        paddable.convert(native, ["x:2=T"], containers=["4"], shortest=["T=5"])


@pytest.mark.parametrize("text", ["T", "T=", "=3", "T=0", "T=-2", "T=2.5", "U=3", "T:3"])
def test_another_form_is_misuse(native: Path, text: str) -> None:
    with pytest.raises(MisuseError, match="shortest"):
        paddable.convert(native, ["x:2=T"], containers=["9"], shortest=[text])


HEAD = '<ir_version: 9, opset_import: ["" : 17]> g (float[1, T] x) => (float[1, U] y) '
OTHER_END = {
    # beyond 8 steps the start is negative: native reads one step of the table, spreads it, and answers
    "start = Sub(eight, t) bias = Slice(w, start, eight, first) y = Add(x, bias)": (1, 8, "9"),
    # below 8 steps the start is negative, and native reads as many of the last ones
    "start = Sub(t, eight) y = Slice(x, start, t, axis)": (8, None, "1 to 7"),
    "half = Div(t, two) start = Sub(half, four) y = Slice(x, start, t, axis)": (8, None, "1 to 7"),
    # the stop is negative below 5 steps; native answers with 1 step of 3 and 3 of 4, and 0 of the others
    "stop = Sub(t, five) y = Slice(x, first, stop, axis)": (6, None, "3 to 4"),
}


@pytest.mark.parametrize("body", OTHER_END)
def test_a_slice_that_counts_from_the_other_end_is_the_end_of_the_domain(tmp_path: Path, body: str) -> None:
    """Native answers beyond: another question. The domain ends there, and is told with its reason."""
    least, most, beyond = OTHER_END[body]
    text = f"""{HEAD} <int64[1] eight = {{8}}, int64[1] four = {{4}}, int64[1] two = {{2}}, int64[1] five = {{5}},
      int64[1] first = {{0}}, int64[1] axis = {{1}}, float[8] w = {{1, 2, 3, 4, 5, 6, 7, 8}}> {{
      t = Shape<start = 1>(x) {body} }}"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "n.onnx")
    told: list[str] = []
    made = paddable.convert(
        tmp_path / "n.onnx", ["x:1=T"], containers=["8"], out=tmp_path / "p.onnx", on_message=told.append
    )
    symbol = read_metadata(Path(str(made))).symbols["T"]
    assert (symbol.min, symbol.max) == (least, most)
    assert least == 1 or "must not change its sign" in told[0]
    assert [line for line in told if f"T={beyond}: native reads from the other end of an axis" in line], told


def test_a_length_that_the_optimiser_changes_is_judged_without_it(tmp_path: Path) -> None:
    """A Gather by a Range that falls to 0 becomes a Slice that ends at -1, which reads nothing."""
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[1, T, 2] x) => (float[1, U, 2] y)
      <int64 time = {1}, int64 one = {1}, int64 back = {-1}> {
        s = Shape(x) n = Gather(s, time) l = Sub(n, one) r = Range(l, back, back) y = Gather<axis = 1>(x, r) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "n.onnx")
    said: list[str] = []
    paddable.convert(tmp_path / "n.onnx", ["x:1=T"], containers=["5"], out=tmp_path / "p.onnx", on_message=said.append)
    assert said == ["T=1: ONNX Runtime's optimiser changes the length of y; native is judged without it"]
