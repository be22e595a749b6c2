"""Which lengths a gate tries: where length expressions step, since that is where a rule is wrong first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np

from paddable.lengths import Length, Span, symbol

__all__ = ["LIMIT", "choose", "default_container"]

LIMIT = 64
"""Lengths tried in one container, unless another number or every one is asked for."""

_SCAN = 2048
_WANTED_STEPS = 32


def choose(
    spans: Mapping[str, Span],
    container: Mapping[str, int],
    expressions: Iterable[Length],
    *,
    seed: int = 0,
    exhaustive: bool = False,
    also: Sequence[int] = (),
    limit: int = LIMIT,
    known: Sequence[Mapping[str, int]] = (),
) -> list[dict[str, int]]:
    """Assignments of every symbol, at most ``limit`` of them unless ``exhaustive``.

    All accepted lengths when they are few; otherwise the first and the last, then edge - 1, edge and edge + 1 of each
    expression in turn for half of the budget, then seeded residues of the longest period. The edges are of every order
    of magnitude: a convolution's reach, a window or an odd rest are a good part of a short length.

    Args:
        spans: accepted lengths of each symbol.
        container: the greatest length of each symbol.
        expressions: the lengths of the ragged dimensions.
        seed: of what is drawn.
        exhaustive: every accepted length; with several symbols, of each symbol in turn.
        also: lengths of the first symbol to try besides.
        limit: how many to choose.
        known: assignments of a larger container, whose native answers are there already; those that fit come first.

    Returns:
        Assignments in rising order of the first symbol. With several symbols, each symbol's lengths in an order of
        their own, so that long ones meet short ones.
    """
    rng = np.random.default_rng(seed)
    expressions = list(expressions)
    columns: dict[str, list[int]] = {}
    for position, (name, span) in enumerate(spans.items()):
        accepted = span.within(span.first, container[name])
        assert accepted is not None  # a container is finite
        own = [e for e in expressions if e.symbols == {name}]
        all_of_them = exhaustive or len(accepted) <= limit
        answered = {steps[name] for steps in known}
        picked = list(accepted) if all_of_them else _thinned(accepted, own, name, rng, limit, answered)
        if position == 0:
            picked = sorted({*picked, *(n for n in also if n in accepted)})
        columns[name] = picked
    count = max(len(column) for column in columns.values())
    first = next(iter(columns))
    rows: dict[str, list[int]] = {}
    for name, column in columns.items():
        order = list(range(len(column))) if name == first else [int(i) for i in rng.permutation(len(column))]
        rows[name] = [column[order[i % len(column)]] for i in range(count)]
    return [{name: rows[name][i] for name in rows} for i in range(count)]


def default_container(spans: Mapping[str, Span], expressions: Iterable[Length]) -> dict[str, int]:
    """Sizes at which every ragged dimension has some dozens of steps, within what the model accepts."""
    expressions = list(expressions)
    sizes: dict[str, int] = {}
    for name, span in spans.items():
        size = max(span.first, _WANTED_STEPS)
        own = [e for e in expressions if e.symbols == {name}]
        while size < 1 << 22 and any(e.evaluate({name: size}) < _WANTED_STEPS for e in own if _grows(e, name, size)):
            size *= 2
        size = size if span.last is None else min(size, span.last)
        sizes[name] = size - (size - span.residue) % span.step
    return sizes


def _grows(expression: Length, name: str, size: int) -> bool:
    return expression.evaluate({name: 8 * size + 1024}) > expression.evaluate({name: size})


def _thinned(
    accepted: range,
    expressions: Sequence[Length],
    name: str,
    rng: np.random.Generator,
    limit: int,
    known: Set[int],
) -> list[int]:
    chosen = {accepted[0], accepted[-1]}
    chosen.update(sorted(n for n in known if n in accepted)[: limit - len(chosen)])
    edges = [e for e in expressions if e != symbol(name)]
    budget = limit // 2 if edges else 2
    for draw in range(64):
        for expression in edges:
            at = 1 if draw == 0 else int(len(accepted) ** rng.random())  # as many of 1 s as of 10 s
            edge = _next_edge(expression, name, accepted, at)
            if edge is not None and len(chosen) < budget:
                near = (edge - accepted.step, edge, edge + accepted.step)
                chosen.update(n for n in near if n in accepted)
        if len(chosen) >= budget:
            break
    period = min(len(accepted), max((e.period() for e in edges), default=1))
    while len(chosen) < limit:  # a residue of its own for each, as far as they reach
        residue, start = int(rng.integers(period)), int(rng.integers(len(accepted)))
        place = min(len(accepted) - 1, start - start % period + residue)
        chosen.add(accepted[place])
    return sorted(chosen)


def _next_edge(expression: Length, name: str, accepted: range, at: int) -> int | None:
    """The first length at or behind position ``at`` where the expression differs from the length before."""
    before = expression.evaluate({name: accepted[at - 1]})
    for place in range(at, min(len(accepted), at + _SCAN)):
        value = expression.evaluate({name: accepted[place]})
        if value != before:
            return accepted[place]
        before = value
    return None
