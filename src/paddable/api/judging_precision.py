"""Gates of another precision: padded against native in the same precision, and what the precision itself moves.

Native and padded are run on examples besides, in half to the letter, where every value is rounded as a provider with
half kernels rounds it: what is finite in fp32 has to be finite there, and over few steps the two have to agree.

The fp32 form of the same graphs has passed every gate, so few lengths are enough: a precision is applied node by node,
to valid steps and padding alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from paddable.api.measuring import Measured
from paddable.api.observing import longest
from paddable.bundle import Metadata
from paddable.gates import Candidate, GateReport
from paddable.gates.engine import Array, Engine, Source
from paddable.gates.exact import exact_where_replaced
from paddable.gates.examples import Example
from paddable.gates.index_limits import index_limits
from paddable.gates.infinite import told_first_infinite
from paddable.gates.judge import ragged_lengths
from paddable.gates.lengths import choose
from paddable.gates.letter import judge_to_the_letter, short_lengths
from paddable.gates.lift import computes_in_half, moved, rounded, twins
from paddable.gates.oracle import Oracle
from paddable.gates.report import Row
from paddable.gates.signals import Signals
from paddable.gates.verdict import Difference, differences, without_classes
from paddable.gates.whole import judge_whole, largest_of, open_candidate
from paddable.graph.trace import source
from paddable.padding.analysis import Analysis
from paddable.precision import PRECISIONS, session_config
from paddable.precision.codes import rounds_to_ranges
from paddable.runtime.session.saturation import asked_here

__all__ = ["PrecisionReport", "judge_in_precision"]

LENGTHS = 8
"""Lengths tried in one container, the shortest and the longest among them."""


@dataclass(frozen=True)
class PrecisionReport:
    """What was found.

    Attributes:
        rows: gates C and J against native in the same precision; of half, short lengths to the letter besides.
        cost: by output, the worst of all lengths: ``error`` of scale and ``cosine`` of native against native in fp32;
            of integers their ``agreement``.
        examples: by graph, example and output, against native in fp32.
        ranges: what was measured before.
    """

    rows: Sequence[Row]
    cost: Mapping[str, Mapping[str, float]]
    examples: Sequence[Mapping[str, Any]] = ()
    ranges: Mapping[str, Any] = field(default_factory=dict)

    def added_to(self, report: GateReport, precision: str) -> GateReport:
        """A report of the fp32 form with what was found in another precision beside it."""
        cost = {**report.precision, precision: _as_plain(self.cost)}
        examples = {**report.examples, precision: self.examples} if self.examples else report.examples
        ranges = {**report.ranges, precision: self.ranges} if self.ranges else report.ranges
        return replace(report, rows=[*report.rows, *self.rows], precision=cost, examples=examples, ranges=ranges)


def judge_in_precision(
    analysis: Analysis,
    native: Source,
    twin: Path,
    candidates: Sequence[Candidate],
    folder: Path,
    *,
    measured: Measured | None = None,
    seed: int = 0,
) -> PrecisionReport:
    """Judge padded graphs that are in another precision.

    Args:
        analysis: of native.
        native: in fp32.
        twin: native in the precision of the graphs.
        candidates: the graphs, static.
        folder: for what a half graph is compared with besides; emptied by the caller.
        measured: what was found of native before, with the examples to run.
        seed: of inputs and lengths.
    """
    spans = {name: analysis.scope.spans[name] for name in analysis.declarations.symbols}
    numbers, expressions = index_limits(analysis), ragged_lengths(analysis)
    exact = Oracle(native, replace(candidates[0].metadata, precision="fp32"))
    half = twins(twin, folder)
    plain = _as_written(analysis, candidates[0].metadata)
    rows: list[Row] = []
    cost: dict[str, dict[str, float]] = {}
    widest = largest_of(candidates)
    metadata = candidates[0].metadata
    compare = _comparison(metadata)
    rounds = half is None and PRECISIONS[metadata.precision].rounds
    stored = half is None and not rounds
    shifted = moved(twin, folder / "moved.onnx") if rounds else None

    @cache
    def alike() -> list[Oracle]:
        """What is only stored in fewer bits is conditioned as fp32 is, and moves with the last place of its inputs."""
        return [exact, Oracle(twin, metadata, moved=moved(twin, folder / "moved.onnx"))] if stored else []

    oracle = Oracle(twin, metadata, half, moved=shifted, alike=alike)
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
        double = exact_where_replaced(analysis.model, twin, candidate.model, twin.with_suffix(".double.onnx"))
        judging = oracle if double is None else Oracle(twin, metadata, half, exact=double, moved=shifted, alike=alike)
        rows += judge_whole(candidate, judging, drawn(count), picked)
        for steps in picked:
            pair = [one.written if plain else one.answer for one in (oracle, exact)]
            found, wanted = (answer(drawn(count), 0, steps) for answer in pair)
            _keep_worst(cost, compare(found, wanted))
    lines = _lines(analysis)
    letter = half.rounded if half and _is_half(metadata) else None
    if letter is not None:
        native_half = Oracle(letter, metadata, half, optimise=False)
        for candidate in candidates:
            if (place := _to_the_letter(candidate, folder, "short")) is not None:
                rounding = replace(candidate, name=f"{candidate.name} in half to the letter", model=place)
                cases, count = short_lengths(spans, candidate.largest), candidate.metadata.rows or 1
                rows += judge_to_the_letter(rounding, native_half, drawn(count), cases, folder, lines)
    if measured is None:
        return PrecisionReport(rows, cost)
    told = _on_examples(exact, oracle, letter, candidates, measured, folder, plain, lines)
    return PrecisionReport(rows, cost, told, measured.ranges)


def _on_examples(
    exact: Oracle,
    oracle: Oracle,
    letter: Source | None,
    candidates: Sequence[Candidate],
    measured: Measured,
    folder: Path,
    plain: bool,
    lines: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Native and the padded graphs on each example, against native in fp32; all of them without the optimiser, or as
    they are run. The first that is not finite is told with the node that it begins at."""
    told: list[dict[str, Any]] = []
    twin = oracle if letter is None else Engine(letter, optimise=False, where="native in half")
    reference = exact.run_as_written if plain else exact.run
    run = twin.run_as_written if plain and isinstance(twin, Oracle) else twin.run
    metadata = candidates[0].metadata
    compare = _comparison(metadata)

    def drawn(example: Example, count: int = 1) -> Signals:
        return Signals(
            metadata,
            exact.engine.dtypes,
            exact.engine.shapes,
            example.steps,
            measured.numbers,
            count,
            0,
            example.arrays,
        )

    culprit: str | None = None

    def keep(name: str, example: Example, got: Mapping[str, Array], want: Mapping[str, Array], half: Source | None,
             feeds: Mapping[str, Array]) -> None:  # fmt: skip
        nonlocal culprit
        found = _rows(name, example, compare(got, want), measured.accept)
        lost = [row["output"] for row in found if not row["finite"]]
        if lost and culprit is None and half is not None:
            culprit = told_first_infinite(half, feeds, folder, lost[0], lines)
        if culprit:
            found = [row if row["finite"] else {**row, "note": row["note"] + culprit} for row in found]
        told.extend(found)

    for example in measured.examples:
        feeds = drawn(example).native(0, example.steps)
        keep("native", example, run(feeds), reference(feeds), letter, feeds)
    for candidate in candidates:
        count = candidate.metadata.rows or 1
        half = _to_the_letter(candidate, folder)
        engine = (
            open_candidate(candidate, optimise=not plain)
            if half is None
            else Engine(half, optimise=False, where=candidate.name)
        )
        most = longest(candidate.metadata, candidate.largest)
        for example in measured.examples:
            steps = {name: min(length, most[name]) for name, length in example.steps.items()}
            want = reference(drawn(example).native(0, steps))
            feeds = drawn(example, count).padded([steps] * count, candidate.largest, 0, engine.shapes, engine.dtypes)
            keep(candidate.name, example, engine.run(feeds), want, half, feeds)
    return told


def _lines(analysis: Analysis) -> dict[str, str]:
    """By name of a node, the line of the user's source that made it."""
    return {node.name or "": str(line) for node in analysis.model.graph if (line := source(node)) is not None}


def _comparison(metadata: Metadata) -> Callable[[Mapping[str, Array], Mapping[str, Array]], dict[str, Difference]]:
    """Compares answers in a precision with those in fp32."""
    return partial(differences, others=without_classes(metadata), frames=metadata.lengths)


def _is_half(metadata: Metadata) -> bool:
    """Whether it computes in half; the other precisions keep half only in inputs, outputs and what they store.

    They are not judged to the letter, which turns the optimiser off: products in 8 bits would saturate without it.
    """
    return PRECISIONS[metadata.precision].ranges


def _as_written(analysis: Analysis, metadata: Metadata) -> bool:
    """Whether answers are compared without the optimiser. What int8-dynamic adds would saturate without it, where the
    processor's own products in 8 bits do."""
    saturates = PRECISIONS[metadata.precision].first and bool(asked_here(session_config(metadata.precision)))
    return rounds_to_ranges(analysis.model.graph) and not saturates


def _to_the_letter(candidate: Candidate, folder: Path, stem: str = "padded") -> Path | None:
    """A graph in half with every value rounded; None for one that does not compute in half."""
    if not (_is_half(candidate.metadata) and computes_in_half(candidate.model)):
        return None
    return rounded(candidate.model, folder / f"rounded-{stem}.onnx")


def _rows(
    model: str, example: Example, found: Mapping[str, Difference], accept: Mapping[str, float]
) -> list[dict[str, Any]]:
    told = []
    for output, seen in found.items():
        note = seen.misses(accept)
        told.append(
            {"model": model, "example": example.name, "output": output, "ok": not note, **seen.to_json(), "note": note}
        )
    return told


def _keep_worst(cost: dict[str, dict[str, float]], moved: Mapping[str, Difference]) -> None:
    """Of integers their agreement, of floats error and cosine."""
    for name, now in moved.items():
        figures = {"error": now.error, "cosine": now.cosine} if now.error is not None else {"agreement": now.agreement}
        worst = cost.setdefault(name, {})
        for measure, seen in figures.items():
            if seen is not None:
                worse = max if measure == "error" else min
                worst[measure] = worse(worst.get(measure, seen), seen)


def _as_plain(cost: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """For report.json: errors to three digits, the others to seven."""
    return {
        name: {
            measure: ("inf" if seen == float("inf") else float(f"{seen:.3g}")) if measure == "error" else round(seen, 7)
            for measure, seen in told.items()
        }
        for name, told in cost.items()
    }
