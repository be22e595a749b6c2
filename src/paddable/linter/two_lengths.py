"""Runs a model at two lengths: a number frozen at export stops it at every length but one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.graph.io.write import to_proto
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.linter.subject import Array, Subject
from paddable.linter.view.graph import NodeView

__all__ = ["run_at_two_lengths"]

_LENGTHS = (50, 200, 1000, 4000, 16000)
"""Steps to try: frames of a short utterance up to a second of samples; the shortest that runs is taken."""

_CANDIDATES = 32


def run_at_two_lengths(site: Site[Any]) -> Iterator[Match]:
    """Yields a match when the model runs at one length, and at no other.

    One that runs at no tried length at all is told as well: what it needs cannot be guessed.
    """
    subject = site.subject
    if not subject.ragged or subject.runner is None or subject.model is None:
        return
    trial = _Trial(subject)
    first = next((length for length in _LENGTHS if trial.runs(length)), None)
    if first is not None:
        # Another residue, then multiples: a model may demand a step.
        others: Sequence[int] = (2 * first + 3, 2 * first, 3 * first)
    else:
        first = next((length for length in _constants(subject) if trial.runs(length)), None)
        if first is None:
            tried = ", ".join(map(str, _LENGTHS))
            yield Match(
                f"the model runs at none of the lengths that were tried ({tried}): {trial.error}",
                "a size of the example may be frozen in the graph, or an input other than the sound has a size of its "
                "own; run it at the length that it was exported with, then at another one",
                next(_blamed(site, trial.error), None),
                value=subject.ragged[0].name,
                axis=subject.ragged[0].axis,
            )
            return
        others = (first + 1, 2 * first + 3)  # a step of the model would have let one of `_LENGTHS` run
    if any(trial.runs(length) for length in others):
        return
    yield Match(
        f"the model runs at {first} steps but not at {', '.join(map(str, others))}: {trial.error}",
        f"a size of the example is frozen in the graph; export with {subject.ragged[0]} dynamic and without int() or "
        ".item() in forward",
        next(_blamed(site, trial.error), None),
        value=subject.ragged[0].name,
        axis=subject.ragged[0].axis,
        severity="error",
    )


def _blamed(site: Site[Any], error: str) -> Iterator[NodeView]:
    """Nodes that a runtime's message names."""
    return (node for part in site.everywhere() for node in part.nodes() if _names(error, node.name))


class _Trial:
    """One model, run on random inputs of a length."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        assert subject.model is not None
        self._model = to_proto(_named(subject.model)).SerializeToString()
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
        subject = self._subject
        free = {(ragged.name, ragged.axis) for ragged in subject.ragged}
        random = np.random.default_rng(0)
        feeds: dict[str, Array] = {}
        for name in subject.inputs:
            known = subject.view.type(name)
            assert known.dtype is not None
            sizes = [
                length
                if (name, axis) in free or (not isinstance(dim, int) and axis > 0)
                else dim
                if isinstance(dim, int)
                else 1
                for axis, dim in enumerate(known.shape or ())
            ]
            dtype = ir.DataType[known.dtype.upper()]
            if dtype.is_floating_point():
                feeds[name] = (0.1 * random.standard_normal(sizes)).astype(dtype.numpy())
            else:
                scalar = name in subject.length_inputs and len(sizes) <= 1
                feeds[name] = np.full(sizes, length if scalar else 1, dtype.numpy())
        return feeds


def _named(model: ir.Model) -> ir.Model:
    """The model, each node of which has a name, so that the runtime's message tells which one failed."""
    model = model.clone()
    for node in ir.traversal.RecursiveGraphIterator(model.graph):
        node.name = node.name or next((output.name for output in node.outputs if output.name), None)
    return model


def _constants(subject: Subject) -> list[int]:
    """Whole numbers of the graph that a length could be, smallest first."""
    view = subject.view
    found: set[int] = set()
    for name in (*view.initializers, *view.folded):
        numbers = view.constant(name)
        if numbers is not None and numbers.dtype.kind in "iu":
            found.update(int(number) for number in numbers.reshape(-1) if 3 < number < 100_000)
    return sorted(found)[:_CANDIDATES]


def _names(error: str, name: str) -> bool:
    """Whether a runtime's message names the node, and not one whose name begins alike."""
    return f"'{name}'" in error or f'"{name}"' in error
