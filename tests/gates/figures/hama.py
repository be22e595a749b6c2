"""The phoneme recogniser of hama on recorded speech: arg-max of every frame, padded against native.

python -m tests.gates.figures.hama MODEL.onnx CLIP.wav [...]        clips at 16 kHz
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort
import soundfile

from paddable.api import convert

RATE = 16000
SECONDS = (10, 30)
ROWS = (1, 3)


def session(model: str | bytes) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def feeds(clips: list[np.ndarray], steps: int, junk: float) -> dict[str, np.ndarray]:
    held = np.full((len(clips), steps), junk, np.float32)
    for row, clip in enumerate(clips):
        held[row, : len(clip)] = clip
    return {"waveform": held, "waveform_lengths": np.array([len(clip) for clip in clips], np.int64)}


def main(model: str, *files: str) -> int:
    clips = []
    for file in files:
        audio, rate = soundfile.read(file, dtype="float32")
        if rate == RATE and audio.ndim == 1:
            clips.append((Path(file).name, audio))
    native = session(model)
    want = {name: native.run(None, feeds([clip], len(clip), 0.0))[0][0].argmax(-1) for name, clip in clips}
    failed = 0
    for seconds in SECONDS:
        steps = seconds * RATE
        fitting = [(name, clip) for name, clip in clips if len(clip) <= steps]
        for rows in ROWS:
            padded = convert(
                model,
                ["waveform:1=T"],
                length_inputs=["waveform_lengths=T"],
                containers=[steps],
                batch_size=rows,
                verify=False,
            )
            run = session(padded.SerializeToString())  # type: ignore[union-attr]
            for first in range(0, len(fitting), rows):
                group = [fitting[(first + k) % len(fitting)] for k in range(rows)]
                got = run.run(None, feeds([clip for _, clip in group], steps, 3.7))[0].argmax(-1)
                plain = native.run(None, feeds([clip for _, clip in group], steps, 0.0))[0].argmax(-1)
                for row, (name, _) in enumerate(group):
                    count = len(want[name])
                    same = int((got[row, :count] == want[name]).sum())
                    before = int((plain[row, :count] == want[name]).sum())
                    failed += same != count
                    print(
                        f"{seconds} s, batch {rows}, {name}: {same} of {count} frames, as published {before}",
                        flush=True,
                    )
    return 1 if failed or not clips else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
