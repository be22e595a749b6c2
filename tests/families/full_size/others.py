"""Other exports of SenseVoiceSmall beside ours: nodes, Where, what padding does to the logits, and CPU time.

The same random weights in every graph, features in, logits out, one thread. Exits with 1 where our native graph is
slower than FunASR's or sherpa-onnx's (upper 95% bound of the ratio above 1.05), or where our container changes the
logits. Needs funasr, 12 GB of disk, 6 GB of memory. Usage: python tests/families/full_size/others.py FOLDER CHECKOUTS
"""

from __future__ import annotations

import logging
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from exports_of_others import BOX, VALID, write
from sense_voice import WITH_ITN, ZH, distance, random_weights

import paddable
from paddable.families.sense_voice.config import SenseVoiceConfig
from paddable.families.sense_voice.export import export_sense_voice
from paddable.families.sense_voice.model import SenseVoice

Run = Callable[[np.ndarray, int], np.ndarray]
"""Features [1, T, 560] and how many of them are valid, to logits."""

OURS = f"ours/cpu-fp32-{BOX}.onnx"

# The graph that answers 3 s alone, and the graph that gets the same 3 s in 30 s.
PADDED = {
    "ours.onnx": OURS,
    "funasr.onnx": "funasr.onnx",
    "sherpa.onnx": "sherpa.onnx",
    "sensevoice-onnx.onnx": "sensevoice-onnx.onnx",
    f"axera-{VALID}.onnx": f"axera-{BOX}.onnx",
    f"sherpa-static-{VALID}.onnx": f"sherpa-static-{BOX}.onnx",
}
RUNS, PAIRS = 5, 21


def write_all(folder: Path, checkouts: Path) -> None:
    torch.manual_seed(0)
    ours = random_weights(SenseVoice(SenseVoiceConfig()))
    onnx.save_model(export_sense_voice(ours), folder / "ours.onnx", save_as_external_data=True, location="ours.bin")
    paddable.convert(folder / "ours.onnx", ["speech:1=T"], containers=[BOX], out=folder / "ours", verify=False)
    write(folder, checkouts, ours.state_dict())


def runner(file: Path) -> Run:
    """A graph behind one call."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    inputs = [value.name for value in session.get_inputs()]
    title = "ctc_logits" if "ctc_logits" in (names := [value.name for value in session.get_outputs()]) else names[0]
    types = {value.name: np.int32 if value.type == "tensor(int32)" else np.int64 for value in session.get_inputs()}

    def feed(name: str, features: np.ndarray, valid: int) -> np.ndarray:
        if name in ("speech", "x", "speech_feat"):
            return features
        if name == "mask":  # axera counts the prompt's four rows, the other does not
            before = 4 if file.name.startswith("axera") else 0
            mask = (np.arange(features.shape[1] + before) < valid + before)[None]
            return mask[None].astype(np.int32) if before else mask.astype(np.float32)
        if name in ("prompt", "prompt_ids"):
            prompt = np.array([ZH, 1, 2, WITH_ITN])
            return prompt if name == "prompt" else prompt[None]
        return np.array([{"language": ZH, "textnorm": WITH_ITN, "text_norm": WITH_ITN}.get(name, valid)], types[name])

    def run(features: np.ndarray, valid: int) -> np.ndarray:
        return session.run([title], {name: feed(name, features, valid) for name in inputs})[0]

    return run


def seconds(run: Run, features: np.ndarray, valid: int) -> float:
    """CPU time of one call."""
    started = time.process_time()
    run(features, valid)
    return time.process_time() - started


def show_padding(folder: Path) -> float:
    """Prints the table; gives the error of our container."""
    features = np.random.default_rng(0).standard_normal((1, VALID, 560)).astype(np.float32)
    box = np.concatenate([features, np.zeros((1, BOX - VALID, 560), np.float32)], axis=1)
    errors = {}
    print(f"| graph | nodes | Where | logits of {VALID} frames in {BOX} | cosine | CPU time |", flush=True)
    print(f"|{'---|' * 6}")
    for own, padded in PADDED.items():
        wanted = runner(folder / own)(features, VALID)
        run = runner(folder / padded)
        got = run(box, VALID)[:, : VALID + 4]
        spent = statistics.median(seconds(run, box, VALID) for _ in range(RUNS))
        del run
        errors[padded] = float(np.abs(got - wanted).max() / np.abs(wanted).max())
        a, b = got.astype(np.float64).ravel(), wanted.astype(np.float64).ravel()
        cosine = float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        nodes = [node.op_type for node in onnx.load(folder / padded, load_external_data=False).graph.node]
        count = f"{len(nodes):,} | {nodes.count('Where')}"
        print(f"| {padded} | {count} | {errors[padded]:.1e} | {cosine:.6f} | {spent:.2f} s |", flush=True)
    return errors[OURS]


def show_time(folder: Path) -> float:
    """Prints ratios of ours to each; gives the worst upper bound."""
    random, worst = np.random.default_rng(0), 0.0
    ours = runner(folder / "ours.onnx")
    for other in ("funasr.onnx", "sherpa.onnx"):
        theirs = runner(folder / other)
        for frames, name in ((83, "5 s"), (500, "30 s")):
            features = random.standard_normal((1, frames, 560)).astype(np.float32)
            apart = distance(ours(features, frames), theirs(features, frames))
            mine, other_times = [], []
            for pair in range(PAIRS):
                order = ((ours, mine), (theirs, other_times))
                for run, times in order if pair % 2 else reversed(order):
                    times.append(seconds(run, features, frames))
            ratios = np.array(mine) / np.array(other_times)
            bound = float(np.quantile(np.median(random.choice(ratios, (10_000, PAIRS)), axis=1), 0.95))
            worst = max(worst, bound)
            told = f"{statistics.median(mine):.3f} s against {statistics.median(other_times):.3f} s"
            ratio = f"ratio {np.median(ratios):.3f}, 95% bound {bound:.3f}"
            print(f"{name}, {other}: logits apart by {apart:.1e} of scale; {told}, {ratio}", flush=True)
        del theirs  # a session holds 1 GB
    return worst


def main() -> None:
    folder, checkouts = Path(sys.argv[1]), Path(sys.argv[2])
    logging.disable(logging.INFO)
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}")
    if not folder.exists():
        folder.mkdir(parents=True)
        with torch.no_grad():
            write_all(folder, checkouts)
    bound, error = show_time(folder), show_padding(folder)
    if error > 1e-5 or bound > 1.05:
        sys.exit(f"missed: padding {error:.1e} (1e-5 allowed), time {bound:.3f} (1.05 allowed)")


if __name__ == "__main__":
    main()
