"""Figures of ``docs/models/qwen3_tts_codec.md``, with random weights. One thread.

From the repository root: ``PYTHONPATH=src:tests/codec python tests/codec/measure_codec.py growth|speed``, and in the
judge's environment (see ``codec_original.py``) ``... measure_codec.py parity``.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import codec_synthetic as synthetic
import numpy as np
import torch
from codec_chunks import random_sizes, run_chunks

from paddable.models.qwen3_tts_codec import CodecConfig, Decoder, decoder_from_arrays
from paddable.models.streaming import StepForm

SAMPLES = 1920


def make(config: dict[str, object], snake: float = 0.3) -> Decoder:
    """A decoder with random weights, fp32."""
    tensors = {name: torch.from_numpy(a) for name, a in synthetic.checkpoint(config, snake=snake).items()}
    return decoder_from_arrays(CodecConfig.from_dict(config | {"sample_rate": 24000}), tensors)


def parity() -> None:
    """The released size against the original: whole and streamed, beside the original's own noise."""
    import codec_original as original

    frames = 100
    codes = torch.from_numpy(synthetic.codes(synthetic.RELEASED, frames))
    for snake in (0.0, 0.3, 0.5):
        judge = original.load(synthetic.RELEASED, synthetic.checkpoint(synthetic.RELEASED, snake=snake))
        expected = judge(codes.transpose(1, 2)).squeeze(1)
        noise = max(
            float((judge(codes[:, :n].transpose(1, 2)).squeeze(1) - expected[:, : SAMPLES * n]).abs().max())
            for n in (20, 73)
        )
        ours = make(synthetic.RELEASED, snake)
        sizes = random_sizes(frames, 12, np.random.default_rng(0))
        errors = [
            float((wav - expected).abs().max())
            for wav in (ours(codes), run_chunks(StepForm(ours, SAMPLES), codes, sizes, 12))
        ]
        scale = float(expected.abs().max())
        print(f"snake {snake}: scale {scale:.2f}, of scale: noise {noise / scale:.1e}, ", end="")
        print(f"whole {errors[0] / scale:.1e}, streamed {errors[1] / scale:.1e}", flush=True)


def growth() -> None:
    """Ten minutes streamed in fp32 against fp64, by the minute (narrow model, every rate and window as released)."""
    minutes, per_minute, chunk = 10, 750, 75
    codes = torch.from_numpy(synthetic.codes(synthetic.SMALL, minutes * per_minute))
    decoder = make(synthetic.SMALL)
    sizes = [chunk] * (per_minute // chunk)
    forms = [StepForm(decoder, SAMPLES), StepForm(make(synthetic.SMALL).double(), SAMPLES)]
    states = [form.initial() for form in forms]
    for minute in range(minutes):
        worst = 0.0
        for i in range(len(sizes)):
            part = codes[:, (minute * len(sizes) + i) * chunk :][:, :chunk]
            results = [form(part, torch.tensor([chunk]), *s) for form, s in zip(forms, states, strict=True)]
            states = [list(result[2:]) for result in results]
            worst = max(worst, float((results[0][0] - results[1][0]).abs().max()))
        print(f"minute {minute + 1}: {worst:.2e}", flush=True)


def speed() -> None:
    """The released size in ONNX Runtime on the CPU: streamed against whole, and the cost of a chunk over a minute."""
    import onnxruntime as ort

    from paddable.export.qwen3_tts_codec import export_step, export_whole
    from paddable.runtime.step_graph import StepGraph
    from paddable.runtime.stream import Stream

    decoder = make(synthetic.RELEASED)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        sessions = {}
        for name in ("whole", 4, 12, 25):
            path = Path(folder) / f"{name}.onnx"
            (export_whole(decoder) if name == "whole" else export_step(decoder, int(name))).save(path)
            sessions[name] = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    streams = {name: Stream([StepGraph(s)]) for name, s in sessions.items() if name != "whole"}
    codes = synthetic.codes(synthetic.RELEASED, 100)
    rounds: dict[object, list[float]] = {name: [] for name in sessions}
    for _ in range(4):  # interleaved: the machine is not quiet
        for name, session in sessions.items():
            start = time.process_time()
            if name == "whole":
                (wav,) = session.run(None, {"codes": codes})
            else:
                streams[name].reset()
                parts = [streams[name].push(codes[:, i : i + name]) for i in range(0, 100, name)]
                error = np.abs(np.concatenate(parts, 1) - wav).max() / np.abs(wav).max()
                print(f"N={name}: streamed - whole {error:.1e} of scale", flush=True)
            rounds[name].append((time.process_time() - start) / 100)
    cost = {name: statistics.median(values[1:]) for name, values in rounds.items()}
    for name, value in cost.items():
        print(
            f"{name}: {1e3 * value:.1f} ms CPU a frame, {value * 12.5:.2f} of real time, "
            f"{value / cost['whole']:.2f} of whole"
        )
    print(f"state of a stream: {streams[12].spec.states.nbytes} bytes")
    minute = synthetic.codes(synthetic.RELEASED, 756)
    costs = []
    for i in range(0, 756, 12):
        start = time.process_time()
        streams[12].push(minute[:, i : i + 12])
        costs.append(1e3 * (time.process_time() - start))
    slope, _ = np.polyfit(np.arange(len(costs)), costs, 1)
    error = np.std(costs) / np.sqrt(len(costs)) / np.std(np.arange(len(costs)))
    print(
        f"minute in {len(costs)} chunks of 12: median {np.median(costs):.0f} ms, "
        f"slope {slope:.2f} +- {error:.2f} ms a chunk"
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    {"parity": parity, "growth": growth, "speed": speed}[sys.argv[1]]()
