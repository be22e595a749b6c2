"""Which device a session runs on, and what is told where there is no such device or the provider does not start."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest

import paddable
from paddable.errors import MisuseError, PaddableError, UnreadableError
from paddable.runtime.session import devices, not_opened
from paddable.runtime.session.devices import Adapter, adapters
from paddable.runtime.session.graph import GraphSession

Padded = Callable[..., Path]
X = {"x": np.ones((1, 4), np.float32), "gain": np.ones(1, np.float32)}
NO_DXCORE = "[ONNXRuntimeError] : 1 : FAIL : DXCore is not available"
NO_DEVICE = (
    "[ONNXRuntimeError] : 1 : FAIL : dml_provider_factory.cc(281)\n Exception(3) tid(24) 887A0002 Element not found."
)


def directml(monkeypatch: pytest.MonkeyPatch, refuse: Callable[[dict[str, str]], str]) -> list[Any]:
    """An onnxruntime with DirectML, which is the CPU underneath and refuses as ``refuse`` of its options says."""
    create, asked = onnxruntime.InferenceSession, []

    def open_it(model: Any, options: Any, providers: list[Any], **_: Any) -> Any:
        asked.append(providers[0])
        if providers[0] != "CPUExecutionProvider" and (message := refuse(providers[0][1])):
            raise RuntimeError(message)
        session = create(model, options, providers=["CPUExecutionProvider"])
        monkeypatch.setattr(session, "get_providers", lambda: ["DmlExecutionProvider", "CPUExecutionProvider"])
        return session

    there = ["DmlExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: there)
    monkeypatch.setattr(onnxruntime, "InferenceSession", open_it)
    monkeypatch.setattr(not_opened, "adapters", lambda: [Adapter(0, "Radeon 780M", 1 << 30, False)])
    return asked


def test_a_numbered_device_is_always_named(padded_file: Padded, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = directml(monkeypatch, lambda options: "" if "device_id" in options else NO_DXCORE)
    assert paddable.load(padded_file(16, 1), provider="directml").run(X)["y"].tolist() == [[2, 2]]
    assert asked == [("DmlExecutionProvider", {"device_id": "0"})]


def test_a_device_that_is_not_there(padded_file: Padded, monkeypatch: pytest.MonkeyPatch) -> None:
    directml(monkeypatch, lambda options: NO_DEVICE.replace("\n", "") if options["device_id"] != "0" else "")
    with pytest.raises(MisuseError, match=r"'directml' has no device 7; .*887A0002.*there are 0: Radeon 780M"):
        paddable.load(padded_file(16, 1), provider="directml", device_id=7).run(X)


def test_a_provider_that_does_not_start_is_no_unreadable_model(
    padded_file: Padded, monkeypatch: pytest.MonkeyPatch
) -> None:
    directml(monkeypatch, lambda _: NO_DXCORE)
    with pytest.raises(MisuseError, match=r"'directml' .* does not start on device 0; .*DXCore is not available"):
        paddable.load(padded_file(16, 1), provider="directml").run(X)


def test_a_provider_that_refuses_a_model_says_what_usually_lies_behind_it(
    padded_file: Padded, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = iter(["[ONNXRuntimeError] : 1 : FAIL : Exception(1) tid(24) 8007023E", ""])  # the model, then one Identity
    directml(monkeypatch, lambda _: next(said))
    with pytest.raises(
        MisuseError, match=r"not open this model: .*8007023E; usual cause: Reshape .*; run `paddable lint"
    ):
        paddable.load(padded_file(16, 1), provider="directml").run(X)


def test_a_run_that_fails_says_what_usually_lies_behind_it(
    padded_file: Padded, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : CUDA failure 2: out of memory")

    session = paddable.load(padded_file(16, 1))
    session.run(X)
    monkeypatch.setattr(GraphSession, "_answer", fail)
    with pytest.raises(PaddableError, match=r"^onnxruntime: .*out of memory; usual cause: an arena"):
        session.run(X)


def test_a_file_that_is_no_model_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directml(monkeypatch, lambda _: "")
    (tmp_path / "empty.onnx").write_bytes(b"")
    with pytest.raises(UnreadableError, match="cannot load it"):
        paddable.load(tmp_path / "empty.onnx", provider="directml").run(X)


class Dxgi:
    """A DXGI with these adapters: real tables of functions, as ctypes calls them."""

    def __init__(self, *found: tuple[str, int, int]) -> None:
        self.alive = 0
        self._kept: list[Any] = []
        rows = [self._object({2: self._release, 10: self._describing(*row)}) for row in found]

        def enumerate_adapters(_: Any, number: int, out: Any) -> int:
            if number >= len(rows):
                return -0x78580000 + 2  # 887A0002
            self.alive += 1
            ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p))[0] = ctypes.addressof(rows[number])
            return 0

        self._factory = self._object({2: self._release, 12: (enumerate_adapters, ctypes.c_uint32, ctypes.c_void_p)})

    def CreateDXGIFactory1(self, _: Any, out: Any) -> int:
        self.alive += 1
        out._obj.value = ctypes.addressof(self._factory)
        return 0

    def _release(self, _: Any) -> int:
        self.alive -= 1
        return 0

    def _describing(self, name: str, memory: int, flags: int) -> Any:
        def describe(_: Any, out: Any) -> int:
            described = ctypes.cast(out, ctypes.POINTER(devices._Description))[0]
            encoded = name.encode("utf-16-le")
            ctypes.memmove(described.name, encoded, len(encoded))
            described.memory, described.flags = memory, flags
            return 0

        return describe, ctypes.c_void_p

    def _object(self, methods: dict[int, Any]) -> Any:
        table = (ctypes.c_void_p * 14)()
        for place, method in methods.items():
            function, *types = method if isinstance(method, tuple) else (method,)
            called = devices._METHOD(ctypes.c_int32, ctypes.c_void_p, *types)(function)
            table[place] = ctypes.cast(called, ctypes.c_void_p).value
            self._kept.append(called)
        self._kept.append(table)
        return (ctypes.c_void_p * 1)(ctypes.addressof(table))


def test_adapters_by_the_numbers_of_directml() -> None:
    dxgi = Dxgi(("英伟达 RTX 4060", 8 << 30, 0), ("Microsoft Basic Render Driver", 0, 2))
    assert adapters(dxgi) == [
        Adapter(0, "英伟达 RTX 4060", 8 << 30, False),
        Adapter(1, "Microsoft Basic Render Driver", 0, True),
    ]
    assert dxgi.alive == 0  # every object was given back


def test_a_dxgi_that_does_not_answer_has_no_adapters() -> None:
    assert adapters(SimpleNamespace(CreateDXGIFactory1=lambda *_: -1)) == []
    assert adapters(SimpleNamespace()) == []


def test_without_dxgi_there_are_none() -> None:
    assert isinstance(adapters(), list)
