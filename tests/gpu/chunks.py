"""What a chunk of the codec costs on a CUDA GPU: states through the host, states on the device, captured.

python -m tests.gpu.chunks BUNDLE

The bundle was exported with ``paddable export qwen3-tts-codec --target cuda``. Times are whole pushes: codes in,
samples out. Exits with 1 if a stream on the GPU is further from the CPU's than three times what the CPU's stream is
from the CPU's whole utterance (or 1e-5 of scale).
"""

from __future__ import annotations

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
from paddable.runtime.streaming.step_graph import StepGraph
from paddable.runtime.streaming.stream import Stream

CHUNKS, WHOLE = 200, 96
PLAIN = {"use_tf32": "0", "cudnn_conv_algo_search": "HEURISTIC"}


def through_the_host(path: Path) -> Callable[[np.ndarray], np.ndarray]:
    """The step graph without buffers of its own: every state comes back to numpy and goes out again."""
    session = ort.InferenceSession(path, providers=[("CUDAExecutionProvider", PLAIN), "CPUExecutionProvider"])
    spec = StepGraph(session).spec
    states = {item.input_name: item.initial() for item in spec.states}

    def push(codes: np.ndarray) -> np.ndarray:
        feeds = {spec.input: codes, "ilens": np.array([codes.shape[1]]), **states}
        wav, _, *after = session.run(None, feeds)
        states.update(zip(states, after, strict=True))
        return np.asarray(wav)

    return push


def pushing(folder: Path, index: int, **options: Any) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """Pushes through one step graph on the device, and seconds from loading to a warm stream."""
    start = time.perf_counter()
    model = paddable.load(folder, provider="cuda", **options)
    stream = Stream([model._step_graphs[index]])
    stream.warm_up()
    return stream.push, time.perf_counter() - start


def main(bundle: str) -> int:
    folder = Path(bundle)
    card = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    print(f"{card.stdout.strip()}, onnxruntime {ort.__version__}", flush=True)
    on_cpu = paddable.load(folder, "cpu", target="cuda")
    random = np.random.default_rng(0)
    utterance = random.integers(0, 2048, (1, WHOLE, 16))
    streamed = on_cpu.stream().push(utterance)
    scale = float(np.abs(streamed).max())
    noise = float(np.abs(on_cpu.run({"codes": utterance})["wav"] - streamed).max()) / scale
    allowed = max(1e-5, 3 * noise)
    print(f"on the CPU: scale {scale:.2g}, streamed against whole {noise:.1e} of scale", flush=True)
    missed = False
    for index, file in enumerate(read_bundle(folder).step_graphs):
        forms = {
            "states through the host": lambda file=file: (through_the_host(folder / file), 0.0),
            "states on the device": lambda index=index: pushing(folder, index, capture=False),
            "captured": lambda index=index: pushing(folder, index),
            "captured, TF32 on": lambda index=index: pushing(folder, index, allow_tf32=True),
        }
        for name, make in forms.items():
            push, ready = make()
            frames = on_cpu._step_graphs[index].spec.steps
            parts = [push(part) for part in np.split(utterance, WHOLE // frames, 1)]
            error = float(np.abs(np.concatenate(parts, 1) - streamed).max()) / scale
            spent = []
            for _ in range(CHUNKS):
                codes = random.integers(0, 2048, (1, frames, 16))
                start = time.perf_counter()
                push(codes)
                spent.append(1e3 * (time.perf_counter() - start))
            p50, p99 = np.percentile(spent, [50, 99])
            exact = "TF32" not in name
            too_far = exact and error > allowed
            missed |= too_far
            print(
                f"{frames} frames ({80 * frames} ms of sound), {name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms; ready after "
                f"{ready:.1f} s; {error:.1e} of scale from the CPU{'  <-- missed' if too_far else ''}",
                flush=True,
            )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
