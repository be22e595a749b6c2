"""Runs a model at two lengths: a number frozen at export stops it at every length but one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from paddable.graph.io.write import to_proto
from paddable.lint.rule import Match
from paddable.lint.subject import Array, Subject

__all__ = ["run_at_two_lengths"]

_LENGTHS = (50, 200, 1000, 4000, 16000)
"""Steps to try: frames of a short utterance up to a second of samples; the shortest that runs is taken."""

_CANDIDATES = 32


def run_at_two_lengths(subject: Subject) -> Iterator[Match]:
    """Yields a match when the model runs at one length, and at no other.

    A model that runs at no tried length at all is not judged: what it needs cannot be guessed.
    """
    if not subject.ragged or subject.runner is None:
        return
    trial = _Trial(subject)
    first = next((length for length in _LENGTHS if trial.runs(length)), None)
    if first is not None:
        # Another residue, then multiples: a model may demand a step.
        others: Sequence[int] = (2 * first + 3, 2 * first, 3 * first)
    else:
        first = next((length for length in _constants(subject) if trial.runs(length)), None)
        if first is None:
            return
        others = (first + 1, 2 * first + 3)  # a step of the model would have let one of `_LENGTHS` run
    if any(trial.runs(length) for length in others):
        return
    node = next((node for node in subject.nodes() if node.name and _names(trial.error, node.name)), None)
    yield Match(
        f"the model runs at {first} steps but not at {', '.join(map(str, others))}: {trial.error}",
        f"a size of the example is frozen in the graph; export with {subject.ragged[0]} dynamic and without int() or "
        ".item() in forward",
        node,
        value=str(subject.ragged[0].value.name),
        axis=subject.ragged[0].axis,
        severity="error",
    )


class _Trial:
    """One model, run on random inputs of a length."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._model = to_proto(subject.model).SerializeToString()
        self.error = ""
        """First line of what the runtime said last."""

    def runs(self, length: int) -> bool:
        """Whether the model runs at this many steps."""
        assert self._subject.runner is not None
        try:
            self._subject.runner(self._model, self._feeds(length))
        except Exception as error:  # whatever the runtime of the caller raises
            self.error = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            return False
        return True

    def _feeds(self, length: int) -> dict[str, Array]:
        lengths = set(self._subject.length_inputs)
        free = {(ragged.value, ragged.axis) for ragged in self._subject.ragged}
        random = np.random.default_rng(0)
        feeds: dict[str, Array] = {}
        for value in self._subject.inputs:
            assert value.dtype is not None and value.name is not None
            sizes = [
                length
                if (value, axis) in free or (not isinstance(dim, int) and axis > 0)
                else dim
                if isinstance(dim, int)
                else 1
                for axis, dim in enumerate(value.shape or ())
            ]
            dtype = value.dtype.numpy()
            if value.dtype.is_floating_point():
                feeds[value.name] = (0.1 * random.standard_normal(sizes)).astype(dtype)
            else:
                scalar = value in lengths and len(sizes) <= 1
                feeds[value.name] = np.full(sizes, length if scalar else 1, dtype)
        return feeds


def _constants(subject: Subject) -> list[int]:
    """Whole numbers of the graph that a length could be, smallest first."""
    found: set[int] = set()
    for value in subject.model.graph.initializers.values():
        numbers = subject.constant(value)
        if numbers is not None and numbers.dtype.kind in "iu":
            found.update(int(number) for number in numbers.reshape(-1) if 3 < number < 100_000)
    return sorted(found)[:_CANDIDATES]


def _names(error: str, name: str) -> bool:
    """Whether a runtime's message names the node, and not one whose name begins alike."""
    return f"'{name}'" in error or f'"{name}"' in error
