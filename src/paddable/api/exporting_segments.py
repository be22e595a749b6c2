"""What a precision does to a detector's segments: posteriors near a threshold move an end by many frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.api.opened import Opened
from paddable.api.precisions import Precisions
from paddable.api.staging import Stage
from paddable.families.fsmn_vad.spec import VadOptions
from paddable.gates import GateReport
from paddable.gates.engine import Engine
from paddable.gates.examples import Example
from paddable.gates.lift import computes_in_half, rounded
from paddable.precision import in_precision
from paddable.runtime.speech.detection import Detector

__all__ = ["moved_segments", "told_segments", "with_segments"]

_INPUT = "audio"


def with_segments(
    report: GateReport,
    opened: Opened,
    known: Precisions,
    settings: Mapping[str, Any],
    stage: Stage,
    folder: Path,
    on_message: Callable[[str], None] | None,
) -> GateReport:
    """The report with what each precision does to the segments of a detector, which has ``vad`` among its settings.

    Args:
        report: of the gates.
        opened: native, from a file.
        known: of each precision what was measured.
        settings: of the bundle.
        stage: lends native in the precision.
        folder: for the rounded form.
        on_message: called with a line for each precision.
    """
    for precision, found in known.items():
        if "vad" in settings and precision != "fp32":
            assert opened.source is not None
            twin = stage.lend(in_precision(opened.model, precision, found.kept, found.fixed))
            rows = moved_segments(settings, opened.source, twin, found.examples, folder)
            if rows and on_message is not None:
                on_message(told_segments(precision, rows))
            beside = [*report.examples.get(precision, ()), *rows]
            report = replace(report, examples={**report.examples, precision: beside})
    return report


def moved_segments(
    settings: Mapping[str, Any], exact: Path, twin: Path, examples: Sequence[Example], folder: Path
) -> list[dict[str, Any]]:
    """Segments of the examples that are sound, in a precision against fp32; rows for ``examples`` of the report.

    Args:
        settings: of the bundle: ``vad`` and ``context``.
        exact: native in fp32.
        twin: native in the precision; where that is half, every value is rounded.
        examples: inputs of native.
        folder: for the rounded form.
    """
    options = VadOptions.from_funasr(settings["vad"], where="config.yaml")
    half = computes_in_half(twin)
    engine = Engine(rounded(twin, folder / "rounded.onnx"), optimise=False) if half else Engine(twin)
    wanted, got = (Detector(found, options, context=settings["context"]) for found in (Engine(exact), engine))
    rows = []
    for example in examples:
        if _INPUT in example.arrays:
            sound: NDArray[np.float32] = example.arrays[_INPUT].reshape(-1)
            before, after = wanted.segments(sound), got.segments(sound)
            same = len(before) == len(after)
            moved = np.abs(np.array(before) - np.array(after)).max(initial=0.0) if same else None
            rows.append(
                {
                    "model": "native",
                    "example": example.name,
                    "output": "segments",
                    "ok": True,
                    "segments": len(after),
                    "segments_fp32": len(before),
                    "moved_ms": None if moved is None else round(1000 * float(moved)),
                    "note": "",
                }
            )
    return rows


def told_segments(precision: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows in a line."""
    moved = [row["moved_ms"] for row in rows if row["moved_ms"] is not None]
    other = sum(row["moved_ms"] is None for row in rows)
    told = f"{precision}: on {len(rows)} examples, ends of speech segments move by up to {max(moved, default=0)} ms"
    return (
        told
        + (f"; in {other} the number of segments differs" if other else "")
        + "; give recordings with `examples` to judge by, or take fp32"
    )
