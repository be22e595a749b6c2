"""Time and memory of a probe against those of the two plain runs that it compares.

python -m tests.divergence.figures plain NATIVE PADDED    one run of each, as an app would; seconds and peak memory
python -m tests.divergence.figures probe NATIVE PADDED    the probe of the same
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np

import paddable
from paddable.bundle import read_metadata
from paddable.gates.engine import Engine


def main(what: str, native: str, padded: str) -> int:
    size = read_metadata(padded).container["T"]
    steps = 2 * size // 3
    start = time.perf_counter()
    if what == "plain":
        x = np.random.default_rng(0).standard_normal((1, size, 560)).astype(np.float32)
        engine = Engine(Path(native), threads=0)
        engine.run({"x": x[:, :steps]})
        other = Engine(Path(padded), threads=0)
        other.run({"x": x, "ilens": np.array([steps], np.int64)})
    else:
        report = paddable.probe(padded, native, at=steps)
        print(report.verdict)
        print(dict(report.matched))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{what}: {seconds:.1f} s, {peak / 1e9:.2f} GB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
