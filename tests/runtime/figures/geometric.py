"""CPU time of a row of containers over native, at log-uniform lengths, one thread.

python -m tests.runtime.figures.geometric BUNDLE [SHORTEST] [LENGTHS]

BUNDLE: one input ``x`` [1, T, C] and a native graph, from ``paddable convert --containers A..B/N``. Both run in turn at
each length; the median of five pairs counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

import paddable
from paddable.bundle import read_bundle


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main(bundle: str, shortest: str = "25", lengths: str = "48") -> int:
    containers = sorted(graph.container["T"] for graph in read_bundle(bundle).graphs)
    native = paddable.load(bundle, "cpu", native=True, threads=1)
    padded = paddable.load(bundle, "cpu", target="cpu", threads=1)
    padded.warm_up()
    channels = native.example({"T": containers[0]})["x"].shape[2]
    random = np.random.default_rng(0)
    drawn = np.exp(random.uniform(np.log(int(shortest)), np.log(containers[-1]), int(lengths))).astype(int)
    spent = np.zeros(2)
    for steps in drawn:
        feeds = {"x": random.standard_normal((1, steps, channels)).astype(np.float32)}
        runs = [lambda: native.run(feeds), lambda: padded.run(feeds)]  # noqa: B023
        pairs = [[seconds(run) for run in runs] for _ in range(6)][1:]
        spent += [median(column) for column in zip(*pairs, strict=True)]
    print(
        f"{len(containers)} containers {containers}: {spent[1]:.2f} s over {spent[0]:.2f} s, {spent[1] / spent[0]:.3f}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
