"""What a loaded model runs on, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Description", "Place", "Tried"]


@dataclass(frozen=True)
class Tried:
    """A provider that ``auto`` looked at.

    Attributes:
        provider: our name for it.
        taken: whether the model runs there.
        why: what speaks for it, or why it was not taken.
    """

    provider: str
    taken: bool
    why: str


@dataclass(frozen=True)
class Place:
    """Where a model runs, decided when it was loaded.

    Attributes:
        provider: our name for the execution provider.
        form: ``native`` (the graph before it was padded, at any length), ``container`` (a padded graph of fixed size),
            or ``captured`` (the same, recorded once and replayed by the device).
        tried: what ``auto`` looked at, in order; empty where the provider was named.
        precision: what the graphs compute in; None for a graph that Paddable did not make.
    """

    provider: str = "cpu"
    form: str = "container"
    tried: tuple[Tried, ...] = ()
    precision: str | None = None


@dataclass(frozen=True)
class Description:
    """A loaded model.

    Attributes:
        provider: our name for the execution provider.
        execution_provider: ONNX Runtime's name for what the graphs in use run on; None while none is open.
        form: see `Place`.
        containers: for each graph, native and the smallest first: its ``steps`` (none for native), and the seconds that
            opening it (``opened``) and the run of ``warm_up`` (``warmed``) took; None for what did not happen. A graph
            of several ``rows`` tells the seconds that so many took ``alone`` and ``together``, once they are measured;
            it is used where ``together`` is less, and None where that run failed.
        tried: see `Place`.
        precision: see `Place`.
    """

    provider: str
    execution_provider: str | None
    form: str
    containers: tuple[Mapping[str, Any], ...] = ()
    tried: tuple[Tried, ...] = field(default=())
    precision: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "containers": [dict(row) for row in self.containers]}

    def __str__(self) -> str:
        """One line."""
        graphs = [row["steps"] for row in self.containers if row["steps"] and "rows" not in row]
        rows = max((row.get("rows", 1) for row in self.containers), default=1)
        sizes = ", ".join(" ".join(f"{symbol}={size}" for symbol, size in steps.items()) for steps in graphs)
        told = f"{self.provider}, {self.form}" + (f", containers {sizes}" if sizes else "")
        return told + (f", also of {rows} rows" if rows > 1 else "")
