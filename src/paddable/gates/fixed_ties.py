"""Choices in a graph of fixed sizes, such as ids in half: it takes native's where the scores are a tie."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from paddable.gates.chosen import (
    CHOICE,
    Taking,
    apart,
    called,
    choices,
    scores_of,
    shared,
    told_ties,
    with_choices,
    with_scores,
)  # fmt: skip
from paddable.gates.engine import Array, Engine
from paddable.gates.oracle import scale

__all__ = ["FixedTies"]


class FixedTies:
    """Native and a graph of the same sizes, asked for their scores and choices.

    Args:
        native: the reference.
        made: the graph.
        config: session configuration entries of the graph.
        near: how far scores may be apart, of scale.

    Attributes:
        told: by choice that ever fell the other way at a tie, a line.

    Raises:
        ValueError: they are too large for one message.
    """

    def __init__(self, native: Path, made: Path, config: Mapping[str, str], near: float) -> None:
        self._nodes, self._near = shared(made, choices(native)), near
        self._native = Engine(with_scores(native, self._nodes), where="native")
        self._taken: dict[str, tuple[Array, Array]] = {}
        self._made = Taking(Engine(with_choices(made, self._nodes), config=config, where="the result"), self._given)
        self.told: dict[str, str] = {}

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """What the graph answers when it takes native's choices wherever all others are ties."""
        want = self._native.run(feeds)
        self._taken.clear()
        while True:
            got = self._made.run(feeds)
            ties = [name for name in self._nodes if name not in self._taken and self._is_tie(name, want, got)]
            if not ties:
                return {name: array for name, array in got.items() if not name.startswith("paddable/")}
            for name in ties:
                own = want[f"{CHOICE}/{name}"]
                self._taken[name] = own, np.ones(own.shape, bool)

    def _is_tie(self, name: str, want: Mapping[str, Array], got: Mapping[str, Array]) -> bool:
        """Whether a choice falls the other way, at ties of scores that agree alone."""
        node, own, other = self._nodes[name], want[f"{CHOICE}/{name}"], got[f"{CHOICE}/{name}"]
        if own.shape != other.shape or np.array_equal(own, other):
            return False
        titles = scores_of(want, name)
        near = [self._near * scale(want[title]) for title in titles]
        if not all(
            np.all(np.abs(want[title].astype(np.float64) - got[title]) <= most)
            for title, most in zip(titles, near, strict=True)
        ):
            return False
        if apart(node, [want[title] for title in titles], near, own, other).any():
            return False
        self.told[name] = told_ties(called(node), int((own != other).sum()), own.size)
        return True

    def _given(self) -> Mapping[str, tuple[Array, Array]]:
        return self._taken
