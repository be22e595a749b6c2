"""No runtime, two runtimes, a provider that is not there: one line that names the extra; never a silent fallback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import PackagePath
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnxruntime
import pytest

import paddable
from paddable.errors import MissingExtraError, MisuseError
from paddable.runtime.session import flavours

Padded = Callable[..., Path]


def distribution(name: str, folder: Path | None = None) -> SimpleNamespace:
    """A package: only metadata, or with the folder ``onnxruntime`` in ``folder``."""
    files = []
    if folder is not None:
        file = PackagePath("onnxruntime/__init__.py")
        file.dist = SimpleNamespace(locate_file=folder.joinpath)  # type: ignore[assignment]
        files.append(file)
        (folder / "onnxruntime").mkdir(exist_ok=True)
        (folder / file).touch()
    return SimpleNamespace(metadata={"Name": name}, files=files or None)


def test_installed_flavours_by_their_package_names() -> None:
    installed = [distribution(name) for name in ("numpy", "onnxruntime_gpu", "onnxruntime", "onnxruntime-ep-webgpu")]
    assert flavours.installed_flavours(installed) == ["onnxruntime", "onnxruntime-gpu"]  # type: ignore[arg-type]


def test_here_one_is_installed() -> None:
    assert len(flavours.installed_flavours()) == 1
    assert flavours.import_onnxruntime() is onnxruntime


def test_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flavours, "metadata", SimpleNamespace(distributions=lambda name: []))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[cpu\]"'):
        flavours.import_onnxruntime()


def test_one_that_is_only_metadata_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = [distribution("onnxruntime-directml", tmp_path), distribution("onnxruntime")]
    monkeypatch.setattr(flavours, "metadata", SimpleNamespace(distributions=lambda name: both))
    assert flavours.installed_flavours() == ["onnxruntime-directml"]
    assert flavours.import_onnxruntime() is onnxruntime


def test_a_caller_who_knows_may_mix(tmp_path: Path, padded_file: Padded, monkeypatch: pytest.MonkeyPatch) -> None:
    both = [distribution(name, tmp_path) for name in ("onnxruntime", "onnxruntime-gpu")]
    monkeypatch.setattr(flavours, "metadata", SimpleNamespace(distributions=lambda name: both))
    path = padded_file(16, 1)
    with pytest.raises(MissingExtraError, match="`allow_mixed=True`"):
        paddable.load(path).run(X)
    assert paddable.load(path, allow_mixed=True).run(X)["y"].tolist() == [[2, 2]]


def test_a_runtime_that_lacks_something_is_not_called_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ModuleNotFoundError("No module named 'flatbuffers'", name="flatbuffers")

    monkeypatch.setattr(flavours, "import_module", fail)
    with pytest.raises(MissingExtraError, match="onnxruntime is installed and needs flatbuffers, which is not"):
        flavours.import_onnxruntime()


def test_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = [distribution("onnxruntime", tmp_path), distribution("onnxruntime-gpu", tmp_path)]
    monkeypatch.setattr(flavours, "metadata", SimpleNamespace(distributions=lambda name: both))
    with pytest.raises(MissingExtraError) as error:
        flavours.import_onnxruntime()
    assert "onnxruntime, onnxruntime-gpu" in str(error.value)
    assert 'install Paddable with its extra "gpu" (in a clone of it: pip install ".[gpu]")' in str(error.value)
    assert "\n" not in str(error.value)


X = {"x": np.ones((1, 4), np.float32), "gain": np.ones(1, np.float32)}


def test_a_provider_that_is_not_in_this_runtime(padded_file: Padded) -> None:
    with pytest.raises(MissingExtraError, match=r'is not in this onnxruntime; it offers .* its extra "directml" \('):
        paddable.load(padded_file(16, 1), provider="directml")


def test_fallback_only_when_it_is_allowed(padded_file: Padded) -> None:
    session = paddable.load(padded_file(16, 1), provider="directml", allow_fallback=True)
    assert session.run(X)["y"].tolist() == [[2, 2]]


def test_a_provider_that_fails_to_start_is_an_error(padded_file: Padded, monkeypatch: pytest.MonkeyPatch) -> None:
    # What ONNX Runtime does when, say, cuDNN is missing: the provider is listed, and the session runs on the CPU.
    monkeypatch.setattr(
        onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"]
    )
    create = onnxruntime.InferenceSession
    monkeypatch.setattr(
        onnxruntime,
        "InferenceSession",
        lambda path, options, providers, **_: create(path, options, providers=["CPUExecutionProvider"]),
    )
    with pytest.raises(
        MisuseError, match="did not start; the session would run on CPUExecutionProvider; onnxruntime offers CUDA"
    ):
        paddable.load(padded_file(16, 1), provider="cuda").run(X)
    assert paddable.load(padded_file(16, 1), provider="cuda", allow_fallback=True).run(X)["y"].tolist() == [[2, 2]]


def test_advice_reaches_the_session(padded_file: Padded, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}
    create = onnxruntime.InferenceSession

    def spy(path: str, options: onnxruntime.SessionOptions, providers: list[object], enable_fallback: int) -> object:
        assert not enable_fallback
        seen.update(options=options, providers=providers)
        return create(path, options, providers=["CPUExecutionProvider"])

    monkeypatch.setattr(
        onnxruntime, "get_available_providers", lambda: ["DmlExecutionProvider", "CPUExecutionProvider"]
    )
    monkeypatch.setattr(onnxruntime, "InferenceSession", spy)
    paddable.load(padded_file(16, 1), provider="directml", allow_fallback=True, threads=1, device_id=1).run(X)
    assert seen["providers"] == [("DmlExecutionProvider", {"device_id": "1"}), "CPUExecutionProvider"]
    assert seen["options"].enable_mem_pattern is False
    assert seen["options"].execution_mode == onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    assert seen["options"].intra_op_num_threads == 1
