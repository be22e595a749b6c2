"""Where the time of a call through ``load`` goes on a CUDA GPU: ms, medians of 80 calls.

python -m tests.gpu.call BUNDLE [last] [STEPS ...]   BUNDLE from tests.gpu.forms_models, of one row; last: channels last

``run``: numpy to numpy. ``replay``: the captured graph alone, one behind another, at the longest of STEPS.
``copies``: every input copied in, a replay, the outputs copied out, with nothing of ours around them.
``another thread``: ``run`` there, its first calls.
``parts``: what a ``run`` spends in each of these, one call with another.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime as ort

import paddable
from paddable.runtime.session import session as of_containers

CALLS = 80
PARTS: list[tuple[object, str]] = [
    (of_containers, "read_request"),
    (of_containers, "pad"),
    (ort.OrtValue, "update_inplace"),
    (ort.InferenceSession, "run_with_iobinding"),
    (ort.OrtValue, "numpy"),
    (of_containers, "cut"),
    (of_containers, "tell_not_a_number"),
]


def timed(call: Callable[[], object], calls: int = CALLS) -> list[float]:
    """Milliseconds of each call."""
    spent = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        spent.append(1e3 * (time.perf_counter() - start))
    return spent


def median(call: Callable[[], object]) -> float:
    timed(call, 5)
    return round(float(np.median(timed(call))), 3)


def parts(run: Callable[[], object]) -> dict[str, float]:
    """Milliseconds a call by what is called in it; last of all, since it is measured from then on."""
    spent = {name: list[float]() for _, name in PARTS}
    for owner, name in PARTS:
        setattr(owner, name, _measured(getattr(owner, name), spent[name]))
    whole = timed(run)
    found = {name: round(sum(each) / CALLS, 3) for name, each in spent.items()}
    mean = sum(whole) / CALLS
    return {**found, "the rest": round(mean - sum(found.values()), 3), "all": round(mean, 3)}


def _measured(work: Callable[..., object], spent: list[float]) -> Callable[..., object]:
    def measured(*arguments: object, **options: object) -> object:
        start = time.perf_counter()
        try:
            return work(*arguments, **options)
        finally:
            spent.append(1e3 * (time.perf_counter() - start))

    return measured


def main(bundle: str, *steps: str) -> int:
    card = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    folder, last = Path(bundle), "last" in steps
    lengths = [int(text) for text in steps if text != "last"] or [501, 250, 61]
    found: dict[str, object] = {
        "bundle": folder.name,
        "channels last": last,
        "on": f"{card.stdout.strip()}, onnxruntime {ort.__version__}",
    }
    start = time.perf_counter()
    precision = "fp16-fast" if "fast" in folder.name else None
    model = paddable.load(folder, provider="cuda", precision=precision, channels_last=last)
    model.warm_up()
    found["ready s"] = round(time.perf_counter() - start, 1)
    inputs = {n: np.random.default_rng(n).standard_normal((1, n, 560)).astype(np.float32) for n in lengths}
    for n, x in inputs.items():
        found[f"run, {n} frames"] = median(lambda x=x: model.run({"x": x}))  # type: ignore[misc]
    graph = model._session(len(model._containers) - 1)
    session, binding = graph._on.session, graph._idle[0]._binding
    longest = inputs[max(inputs)]
    given = np.zeros(graph.shapes["x"], np.float32)
    given[:, : max(inputs)] = longest
    feeds = {"x": given, **{name: np.array([max(inputs)]) for name in graph.shapes if name != "x"}}
    assert binding is not None and graph.captured and graph.providers[0] == "CUDAExecutionProvider"

    def replay() -> None:
        session.run_with_iobinding(binding._bound, binding._options)

    def copies() -> object:
        for name, array in feeds.items():
            binding.inputs[name].update_inplace(array)
        replay()
        return [binding.view(name) for name in binding.outputs]

    found["copies"], found["replay"] = median(copies), median(replay)  # what ran last says how many keys are read
    other: list[float] = []
    thread = threading.Thread(target=lambda: other.extend(timed(lambda: model.run({"x": longest}), 8)))
    thread.start()
    thread.join()
    found["another thread"] = [round(ms, 2) for ms in other]
    found["parts"] = parts(lambda: model.run({"x": longest}))
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
