"""``paddable export`` at full size, and padded against native with junk in the padding; exits with 1 where it differs.

Random weights in the published layout. Usage: python tests/families/full_size/padded.py FAMILY FOLDER [--no-verify]
FAMILY is sense-voice or fun-asr-nano. FOLDER gets the checkpoint and the bundle; what is there already is used.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import checkpoints
import numpy as np
import onnx
import onnxruntime
from padding_errors import CONTAINERS, RATE, padding_errors, prompts_of

import paddable
from paddable.bundle import read_bundle
from paddable.errors import MisuseError

LIMIT = 1e-5


def export(family: str, checkpoint: Path, out: Path, options: list[str]) -> None:
    started = time.time()
    containers = ",".join(f"{size}s" for size in CONTAINERS)
    words = ["export", family, checkpoint, "-o", out, "--containers", containers, *options]
    subprocess.run([sys.executable, "-m", "paddable", *map(str, words)], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    print(f"export: {time.time() - started:.0f} s, {cpu:.0f} s of CPU, peak {used.ru_maxrss / 1e6:.2f} GB", flush=True)


def show_layout(checkpoint: Path, out: Path) -> None:
    for file in sorted(out.iterdir()):
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    weights = (checkpoint / "model.pt").stat().st_size
    total = sum(file.stat().st_size for file in out.iterdir())
    print(f"bundle {total / 1e6:.0f} MB, checkpoint {weights / 1e6:.0f} MB: {total / weights:.3f} of it")
    for graph in ("native.onnx", *(graph.file for graph in read_bundle(out).graphs)):
        nodes = [node.op_type for node in onnx.load(out / graph, load_external_data=False).graph.node]
        print(f"{graph}: {len(nodes)} nodes, {nodes.count('Where')} Where")


def main() -> None:
    family, folder = sys.argv[1], Path(sys.argv[2])
    checkpoint, out = folder / "checkpoint", folder / "bundle"
    print(f"paddable {paddable.__version__}, onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}")
    if not checkpoint.exists():
        getattr(checkpoints, family.replace("-", "_"))(checkpoint)
    if not out.exists():
        export(family, checkpoint, out, sys.argv[3:])
    show_layout(checkpoint, out)

    prompts = prompts_of(family)
    worst: dict[tuple[float, int], dict[str, float]] = {}
    for seconds, container, name, error in padding_errors(out, prompts):
        row = worst.setdefault((seconds, container), {})
        row[name] = max(row.get(name, 0.0), error)
    names = list(next(iter(worst.values())))
    print(f"| seconds | container | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for (seconds, container), row in worst.items():
        print(f"| {seconds} | {container} s | {' | '.join(f'{row[name]:.1e}' for name in names)} |")

    too_long = np.zeros((1, 61 * RATE), np.float32)
    try:
        paddable.load(out, "cpu").run({"audio": too_long, **prompts})
        sys.exit("61 s were accepted by a container of 60 s")
    except MisuseError as error:
        print(f"61 s: {error}")
    if max(max(row.values()) for row in worst.values()) > LIMIT:
        sys.exit(f"missed: more than {LIMIT:g} of scale")


if __name__ == "__main__":
    main()
