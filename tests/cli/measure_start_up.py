"""How long ``paddable --help`` takes beside ``python -c pass``: the median ratio of pairs.

python tests/cli/measure_start_up.py
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

PAIRS = 41


def seconds(*words: str) -> float:
    begin = perf_counter()
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - begin


if __name__ == "__main__":
    pairs = [(seconds("-c", "pass"), seconds("-m", "paddable", "--help")) for _ in range(PAIRS)]
    bare, shown = (median(column) for column in zip(*pairs, strict=True))
    ratio = median(shown / bare for bare, shown in pairs)
    print(f"{ratio:.2f}x: {1000 * shown:.0f} ms beside {1000 * bare:.0f} ms, medians of {PAIRS} pairs")
