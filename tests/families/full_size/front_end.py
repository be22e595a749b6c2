"""Error of log-mel features to float64: kaldi-native-fbank beside ours in ONNX Runtime. Prints a Markdown table.

Usage: python tests/families/full_size/front_end.py SHARED_FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import kaldi_native_fbank
import numpy as np
import onnxruntime
import torch

from paddable.audio import read_audio
from paddable.audio.kaldi import log_mel
from paddable.families.layers.front_end import KaldiFrontEnd
from paddable.families.tracing.native import export_native


def kaldi(audio: np.ndarray) -> np.ndarray:
    options = kaldi_native_fbank.FbankOptions()
    options.frame_opts.dither, options.frame_opts.window_type = 0.0, "hamming"
    options.mel_opts.num_bins, options.energy_floor = 80, 0.0
    bank = kaldi_native_fbank.OnlineFbank(options)
    bank.accept_waveform(16_000, audio * np.float32(32_768))
    bank.input_finished()
    return np.stack([bank.get_frame(i) for i in range(bank.num_frames_ready)])


def signals(shared: Path) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    noise, time = random.standard_normal(48_000), np.arange(48_000) / 16_000
    made = {
        "noise 0.1": 0.1 * noise,
        "noise 0.1 on 0.3": 0.1 * noise + 0.3,
        "one bit of noise on 0.01": np.round(0.01 * 32_768 + noise) / 32_768,
        "constant 0.5": np.full_like(noise, 0.5),
        "constant 0.1": np.full_like(noise, 0.1),
        "1 Hz drift 0.3, noise 1e-3": 0.3 * np.sin(2 * np.pi * time) + 1e-3 * noise,
        "noise 1e-5": 1e-5 * noise,
        "digital zeros": np.zeros_like(noise),
        "noise, then 0.5 with noise 1e-4": np.concatenate([0.1 * noise[:24_000], 0.5 + 1e-4 * noise[24_000:]]),
    }
    clips = {path.stem: read_audio(path).samples for path in sorted((shared / "audio").glob("*/*.wav"))}
    return clips | {name: signal.astype(np.float32) for name, signal in made.items()}


def main() -> None:
    torch.set_num_threads(1)
    module = KaldiFrontEnd(stack=1, stride=1).eval()
    graph = export_native(
        module, {"audio": torch.zeros(1, 32_000)}, ["mel"], ragged_inputs={"audio": (1, "S")}, ragged_outputs={"mel": 1}
    )
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])

    def text(error: np.ndarray) -> str:
        return f"{error.max():.1e} / {np.quantile(error, 0.999):.1e}"

    print("| signal | Kaldi to float64 | ours to float64 | ours to Kaldi |\n|---|---|---|---|")
    for name, audio in signals(Path(sys.argv[1])).items():
        truth, theirs = log_mel(audio), kaldi(audio)
        ours = session.run(None, {"audio": audio[None]})[0][0]
        print(
            f"| {name} | "
            + " | ".join(text(np.abs(a - b)) for a, b in ((theirs, truth), (ours, truth), (ours, theirs)))
            + " |"
        )


if __name__ == "__main__":
    main()
