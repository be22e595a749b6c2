"""Figures of ``docs/models/qwen3_tts_codec.md``, with random weights. One thread.

From the repository root: ``PYTHONPATH=src:tests/codec python tests/codec/measure_codec.py`` and ``growth``,
``positions``, ``speed``, ``minute`` or ``precision``; in the judge's environment (see ``codec_original.py``) also
``parity``.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import codec_synthetic as synthetic
import numpy as np
import onnx_ir as ir
import onnxruntime as ort
import torch
from codec_chunks import random_sizes, run_chunks

from paddable.families.layers.streaming import StepForm
from paddable.families.layers.streaming.attention import _angles
from paddable.families.qwen3_tts_codec.config import CodecConfig
from paddable.families.qwen3_tts_codec.export import export_step, export_whole
from paddable.families.qwen3_tts_codec.model import Decoder
from paddable.families.qwen3_tts_codec.weights import decoder_from_arrays
from paddable.graph.io.write import write_shared
from paddable.precision import in_precision, session_config
from paddable.runtime.streaming.step_graph import StepGraph
from paddable.runtime.streaming.stream import Stream

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
            for wav in (ours(codes), run_chunks(StepForm(ours, SAMPLES, axis=1), codes, sizes, 12))
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
    forms = [StepForm(decoder, SAMPLES, axis=1), StepForm(make(synthetic.SMALL).double(), SAMPLES, axis=1)]
    states = [form.initial() for form in forms]
    for minute in range(minutes):
        worst = 0.0
        for i in range(len(sizes)):
            part = codes[:, (minute * len(sizes) + i) * chunk :][:, :chunk]
            results = [form(part, torch.tensor([chunk]), *s) for form, s in zip(forms, states, strict=True)]
            states = [list(result[2:]) for result in results]
            worst = max(worst, float((results[0][0] - results[1][0]).abs().max()))
        print(f"minute {minute + 1}: {worst:.2e}", flush=True)


def positions() -> None:
    """A rotary logit (standard deviation 2, head of 64) in fp32 at absolute positions, against fp64."""
    rng = torch.Generator().manual_seed(0)
    q, k = (torch.randn(2000, 64, dtype=torch.float64, generator=rng) for _ in range(2))
    age = torch.randint(0, 72, (2000,), generator=rng)

    def logit(first: int, dtype: torch.dtype) -> torch.Tensor:
        rotated = []
        for x, position in ((q, first + age), (k, torch.full_like(age, first))):
            cos, sin = _angles(position, 64, 10000.0, dtype)
            rotated.append(x.to(dtype) * cos + x.to(dtype).roll(32, -1) * sin)
        return (rotated[0] * rotated[1]).sum(-1).double() / 4

    for first in (0, 1000, 8000, 45000):
        error = (logit(first, torch.float32) - logit(first, torch.float64)).abs().max()
        print(f"position {first}: {float(error):.1e}")


def speed() -> None:
    """The released size in ONNX Runtime on the CPU: streamed against whole, in CPU time."""
    sizes: tuple[object, ...] = ("whole", 4, 12, 25)
    sessions = _sessions(sizes)
    streams = {name: Stream([StepGraph(s)]) for name, s in sessions.items() if name != "whole"}
    codes = synthetic.codes(synthetic.RELEASED, 100)
    (whole,) = sessions["whole"].run(None, {"codes": codes})
    rounds: dict[object, list[float]] = {name: [] for name in sizes}
    worst: dict[object, float] = dict.fromkeys(sizes, 0.0)
    for _ in range(4):  # interleaved: the machine is not quiet
        for name, session in sessions.items():
            start = time.process_time()
            if isinstance(name, int):
                streams[name].reset()
                parts = [streams[name].push(codes[:, i : i + name]) for i in range(0, 100, name)]
                worst[name] = float(np.abs(np.concatenate(parts, 1) - whole).max() / np.abs(whole).max())
            else:
                session.run(None, {"codes": codes})
            rounds[name].append((time.process_time() - start) / 100)
    cost = {name: statistics.median(values[1:]) for name, values in rounds.items()}
    for name, value in cost.items():
        print(
            f"{name}: {1e3 * value:.1f} ms CPU a frame, {value * 12.5:.2f} of real time, "
            f"{value / cost['whole']:.2f} of whole, differs by {worst[name]:.1e} of scale"
        )
    print(f"state of a stream: {streams[12].spec.states.nbytes} bytes")


def minute() -> None:
    """The released size on the CPU: a chunk's cost over a minute, beside a new stream's at the same moment."""
    graph = StepGraph(_sessions((12,))[12])
    aged, codes, costs = Stream([graph]), synthetic.codes(synthetic.RELEASED, 756), []
    for i in range(0, 756, 12):
        pair = []
        for stream in (aged, Stream([graph])):
            start = time.process_time()
            stream.push(codes[:, i : i + 12])
            pair.append(1e3 * (time.process_time() - start))
        costs.append(pair)
    chunks, index = np.array(costs), np.arange(len(costs))
    for name, series in (("aged", chunks[:, 0]), ("new", chunks[:, 1]), ("aged - new", chunks[:, 0] - chunks[:, 1])):
        (slope, _), covariance = np.polyfit(index, series, 1, cov=True)
        print(
            f"{name}: median {np.median(series):.0f} ms, slope {slope:.2f} +- {covariance[0, 0] ** 0.5:.2f} ms a chunk"
        )


def precision(config: dict[str, object] = synthetic.RELEASED, frames: int = 36) -> None:
    """fp16 and int8 at the released size: whole against fp32, and streamed against whole in the same precision."""
    decoder, codes = make(config), synthetic.codes(config, frames)
    whole, step = (ir.from_proto(p.model_proto) for p in (export_whole(decoder), export_step(decoder, 12)))
    exact: np.ndarray | None = None
    for name in ("fp32", "fp16", "int8"):
        with tempfile.TemporaryDirectory() as folder:
            files = {"whole.onnx": in_precision(whole, name), "step.onnx": in_precision(step, name)}
            write_shared(files, Path(folder) / "weights")
            options = ort.SessionOptions()
            options.intra_op_num_threads = 1
            for key, value in session_config(name).items():
                options.add_session_config_entry(key, value)
            sessions = [ort.InferenceSession(Path(folder) / file, options) for file in files]
            size = (Path(folder) / "weights").stat().st_size
        (wav,) = sessions[0].run(None, {"codes": codes})
        stream = Stream([StepGraph(sessions[1])])
        streamed = np.concatenate([stream.push(codes[:, i : i + 12]) for i in range(0, frames, 12)], 1)
        exact = wav if exact is None else exact
        scale = np.abs(exact).max()
        cosine = float((wav * exact).sum() / np.linalg.norm(wav) / np.linalg.norm(exact))
        print(
            f"{name}: whole {np.abs(wav - exact).max() / scale:.1e} of scale from fp32, cosine {cosine:.6f}, ", end=""
        )
        print(f"streamed {np.abs(streamed - wav).max() / scale:.1e} from whole, {size / 1e6:.0f} MB", flush=True)


def _sessions(names: tuple[object, ...]) -> dict[object, ort.InferenceSession]:
    decoder, options = make(synthetic.RELEASED), ort.SessionOptions()
    options.intra_op_num_threads = 1
    sessions = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder) / f"{name}.onnx"
            (export_step(decoder, name) if isinstance(name, int) else export_whole(decoder)).save(path)
            sessions[name] = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return sessions


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    {
        "parity": parity,
        "growth": growth,
        "speed": speed,
        "minute": minute,
        "positions": positions,
        "precision": precision,
    }[sys.argv[1]]()
