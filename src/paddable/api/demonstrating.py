"""``demo``: a published recogniser that takes lengths and still reads its padding, before and after conversion.

The model is the phoneme recogniser of the package hama (Apache-2.0): a waveform and its length in, log-probabilities
out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paddable.api.checking import check
from paddable.api.converting import convert
from paddable.api.opened import Progress
from paddable.api.reporting import about_result
from paddable.api.verifying import verify
from paddable.api.versions import versions
from paddable.bundle.page_place import demand_page, write_page
from paddable.errors import MissingExtraError, MisuseError, with_extra
from paddable.families.ctc.labels import Labels, written
from paddable.findings import Finding
from paddable.gates.engine import Engine
from paddable.graph.io.scratch import scratch_folder
from paddable.runtime.speech.ctc_decoder import CtcDecoder, CtcLayout
from paddable.runtime.speech.text import Vocabulary

__all__ = ["DemoReport", "demo"]

RATE = 16_000
_LENGTH = "waveform:1=T"
_HELD = "waveform_lengths=T"
_SCORES = "log_probs"
_SECONDS = (10, 30)
_JUDGED = 4
"""Lengths that the report's gates try: the recogniser is slow on a CPU."""

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class DemoReport:
    """What padding did, and does no more.

    Attributes:
        findings: the leaks of the published model.
        rows: per clip and container the share of frames that keep their best phoneme, as published and converted.
        texts: the phonemes heard in each clip: by native alone, by native in a container, after conversion.
    """

    findings: tuple[Finding, ...]
    rows: tuple[dict[str, Any], ...]
    texts: dict[str, dict[str, str]]
    versions: dict[str, str] = field(default_factory=versions)

    @property
    def ok(self) -> bool:
        """Every frame of every clip agrees after conversion."""
        return all(row["converted %"] == 100.0 for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "ok": self.ok,
            "leaks": [{"code": f.code, "node": f.node, "remedy": f.remedy} for f in self.findings],
            "frames that agree with the clip alone": list(self.rows),
            **{f"heard in {clip}": heard for clip, heard in self.texts.items()},
            "versions": self.versions,
        }


def demo(
    audio: Sequence[str | Path] = (),
    progress: Progress | None = None,
    report: str | Path | None = None,
    *,
    force: bool = False,
) -> DemoReport:
    """Convert the recogniser and compare it with itself.

    Args:
        audio: clips; by default the one that comes with Paddable.
        progress: called with (stage, done, total).
        report: an HTML file to write about the smallest container that holds the first clip: judged, and probed on it.
        force: replace a file at ``report`` that is no page of ours.

    Raises:
        MissingExtraError: hama or soundfile is not installed.
        MisuseError: a clip that cannot be read, or one longer than 30 s.
    """
    if report is not None:
        demand_page(report, audio, force=force)
    model, decoder = _recogniser()

    def phonemes(scores: Array) -> str:
        return decoder.read({_SCORES: scores[None]}, 0.0).text

    clips = {path.name: _speech(path) for path in (Path(p) for p in audio or [_clip()])}
    native = Engine(model)
    alone = {name: _run(native, clip, len(clip)) for name, clip in clips.items()}
    found = check(model, [_LENGTH], length_inputs=[_HELD])
    rows: list[dict[str, Any]] = []
    texts: dict[str, dict[str, str]] = {}
    with scratch_folder() as folder:
        for count, seconds in enumerate(_SECONDS):
            if progress is not None:
                progress(f"convert to a {seconds} s container", count, len(_SECONDS))
            steps = seconds * RATE
            out = folder / f"{seconds}.onnx"
            convert(model, [_LENGTH], containers=[steps], out=out, length_inputs=[_HELD], verify=False)
            converted = Engine(out)
            for name, clip in clips.items():
                if len(clip) > steps:
                    continue
                want = alone[name]
                padded = _run(native, clip, steps)[: len(want)]
                got = _run(converted, clip, steps)[: len(want)]
                rows.append(
                    {
                        "clip": name,
                        "seconds": round(len(clip) / RATE, 2),
                        "container": f"{seconds} s",
                        "frames": len(want),
                        "published %": _agreement(padded, want),
                        "converted %": _agreement(got, want),
                    }
                )
                texts[name] = {
                    "clip alone": phonemes(want),
                    f"published, in {seconds} s": phonemes(padded),
                    f"converted, in {seconds} s": phonemes(got),
                }
        result = DemoReport(found.findings, tuple(rows), texts)
        if report is not None:
            if progress is not None:
                progress("judge and report", 0, 1)
            clip = next(iter(clips.values()))
            seconds = next(size for size in _SECONDS if len(clip) <= size * RATE)
            write_page(report, _about(Path(folder) / f"{seconds}.onnx", model, clip, result), force=force)
    return result


def _about(converted: Path, model: Path, clip: Array, found: DemoReport) -> dict[str, Any]:
    """The page of the demo: what the clip sounds like in each form, and all that a conversion's page shows."""
    gates = verify(converted, model, limit=_JUDGED)
    inputs = {"waveform": clip[None]}
    data = about_result("demo", converted, model, gates, inputs=inputs, title="A published recogniser, on real speech")
    heard = [
        {"clip": name, "as": form, "heard": text} for name, said in found.texts.items() for form, text in said.items()
    ]
    data["tables_title"] = "On speech"
    data["tables"] = [
        {"title": "Frames that keep their phoneme", "rows": list(found.rows)},
        {"title": "Phonemes heard", "rows": heard},
    ]
    return data


def _recogniser() -> tuple[Path, CtcDecoder]:
    """The model file, and the decoder that ``export ctc`` gives it."""
    spec = find_spec("hama")
    if spec is None or spec.origin is None:
        raise MissingExtraError("the demo's recogniser is not installed", fix=with_extra("demo"))
    assets = Path(spec.origin).parent / "assets"
    vocabulary = json.loads((assets / "g2p_vocab.json").read_text(encoding="utf-8"))
    labels = [*vocabulary["decoder"], "<wb>", "<blank>"]
    found = written(Labels(assets, dict(enumerate(labels))), len(labels), None, None)
    layout = CtcLayout(found.blank, output=_SCORES)
    return assets / "asr_waveform_fp16.onnx", CtcDecoder(Vocabulary.of(found.texts), layout)


def _clip() -> Path:
    return Path(str(files("paddable") / "assets" / "jfk.wav"))


def _speech(path: Path) -> Array:
    try:
        import soundfile
    except ImportError:
        raise MissingExtraError("soundfile is not installed", fix=with_extra("demo")) from None
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except (OSError, RuntimeError) as error:
        raise MisuseError(f"it cannot be read as audio: {error}", where=str(path)) from None
    if rate != RATE:
        raise MisuseError(
            f"its rate is {rate} Hz", where=str(path), why="the recogniser takes 16 kHz", fix="resample it"
        )
    if len(samples) > _SECONDS[-1] * RATE:
        raise MisuseError(
            f"it is {len(samples) / RATE:.1f} s long", where=str(path), why="the largest container is 30 s"
        )
    return np.asarray(samples.mean(axis=1))


def _run(engine: Engine, clip: Array, steps: int) -> Array:
    """Log-probabilities [frames, labels] of one clip in a container of ``steps`` samples, zeros behind it."""
    waveform = np.zeros((1, steps), np.float32)
    waveform[0, : len(clip)] = clip
    lengths = np.array([len(clip)], np.int64)
    return np.asarray(engine.run({"waveform": waveform, "waveform_lengths": lengths})[_SCORES][0])


def _agreement(got: Array, want: Array) -> float:
    return round(100 * float((got.argmax(-1) == want.argmax(-1)).mean()), 1)
