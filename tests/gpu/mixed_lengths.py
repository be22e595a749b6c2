"""A stream of utterances of mixed lengths through one model on a CUDA GPU: native, in a container, captured.

python -m tests.gpu.mixed_lengths BUNDLE [BUNDLE ...]

The first bundle was converted for cuda from a graph with one ragged input ``x`` of shape [1, T, C]; its native graph
and its containers are measured. Further bundles are of the same model in other containers, measured captured. The
lengths are log-uniform from 1.5 s to the largest container of the first bundle. Times are whole calls: numpy arrays in,
numpy arrays out. Exits with 1 where a figure of ``LIMITS`` is missed.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

import paddable
from paddable.bundle import read_bundle

UTTERANCES = 200
COMPARED = 12
SHORTEST = 25  # frames of 60 ms
LIMITS = {"error with TF32 off, of scale": 1e-5, "best captured with TF32 off / best native, total time": 0.2}

Run = Callable[[np.ndarray], np.ndarray]


def native(folder: Path, options: dict[str, str]) -> Run:
    session = ort.InferenceSession(folder / "native.onnx", providers=[("CUDAExecutionProvider", options)])
    assert session.get_providers()[0] == "CUDAExecutionProvider", session.get_providers()
    return lambda x: session.run(["y"], {"x": x})[0]


def padded(folder: Path, **options: Any) -> Run:
    model = paddable.load(folder, provider="cuda", **options)
    model.warm_up()
    return lambda x: model.run({"x": x})["y"]


def timed(run: Run, stream: list[np.ndarray]) -> list[float]:
    """Milliseconds of each call, after two calls at one length."""
    for x in (stream[-1], stream[-1]):
        run(x)
    spent = []
    for x in stream:
        start = time.perf_counter()
        run(x)
        spent.append(1e3 * (time.perf_counter() - start))
    return spent


def main(first: str, *others: str) -> int:
    folder = Path(first)
    longest = max(graph.container["T"] for graph in read_bundle(folder).graphs)
    random = np.random.default_rng(0)
    lengths = np.exp(random.uniform(math.log(SHORTEST), math.log(longest), UTTERANCES)).astype(int)
    stream = [random.standard_normal((1, n, 560)).astype(np.float32) for n in lengths]
    card = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    print(f"{card.stdout.strip()}, onnxruntime {ort.__version__}; {UTTERANCES} utterances of {lengths.min()} to")
    print(f"{lengths.max()} frames, {len(set(lengths))} different lengths, container {longest}", flush=True)

    cpu = paddable.load(folder, "cpu", target="cuda")
    expected = [cpu.run({"x": x})["y"] for x in stream[:COMPARED]]
    heuristic = {"use_tf32": "0", "cudnn_conv_algo_search": "HEURISTIC"}
    forms: dict[str, Callable[[], Run]] = {
        "native, defaults": lambda: native(folder, {}),
        "native, HEURISTIC": lambda: native(folder, {"cudnn_conv_algo_search": "HEURISTIC"}),
        "native, HEURISTIC, TF32 off": lambda: native(folder, heuristic),
        "container": lambda: padded(folder, capture=False),
        "container, captured": lambda: padded(folder),
        "container, captured, TF32 on": lambda: padded(folder, allow_tf32=True),
    }
    for other in others:
        sizes = sorted(graph.container["T"] for graph in read_bundle(Path(other)).graphs)
        forms[f"containers {sizes}, captured"] = lambda other=other: padded(Path(other))  # type: ignore[misc]
    rows: dict[str, dict[str, float]] = {}
    for name, make in forms.items():
        start = time.perf_counter()
        run = make()
        ready = time.perf_counter() - start
        spent = timed(run, stream)
        error = max(
            float(np.abs(run(x) - want).max() / np.abs(want).max()) for x, want in zip(stream, expected, strict=False)
        )
        rows[name] = {
            "total s": sum(spent) / 1e3,
            "p50 ms": float(np.percentile(spent, 50)),
            "p99 ms": float(np.percentile(spent, 99)),
            "ready after s": ready,
            "error of scale": error,
        }
        print(f"{name}: " + ", ".join(f"{what} {value:.3g}" for what, value in rows[name].items()), flush=True)
    print(json.dumps(rows))
    exact = {name: row for name, row in rows.items() if name.startswith("container") and "TF32" not in name}
    native_best = min(row["total s"] for name, row in rows.items() if name.startswith("native"))
    captured_best = min(row["total s"] for name, row in exact.items() if "captured" in name)
    error = max(row["error of scale"] for row in exact.values())
    found = dict(zip(LIMITS, (error, captured_best / native_best), strict=True))
    for what, limit in LIMITS.items():
        print(f"{what}: {found[what]:.3g} (limit {limit:g}){'' if found[what] <= limit else '  <-- missed'}")
    return int(any(found[what] > limit for what, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
