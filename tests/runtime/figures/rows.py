"""CPU time of ``transcribe_many`` one by one and with rows, one thread.

python -m tests.runtime.figures.rows BUNDLE [CLIPS [FROM TO [PROVIDER ...]]]

BUNDLE: a recogniser that was exported with rows. CLIPS recordings of FROM to TO seconds, evenly spread and shuffled,
are recognised both ways in turn, once containers are measured; the median of seven rounds counts.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import soundfile

import paddable
from paddable.runtime.speech.pipelines import Recogniser

ROUNDS = 8
RATE = 16_000


def seconds(recogniser: Recogniser, files: list[Path]) -> tuple[float, list[object]]:
    start = time.process_time()
    found = [result for _, result in recogniser.transcribe_many(files)]
    return time.process_time() - start, found


def main(bundle: str, clips: str = "24", shortest: str = "1", longest: str = "3", *providers: str) -> int:
    random = np.random.default_rng(0)
    lengths = random.permutation(np.linspace(float(shortest), float(longest), int(clips)))
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number:03}.wav" for number in range(len(lengths))]
        for file, length in zip(files, lengths, strict=True):
            soundfile.write(file, 0.1 * random.standard_normal(round(length * RATE)), RATE)
        for provider in providers or ("auto", "cpu"):
            model = paddable.load(bundle, provider, threads=1)
            rows = model._recogniser
            alone = replace(rows, rows=None)
            seconds(alone, files)
            for _ in range(ROUNDS):  # until it is worth while to open a graph, and all are measured
                seconds(rows, files)
            pairs = []
            for _ in range(ROUNDS - 1):
                (one, expected), (other, found) = seconds(alone, files), seconds(rows, files)
                assert [getattr(a, "text", a) for a in found] == [getattr(a, "text", a) for a in expected]
                pairs.append((one, other))
            one, other = (median(column) for column in zip(*pairs, strict=True))
            print(model.describe())
            for row in model.describe().containers:
                if "rows" in row:
                    print(f"  {row['steps']}: {row['rows']} alone {row['alone']} s, together {row['together']} s")
            told = f"one by one {one:.3f} s, as rows {other:.3f} s, ratio {one / other:.2f}x"
            print(f"{len(files)} clips: {told}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
