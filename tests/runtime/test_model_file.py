"""Model files by names that ONNX Runtime cannot open, and files that are let go of."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import paddable
from paddable.errors import UnreadableError
from paddable.gates.engine import Engine
from paddable.runtime.session import model_file

Padded = Callable[..., Path]
X = {"x": np.ones((1, 4), np.float32), "gain": np.ones(1, np.float32)}


@pytest.fixture
def western(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ONNX Runtime that reads paths in code page 1252, as on a Western Windows."""
    create = onnxruntime.InferenceSession

    def open_it(model: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(model, str) and model.encode("cp1252", "replace") != model.encode("cp1252", "ignore"):
            raise RuntimeError("[ONNXRuntimeError] : 3 : NO_SUCHFILE : Load model from ??.onnx failed")
        return create(model, *args, **kwargs)

    monkeypatch.setattr(onnxruntime, "InferenceSession", open_it)


def with_weights_beside(path: Path) -> Path:
    """y = x + w of 1,000 numbers, which lie in a file of their own."""
    path.parent.mkdir(exist_ok=True)
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17]> add (float[1000] x) => (float[1000] y) { y = Add (x, w) }'
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(1000, dtype=np.float32), "w"))
    onnx.save(model, path, save_as_external_data=True, location="weights.data", size_threshold=0)
    return path


@pytest.mark.parametrize("name", ["模型.onnx", "語音/model.onnx", "語音/模型.onnx"])
def test_a_name_outside_the_code_page(western: None, tmp_path: Path, name: str) -> None:
    path = with_weights_beside(tmp_path / name)
    x = np.ones(1000, np.float32)
    assert paddable.load(path).run({"x": x})["y"][999] == 1000
    assert Engine(path).run({"x": x})["y"][999] == 1000


def test_a_short_name_is_taken_where_windows_has_one(
    western: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_weights_beside(tmp_path / "模型.onnx")
    monkeypatch.setattr(model_file, "_short_name", lambda asked: iter([str(asked.with_name("MODEL~1.ONN"))]))
    os.link(path, tmp_path / "MODEL~1.ONN")
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("read as bytes"))
    assert paddable.load(path).run({"x": np.ones(1000, np.float32)})["y"][0] == 1


def test_a_damaged_file_of_such_a_name_is_unreadable(western: None, tmp_path: Path) -> None:
    (tmp_path / "坏.onnx").write_bytes(b"")
    with pytest.raises(UnreadableError, match=r"坏\.onnx: onnxruntime cannot load it"):
        paddable.load(tmp_path / "坏.onnx").run(X)


def is_held(path: Path) -> bool:
    """Whether this process has the file open or mapped."""
    if os.name == "nt":
        try:
            path.rename(path.with_name("moved"))
        except OSError:
            return True
        path.with_name("moved").rename(path)
        return False
    links = [os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd") if number.isdigit()
             and os.path.islink(f"/proc/self/fd/{number}")]  # fmt: skip
    return str(path) in links or str(path) in Path("/proc/self/maps").read_text()


def test_a_closed_model_holds_no_file(tmp_path: Path) -> None:
    path = with_weights_beside(tmp_path / "model.onnx")
    model = paddable.load(path)
    model.run({"x": np.ones(1000, np.float32)})
    model.close()
    gc.collect()
    assert not is_held(path) and not is_held(path.with_name("weights.data"))
    assert model.run({"x": np.ones(1000, np.float32)})["y"][0] == 1  # it opens them again
