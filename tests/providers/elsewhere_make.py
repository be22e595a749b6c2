"""Converted graphs of the zoo in small containers, with inputs, for a run on another execution provider.

python -m tests.providers.elsewhere_make TARGET ZOO OUT

ZOO holds the graphs of shared/zoo.py. Writes OUT/<name>.onnx and OUT/<name>.npz: a full container and a shorter clip,
both with random junk behind it. `tests.providers.elsewhere` runs them where torch and this package are not installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx

from paddable.api.building import padded
from paddable.api.opened import open_model
from paddable.graph.io.write import to_proto

STEPS = {"encodec_decoder_ts": 24, "fun_asr_nano": 40, "hifigan": 24, "speech2text": 60, "speech2text_ts": 60}
WAVE = 4000  # samples, for every other graph


def make(path: Path, target: str, out: Path) -> None:
    steps = STEPS.get(path.stem, WAVE)
    axis = 2 if path.stem == "encodec_decoder_ts" else 1
    model = padded(open_model(path, [f"x:{axis}=T"]), {"T": steps}, target).model
    proto = to_proto(model)
    onnx.save(proto, out / path.name)
    shape = [dim.dim_value for dim in proto.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    np.savez(out / f"{path.stem}.npz", x=x, ilens=np.array([steps, steps - steps // 3], np.int64))


def main(target: str, zoo: str, out: str) -> None:
    Path(out).mkdir(parents=True, exist_ok=True)
    for path in sorted(Path(zoo).glob("*.onnx")):
        make(path, target, Path(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
