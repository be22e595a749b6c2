"""What a precision does to a detector's segments: posteriors near a threshold move an end by many frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.families.fsmn_vad.spec import VadOptions
from paddable.gates.engine import Engine
from paddable.gates.examples import Example
from paddable.gates.lift import computes_in_half, rounded
from paddable.runtime.speech.detection import Detector

__all__ = ["moved_segments", "told_segments"]

_INPUT = "audio"


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
        + "; give recordings with --examples to judge by, or take fp32"
    )
