"""10,000 runs of 8 threads on one model of four containers: every answer as one by one, and memory flat.

python -m tests.runtime.figures.flat_memory BUNDLE
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import paddable
from paddable.runtime.resident import resident

RUNS, THREADS, CLIPS = 10_000, 8, 40


def main(bundle: str) -> int:
    model = paddable.load(bundle, "cpu", threads=1)
    assert model.metadata is not None
    ((name, symbol),) = model.metadata.symbols.items()
    rng, width = np.random.default_rng(0), model._session(0).shapes[symbol.input][2]
    assert isinstance(width, int)
    lengths = np.exp(rng.uniform(np.log(4), np.log(model.largest[name]), CLIPS)).astype(int)
    clips = [rng.standard_normal((1, n, width)).astype(np.float32) for n in lengths]
    alone = [model.run({symbol.input: clip}) for clip in clips]
    wrong, held = 0, []
    with ThreadPoolExecutor(THREADS) as pool:
        for start in range(0, RUNS, RUNS // 10):
            numbers = [number % CLIPS for number in range(start, start + RUNS // 10)]
            for number, answer in zip(
                numbers, pool.map(lambda n: model.run({symbol.input: clips[n]}), numbers), strict=True
            ):
                wrong += any(not np.array_equal(answer[key], value) for key, value in alone[number].items())
            held.append((resident() or 0) / 2**20)
    print(f"{RUNS} runs of {THREADS} threads: {wrong} answers differ; MB after each tenth: {[round(m) for m in held]}")
    return 1 if wrong or held[-1] > 1.02 * held[1] else 0  # in the first tenth, threads still get their buffers


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
