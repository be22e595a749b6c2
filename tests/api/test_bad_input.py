"""Bad input through the command line: one line that says what to do, the right exit code, and nothing written."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper

from paddable.graph.io.write import _write_file
from paddable.padding.analysis import Analysis
from paddable.padding.rewrite.rewrite import rewrite

from .conftest import Run, network

PARSE = '<ir_version: 9, opset_import: ["" : 17]> '


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def refused(paddable: Run, folder: Path, words: list[object], code: int, *said: str) -> None:
    """The command fails as stated and leaves the folder as it was."""
    before = files(folder)
    result = paddable(*words)
    assert result.code == code, result
    assert len(result.err.strip().splitlines()) == 1, result.err
    assert "internal error" not in result.err and "Traceback" not in result.err
    for text in said:
        assert text in result.err + result.out
    assert files(folder) == before


def converting(path: Path, *more: object, length: str = "x:2=T", container: object = 16) -> list[object]:
    return ["convert", path, "-o", path.parent / "out.onnx", "--length", length, "--container", container, *more]


@pytest.mark.parametrize(
    ("length", "said"),
    [
        ("z:2=T", "--length x:2="),
        ("x:7=T", "its axes are 0 to 2"),
        ("x:1=T", "fixed"),
        ("x=T", "x"),
        ("x:2=3T", "T"),
    ],
)
def test_a_declaration_that_does_not_fit(paddable: Run, native: Path, length: str, said: str) -> None:
    refused(paddable, native.parent, converting(native, length=length), 2, said)


def test_two_declarations_of_one_axis(paddable: Run, native: Path) -> None:
    words = [*converting(native), "--length", "x:-1=2*T"]
    refused(paddable, native.parent, words, 2, "axis 2 of x is declared as T and as 2*T")


def test_no_declaration_lists_the_dynamic_axes(paddable: Run, native: Path) -> None:
    for words in (["check", native], ["convert", native, "-o", native.parent / "o.onnx", "--container", 9]):
        refused(paddable, native.parent, words, 2, "--length x:2=T")


def test_containers_that_do_not_fit(paddable: Run, native: Path) -> None:
    for container in (0, -5, 2**31, "2s", "U=7", "many"):
        refused(paddable, native.parent, converting(native, container=container), 2)
    refused(paddable, native.parent, converting(native)[:-2], 2, "--container")


def test_a_container_below_the_shortest_length(paddable: Run, tmp_path: Path) -> None:
    model = network()
    model.graph.node[0].attribute[1].ints[:] = [0, 0]
    onnx.save(model, tmp_path / "n.onnx")
    refused(paddable, tmp_path, converting(tmp_path / "n.onnx", container=2), 2, "3")


def _text(path: Path) -> None:
    path.write_text("this is no model")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _truncated(path: Path) -> None:
    whole = network().SerializeToString()
    path.write_bytes(whole[: len(whole) // 2])


def _missing(path: Path) -> None:
    pass


def _directory(path: Path) -> None:
    path.mkdir()


def _without_external_data(path: Path) -> None:
    onnx.save(network(), path, save_as_external_data=True, location="weights.data", size_threshold=0)
    (path.parent / "weights.data").unlink()


@pytest.mark.parametrize("make", [_text, _empty, _truncated, _missing, _directory, _without_external_data])
@pytest.mark.parametrize("command", ["check", "convert", "lint", "inspect"])
def test_what_is_no_model(paddable: Run, tmp_path: Path, make: Callable[[Path], None], command: str) -> None:
    path = tmp_path / "bad.onnx"
    make(path)
    words = converting(path) if command == "convert" else [command, path]
    if command == "check":
        words += ["--length", "x:2=T"]
    refused(paddable, tmp_path, words, 2, "weights.data" if make is _without_external_data else "bad.onnx")


def test_an_opset_that_is_too_old(paddable: Run, tmp_path: Path) -> None:
    text = """<ir_version: 4, opset_import: ["" : 6]> g (float[1, 4, T] x, float[4] s) => (float[1, 4, T] y) {
      y = Add<broadcast = 1, axis = 1>(x, s)
    }"""  # ONNX's version converter has no way for a size that varies
    onnx.save(onnx.parser.parse_model(text), tmp_path / "bad.onnx")
    refused(paddable, tmp_path, converting(tmp_path / "bad.onnx"), 1, "bad.onnx", "opset_version=18")


def test_a_custom_operator_is_refused_by_name(paddable: Run, tmp_path: Path) -> None:
    model = network()
    model.opset_import.append(helper.make_opsetid("my.domain", 1))
    model.graph.node[0].output[0] = "before"
    model.graph.node.append(helper.make_node("Mystery", ["before"], ["y"], name="odd", domain="my.domain"))
    onnx.save(model, tmp_path / "n.onnx")
    refused(paddable, tmp_path, converting(tmp_path / "n.onnx"), 1, "odd", "Mystery")


def test_a_data_dependent_size_is_refused_by_node(paddable: Run, tmp_path: Path) -> None:
    text = PARSE + "g (float[1, T] x) => (int64[2, N] y) {y = NonZero(x)}"
    model = onnx.parser.parse_model(text)
    model.graph.node[0].name = "count"
    onnx.save(model, tmp_path / "n.onnx")
    refused(paddable, tmp_path, converting(tmp_path / "n.onnx", length="x:1=T"), 1, "PAD190", "count")


def test_weights_that_are_not_a_number(paddable: Run, tmp_path: Path) -> None:
    """Native itself answers NaN, so no comparison with it says anything: it is refused before any is made."""
    onnx.save(network(bias=float("nan")), tmp_path / "n.onnx")
    result = paddable(*converting(tmp_path / "n.onnx"))
    assert result.code == 1
    assert "look for NaN in its weights" in result.err and len(result.err.splitlines()) == 1
    assert files(tmp_path) == {"n.onnx"}


def test_a_dimension_of_size_zero(paddable: Run, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(PARSE + "g (float[1, 0, T] x) => (float[1, 0, T] y) {y = Relu(x)}")
    onnx.save(model, tmp_path / "n.onnx")
    result = paddable(*converting(tmp_path / "n.onnx"))
    assert result.code in (1, 2)
    assert "internal error" not in result.err


def test_what_is_there_already_stays(paddable: Run, native: Path) -> None:
    out = native.parent / "out.onnx"
    out.write_text("mine")
    refused(paddable, native.parent, converting(native), 2, "--force")
    assert out.read_text() == "mine"
    assert paddable(*converting(native, "--force")).code == 0
    folder = native.parent / "bundle"
    folder.mkdir()
    (folder / "mine").write_text("mine")
    words = ["convert", native, "-o", folder, "--length", "x:2=T", "--containers", "8,16"]
    refused(paddable, native.parent, words, 2, "--force")
    assert (folder / "mine").read_text() == "mine"


def full_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full when the ``count``-th model file is written, or when the result is stamped."""
    calls = 0

    def write(*args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > count:
            raise OSError(errno.ENOSPC, "No space left on device", "a temporary name")
        _write_file(*args)

    def stamp(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "a temporary name")

    monkeypatch.setattr("paddable.graph.io.write._write_file", write)
    monkeypatch.setattr("paddable.api.converting.append_metadata", stamp)


@pytest.mark.parametrize("count", [0, 1, 9])
@pytest.mark.parametrize("place", ["out.onnx", "bundle"])
def test_a_full_disk(paddable: Run, native: Path, monkeypatch: pytest.MonkeyPatch, count: int, place: str) -> None:
    full_after(count, monkeypatch)
    words = ["convert", native, "-o", native.parent / place, "--length", "x:2=T", "--container", 16]
    said = f"error: {native.parent / place}: it cannot be written: No space left on device"
    refused(paddable, native.parent, words, 2, said, "free some space")


@pytest.mark.parametrize("place", ["out.onnx", "bundle"])
def test_the_reason_is_told_where_a_weight_does_not_fit(paddable: Run, native: Path, place: str) -> None:
    """A limit on the size of files refuses in the same place, and by the same calls, as a full disk."""
    resource = pytest.importorskip("resource")
    model = onnx.load(native)
    model.graph.initializer.append(numpy_helper.from_array(np.ones((700, 700), np.float32), "large"))
    model.graph.node.add(op_type="Neg", input=["large"], output=["lost"])
    model.graph.output.append(helper.make_tensor_value_info("lost", onnx.TensorProto.FLOAT, [700, 700]))
    onnx.save(model, native)
    words = ["convert", native, "-o", native.parent / place, "--length", "x:2=T", "--container", 16, "--no-verify"]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        said = f"{place}: it cannot be written: File too large; nothing was written; free some space"
        refused(paddable, native.parent, words, 2, said)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("place", ["native.onnx/out.onnx", "native.onnx/deeper/out.onnx", "native.onnx/bundle"])
def test_a_place_below_a_file(paddable: Run, native: Path, place: str) -> None:
    words = ["convert", native, "-o", native.parent / place, "--length", "x:2=T", "--container", 16]
    refused(paddable, native.parent, words, 2, f"{place}: the parent is not a directory; choose another place")


def test_names_beyond_ascii(paddable: Run, tmp_path: Path) -> None:
    folder = tmp_path / "Modèles ümlaut 模型"
    folder.mkdir()
    onnx.save(network(), folder / "größe [1].onnx")
    assert paddable(*converting(folder / "größe [1].onnx")).code == 0
    assert (folder / "out.onnx").exists()


def test_a_padded_file_is_not_padded_again(paddable: Run, native: Path) -> None:
    assert paddable("convert", native, "-o", native.parent / "p.onnx", "--length", "x:2=T", "--keep-dynamic").code == 0
    refused(
        paddable, native.parent, converting(native.parent / "p.onnx"), 2, "padded already", "--length-input ilens=T"
    )
    again = ["--length", "x:2=T", "--length-input", "ilens=T"]
    assert paddable("check", native.parent / "p.onnx", *again).code == 0


def test_a_failing_gate_leaves_the_report_and_no_model(
    paddable: Run, native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaky(analysis: Analysis, container: Mapping[str, int] | None) -> onnx_ir.Model:
        return rewrite(analysis, container, leave_out=[r for site in analysis.sites for r in site.remedies])

    monkeypatch.setattr("paddable.api.building.rewrite", leaky)
    result = paddable(*converting(native))
    assert result.code == 1
    assert "gate C" in result.err and "out.onnx.report.json" in result.err
    assert files(native.parent) == {"native.onnx", "out.onnx.report.json"}


def test_lengths_outside_the_contract_at_run_time(paddable: Run, native: Path) -> None:
    out = native.parent / "out.onnx"
    assert paddable(*converting(native)).code == 0
    session = ort.InferenceSession(out, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).normal(size=(1, 4, 16)).astype(np.float32)

    def run(held: int) -> tuple[np.ndarray, int]:
        y, length = session.run(None, {"x": x, "ilens": np.array([held])})
        return y, int(length[0])

    for held in (0, -7):
        y, length = run(held)
        assert length == 0 and not y.any()
    (above, length), (full, _) = run(99), run(16)
    assert length == 16 and np.array_equal(above, full)
    assert numpy_helper.to_array(onnx.load(out).graph.initializer[0]).size


ATTENTION = """g (float[1,T,4] x) => (float[1,T,4] y) {
    t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (x, t) w = Softmax <axis = -1> (s) y = MatMul (w, x) }"""


def parsed(folder: Path, text: str) -> Path:
    path = folder / "n.onnx"
    onnx.save(onnx.parser.parse_model(PARSE + text), path)
    return path


def test_a_container_of_too_many_elements(paddable: Run, tmp_path: Path) -> None:
    path = parsed(tmp_path, ATTENTION)
    words = converting(path, length="x:1=T", container=100_000)
    refused(paddable, tmp_path, words, 2, "T=100000, value s", "10,000,000,000 elements")


def test_a_container_beyond_this_machine(paddable: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddable.api.room._memory", lambda: 1 << 20)
    words = converting(parsed(tmp_path, ATTENTION), length="x:1=T", container=1000)
    refused(paddable, tmp_path, words, 2, "value s", "--no-verify")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no file system that refuses every file")
@pytest.mark.parametrize("place", ["/proc/x.onnx", "/proc/x/", "/proc/none/x.onnx"])
def test_a_place_that_cannot_be_written(paddable: Run, native: Path, place: str) -> None:
    words = ["convert", native, "-o", place, "--length", "x:2=T", "--container", 16]
    refused(paddable, native.parent, words, 2, f"error: {place.rstrip('/')}: it cannot be written", "another place")


def test_native_without_a_kernel(paddable: Run, tmp_path: Path) -> None:
    path = parsed(
        tmp_path,
        """g (double[1,4,T] x) => (double[1,4,T] y) <double[4] s = {1, 1, 1, 1}, double[4] b = {0, 0, 0, 0}> {
           y = InstanceNormalization (x, s, b) }""",
    )  # fmt: skip
    refused(paddable, tmp_path, converting(path), 1, "native itself does not run", "--no-verify")


def test_bfloat16_has_no_kernel_and_is_converted_unjudged(paddable: Run, tmp_path: Path) -> None:
    words = converting(parsed(tmp_path, ATTENTION.replace("float[", "bfloat16[")), length="x:1=T")
    refused(paddable, tmp_path, words, 1, "native itself does not run on onnxruntime", "--no-verify")
    assert paddable(*words, "--no-verify").code == 0
    onnx.checker.check_model(onnx.load(tmp_path / "out.onnx"), full_check=True)


def test_an_output_that_is_an_input(paddable: Run, tmp_path: Path) -> None:
    path = parsed(tmp_path, "g (float[1,4,T] x) => (float[1,4,T] y, float[1,4,T] x) { y = Relu (x) }")
    refused(paddable, tmp_path, converting(path), 1, "output x is the input of that name")


@pytest.mark.parametrize("name", ["C:\\models\\out.onnx", "a b.onnx", "模型.onnx"])
def test_a_name_from_another_system(paddable: Run, native: Path, name: str) -> None:
    words = ["convert", native, "-o", native.parent / name, "--length", "x:2=T", "--container", 16]
    assert paddable(*words).code == 0
    assert (native.parent / name).is_file()


def test_a_half_graph_is_judged_by_its_own_noise(paddable: Run, tmp_path: Path) -> None:
    path = parsed(
        tmp_path,
        """g (float16[1,4,T] x) => (float16[1,4,T] y, float16[1,4,1] z)
           <float16[4] s = {1, 2, 3, 1}, float16[4] b = {0, 1, 0, 2}> {
           n = InstanceNormalization (x, s, b) t = Transpose <perm = [0, 2, 1]> (n) a = MatMul (t, n)
           w = Softmax <axis = -1> (a) y = MatMul (n, w) z = ReduceMean <axes = [2]> (y) }""",
    )  # fmt: skip
    assert paddable(*converting(path, container=300)).code == 0


def test_one_input_as_data_and_mask(paddable: Run, native: Path) -> None:
    words = converting(native, "--mask-input", "x:2=T")
    refused(paddable, native.parent, words, 2, "declared with --length and with --mask-input")


def test_lint_exits_with_1_for_an_error_and_with_0_for_a_note(paddable: Run, native: Path) -> None:
    noted = paddable("lint", native)
    assert (noted.code, noted.err) == (0, "1 finding\n") and noted.out.startswith("SIG101 ")
    sized_by_data = parsed(native.parent, "g (float[1, T] x) => (int64[2, N] y) {y = NonZero(x)}")
    broken = paddable("lint", sized_by_data)
    assert broken.code == 1 and broken.out.startswith("SHP104 ")


def test_a_batch_that_stands_in_different_places(paddable: Run, tmp_path: Path) -> None:
    head = "g (float[B, T, 4] a, float[T, B, 4] b) => (float[B, T, 4] y) "
    text = head + "{c = Transpose<perm = [1, 0, 2]>(b) y = Add(a, c)}"
    onnx.save(onnx.parser.parse_model(PARSE + text), tmp_path / "n.onnx")
    words = converting(tmp_path / "n.onnx", "--length", "b:0=T", "--batch-size", 2, length="a:1=T")
    refused(paddable, tmp_path, [*words, "--batch", "a:0"], 2, "axis 1 of input 'b' varies")
    refused(paddable, tmp_path, [*words, "--batch", "a:0,b:0"], 2, "both ragged and the batch")
    refused(paddable, tmp_path, [*words, "--batch", "a:0,b"], 2, "--batch b is not INPUT:AXIS")
    assert paddable(*words, "--batch", "a:0,b:1").code == 0
    assert paddable("verify", tmp_path / "out.onnx", "--against", tmp_path / "n.onnx").code == 0


def test_commands_on_the_directory_of_a_bundle(paddable: Run, native: Path) -> None:
    folder = native.parent / "bundle"
    words = ["convert", native, "-o", f"{folder}/", "--length", "x:2=T", "--containers", "8,16"]
    assert paddable(*words).code == 0
    assert paddable("verify", f"{folder}/").code == 0
    assert "cpu-fp32-16.onnx" in paddable("inspect", f"{folder}/").out
    refused(paddable, native.parent, ["check", f"{folder}/", "--length", "x:2=T"], 2, "name the .onnx file in it")
    refused(paddable, native.parent, ["verify", folder / "cpu-fp32-8.onnx"], 2, "--against NATIVE.onnx")
    refused(paddable, native.parent, words, 2, f"error: {folder}: it exists already", "--force")
    assert paddable(*words, "--force").code == 0


def test_strings(paddable: Run, tmp_path: Path) -> None:
    path = parsed(tmp_path, "g (string[1,T] x) => (string[1,T] y) { y = Identity (x) }")
    refused(paddable, tmp_path, converting(path, length="x:1=T"), 1, "input x: it holds strings", "take their numbers")


def test_an_axis_of_a_scalar(paddable: Run, tmp_path: Path) -> None:
    path = parsed(tmp_path, "g (float[1,T] x, float s) => (float[1,T] y) { y = Mul (x, s) }")
    refused(paddable, tmp_path, converting(path, length="s:0=T"), 2, "rank 0", "a scalar has no axes")


def test_check_of_a_batch_of_rows(paddable: Run, tmp_path: Path) -> None:
    path = parsed(
        tmp_path,
        """g (float[N,T,4] x) => (float[N,T,4] y) <int64[1] zero = {0}, int64[1] one = {1}> {
           first = Slice (x, zero, one, zero) y = Sub (x, first) }""",
    )  # fmt: skip
    assert paddable("check", path, "--length", "x:1=T").code == 0  # one row, as convert has by default
    refused(paddable, tmp_path, ["check", path, "--length", "x:1=T", "--batch-size", 3], 1, "mixes rows")


def test_a_length_input_without_axes(paddable: Run, tmp_path: Path) -> None:
    path = parsed(
        tmp_path,
        """g (float[1,T,4] x, int64 n) => (float[1,T,4] y) {
           f = Cast <to = 1> (n) y = Div (x, f) }""",
    )  # fmt: skip
    assert paddable(*converting(path, length="x:1=T"), "--length-input", "n=T").code == 0


def test_indices_of_a_signal_that_is_shorter_than_the_container(paddable: Run, tmp_path: Path) -> None:
    """A length regulator: native runs only with indices below its own length."""
    path = parsed(
        tmp_path,
        """g (float[1,T,4] x, int64[1,U] i) => (float[1,U,4] y) <int64[1] last = {2}> {
           at = Unsqueeze (i, last) y = GatherND <batch_dims = 1> (x, at) }""",
    )  # fmt: skip
    words = converting(path, length="x:1=T", container="T=20,U=30")
    assert paddable(*words, "--length", "i:1=U").code == 0


def test_a_slice_that_ends_where_no_signal_reaches(paddable: Run, tmp_path: Path) -> None:
    path = parsed(
        tmp_path,
        """g (float[1,T,4] x) => (float[1,1,4] y)
           <int64[1] from = {-1}, int64[1] to = {9999}, int64[1] axis = {1}> { y = Slice (x, from, to, axis) }""",
    )  # fmt: skip
    assert paddable(*converting(path, length="x:1=T")).code == 0
