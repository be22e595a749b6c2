"""No file is moved or deleted while this process has it open or mapped: Windows refuses both, Linux does not."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import paddable
from paddable.api import exporting_streams
from paddable.errors import MisuseError, PaddableError
from paddable.graph.io import scratch

GLU = """<ir_version: 9, opset_import: ["" : 18]>
    g (float[1, 4, T] x) => (float[1, 2, T] y) {
        p, q = Split<axis = 1, num_outputs = 2>(x)
        s = Sigmoid(q)
        y = Mul(p, s)
    }"""


def held(path: str) -> list[str]:
    """Files at or under a path that this process has open or mapped."""
    inside = [line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines()]
    for number in os.listdir("/proc/self/fd"):
        try:
            inside.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:  # the one that listed them
            continue
    return [name for name in inside if name == path or name.startswith(path + os.sep)]


@pytest.fixture(autouse=True, scope="module")
def little_to_walk_over() -> None:
    """Whatever else this process has imported is left out where Windows' ways look for graphs that nobody uses."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was moved or deleted while it was held; as on Windows, but without the error."""
    monkeypatch.setattr(scratch, "_MAPS_LOCK", True)
    found: list[str] = []
    for name in ("rename", "replace", "unlink"):
        plain = getattr(os, name)

        def watched(path: Any, *more: Any, plain: Any = plain, name: str = name, dir_fd: int | None = None) -> None:
            full = os.fspath(path) if dir_fd is None else os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), path)
            found.extend(f"{name} {file}" for file in held(full))
            plain(path, *more) if dir_fd is None else plain(path, *more, dir_fd=dir_fd)

        monkeypatch.setattr(os, name, watched)
    return found


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what is open is read from Linux's /proc")
@pytest.mark.parametrize("out", ["padded.onnx", "padded"])
@pytest.mark.parametrize("settings", [{}, {"precision": "fp16"}, {"target": "directml"}], ids=str)
def test_convert_and_verify(tmp_path: Path, strict: list[str], out: str, settings: dict[str, str]) -> None:
    native = tmp_path / "native.onnx"
    onnx.save(onnx.parser.parse_model(GLU), native)
    for force in (False, True):
        paddable.convert(
            native, ["x:2=T"], containers=[12], out=tmp_path / out, gate_lengths=4, force=force, **settings
        )
    paddable.verify(tmp_path / out, native)
    assert strict == []


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what is open is read from Linux's /proc")
def test_fixes_of_lint(tmp_path: Path, strict: list[str]) -> None:
    native = tmp_path / "native.onnx"
    onnx.save(onnx.parser.parse_model(GLU.replace("T]", "8]")), native)
    report = paddable.lint(native, target="directml", fix=True, out=tmp_path / "fixed.onnx")
    assert report.fixed and strict == []


@pytest.mark.parametrize("code", [5, 32, 1224])
def test_a_file_that_another_program_has_open_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    class Held(PermissionError):
        winerror = code

    def replace(*_: object) -> None:
        raise Held(13, "it is being used by another process")

    native, out = tmp_path / "native.onnx", tmp_path / "padded.onnx"
    onnx.save(onnx.parser.parse_model(GLU), native)
    out.write_bytes(b"as it was")
    plain = os.replace
    monkeypatch.setattr(os, "replace", lambda one, two: replace() if Path(two) == out else plain(one, two))
    with pytest.raises(MisuseError, match="cannot be replaced: it is being used") as caught:
        paddable.convert(native, ["x:2=T"], containers=[12], out=out, verify=False, force=True)
    assert "close what uses it" in str(caught.value) and out.read_bytes() == b"as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["native.onnx", "padded.onnx"]


def test_step_graphs_are_opened_by_names_that_the_code_page_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = onnxruntime.InferenceSession

    def western(model: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(model, bytes) and not str(model).isascii():
            raise RuntimeError("[ONNXRuntimeError] : 3 : NO_SUCHFILE : Load model from ??.onnx failed")
        return create(model, *args, **kwargs)

    monkeypatch.setattr(onnxruntime, "InferenceSession", western)
    monkeypatch.setattr(exporting_streams, "StepGraph", lambda session: session)
    path = tmp_path / "声音.onnx"
    onnx.save(onnx.parser.parse_model(GLU), path)
    assert exporting_streams._stream(path, {}).get_outputs()[0].name == "y"


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what is open is read from Linux's /proc")
def test_nothing_stays_open_where_that_would_lock_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_MAPS_LOCK", True)
    model = onnx.parser.parse_model(GLU)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((4, 5000), np.float32), "unread"))
    model.graph.output.append(onnx.helper.make_tensor_value_info("unread", onnx.TensorProto.FLOAT, [4, 5000]))
    native, bundle = tmp_path / "native.onnx", tmp_path / "bundle"
    onnx.save(model, native)
    gc.disable()
    try:
        paddable.check(native, ["x:2=T"])
        paddable.convert(native, ["x:2=T"], containers=[12], out=bundle, gate_lengths=4)
        paddable.verify(bundle)
        (bundle / "native.onnx").write_bytes(b"damaged")
        with pytest.raises(PaddableError):
            paddable.verify(bundle)
        with pytest.raises(PaddableError):
            paddable.convert(native, ["x:1=T"], containers=[12], out=tmp_path / "other.onnx", gate_lengths=4)
        assert held(str(tmp_path)) == []
    finally:
        gc.enable()
