"""Every precision on a provider: error, agreement, size, and time of fp32's there. Figures of ``docs/precision.md``.

python families_run.py cpu|openvino FOLDER [FAMILY ...]

Needs numpy and the provider's runtime alone, so it is run as a file, in the provider's environment. FOLDER is made by
``families_make``. Native on the CPU, five-second containers on OpenVINO; one thread; medians, all precisions in turn.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime as ort

ROUNDS = 7
CONFIG = {"int8": {"session.disable_quant_qdq": "1"}}


def opened(path: Path, provider: str, precision: str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    if provider == "cpu":
        for key, value in CONFIG.get(precision, {}).items():
            options.add_session_config_entry(key, value)
        return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    settings = {"device_type": "CPU", "num_of_threads": "1"}
    return ort.InferenceSession(path, options, providers=[("OpenVINOExecutionProvider", settings)])


def main(provider: str, folder: str, *chosen: str) -> None:
    form = "native" if provider == "cpu" else "container"
    for family in sorted(path for path in Path(folder).iterdir() if path.is_dir()):
        if chosen and family.name not in chosen:
            continue
        stored = dict(np.load(family / "inputs.npz"))
        want, output = stored.pop("want").astype(np.float64), (family / "output.txt").read_text()
        sessions, answers, times = {}, {}, {}
        for path in sorted(family.glob(f"{form}-*.onnx")):
            precision = path.stem.removeprefix(f"{form}-")
            try:
                sessions[precision] = opened(path, provider, precision)
            except Exception as error:
                print(f"{family.name} | {precision} | does not load: {str(error)[:120]}")
                continue
            times[precision] = []
        for _ in range(ROUNDS):
            for precision, session in sessions.items():
                names = {node.name for node in session.get_inputs()}
                feeds = {name: array for name, array in stored.items() if name in names}
                start = time.process_time()
                try:
                    answers[precision] = session.run([output], feeds)[0]
                except Exception as error:
                    print(f"{family.name} | {precision} | does not run: {str(error)[:120]}")
                times[precision].append(time.process_time() - start)
        for precision, answer in answers.items():
            got = answer.astype(np.float64)[tuple(slice(size) for size in want.shape)]
            cosine = float((got * want).sum() / np.linalg.norm(got) / np.linalg.norm(want))
            error = np.abs(got - want).max() / np.abs(want).max()
            classes = output.endswith("logits")
            best = f"{(got.argmax(-1) == want.argmax(-1)).mean():.1%}" if classes else "-"
            size = sum(path.stat().st_size for path in family.glob(f"{form}-{precision}.onnx*")) / 1e6
            ratio = statistics.median(times[precision]) / statistics.median(times["fp32"])
            print(
                f"{family.name} | {precision} | {error:.1e} | {cosine:.6f} | {best} | {size:.1f} MB | {ratio:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
