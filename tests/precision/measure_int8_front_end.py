"""Error of Qwen3-ASR's embeddings in int8, with the front end in the graph and with features from outside.

``PYTHONPATH=src python tests/precision/measure_int8_front_end.py AUDIO [LAYERS]``: own width, random weights, recorded
speech as it is, with an offset, and quiet. Exits with 1 where the graph's error is more than 1.1 times as large.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from measure_real_weights import recordings

from paddable.api.opened import open_model
from paddable.api.precisions import measure_native
from paddable.api.staging import staging
from paddable.families.qwen3_asr.config import Qwen3AsrConfig
from paddable.families.qwen3_asr.export import export_qwen3_asr
from paddable.families.qwen3_asr.front_end import WhisperFrontEnd
from paddable.families.qwen3_asr.model import Qwen3AsrEncoder
from paddable.gates.engine import Array, Engine
from paddable.precision import in_precision, session_config

LEVELS = {"as it is": (0.0, 1.0), "with an offset of 0.1": (0.1, 1.0), "100 times quieter": (0.0, 0.01)}
Feeds = list[dict[str, Array]]


def errors(
    model: Qwen3AsrEncoder, length: str, rate: float | None, heard: dict[str, Feeds], folder: Path
) -> list[float]:
    """Largest error of scale in int8, of each level; the first level's inputs are the examples."""
    folder.mkdir()
    onnx.save(export_qwen3_asr(model), folder / "native.onnx")
    opened = open_model(folder / "native.onnx", [length], rate=rate)
    name, _, axis = length.partition("=")[0].partition(":")
    (examples := folder / "examples").mkdir()
    for number, feeds in enumerate(next(iter(heard.values()))[::2]):
        np.savez(examples / f"{number}.npz", **feeds)
    longest = max(feeds[name].shape[int(axis)] for feeds in heard["as it is"])
    with staging(None) as stage:
        container = {length.partition("=")[2]: longest}
        known = measure_native(opened, [container], ["int8"], stage.lending, examples=examples)["int8"]
        small = stage.lend(in_precision(opened.model, "int8", known.kept, known.fixed))
        exact, int8 = Engine(folder / "native.onnx"), Engine(small, config=session_config("int8"))

        def error(feeds: dict[str, Array]) -> float:
            want, got = (engine.run(feeds)["embeddings"] for engine in (exact, int8))
            return float(np.abs(got - want).max() / np.abs(want).max())

        return [max(map(error, feeds)) for feeds in heard.values()]


def main(audio: str, layers: str = "6") -> int:
    """1 where the figure is missed."""
    clips = [sound.astype(np.float32) for sound in recordings(Path(audio)).values()]
    config, front_end = Qwen3AsrConfig(layers=int(layers)), WhisperFrontEnd()
    torch.manual_seed(0)
    outside = Qwen3AsrEncoder(config).eval()
    inside = Qwen3AsrEncoder(config, front_end=front_end).eval()
    inside.load_state_dict(outside.state_dict(), strict=False)
    sound: dict[str, Feeds] = {}
    mel: dict[str, Feeds] = {}
    for told, (offset, scale) in LEVELS.items():
        sound[told] = [{"audio": (scale * clip + offset).astype(np.float32)[None]} for clip in clips]
        with torch.no_grad():
            mel[told] = [{"mel": front_end(torch.from_numpy(feeds["audio"])).numpy()} for feeds in sound[told]]
    with tempfile.TemporaryDirectory() as folder:
        in_graph = errors(inside, "audio:1=S", 16_000, sound, Path(folder) / "sound")
        beside = errors(outside, "mel:2=T", None, mel, Path(folder) / "mel")
    for told, one, other in zip(LEVELS, in_graph, beside, strict=True):
        print(
            f"{told}: {one:.2e} in the graph, {other:.2e} with features from outside: {one / other:.2f} (at most 1.1)"
        )
    return int(any(one > 1.1 * other for one, other in zip(in_graph, beside, strict=True)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
