"""All gates of one native model and its padded graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import TypeAlias

import onnx_ir as ir

from paddable import __version__
from paddable.errors import Refused
from paddable.gates.alone import judge_alone
from paddable.gates.diverge import first_difference
from paddable.gates.domain import judge_domain
from paddable.gates.engine import Engine, Source
from paddable.gates.lengths import choose, default_container
from paddable.gates.oracle import Oracle
from paddable.gates.refused_lengths import judge_refused_lengths
from paddable.gates.regions import Frame
from paddable.gates.report import DomainCheck, GateReport, Row
from paddable.gates.signals import Signals
from paddable.gates.vocabulary import index_limits
from paddable.gates.whole import Candidate, judge_whole
from paddable.graph.analysis import Analysis
from paddable.lengths import Length

__all__ = ["Progress", "judge", "ragged_lengths"]

Progress: TypeAlias = Callable[[str, int, int], None]

_HALF = (ir.DataType.FLOAT16, ir.DataType.BFLOAT16)

ALONE_CASES = 4
"""Lengths at which each operator is judged alone: the shortest, the longest with padding, and two between."""


def judge(
    analysis: Analysis,
    native: Source,
    candidates: Sequence[Candidate],
    *,
    lengths: Sequence[int] = (),
    exhaustive: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> GateReport:
    """Gates L, C and J, the domain, and the contract for lengths outside it.

    Args:
        analysis: of the native model, not used up by ``rewrite``.
        native: the native model as ONNX Runtime reads it.
        candidates: its padded graphs; without any, its operators alone are judged.
        lengths: lengths of the first symbol to try besides the edges.
        exhaustive: every length of each container.
        seed: of inputs and lengths.
        progress: called with (stage, done, total).
    """
    spans = {name: analysis.scope.spans[name] for name in analysis.declarations.symbols}
    expressions = ragged_lengths(analysis)
    limits = index_limits(analysis.model)
    rows: list[Row] = []
    domain: list[DomainCheck] = []
    difference = None
    half = any(value.dtype in _HALF for value in analysis.values.values())
    _refuse_half_recurrence(analysis)
    oracles = [
        Oracle(native, first.metadata, half=half) for first in candidates[:1]
    ]  # first of all: does native itself run?
    small = default_container(spans, expressions)
    cases = choose(spans, small, expressions, seed=seed)
    picked = sorted({0, len(cases) // 3, 2 * len(cases) // 3, max(0, len(cases) - 2)})[:ALONE_CASES]
    sites = judge_alone(
        analysis, small, [cases[i] for i in picked], seed=seed, tick=_ticker(progress, "L", len(analysis.sites))
    )
    for position, candidate in enumerate(candidates):
        oracle = oracles.pop() if oracles else Oracle(native, candidate.metadata, half=half)
        count = (candidate.metadata.batch.size if candidate.metadata.batch else 1) or 2

        def signals(
            largest: Mapping[str, int], candidate: Candidate = candidate, oracle: Oracle = oracle, count: int = count
        ) -> Signals:
            return Signals(candidate.metadata, oracle.engine.dtypes, oracle.engine.shapes, largest, limits, count, seed)

        chosen = choose(spans, candidate.largest, expressions, seed=seed, exhaustive=exhaustive, also=lengths)
        whole = signals(candidate.largest)
        stage = f"C and J of {candidate.name}"
        found = judge_whole(candidate, oracle, whole, chosen, tick=_ticker(progress, stage, len(chosen)))
        rows += found
        engine = Engine(candidate.model, where=candidate.name)
        domain += judge_refused_lengths(candidate, engine, whole)
        if position == 0:
            domain += judge_domain(candidate.metadata, oracle.engine, signals, chosen[-1])
        failing = next((i for i, row in enumerate(found) if not row.ok), None)
        if failing is not None and difference is None:
            steps = chosen[failing // max(1, len(oracle.engine.outputs))]
            container = candidate.metadata.container or candidate.largest
            frame = Frame(container, [steps] * count, analysis.scope.single_row)
            padded_feeds = whole.padded(frame.lengths, container, 0, engine.shapes, engine.dtypes)
            if count == 1:
                difference = first_difference(analysis, candidate.model, whole.native(0, steps), padded_feeds, frame)
    versions = {"paddable": __version__, "onnxruntime": version("onnxruntime")}
    return GateReport(rows, sites, domain, difference, versions)


def _refuse_half_recurrence(analysis: Analysis) -> None:
    for node in analysis.model.graph:
        value = analysis.values.get(node.outputs[0].name or "")
        if node.op_type in ("LSTM", "GRU", "RNN") and value is not None and value.dtype in _HALF:
            raise Refused(
                f"{node.op_type} in half precision ends ONNX Runtime's CPU provider with a crash",
                where=f"node {node.name}",
                why="nothing can be compared with native",
                fix="convert the float model, or convert without comparing (--no-verify)",
            )


def ragged_lengths(analysis: Analysis) -> list[Length]:
    """The length of every ragged dimension of the model, each once, in a fixed order."""
    found: dict[Length, None] = {}
    for value in analysis.values.values():
        for atom in value.atoms:
            if atom.ragged:
                found[atom.size] = None
    return sorted(found, key=str)


def _ticker(progress: Progress | None, stage: str, total: int) -> Callable[[], None]:
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(stage, done, total)

    return tick
