"""CPU time of ``transcribe`` over the native graph alone, clip by clip, one thread.

python -m tests.runtime.figures.transcribe BUNDLE [SECONDS ...]

BUNDLE: a recogniser that takes sound. The native graph gets the very arrays that ``transcribe`` gave it; both run in
turn, and the median of seven pairs counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnxruntime as ort

import paddable
from paddable.bundle import read_bundle
from paddable.runtime.session.graph import GraphSession

ROUNDS = 8
RATE = 16_000


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main(bundle: str, *clips: str) -> int:
    model = paddable.load(bundle, threads=1)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    alone = ort.InferenceSession(Path(bundle) / str(read_bundle(bundle).native), options)
    print(model.describe())
    given: dict[str, Any] = {}
    plain = GraphSession.answer

    def seen(self: GraphSession, prepare: Callable[..., dict[str, Any]], keep: Any) -> Any:
        def kept(buffers: Any) -> dict[str, Any]:
            given.update(prepare(buffers))
            return given

        return plain(self, kept, keep)

    random = np.random.default_rng(0)
    for clip in clips or ("1", "2", "5", "10", "30"):
        sound = (0.1 * random.standard_normal(round(float(clip) * RATE))).astype(np.float32)
        GraphSession.answer = seen  # type: ignore[method-assign]
        model.transcribe(sound)
        GraphSession.answer = plain  # type: ignore[method-assign]
        feeds = {one.name: np.array(given[one.name]) for one in alone.get_inputs()}
        runs = [lambda: alone.run(None, feeds), lambda: model.transcribe(sound)]  # noqa: B023
        pairs = [[seconds(run) for run in runs] for _ in range(ROUNDS)][1:]
        native, whole = (median(column) for column in zip(*pairs, strict=True))
        print(
            f"{clip} s: native {1000 * native:.0f} ms, transcribe {1000 * whole:.0f} ms, {whole / native:.3f}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
