"""Buffers at fixed addresses give the answers of plain runs, and captured graphs are asked for where they belong."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import paddable
from paddable.bundle import KEY, Bundle, Graph, new_directory, read_metadata, write_bundle
from paddable.errors import MisuseError, UnreadableError
from paddable.providers.advice import known_advice
from paddable.providers.session_advice import SessionAdvice
from paddable.runtime.session.graph import GraphSession, Opening

from .conftest import build

Padded = Callable[..., Path]
TURNS = replace(known_advice()["cpu"], one_run_at_a_time=True)


def feeds(n: int) -> dict[str, np.ndarray]:
    x = np.random.default_rng(n).standard_normal((1, 16)).astype(np.float32)
    return {"x": x, "ilens": np.array([n], np.int64), "gain": np.ones(1, np.float32)}


@pytest.fixture
def fixed(tmp_path: Path) -> Path:
    """A graph whose outputs say their sizes too, as converted files do."""
    model = build(16, 1)
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 8
    onnx.save(model, tmp_path / "fixed.onnx")
    return tmp_path / "fixed.onnx"


def test_bound_runs_give_what_plain_runs_give(fixed: Path) -> None:
    plain = GraphSession(fixed, Opening(known_advice()["cpu"]))
    bound = GraphSession(fixed, Opening(known_advice()["cpu"]), static=True)
    kept = []
    for n in (16, 2, 9, 0):
        got, expected = bound.run(feeds(n)), plain.run(feeds(n))
        assert list(got) == list(expected)
        for name, value in expected.items():
            np.testing.assert_array_equal(got[name], value)
            assert got[name].dtype == value.dtype
        kept.append((got, expected))
    assert bound._idle[0].reused
    assert not plain._idle[0].reused
    for got, expected in kept:  # an answer is the caller's own: later runs leave it alone
        np.testing.assert_array_equal(got["y"], expected["y"])


def test_an_open_shape_is_run_plainly(padded_file: Padded) -> None:
    session = GraphSession(padded_file(None, 1), Opening(known_advice()["cpu"]), static=True)
    assert session.run(feeds(16))["y"].shape == (1, 8)
    assert not session._idle[0].inputs


@pytest.mark.parametrize("advice", [known_advice()["cpu"], TURNS], ids=["side by side", "in turn"])
def test_threads_do_not_share_buffers(fixed: Path, advice: SessionAdvice) -> None:
    plain, bound = (GraphSession(fixed, Opening(advice), static=static) for static in (False, True))
    expected = [plain.run(feeds(n))["y"] for n in range(16)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for got, wanted in zip(pool.map(lambda n: bound.run(feeds(n))["y"], range(16)), expected, strict=True):
                np.testing.assert_array_equal(got, wanted)


class FakeCuda:
    """Runs on the CPU and says that it is CUDA; notes how it was opened and which thread ran it."""

    opened: list[dict[str, str]]
    threads: set[int]
    refuses = False

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened, self.threads = [], set()
        create, named = onnxruntime.InferenceSession, ["CUDAExecutionProvider", "CPUExecutionProvider"]
        fake = self

        class Session(create):  # type: ignore[misc,valid-type]
            def __init__(self, path: str, options: Any, providers: list[Any], enable_fallback: int) -> None:
                fake.opened.append(dict(providers[0][1]))
                if fake.refuses and "enable_cuda_graph" in providers[0][1]:
                    raise RuntimeError("This session cannot use the graph capture feature as requested")
                super().__init__(path, options, providers=["CPUExecutionProvider"])

            def get_providers(self) -> list[str]:
                return named

            def run_with_iobinding(self, *arguments: Any) -> None:
                fake.threads.add(threading.get_ident())
                super().run_with_iobinding(*arguments)

        monkeypatch.setattr(onnxruntime, "InferenceSession", Session)
        monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: named)
        make = onnxruntime.OrtValue.ortvalue_from_shape_and_type
        on_cpu = staticmethod(lambda shape, dtype, device, number: make(shape, dtype, "cpu", 0))
        monkeypatch.setattr(onnxruntime.OrtValue, "ortvalue_from_shape_and_type", on_cpu)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    return FakeCuda(monkeypatch)


@pytest.fixture
def made_for_cuda(fixed: Path) -> Path:
    metadata = replace(read_metadata(fixed), advice={"cuda": known_advice()["cuda"].to_json()})
    model = onnx.load(fixed)
    onnx.helper.set_model_props(model, {KEY: metadata.dumps()})
    onnx.save(model, fixed)
    return fixed


X = {"x": np.ones((1, 4), np.float32), "gain": np.ones(1, np.float32)}


def test_a_file_made_for_cuda_is_captured_for_the_first_thread_and_for_all_others(
    made_for_cuda: Path, cuda: FakeCuda
) -> None:
    session = paddable.load(made_for_cuda, provider="cuda", device_id=1)
    first = session.run(X)
    (options,) = cuda.opened
    assert options["enable_cuda_graph"] == "1"
    assert options["use_tf32"] == "0"
    assert options["device_id"] == "1"
    assert cuda.threads == {threading.get_ident()}
    with ThreadPoolExecutor(3) as pool:
        assert all(answer["y"].tolist() == first["y"].tolist() for answer in pool.map(session.run, [X] * 6))
    session.run(X)
    assert first["y"].tolist() == [[2, 2]] and len(cuda.threads) == 2


def test_nobody_waits_for_a_capture_after_warming_up(made_for_cuda: Path, cuda: FakeCuda) -> None:
    session = paddable.load(made_for_cuda, provider="cuda")
    session.warm_up()
    warmed = set(cuda.threads)
    session.run(X)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(session.run, [X] * 6))
    assert cuda.threads == warmed and len(warmed) == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"options": None}, "options is None, expected a mapping, each value a text"),
        ({"config": {"a": None}}, "config is {'a': None}"),
        ({"companions": [5]}, "companions is [5], expected a list"),
        ({"static": "no"}, "static is 'no', expected true or false"),
        (None, "name is missing, expected a text"),
    ],
)
def test_advice_of_another_type_is_named(fixed: Path, change: dict[str, Any] | None, told: str) -> None:
    said = {} if change is None else known_advice()["cpu"].to_json() | change
    model = onnx.load(fixed)
    onnx.helper.set_model_props(model, {KEY: replace(read_metadata(fixed), advice={"cpu": said}).dumps()})
    onnx.save(model, fixed)
    with pytest.raises(UnreadableError) as caught:
        paddable.load(fixed)
    assert str(caught.value).startswith(f"{fixed}: the session advice is damaged: {told}")


def test_what_was_not_made_for_cuda_is_not_captured(fixed: Path, cuda: FakeCuda) -> None:
    assert paddable.load(fixed, provider="cuda").run(X)["y"].tolist() == [[2, 2]]
    assert "enable_cuda_graph" not in cuda.opened[0]


def test_a_capture_that_is_refused_says_how_to_go_on(made_for_cuda: Path, cuda: FakeCuda) -> None:
    cuda.refuses = True
    with pytest.raises(MisuseError, match=r"cannot capture this graph.*lint --target cuda.*capture=False"):
        paddable.load(made_for_cuda, provider="cuda").run(X)
    assert paddable.load(made_for_cuda, provider="cuda", capture=False).run(X)["y"].tolist() == [[2, 2]]


def test_channels_last_is_a_choice(made_for_cuda: Path, cuda: FakeCuda) -> None:
    paddable.load(made_for_cuda, provider="cuda").run(X)
    paddable.load(made_for_cuda, provider="cuda", channels_last=True).run(X)
    assert [opened.get("prefer_nhwc") for opened in cuda.opened] == [None, "1"]
    with pytest.raises(MisuseError, match="leave it out; cuda has it"):
        paddable.load(made_for_cuda, "cpu", channels_last=True)


def test_tf32_is_asked_for_and_never_with_a_front_end_inside(
    made_for_cuda: Path, cuda: FakeCuda, tmp_path: Path
) -> None:
    paddable.load(made_for_cuda, provider="cuda", allow_tf32=True).run(X)
    assert cuda.opened[0]["use_tf32"] == "1"
    with pytest.raises(MisuseError, match="no TF32; leave it out; cuda has it"):
        paddable.load(made_for_cuda, "cpu", allow_tf32=True)
    metadata = replace(read_metadata(made_for_cuda), container={})
    with new_directory(tmp_path / "out") as folder:
        onnx.save(onnx.load(made_for_cuda), folder / "a.onnx")
        graphs = (Graph("a.onnx", {"T": 16}, "cuda"),)
        write_bundle(Bundle(metadata, graphs, front_end={"kind": "kaldi", "in_graph": True}), folder)
    with pytest.raises(MisuseError, match="front end inside the graph"):
        paddable.load(tmp_path / "out", provider="cuda", allow_tf32=True)


def test_the_cpu_has_no_numbered_devices(fixed: Path) -> None:
    with pytest.raises(MisuseError, match="device 1"):
        paddable.load(fixed, "cpu", device_id=1)
