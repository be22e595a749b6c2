"""Streams through ONNX Runtime: any chunking, several at once, interrupted and restored."""

from __future__ import annotations

import gc
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import codec_synthetic as synthetic
import numpy as np
import onnxruntime as ort
import pytest
from codec_chunks import random_sizes

from paddable.errors import MisuseError, PaddableError
from paddable.runtime.session.device_session import DeviceSession
from paddable.runtime.streaming.state_buffers import StateBuffers
from paddable.runtime.streaming.step_graph import BoundStep, StepGraph
from paddable.runtime.streaming.stream import Stream, decode

FRAMES, SAMPLES = 40, 24  # more than six windows


def open_session(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def steps(graphs: dict[str, Path]) -> list[StepGraph]:
    return [StepGraph(open_session(graphs[name])) for name in ("12", "4")]


@pytest.fixture(scope="module")
def codes() -> np.ndarray:
    return synthetic.codes(synthetic.TINY, FRAMES)


@pytest.fixture(scope="module")
def judge(golden: Callable[[str], dict[str, np.ndarray]]) -> tuple[np.ndarray, float]:
    """The original's audio, and what we allow: three times the original's own noise."""
    recorded = golden("tiny")
    assert recorded["stride"] == 1
    return recorded[f"wav_{FRAMES}"], 3 * float(recorded["noise"])


def cut(codes: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    return np.split(codes, np.cumsum(sizes)[:-1], axis=1)


def test_a_thousand_random_chunkings(
    steps: list[StepGraph], codes: np.ndarray, judge: tuple[np.ndarray, float]
) -> None:
    frames = 4 * synthetic.TINY["sliding_window"]
    codes, expected, allowed = codes[:, :frames], judge[0][:, : frames * SAMPLES], judge[1]
    rng, stream, wrong = np.random.default_rng(0), Stream(steps), []
    for _ in range(1000):
        sizes = random_sizes(frames, int(rng.integers(1, 30)), rng)
        stream.reset()
        wav = np.concatenate(list(stream.feed(cut(codes, sizes))), 1)
        if wav.shape != expected.shape or np.abs(wav - expected).max() > allowed:
            wrong.append(sizes)
    assert not wrong


def test_interrupted_and_restored_between_any_two_chunks(steps: list[StepGraph], codes: np.ndarray) -> None:
    sizes = [5, 1, 12, 3, 10, 0, 9]
    straight = list(Stream(steps).feed(cut(codes, sizes)))
    for at in range(len(sizes)):
        before, after = Stream(steps), Stream(steps)
        parts = list(before.feed(cut(codes, sizes)[:at]))
        saved = before.save()
        before.push(codes[:, :7])  # what was saved is our own
        after.restore(saved)
        parts += after.feed(cut(codes, sizes)[at:])
        for part, expected in zip(parts, straight, strict=True):
            np.testing.assert_array_equal(part, expected)


def test_streams_side_by_side_do_not_mix(steps: list[StepGraph], codes: np.ndarray) -> None:
    others = [synthetic.codes(synthetic.TINY, FRAMES, seed=seed) for seed in range(3)]
    alone = [np.concatenate(list(Stream(steps).feed(cut(c, [5] * 8))), 1) for c in others]
    streams = [Stream(steps) for _ in others]
    parts: list[list[np.ndarray]] = [[] for _ in others]
    for chunks in zip(*(cut(c, [5] * 8) for c in others), strict=True):
        for stream, chunk, out in zip(streams, chunks, parts, strict=True):
            out.append(stream.push(chunk))
    for got, expected in zip(parts, alone, strict=True):
        np.testing.assert_array_equal(np.concatenate(got, 1), expected)


def test_an_empty_push_and_a_warm_up_change_nothing(steps: list[StepGraph], codes: np.ndarray) -> None:
    stream = Stream(steps)
    stream.push(codes[:, :20])
    before = stream.save()
    assert stream.push(codes[:, :0]).shape == (1, 0)
    stream.warm_up()
    for name, value in stream.save().items():
        np.testing.assert_array_equal(value, before[name])


def test_a_new_stream_takes_the_buffers_of_one_that_is_gone(
    graphs: dict[str, Path], codes: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, idle = [StepGraph(open_session(graphs["12"]))], deque[StateBuffers]()
    expected = Stream(steps).push(codes)
    first, second = Stream(steps, idle), Stream(steps, idle)
    first.push(codes[:, :7])
    second.push(codes[:, 5:9])
    assert first._buffers is not second._buffers
    del first
    gc.collect()
    monkeypatch.setattr(StepGraph, "bind", None)  # every step of the new stream is bound already
    third = Stream(steps, idle)
    np.testing.assert_array_equal(third.push(codes[:, :7]), expected[:, : 7 * SAMPLES])
    assert not idle


def test_a_captured_graph_is_run_by_its_first_thread_and_by_one_for_all_others(
    graphs: dict[str, Path], codes: np.ndarray
) -> None:
    session = open_session(graphs["4"])
    expected = Stream([StepGraph(session)]).push(codes)
    used: set[threading.Thread] = set()  # their numbers are given again

    class Noted:
        def __getattr__(self, name: str) -> object:
            return getattr(session, name)

        def run_with_iobinding(self, *arguments: object) -> None:
            used.add(threading.current_thread())
            session.run_with_iobinding(*arguments)

    stream = Stream([StepGraph(DeviceSession(Noted(), captured=True))])
    parts = []
    for part in (codes[:, :8], codes[:, 8:20], codes[:, 20:]):
        with ThreadPoolExecutor(1) as other_thread:
            parts.append(other_thread.submit(stream.push, part).result())
    np.testing.assert_array_equal(np.concatenate(parts, 1), expected)
    assert len(used) == 2


def test_shapes_never_change(steps: list[StepGraph], codes: np.ndarray) -> None:
    stream = Stream(steps)
    declared = {spec.name: (spec.shape, np.dtype(spec.dtype)) for spec in stream.spec.states}
    for chunk in ([], [0], [0, 1, 2], list(range(30)), [5]):
        stream.push(codes[:, chunk])
        assert {name: (v.shape, v.dtype) for name, v in stream.save().items()} == declared


def test_a_short_push_takes_the_small_graph_and_does_not_wait(
    steps: list[StepGraph], codes: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[int] = []
    run = BoundStep.run

    def noted(self: BoundStep, x: np.ndarray) -> np.ndarray:
        used.append(self._graph.spec.steps)
        return run(self, x)

    monkeypatch.setattr(BoundStep, "run", noted)
    stream = Stream(steps)
    for size in (1, 4, 5, 28):
        assert stream.push(codes[:, :size]).shape == (1, SAMPLES * size)
    assert used == [4, 4, 12, 12, 12, 4]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.full((3, 16), 64), r"64 at \[0, 0, 0\] is outside 0 .. 63"),
        (np.full((3, 16), -1), r"-1 at \[0, 0, 0\] is outside"),
        (np.zeros((3, 15), int), r"got shape \[1, 3, 15\], expected \[1, steps, 16\]"),
        (np.zeros((2, 3, 16), int), "got shape"),
        (np.zeros((3, 16)), "got float64, expected int64"),
        (np.zeros((3, 16), bool), "got bool, expected int64"),
        (np.full((3, 16), 2**63, np.uint64), r"9223372036854775808 at \[0, 0, 0\] is outside 0 .. 63"),
        (np.ma.masked_equal(np.eye(3, 16, dtype=int), 1), "a masked array"),
        ([[1] * 16, [1] * 15], "unequal shapes"),
        ([["a"] * 16], "got <U1, expected int64"),
    ],
)
def test_wrong_codes_are_refused_and_leave_the_stream(
    steps: list[StepGraph], codes: np.ndarray, bad: np.ndarray, message: str
) -> None:
    stream, twin = Stream(steps), Stream(steps)
    stream.push(codes[:, :9])
    twin.push(codes[:, :9])
    with pytest.raises(MisuseError, match=message):
        stream.push(bad)
    np.testing.assert_array_equal(stream.push(codes[:, 9:15]), twin.push(codes[:, 9:15]))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64, np.int64, ">i4"])
def test_any_integers_that_fit_are_taken(steps: list[StepGraph], codes: np.ndarray, dtype: str) -> None:
    given = codes[:, :9].astype(dtype)
    np.testing.assert_array_equal(Stream(steps).push(given), Stream(steps).push(codes[:, :9]))


def test_a_failure_half_way_leaves_the_stream(
    steps: list[StepGraph], codes: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, run, calls = Stream(steps), BoundStep.run, [0]
    stream.push(codes[:, :9])
    before = stream.save()

    def fails_third(self: BoundStep, x: np.ndarray) -> np.ndarray:
        calls[0] += 1
        if calls[0] == 3:
            raise RuntimeError("device lost")
        return run(self, x)

    monkeypatch.setattr(BoundStep, "run", fails_third)
    with pytest.raises(RuntimeError):
        stream.push(codes[:, :40])
    for name, value in stream.save().items():
        np.testing.assert_array_equal(value, before[name])


def test_restoring_something_else_is_refused(steps: list[StepGraph]) -> None:
    stream = Stream(steps)
    saved = stream.save()
    count = saved.pop("count")
    with pytest.raises(MisuseError, match="missing: count"):
        stream.restore(saved)
    with pytest.raises(MisuseError, match="left over: voice"):
        stream.restore(saved | {"count": count, "voice": count})
    with pytest.raises(MisuseError, match="state count: got int32"):
        stream.restore(saved | {"count": count.astype(np.int32)})
    with pytest.raises(MisuseError, match="state pre_conv: not finite"):
        stream.restore(saved | {"count": count, "pre_conv": np.full_like(saved["pre_conv"], np.nan)})


def test_sound_of_nan_is_an_error_and_leaves_the_stream(steps: list[StepGraph], codes: np.ndarray) -> None:
    stream = Stream(steps)
    stream.push(codes[:, :9])
    voice = stream.save()
    loud = voice | {"pre_conv": np.full_like(voice["pre_conv"], 3e38)}  # finite itself
    stream.restore(loud)
    with np.errstate(all="ignore"), pytest.raises(PaddableError, match=r"NaN or infinity in wav.*reset the stream"):
        stream.push(codes[:, :20])
    for name, value in stream.save().items():
        np.testing.assert_array_equal(value, loud[name])
    with pytest.raises(PaddableError, match="NaN or infinity in wav"):
        decode(stream, codes[:, :20])
    stream.restore(voice)
    assert np.isfinite(stream.push(codes[:, 9:15])).all()


def test_a_state_of_either_byte_order_is_restored(steps: list[StepGraph], codes: np.ndarray) -> None:
    first, second = Stream(steps), Stream(steps)
    first.push(codes[:, :9])
    saved = first.save()
    second.restore({name: value.astype(value.dtype.newbyteorder(">")) for name, value in saved.items()})
    assert {name: value.dtype for name, value in second.save().items()} == {n: v.dtype for n, v in saved.items()}
    np.testing.assert_array_equal(second.push(codes[:, 9:15]), first.push(codes[:, 9:15]))


@pytest.mark.parametrize("count", [-3, 6, 99])
def test_a_count_that_no_stream_comes_to_is_refused_and_leaves_the_stream(
    steps: list[StepGraph], codes: np.ndarray, count: int
) -> None:
    stream, twin = Stream(steps), Stream(steps)
    stream.push(codes[:, :9])
    twin.push(codes[:, :9])
    with pytest.raises(MisuseError, match=f"state count: {count} is outside 0 .. 5"):
        stream.restore(stream.save() | {"count": np.array([count])})
    with pytest.raises(MisuseError, match="expected a mapping"):
        stream.restore(None)  # type: ignore[arg-type]
    np.testing.assert_array_equal(stream.push(codes[:, 9:15]), twin.push(codes[:, 9:15]))


@pytest.mark.parametrize(
    ("given", "meant"), [(-1, 0), (np.iinfo(np.int64).min, 0), (5, 4), (np.iinfo(np.int64).max, 4)]
)
def test_a_length_that_no_chunk_has_is_clamped(
    graphs: dict[str, Path], codes: np.ndarray, given: int, meant: int
) -> None:
    session = open_session(graphs["4"])
    states = {item.input_name: item.initial() for item in StepGraph(session).spec.states}
    got, want = (
        session.run(None, {"codes": codes[:, :4], "ilens": np.array([length]), **states}) for length in (given, meant)
    )
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_whole_graph_is_no_step_graph(graphs: dict[str, Path]) -> None:
    with pytest.raises(MisuseError, match="not a step graph"):
        StepGraph(open_session(graphs["whole"]))


def test_decode_reports_the_first_audio(
    steps: list[StepGraph], codes: np.ndarray, judge: tuple[np.ndarray, float]
) -> None:
    decoded = decode(Stream(steps), codes[0].astype(np.int32))
    assert np.abs(decoded.output - judge[0]).max() <= judge[1]
    assert decoded.sample_rate == 24000
    assert 0 < decoded.first_seconds < decoded.seconds
    for chunk in (0, 2.5, "4", True):
        with pytest.raises(MisuseError, match=f"a chunk of {chunk!r} steps"):
            decode(Stream(steps), codes, chunk)  # type: ignore[arg-type]
    assert decode(Stream(steps), codes[:, :0]).output.shape == (1, 0)
