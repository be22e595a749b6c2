"""``paddable probe``: what it accepts, what it tells, and what it writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import paddable
from paddable.cli import main
from paddable.errors import MisuseError, UnreadableError

from . import planted


def test_a_padded_file_against_native(folder: Path) -> None:
    report = paddable.probe(folder / "padded.onnx", folder / "native.onnx", at=planted.LENGTH)
    assert report.ok, report.verdict
    assert report.steps == {"T": planted.LENGTH}
    assert report.containers == ({"T": planted.CONTAINER}, {"T": planted.LENGTH})


def test_native_against_a_padded_file(folder: Path) -> None:
    assert paddable.probe(folder / "native.onnx", folder / "padded.onnx").ok


def test_zero_padding_of_native_parts_at_the_first_leak(folder: Path) -> None:
    native = folder / "native.onnx"
    report = paddable.probe(native, native, ["x:1=T"], container=planted.CONTAINER, at=planted.LENGTH)
    assert report.fork is not None
    assert (report.fork.op, report.fork.node, report.fork.cause.code) == ("Softmax", "block.0/softmax", "PAD103")


def test_two_containers_and_two_precisions(folder: Path, tmp_path: Path) -> None:
    native = folder / "native.onnx"
    for steps, precision in ((30, "fp32"), (40, "fp16")):
        out = tmp_path / f"{steps}.onnx"
        paddable.convert(native, ["x:1=T"], containers=[steps], out=out, precision=precision, verify=False)
    assert paddable.probe(tmp_path / "30.onnx", folder / "padded.onnx").ok
    report = paddable.probe(tmp_path / "40.onnx", folder / "padded.onnx")
    assert report.ok, report.verdict
    assert report.tolerance == 3e-2
    assert report.matched["compared values"] > 100


def test_a_bundle_knows_its_native(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "bundle"
    paddable.convert(folder / "native.onnx", ["x:1=T"], containers=[20, 40], out=out, verify=False)
    assert paddable.probe(out).containers[0] == {"T": 20}
    assert paddable.probe(out, at=25).containers[0] == {"T": 40}
    assert paddable.probe(out, container=40).containers[0] == {"T": 40}
    first, second = (next(out.glob(f"*-{steps}.onnx")) for steps in (20, 40))
    report = paddable.probe(first, second)
    assert report.ok, report.verdict


def test_another_model_is_told_first(folder: Path, tmp_path: Path, native: onnx.ModelProto) -> None:
    other = onnx.ModelProto()
    other.CopyFrom(native)
    rng = np.random.default_rng(99)
    for tensor in other.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        if array.dtype == np.float32 and array.size > 8:
            tensor.CopyFrom(
                onnx.numpy_helper.from_array(rng.standard_normal(array.shape).astype(np.float32), tensor.name)
            )
    onnx.save(other, tmp_path / "other.onnx")
    report = paddable.probe(tmp_path / "other.onnx", folder / "native.onnx", ["x:1=T"])
    assert not report.ok
    assert report.verdict.startswith("The weights differ: ")


def test_one_checkpoint_that_is_stored_in_halves_agrees(folder: Path, tmp_path: Path, native: onnx.ModelProto) -> None:
    other = onnx.ModelProto()
    other.CopyFrom(native)
    for tensor in list(other.graph.initializer):
        array = onnx.numpy_helper.to_array(tensor)
        if array.dtype != np.float32 or array.size <= 8 or len(array) < 2:
            continue
        name, halves = tensor.name, np.array_split(array, 2)
        names = [f"{name}_{number}" for number in range(2)]
        other.graph.initializer.remove(tensor)
        other.graph.initializer.extend(map(onnx.numpy_helper.from_array, halves, names))
        other.graph.node.insert(0, onnx.helper.make_node("Concat", names, [name], axis=0))
    onnx.save(other, tmp_path / "halves.onnx")
    report = paddable.probe(tmp_path / "halves.onnx", folder / "native.onnx", ["x:1=T"])
    assert report.ok and "differ" not in report.verdict, report.verdict


def test_arrays_are_heard(folder: Path, tmp_path: Path) -> None:
    x = np.ones((1, 12, planted.WIDTH), np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    report = paddable.probe(folder / "padded.onnx", folder / "native.onnx", inputs=tmp_path / "x.npz")
    assert report.steps == {"T": 12}
    assert report.ok, report.verdict


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"at": 41}, "does not fit"),
        ({"lengths": ["x:1=T"]}, "declares what the padded file says itself"),
    ],
)
def test_what_does_not_fit_is_misuse(folder: Path, options: dict[str, Any], told: str) -> None:
    with pytest.raises(MisuseError, match=told):
        paddable.probe(folder / "padded.onnx", folder / "native.onnx", **options)


def test_nothing_to_compare_with(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="nothing to compare with"):
        paddable.probe(folder / "padded.onnx")
    with pytest.raises(UnreadableError, match="no such file"):
        paddable.probe(tmp_path / "none.onnx", folder / "native.onnx")


def test_the_case_shows_the_fault_alone(folder: Path, tmp_path: Path, padded: onnx.ModelProto) -> None:
    onnx.save(planted.unmasked(padded, "block.4/memory"), tmp_path / "faulty.onnx")
    case = tmp_path / "case"
    report = paddable.probe(tmp_path / "faulty.onnx", folder / "native.onnx", isolate=case)
    assert report.fork is not None and report.isolated == str(case)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ran = subprocess.run([sys.executable, str(case / "run.py")], cwd=elsewhere, capture_output=True, text=True)
    assert ran.returncode == 1, ran.stderr
    assert f"error relative to scale: {report.fork.error:.3}"[:28] in ran.stdout
    source = (case / "run.py").read_text()
    assert len(source.splitlines()) <= 12
    assert {line.split()[1] for line in source.splitlines() if line.startswith("import")} == {"numpy", "onnxruntime"}
    assert [node.op_type for node in onnx.load(case / "case.onnx").graph.node] == ["Conv"]
    with pytest.raises(MisuseError):
        paddable.probe(tmp_path / "faulty.onnx", folder / "native.onnx", isolate=case)


def test_the_command(folder: Path, tmp_path: Path, padded: onnx.ModelProto, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(planted.unmasked(padded, "block.4/memory"), tmp_path / "faulty.onnx")
    words = ["probe", str(tmp_path / "faulty.onnx"), "--against", str(folder / "native.onnx")]
    page = tmp_path / "page.html"
    assert main([*words, "--report", str(page)]) == 1
    told = capsys.readouterr().out
    assert told.startswith("The runs part at Conv block.4/memory: error ")
    assert "PAD102" in told.splitlines()[0]
    assert "block.4/memory" in page.read_text(encoding="utf-8")
    assert main([*words, "--json"]) == 1
    payload = json.loads(capsys.readouterr().out)
    assert payload["fork"]["cause"]["code"] == "PAD102"
    assert main(["probe", str(folder / "padded.onnx"), "--against", str(folder / "native.onnx")]) == 0
    assert main(["probe", str(folder / "padded.onnx")]) == 2


def test_a_failing_assertion_names_the_fork_and_its_page(folder: Path, tmp_path: Path, padded: onnx.ModelProto) -> None:
    from paddable.testing import assert_padding_invariant

    faulty = planted.unmasked(padded, "block.4/memory")
    with pytest.raises(AssertionError) as error:
        assert_padding_invariant(faulty, folder / "native.onnx", report=tmp_path / "why.html")
    assert "the runs part at Conv block.4/memory" in str(error.value)
    assert f"the report is {tmp_path / 'why.html'}" in str(error.value)
    assert "Not passed" in (tmp_path / "why.html").read_text(encoding="utf-8")
