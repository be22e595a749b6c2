"""Time to lint a graph for DirectML, against loading it and inferring its shapes; no weight is read.

python -m tests.providers.lint_time MODEL.onnx [RUNS]

CPU time, medians of interleaved runs in one process. Exits with 1 above twice.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import onnx

from paddable.providers.report import lint_for

LIMIT = 2.0


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main(path: str, runs: str = "25") -> int:
    def load() -> onnx.ModelProto:
        return onnx.load(path, load_external_data=False)

    def infer() -> onnx.ModelProto:
        return onnx.shape_inference.infer_shapes(load())

    def lint() -> object:
        return lint_for(load(), "directml")

    print(lint_for(load(), "directml").placement)
    infer()
    times = [(seconds(load), seconds(infer), seconds(lint)) for _ in range(int(runs))]
    loading, inferring, linting = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = linting / inferring
    print(
        f"onnx {onnx.__version__}: load {loading * 1e3:.1f} ms, load and infer {inferring * 1e3:.1f} ms, load and lint "
        f"{linting * 1e3:.1f} ms: {ratio:.1f} times{'' if ratio <= LIMIT else '  <-- missed'}"
    )
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
