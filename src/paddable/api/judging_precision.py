"""Gates of another precision: padded against native in the same precision, and what the precision itself moves.

The fp32 form of the same graphs has passed every gate, so few lengths are enough: a precision is applied node by node,
to valid steps and padding alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from paddable.gates import Candidate, GateReport
from paddable.gates.engine import Array, Engine, Source
from paddable.gates.index_limits import index_limits
from paddable.gates.judge import ragged_lengths
from paddable.gates.lengths import choose
from paddable.gates.lift import twins
from paddable.gates.oracle import Oracle, scale
from paddable.gates.report import Row
from paddable.gates.signals import Signals
from paddable.gates.transforms import exact_where_replaced
from paddable.gates.whole import judge_whole, largest_of
from paddable.padding.analysis import Analysis

__all__ = ["PrecisionReport", "judge_in_precision"]

LENGTHS = 8
"""Lengths tried in one container, the shortest and the longest among them."""


@dataclass(frozen=True)
class PrecisionReport:
    """What was found.

    Attributes:
        rows: gates C and J against native in the same precision.
        cost: by output, the worst of all lengths: ``error`` of scale and ``cosine`` of native against native in fp32.
    """

    rows: Sequence[Row]
    cost: Mapping[str, Mapping[str, float]]

    def added_to(self, report: GateReport, precision: str) -> GateReport:
        """A report of the fp32 form with what was found in another precision beside it."""
        cost = {**report.precision, precision: _as_plain(self.cost)}
        return replace(report, rows=[*report.rows, *self.rows], precision=cost)


def judge_in_precision(
    analysis: Analysis,
    native: Source,
    twin: Path,
    candidates: Sequence[Candidate],
    folder: Path,
    *,
    seed: int = 0,
) -> PrecisionReport:
    """Judge padded graphs that are in another precision.

    Args:
        analysis: of native.
        native: in fp32.
        twin: native in the precision of the graphs.
        candidates: the graphs, static.
        folder: for what a half graph is compared with besides; emptied by the caller.
        seed: of inputs and lengths.
    """
    spans = {name: analysis.scope.spans[name] for name in analysis.declarations.symbols}
    numbers, expressions = index_limits(analysis), ragged_lengths(analysis)
    exact = Engine(native, where="native")
    half = twins(twin, folder)
    rows: list[Row] = []
    cost: dict[str, dict[str, float]] = {}
    widest = largest_of(candidates)
    metadata = candidates[0].metadata
    oracle = Oracle(twin, metadata, half)
    cases = choose(spans, widest, expressions, seed=seed)
    most = [cases[i] for i in sorted({round(i) for i in np.linspace(0, len(cases) - 1, LENGTHS)})]

    @cache
    def drawn(count: int) -> Signals:
        engine = oracle.engine
        return Signals(metadata, engine.dtypes, engine.shapes, widest, numbers, count, seed)

    for candidate in candidates:
        count = (candidate.metadata.batch.size if candidate.metadata.batch else 1) or 2
        largest = candidate.largest
        own = largest != widest
        picked = choose(spans, largest, expressions, seed=seed, limit=LENGTHS, known=most) if own else most
        double = exact_where_replaced(twin, candidate.model, twin.with_suffix(".double.onnx"))
        judging = oracle if double is None else Oracle(twin, metadata, half, exact=double)
        rows += judge_whole(candidate, judging, drawn(count), picked)
        for steps in picked:
            answer = oracle.answer(drawn(count), 0, steps)
            _keep_worst(cost, _moved(answer, exact.run(drawn(count).native(0, steps))))
    return PrecisionReport(rows, cost)


def _moved(got: Mapping[str, Array], want: Mapping[str, Array]) -> dict[str, dict[str, float]]:
    """By output, error of scale and cosine of floats against fp32."""
    found = {}
    for name, value in got.items():
        if value.dtype.kind == "f" and value.size:
            a, b = (array.astype(np.float64).ravel() for array in (value, want[name][: len(value)]))
            length = float(np.linalg.norm(a) * np.linalg.norm(b))
            error = float(np.abs(a - b).max()) / scale(want[name])
            found[name] = {"error": error, "cosine": float(a @ b) / length if length else 1.0}
    return found


def _keep_worst(cost: dict[str, dict[str, float]], moved: Mapping[str, Mapping[str, float]]) -> None:
    for name, now in moved.items():
        worst = cost.setdefault(name, dict(now))
        worst["error"] = max(worst["error"], now["error"])
        worst["cosine"] = min(worst["cosine"], now["cosine"])


def _as_plain(cost: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """For report.json: errors to three digits, cosines to seven."""
    return {
        name: {"error": float(f"{told['error']:.3g}"), "cosine": round(told["cosine"], 7)}
        for name, told in cost.items()
    }
