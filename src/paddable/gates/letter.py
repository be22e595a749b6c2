"""Gate C of short lengths in half to the letter, where every value is rounded as half kernels round it.

A graph that computes in half is run in float by ONNX Runtime's CPU provider, so gate C alone does not see what a
difference of two large numbers loses to rounding, or that it falls below 0 in front of a root. Over few steps it loses
most, and a container has sums there of another kind than native: with a mask, and divided by a length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from paddable.gates.comparing import Candidate, Steps, Unrounded, compare, open_candidate
from paddable.gates.infinite import told_first_infinite
from paddable.gates.oracle import Oracle
from paddable.gates.report import Row
from paddable.gates.signals import Signals
from paddable.gates.tied import Tied
from paddable.lengths import Span

__all__ = ["judge_to_the_letter", "short_lengths"]

_PLACES = (0, 1, 2, 4)
"""Which of the accepted lengths, from the shortest on."""


def short_lengths(spans: Mapping[str, Span], container: Steps) -> list[dict[str, int]]:
    """The shortest accepted length of a container and a few small ones; of several symbols, all are short."""
    accepted = {name: span.within(span.first, container[name]) or (span.first,) for name, span in spans.items()}
    found = [{name: own[min(place, len(own) - 1)] for name, own in accepted.items()} for place in _PLACES]
    return [steps for number, steps in enumerate(found) if steps not in found[:number]]


def judge_to_the_letter(
    candidate: Candidate,
    oracle: Oracle,
    signals: Signals,
    cases: Sequence[Steps],
    folder: Path,
    lines: Mapping[str, str],
) -> list[Row]:
    """One row an output and length: the padded graph against native, both rounded, within three times native's noise.

    Where native is not finite itself there is nothing to compare.

    Args:
        candidate: the padded graph, a file in half to the letter; see ``lift.rounded``.
        oracle: native in half to the letter.
        signals: the inputs, with as many rows as the graph is run with.
        cases: the lengths to try.
        folder: for what is written to find a node.
        lines: by name of a node, the line of the user's source that made it.
    """
    engine = open_candidate(candidate, optimise=False)
    rows: list[Row] = []
    for steps in cases:
        lengths = [steps] * signals.rows
        found, got = compare(
            candidate, engine, lambda: engine, lambda: Unrounded(candidate, oracle), oracle,
            signals, lengths, candidate.largest, 0, False,
        )  # fmt: skip
        if got is None:
            rows += found
            continue
        native = [oracle.answer(signals, row, steps) for row in range(signals.rows)]
        finite = {name for name in native[0] if all(_finite(answers[name]) for answers in native)}
        found = [row for row in found if row.output in finite]
        if any(row.error > row.tolerance for row in found) and (tied := Tied.of(candidate, oracle)) is not None:
            found = tied.judged(found, signals, lengths, candidate.largest, 0)
        for row in found:
            if row.error == np.inf and not row.note and not _finite(got[row.output]):
                feeds = signals.padded(lengths, candidate.largest, 0, engine.shapes, engine.dtypes)
                begins = told_first_infinite(candidate.model, feeds, folder, row.output, lines)
                row = replace(row, note=f"it is not finite, and in native in half it is{begins}")
            rows.append(row)
    return rows


def _finite(array: np.ndarray) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())
