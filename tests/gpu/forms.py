"""What the forms gain on a CUDA GPU: whole calls, numpy to numpy, through ``load``, against torch.compile.

python -m tests.gpu.forms MADE TORCH.json    MADE from tests.gpu.forms_models, TORCH.json from tests.gpu.torch_bar

Errors are of scale, against native in fp32 on the CPU, the largest of four lengths. A bundle is measured in a process
of its own. Exits with 1 where a figure of ``LIMITS`` is missed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort
from tests.gpu.chunks import pushing

import paddable

CALLS, LENGTHS, STREAM = 60, (501, 250, 61, 25), 200
LIMITS = {
    "fp16 fast / torch.compile fp16": 0.90,
    "fp32 / torch.compile fp32": 0.90,
    "mean of 200 mixed lengths in four containers / a call of 501 frames": 1.0,
    "16 rows / one by one, a row": 0.35,
    "codec step of 12 frames, fp16 / fp32": 0.6,
    "error of fp32": 1e-5,
    "moved by junk": 0.0,
}


def drawn(steps: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((1, steps, 560)).astype(np.float32)


def milliseconds(run: object, inputs: list[np.ndarray]) -> list[float]:
    """Of each call."""
    spent = []
    for x in inputs:
        start = time.perf_counter()
        run({"x": x})  # type: ignore[operator]
        spent.append(1e3 * (time.perf_counter() - start))
    return spent


def measure(folder: Path) -> dict[str, float]:
    """One bundle on the card."""
    if folder.name.startswith("codec"):
        push, ready = pushing(folder, codec_step(folder))
        codes = np.random.default_rng(0).integers(0, 2048, (60, 1, 12, 16))
        spent = []
        for part in codes:
            start = time.perf_counter()
            push(part)
            spent.append(1e3 * (time.perf_counter() - start))
        return {"call ms": float(np.median(spent[5:])), "ready s": ready}
    start = time.perf_counter()
    model = paddable.load(folder, provider="cuda", precision="fp16-fast" if "fast" in folder.name else None)
    model.warm_up()
    found = {"ready s": time.perf_counter() - start}
    rows = 16 if "rows" in folder.name else 1
    for steps in LENGTHS[:3]:
        x = np.repeat(drawn(steps), rows, 0)
        milliseconds(model.run, [x] * 5)
        found["call ms" if steps == LENGTHS[0] else f"call ms ({steps})"] = float(
            np.median(milliseconds(model.run, [x] * CALLS))
        )
    if folder.name.endswith("-4"):
        random = np.random.default_rng(0)
        lengths = np.exp(random.uniform(np.log(25), np.log(501), STREAM)).astype(int)
        found["mixed ms"] = float(np.mean(milliseconds(model.run, [drawn(n) for n in lengths])))
    want = np.load(folder.parent / "want.npz")
    if rows == 1:
        answers = {str(n): model.run({"x": drawn(n, n)})["y"] for n in LENGTHS}
        found["error"] = max(float(np.abs(y - want[n]).max() / np.abs(want[n]).max()) for n, y in answers.items())
        found["moved by junk"] = max(moved_by_junk(model, n) for n in LENGTHS[1:])
    return found


def moved_by_junk(model: paddable.Model, steps: int) -> float:
    """How far an answer moves, of scale, where NaN and -1e4 lie in the padding in place of 0: gate J on the card."""
    graph = model._session(len(model._containers) - 1)
    x = np.zeros(graph.shapes["x"], np.float32)  # type: ignore[arg-type]
    x[:, :steps] = drawn(steps)
    filled = x.copy()
    filled[:, steps:], filled[:, steps + 3 :] = np.nan, -1e4
    clean, moved = (graph.run({"x": each, "ilens": np.array([steps])})["y"] for each in (x, filled))
    return float(np.abs(clean - moved).max() / np.abs(clean).max())


def codec_step(folder: Path) -> int:
    """Which step graph takes 12 frames."""
    model = paddable.load(folder, "cpu", target="cuda")
    return next(i for i, graph in enumerate(model._step_graphs) if graph.spec.steps == 12)


def main(made: str, bar: str = "", one: str = "") -> int:
    place = Path(made)
    if one:
        print(json.dumps(measure(place / one)))
        return 0
    card = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    print(f"{card.stdout.strip()}, onnxruntime {ort.__version__}", flush=True)
    if not (place / "want.npz").exists():
        native = ort.InferenceSession(place / "fp32" / "native.onnx", providers=["CPUExecutionProvider"])
        np.savez(place / "want.npz", **{str(n): native.run(["y"], {"x": drawn(n, n)})[0] for n in LENGTHS})
    rows: dict[str, dict[str, float]] = {}
    for folder in sorted(path for path in place.iterdir() if (path / "bundle.json").exists()):
        command = [sys.executable, "-m", "tests.gpu.forms", made, bar, folder.name]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{folder.name}: failed: {done.stderr.strip()[-600:]}", flush=True)
            continue
        rows[folder.name] = json.loads(done.stdout.strip().splitlines()[-1])
        print(f"{folder.name}: {json.dumps({k: float(f'{v:.4g}') for k, v in rows[folder.name].items()})}", flush=True)
    torch = json.loads(Path(bar).read_text())
    print(f"torch.compile: {json.dumps(torch)}")
    found = {
        "fp16 fast / torch.compile fp16": rows["fp16-fast"]["call ms"] / torch["fp16"]["call ms"],
        "fp32 / torch.compile fp32": rows["fp32"]["call ms"] / torch["fp32"]["call ms"],
        "mean of 200 mixed lengths in four containers / a call of 501 frames": rows["fp16-fast-4"]["mixed ms"]
        / rows["fp16-fast"]["call ms"],
        "16 rows / one by one, a row": rows["fp16-fast-rows"]["call ms"] / 16 / rows["fp16-fast"]["call ms"],
        "codec step of 12 frames, fp16 / fp32": rows["codec-fp16"]["call ms"] / rows["codec-fp32"]["call ms"],
        "error of fp32": rows["fp32"]["error"],
        "moved by junk": max(row.get("moved by junk", 0.0) for row in rows.values()),
    }
    for what, limit in LIMITS.items():
        print(f"{what}: {found[what]:.3g} (limit {limit:g}){'' if found[what] <= limit else '  <-- missed'}")
    return int(any(found[what] > limit for what, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
