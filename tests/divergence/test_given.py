"""What is given to hear is heard whole or refused by name: never dropped, cast or drawn in silence."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

import paddable
from paddable.errors import MisuseError, PaddableError

from . import planted

X = np.ones((1, 12, planted.WIDTH), np.float32)
NAN, INFINITE = X.copy(), X.copy()
NAN[0, 3, 2], INFINITE[0, 4, 1] = np.nan, np.inf

TWO = """
<ir_version: 9, opset_import: ["" : 18]>
g (float[B, T, 4] x, int64[U] ids, float[B, 4] h) => (float[B, T, 4] y, float[U, 4] z) <float[6, 4] table> {
    s = Mul (x, x)
    y = Add (s, x)
    e = Gather (table, ids)
    z = Add (e, h)
}
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of three inputs."""
    model = onnx.parser.parse_model(TWO)
    table = np.arange(24, dtype=np.float32).reshape(6, 4)
    del model.graph.initializer[:]
    model.graph.initializer.append(onnx.numpy_helper.from_array(table, "table"))
    place = tmp_path_factory.mktemp("two") / "two.onnx"
    onnx.save(model, place)
    return place


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"x": X[0]}, r"input 'x' of A \(native.onnx\): it has 3 axes and the array 2"),
        ({"x": X[:, :, :5]}, "axis 2 is 8 and the array's is 5"),
        ({"x": np.repeat(X, 2, 0)}, "axis 0 is 1 and the array's is 2|the array has 2 rows"),
        ({"x": X.astype(np.int64)}, "takes float32 and the array is int64"),
        ({"x": X.astype(np.float64)}, r"takes float32 and the array is float64; convert it: x.astype\(np.float32\)"),
        ({"x": NAN}, r"the number at \[0, 3, 2\] is nan"),
        ({"x": INFINITE}, r"the number at \[0, 4, 1\] is inf"),
        ({"x": X, "foo": X}, "neither graph has an input 'foo'"),
        ({"foo": X}, "neither graph has an input 'foo'"),
        ({}, "it holds no array"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_name(
    folder: Path, tmp_path: Path, arrays: dict[str, Any], told: str
) -> None:
    native = folder / "native.onnx"
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(MisuseError, match=told):
        paddable.probe(native, native, ["x:1=T"], inputs=tmp_path / "x.npz")


def test_an_input_without_an_array_is_refused(two: Path) -> None:
    x = np.ones((1, 3, 4), np.float32)
    with pytest.raises(MisuseError, match="no array for input 'ids' of A"):
        paddable.probe(two, two, ["x:1=T"], inputs={"x": x})


def test_what_the_runtime_says_of_a_run_names_it(two: Path) -> None:
    x, h = np.ones((1, 3, 4), np.float32), np.ones((1, 4), np.float32)
    with pytest.raises(PaddableError, match=r"^[AB] \(two.onnx\): onnxruntime"):
        paddable.probe(two, two, inputs={"x": x, "ids": np.array([99]), "h": h})


@pytest.mark.parametrize(
    ("steps", "options"),
    [(12, {"at": 16}), (12, {"at": 16, "container": 20})],
)
def test_no_more_steps_than_the_input_has(folder: Path, steps: int, options: dict[str, Any]) -> None:
    native = folder / "native.onnx"
    x = np.ones((1, steps, planted.WIDTH), np.float32)
    with pytest.raises(MisuseError, match="the input has 12 steps and 16 are asked for"):
        paddable.probe(native, native, ["x:1=T"], inputs={"x": x}, **options)


def test_one_array_for_the_only_input(folder: Path, two: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    report = paddable.probe(folder / "padded.onnx", folder / "native.onnx", inputs=tmp_path / "x.npy")
    assert report.ok and report.steps == {"T": 12}
    with pytest.raises(MisuseError, match="one array for 3 inputs"):
        paddable.probe(two, two, inputs=tmp_path / "x.npy")


@pytest.mark.parametrize("content", [b"PK\x03\x04 cut short", b"\x93NUMPY junk", b"", b"junk"])
def test_a_file_that_is_no_array_says_so(folder: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(PaddableError, match=r"damaged|neither a sound nor") as error:
        paddable.probe(folder / "padded.onnx", folder / "native.onnx", inputs=tmp_path / "x.npz")
    assert "pickle" not in str(error.value)


def test_objects_are_not_read(folder: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.array([{}], object))
    with pytest.raises(PaddableError, match="Python objects") as error:
        paddable.probe(folder / "padded.onnx", folder / "native.onnx", inputs=tmp_path / "x.npz")
    assert "pickle" not in str(error.value)


@pytest.mark.parametrize("tolerance", [0, -1.0, float("nan"), float("inf")])
def test_a_tolerance_is_above_zero(folder: Path, tolerance: float) -> None:
    with pytest.raises(MisuseError, match="is no tolerance"):
        paddable.probe(folder / "padded.onnx", folder / "native.onnx", tolerance=tolerance)


@pytest.mark.parametrize("options", [{"at": 9}, {"container": 20}])
def test_steps_of_nothing_are_refused(folder: Path, options: dict[str, Any]) -> None:
    native = folder / "native.onnx"
    with pytest.raises(MisuseError, match="an axis that nothing declares"):
        paddable.probe(native, native, **options)


def test_a_sound_finds_the_only_input(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    pytest.importorskip("soxr")
    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[1, T] x) => (float[1, T] y) { y = Mul (x, x) }'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    soundfile.write(tmp_path / "x.wav", np.full(4000, 0.1, np.float32), 8000)
    model, sound = tmp_path / "m.onnx", tmp_path / "x.wav"
    report = paddable.probe(model, model, inputs=sound)
    assert report.ok
    assert "8,000 samples a second and was resampled to 16,000" in report.notes[0]
    report = paddable.probe(model, model, ["x:1=T"], inputs=sound, rate=8000)
    assert report.steps == {"T": 4000} and not report.notes


def test_a_length_that_only_the_first_graph_takes(tmp_path: Path) -> None:
    head = '<ir_version: 9, opset_import: ["" : 18]> g '
    native = head + "(float[1, T] x) => (float[1, T] y) { y = Mul (x, x) }"
    other = (
        head
        + "(float[1, T] x, int64[1] n) => (float[1, T] y) "
        + "{ z = Sub (n, n) f = Cast <to = 1> (z) s = Add (x, f) y = Mul (s, s) }"
    )
    for name, text in (("native", native), ("other", other)):
        onnx.save(onnx.parser.parse_model(text), tmp_path / f"{name}.onnx")
    both = tmp_path / "other.onnx", tmp_path / "native.onnx"
    with pytest.raises(MisuseError, match="nothing says what this input is fed"):
        paddable.probe(*both, ["x:1=T"])
    assert paddable.probe(*both, ["x:1=T"], length_inputs=["n=T"]).ok


def test_symbols_of_one_axis_are_one_whatever_their_names(folder: Path, tmp_path: Path) -> None:
    native = folder / "native.onnx"
    for symbol in "ST":
        declared, out = [f"x:1={symbol}"], tmp_path / f"{symbol}.onnx"
        paddable.convert(native, declared, containers=[30 if symbol == "S" else 40], out=out, verify=False)
    for first, second in ("ST", "TS"):
        report = paddable.probe(tmp_path / f"{first}.onnx", tmp_path / f"{second}.onnx", at=17)
        assert report.ok and report.steps == {first: 17}, report.verdict
        assert report.containers == ({first: 30 if first == "S" else 40}, {first: 40 if first == "S" else 30})


def test_graphs_converted_along_other_axes_are_refused(tmp_path: Path) -> None:
    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[1, S, T] x) => (float[1, S, T] y) { y = Relu (x) }'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    for axis in (1, 2):
        declared = [f"x:{axis}=T"]
        bind = [f"x:{3 - axis}=4"]
        paddable.convert(tmp_path / "m.onnx", declared, bindings=bind, containers=[8], out=tmp_path / f"{axis}.onnx")
    with pytest.raises(MisuseError, match="converted along other axes"):
        paddable.probe(tmp_path / "1.onnx", tmp_path / "2.onnx")


def test_a_length_that_contradicts_the_features_is_refused(folder: Path) -> None:
    both = folder / "padded.onnx", folder / "native.onnx"
    assert paddable.probe(*both, inputs={"x": X, "ilens": np.array([12])}).steps == {"T": 12}
    with pytest.raises(MisuseError, match="input 'ilens': the array says 9 and the run has 12; it holds the length T"):
        paddable.probe(*both, inputs={"x": X, "ilens": np.array([9])})
    with pytest.raises(MisuseError, match="the array says 12 and the run has 5"):
        paddable.probe(*both, inputs={"x": X, "ilens": np.array([12])}, at=5)


def test_integers_of_another_width_are_refused(two: Path) -> None:
    given = {"x": np.ones((1, 3, 4), np.float32), "h": np.ones((1, 4), np.float32)}
    with pytest.raises(MisuseError, match=r"takes int64 and the array is int32; convert it: ids\.astype"):
        paddable.probe(two, two, inputs={**given, "ids": np.array([2], np.int32)})


def test_one_array_for_two_precisions(folder: Path, tmp_path: Path) -> None:
    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[1, T] x) => (float[1, T] y) { y = Relu (x) }'
    for name, kind in (("single", "float"), ("half", "float16")):
        onnx.save(onnx.parser.parse_model(text.replace("float[", f"{kind}[")), tmp_path / f"{name}.onnx")
    for dtype in (np.float32, np.float16):
        x = np.ones((1, 9), dtype)
        assert paddable.probe(tmp_path / "single.onnx", tmp_path / "half.onnx", ["x:1=T"], inputs={"x": x}).ok


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, native: onnx.ModelProto) -> Path:
    """A bundle of two containers."""
    place = tmp_path_factory.mktemp("bundle")
    onnx.save(native, place / "native.onnx")
    made = place / "one"
    paddable.convert(place / "native.onnx", ["x:1=T"], containers=[20, 40], out=made, verify=False)
    return made


@pytest.mark.parametrize(("steps", "taken"), [(12, 20), (20, 20), (21, 40), (40, 40)])
def test_the_smallest_container_that_holds_what_is_heard_is_taken(bundle: Path, steps: int, taken: int) -> None:
    x = np.random.default_rng(0).standard_normal((1, steps, planted.WIDTH)).astype(np.float32)
    report = paddable.probe(bundle, inputs={"x": x})
    assert report.ok and report.steps == {"T": steps} and report.containers[0] == {"T": taken}


@pytest.mark.parametrize("heard", [False, True])
def test_more_than_the_largest_container_holds(bundle: Path, heard: bool) -> None:
    given: dict[str, Any] = {"inputs": {"x": np.ones((1, 41, planted.WIDTH), np.float32)}} if heard else {"at": 41}
    told = "T = 41 does not fit the largest container of T = 40; .* convert it again with a larger container"
    with pytest.raises(MisuseError, match=told):
        paddable.probe(bundle, **given)


def test_two_bundles_are_told_apart_by_their_folders(bundle: Path) -> None:
    other = bundle.with_name("two")
    if not other.exists():
        shutil.copytree(bundle, other)
    report = paddable.probe(bundle, other)
    assert [title.split("/")[0] for title in (report.one, report.other)] == ["one", "two"]
    assert report.one.removeprefix("one/") == report.other.removeprefix("two/")
