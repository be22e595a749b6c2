"""Many threads on one model: each gets the answer that it would get alone, and no memory is left behind."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import paddable
from paddable.runtime import Session
from paddable.runtime.resident import resident

Padded = Callable[..., Path]
GAIN = np.array([2], np.float32)
THREADS, RUNS = 8, 1000


def clip(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((1, 2 * int(rng.integers(1, 2000)))).astype(np.float32)


@pytest.fixture(params=[4000, None], ids=["container", "symbolic"])
def model(padded_file: Padded, request: pytest.FixtureRequest) -> Session:
    return paddable.load(padded_file(request.param, 1), "cpu", threads=1)


def test_a_thousand_runs_of_eight_threads(model: Session) -> None:
    clips = [clip(seed) for seed in range(50)]
    alone = [model.run({"x": x, "gain": GAIN}) for x in clips]
    before = resident() or 0
    with ThreadPoolExecutor(THREADS) as pool:
        answers = pool.map(lambda number: model.run({"x": clips[number % 50], "gain": GAIN}), range(RUNS))
        for number, answer in enumerate(answers):
            for name, value in alone[number % 50].items():
                np.testing.assert_array_equal(answer[name], value)
    assert len(model._open[0]._idle) <= THREADS
    assert (
        resident() or 0
    ) - before < 32 << 20  # the stacks and buffers of eight threads; 1,000 containers would be 48 MB
