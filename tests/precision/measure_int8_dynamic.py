"""CPU time, memory and error of SenseVoice's size in each precision, native graphs; figures of ``docs/precision.md``.

From the repository root: ``PYTHONPATH=src python tests/precision/measure_int8_dynamic.py``. One thread, random weights,
the fp32 export and the others in turn in one process; ratios of medians are printed, since other work disturbs both
alike. Needs about 5 GB and some minutes. ``--blocks N`` takes fewer.

The floor is arithmetic at the speeds of single operators on this machine, in this process: products with weights in 8
bits, attention in fp32, and each weight read once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import torch

from paddable.families.sense_voice.config import SenseVoiceConfig
from paddable.families.sense_voice.export import export_sense_voice
from paddable.families.sense_voice.model import SenseVoice
from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto, write_model
from paddable.precision import in_precision, session_config
from paddable.runtime.session.saturation import asked_here

FRAMES = {"5 s": 84, "30 s": 500}
ROUNDS = 7
SIZE = 512


def main() -> None:
    """Print one row a precision and length."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=70)
    parser.add_argument("--precisions", default="fp32,int8-dynamic")
    given = parser.parse_args()
    torch.manual_seed(0)
    tp = min(20, given.blocks // 3)
    model = SenseVoice(SenseVoiceConfig(blocks=given.blocks - tp, tp_blocks=tp)).eval()
    native = read_model(export_sense_voice(model))
    numbers = sum(weight.numel() for weight in model.parameters() if weight.ndim == 2)
    del model
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        sessions = {}
        for name in given.precisions.split(","):
            file = write_model(in_precision(native, name), Path(folder) / f"{name}.onnx", external_data=True)
            options = ort.SessionOptions()
            options.intra_op_num_threads = 1
            for key, value in asked_here(session_config(name)).items():
                options.add_session_config_entry(key, value)
            before = _resident()
            sessions[name] = ort.InferenceSession(file, options)
            size = sum(path.stat().st_size for path in Path(folder).glob(f"{name}*")) / 1e6
            print(f"{name}: {size:.0f} MB on disk, {_resident() - before:.0f} MB resident once open", flush=True)
        speeds = _speed("fp32"), _speed("int8-dynamic")
        bandwidth = _bandwidth()
        told = f"{speeds[0] / 1e9:.0f} and {speeds[1] / 1e9:.0f} GFLOP/s in fp32 and 8 bits, {bandwidth / 1e9:.1f} GB/s"
        print(f"{numbers / 1e6:.0f} M numbers in matrices; {told}", flush=True)
        for told, frames in FRAMES.items():
            attention = 4 * frames**2 * SIZE * given.blocks / speeds[0]
            floor = 2 * frames * numbers / speeds[1] + attention + numbers / bandwidth
            speech = (rng.standard_normal((1, frames, 560))).astype(np.float32)
            feeds = {"speech": speech, "language": np.array([0]), "textnorm": np.array([15])}
            times: dict[str, list[float]] = {name: [] for name in sessions}
            answers = {}
            for _ in range(ROUNDS):
                for name, session in sessions.items():
                    start = time.process_time()
                    answers[name] = session.run(["ctc_logits"], feeds)[0]
                    times[name].append(time.process_time() - start)
            exact = answers["fp32"]
            for name, got in answers.items():
                median, least = statistics.median(times[name]), min(times[name])
                ratio = median / statistics.median(times["fp32"]), least / min(times["fp32"])
                cosine = float(got.ravel() @ exact.ravel() / np.linalg.norm(got) / np.linalg.norm(exact))
                same = float((got.argmax(-1) == exact.argmax(-1)).mean())
                print(
                    f"{told} {name}: {1000 * median:.0f} ms, ratio of medians {ratio[0]:.3f}, of least {ratio[1]:.3f}, "
                    f"cosine {cosine:.5f}, best class {same:.3f}"
                    + (f", {median / floor:.2f} of the floor" if name == "int8-dynamic" else ""),
                    flush=True,
                )


def _speed(precision: str) -> float:
    """Floating point operations a second of one product [500, 512] x [512, 2048]."""
    rows, rng = 500, np.random.default_rng(0)
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["" : 18]>
        net (float[{rows}, {SIZE}] x) => (float[{rows}, {4 * SIZE}] y) {{ y = MatMul(x, w) }}"""
    )
    weight = rng.standard_normal((SIZE, 4 * SIZE)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    for key, value in asked_here(session_config(precision)).items():
        options.add_session_config_entry(key, value)
    made = to_proto(in_precision(read_model(model), precision))
    session = ort.InferenceSession(made.SerializeToString(), options)
    x, times = rng.standard_normal((rows, SIZE)).astype(np.float32), []
    for _ in range(30):
        start = time.process_time()
        session.run(None, {"x": x})
        times.append(time.process_time() - start)
    return 2 * rows * weight.size / min(times)


def _bandwidth() -> float:
    """Bytes a second that one thread reads."""
    array = np.ones(100_000_000, np.float32)
    start = time.process_time()
    array.dot(array)
    return array.nbytes / (time.process_time() - start)


def _resident() -> float:
    pages = int(Path(f"/proc/{os.getpid()}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
