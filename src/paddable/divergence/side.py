"""One of the two runs that are compared: a graph, what it is fed, and what of its values is valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from paddable.bundle import Metadata
from paddable.divergence.pieces import Run
from paddable.divergence.plain import Plain
from paddable.gates.engine import Array
from paddable.gates.regions import Frame

__all__ = ["Side"]


@dataclass(frozen=True)
class Side:
    """One run.

    Attributes:
        title: the file, and what tells the run apart from the other.
        plain: the graph.
        feeds: its inputs, one row.
        run: runs a piece of the graph.
        answer: runs the whole as an app would, with ONNX Runtime's optimiser.
        steps: the valid steps of each symbol; empty where nothing is ragged.
        container: the steps it is run at.
        metadata: of a padded graph.
        precision: ``fp32``, ``fp16``, ``int8`` or one of a bundle.
        provider: where it runs.
    """

    title: str
    plain: Plain
    feeds: Mapping[str, Array]
    run: Run
    answer: Callable[[], Mapping[str, Array]]
    steps: Mapping[str, int]
    container: Mapping[str, int]
    metadata: Metadata | None = None
    precision: str = "fp32"
    provider: str = "cpu"

    def frame(self, single_row: bool) -> Frame:
        """Its container, with one row in it."""
        return Frame(self.container, [self.steps], single_row)
