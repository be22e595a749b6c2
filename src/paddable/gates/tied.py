"""Gate C once more where an answer hangs on a choice: the padded graph takes native's where the scores are a tie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
import onnx_ir as ir

from paddable.gates.chosen import (
    CHOICE,
    SCORE,
    Taking,
    apart,
    called,
    choices,
    downstream,
    scores_of,
    shared,
    told_ties,
    torn,
    with_choices,
    with_scores,
)  # fmt: skip
from paddable.gates.comparing import Candidate, Session, Steps, Unrounded, compare, open_candidate
from paddable.gates.engine import Array, EngineError
from paddable.gates.oracle import Oracle, scale
from paddable.gates.report import Row
from paddable.gates.signals import Signals

__all__ = ["Tied"]


class Tied:
    """Native and a padded graph, asked for their scores and choices.

    Args:
        candidate: the padded graph.
        oracle: native.
        nodes: that choose, by the name of the choice.

    Raises:
        ValueError: they are too large for one message.
    """

    def __init__(self, candidate: Candidate, oracle: Oracle, nodes: Mapping[str, ir.Node]) -> None:
        self._nodes = nodes
        self._oracle = oracle.asked(partial(with_scores, chosen=nodes))
        self._candidate = replace(candidate, model=with_choices(candidate.model, nodes))
        self._asked: tuple[Signals, Sequence[Steps]] | None = None
        self._taken: dict[str, tuple[int, ...]] = {}

    @classmethod
    def of(cls, candidate: Candidate, oracle: Oracle) -> Tied | None:
        """None where nothing is chosen, or the graphs cannot be asked."""
        try:
            nodes = shared(candidate.model, choices(oracle.native))
            return cls(candidate, oracle, nodes) if nodes else None
        except ValueError:
            return None

    def judged(
        self,
        found: list[Row],
        signals: Signals,
        lengths: Sequence[Steps],
        container: Steps,
        filling: int,
    ) -> list[Row]:
        """The rows of a comparison, or those with native's choices where the scores are a tie, if they pass there."""
        self._asked, self._taken = (signals, lengths), {}
        told: dict[str, str] = {}
        rows = found
        for _ in range(len(self._nodes) + 2):
            try:
                rows, got = compare(
                    self._candidate, self._engine, lambda: self._plain, lambda: self._unrounded, self._oracle,
                    signals, lengths, container, filling, False,
                )  # fmt: skip
            except EngineError:
                return found
            if got is not None and self._counts_rows(got):
                continue
            ties = {} if got is None else self._ties({row.output: row for row in rows}, got)
            if got is None or not ties:
                break
            told |= ties
            self._taken |= {name: got[f"{CHOICE}/{name}"].shape for name in ties}
        if not told:
            told = self._torn({row.output: row for row in rows})
        made = downstream(self._nodes)
        again = {row.output: row for row in rows if row.output in made and row.error <= row.tolerance}
        differing = {row.output for row in found if row.error > row.tolerance}
        if not told or not differing <= again.keys():
            return found
        line = "; ".join(told.values())
        return [replace(again[row.output], told=line) if row.output in differing else row for row in found]

    def _counts_rows(self, got: Mapping[str, Array]) -> bool:
        """Whether it was news which of the scores and choices count rows: those that have as many of them in front."""
        assert self._asked is not None
        batch, count = self._candidate.metadata.batch, len(self._asked[1])
        told = {
            name: 0 for name, array in got.items() if name.startswith((SCORE, CHOICE)) and array.shape[:1] == (count,)
        }
        if batch is None or count == 1 or told.keys() <= batch.outputs.keys():
            return False
        batch = replace(batch, outputs={**batch.outputs, **told})
        self._candidate = replace(self._candidate, metadata=replace(self._candidate.metadata, batch=batch))
        return True

    def _ties(self, rows: Mapping[str, Row], got: Mapping[str, Array]) -> dict[str, str]:
        """The choices that fall the other way at ties alone, and are not taken yet, each with a line on it."""
        found = {}
        for name, node, titles in self._scored(rows):
            other, flips, total, clear = got[f"{CHOICE}/{name}"], 0, 0, name in self._taken
            for row, answers in enumerate(self._native(self._oracle.answer)):
                own = answers[f"{CHOICE}/{name}"]
                place = self._place(row, own.shape, other.shape)
                if place is None:
                    clear = True
                    break
                scores, near = _known(answers, rows, titles)
                flips, total = flips + int((own != other[place]).sum()), total + own.size
                clear |= bool(apart(node, scores, near, own, other[place]).any())
            if flips and not clear:
                found[name] = told_ties(called(node), flips, total)
        return found

    def _torn(self, rows: Mapping[str, Row]) -> dict[str, str]:
        """A line on each choice that asking for it moves: it falls either way, and agrees when it is asked for."""
        found = {}
        native = self._native(self._oracle.answer)
        for name, node, titles in self._scored(rows):
            if any(torn(node, *_known(answers, rows, titles), answers[f"{CHOICE}/{name}"]) for answers in native):
                found[name] = f"{called(node)} chooses otherwise at ties of its scores"
        return found

    def _scored(self, rows: Mapping[str, Row]) -> Iterator[tuple[str, ir.Node, list[str]]]:
        """The choices whose scores agree: name, node, and the answers that hold the scores."""
        for name, node in self._nodes.items():
            titles = scores_of(rows, name)
            if titles and all(rows[title].error <= rows[title].tolerance and not rows[title].note for title in titles):
                yield name, node, titles

    def _place(self, row: int, native: tuple[int, ...], padded: tuple[int, ...]) -> tuple[slice, ...] | None:
        """Where the padded graph has native's choices of a row; None where it has none."""
        assert self._asked is not None
        several = len(self._asked[1]) > 1
        if len(native) != len(padded) or any(have < want for have, want in zip(padded, native, strict=True)):
            return None
        if several and (not native or native[0] != 1 or padded[0] != len(self._asked[1])):
            return None
        first = [slice(row, row + 1)] if several else []
        return (*first, *(slice(size) for size in native[len(first) :]))

    def _native(self, answer: Callable[[Signals, int, Steps], Mapping[str, Array]]) -> list[Mapping[str, Array]]:
        assert self._asked is not None
        signals, lengths = self._asked
        return [answer(signals, row, steps) for row, steps in enumerate(lengths)]

    def _given(self, answer: Callable[[Signals, int, Steps], Mapping[str, Array]]) -> dict[str, tuple[Array, Array]]:
        """What is taken, and where: all that native chooses in a choice that falls the other way at ties."""
        given = {}
        rows = self._native(answer) if self._taken else []
        for name, shape in self._taken.items():
            own = [answers[f"{CHOICE}/{name}"] for answers in rows]
            value, where = np.zeros(shape, own[0].dtype), np.zeros(shape, bool)
            for row, array in enumerate(own):
                place = self._place(row, array.shape, shape)
                if place is not None:
                    value[place], where[place] = array, True
            given[name] = value, where
        return given

    @cached_property
    def _engine(self) -> Session:
        return Taking(open_candidate(self._candidate), lambda: self._given(self._oracle.answer))

    @cached_property
    def _plain(self) -> Session:
        return Taking(open_candidate(self._candidate, optimise=False), lambda: self._given(self._oracle.written))

    @cached_property
    def _unrounded(self) -> Unrounded:
        def answer(signals: Signals, row: int, steps: Steps) -> Mapping[str, Array]:
            return self._oracle.unrounded.answer(signals, row, steps)

        return Unrounded(self._candidate, self._oracle, lambda engine: Taking(engine, lambda: self._given(answer)))


def _known(
    answers: Mapping[str, Array], rows: Mapping[str, Row], titles: Sequence[str]
) -> tuple[list[Array], list[float]]:
    """Native's scores, and how far each of them may be from what it is."""
    return [answers[title] for title in titles], [rows[title].tolerance * scale(answers[title]) for title in titles]
