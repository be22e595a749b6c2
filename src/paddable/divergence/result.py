"""What the probe found, as plain records; rendering is somebody else's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paddable.divergence.causes import Cause
from paddable.errors import arguments
from paddable.report import embedded

__all__ = ["ForkRecord", "Layer", "ProbeReport"]


@dataclass(frozen=True)
class Layer:
    """One compared value, in graph order.

    Attributes:
        node: the first graph's node.
        op: its operator.
        module: its module path, if recorded.
        value: the value.
        error: relative to the second run's scale.
        profile: the error along time, see ``Measure``.
        reach: share of the container that is valid.
        largest: largest absolute value of each run.
    """

    node: str
    op: str
    module: str | None
    value: str
    error: float
    profile: Sequence[float] = ()
    reach: float = 1.0
    largest: tuple[float, float] = (0.0, 0.0)

    def to_json(self) -> dict[str, Any]:
        """The record as plain data."""
        plain = {**vars(self), "error": number(self.error), "profile": [number(error) for error in self.profile]}
        return {**plain, "reach": round(self.reach, 4), "largest": [number(value) for value in self.largest]}


@dataclass(frozen=True)
class ForkRecord:
    """Where two runs part.

    Attributes:
        node: the first graph's node that makes the first different value.
        other: its partner in the second graph.
        op: the operator.
        module: module path, if recorded in either graph.
        source: source line, if recorded in either graph.
        value: the value.
        error: of the value.
        inputs: largest error among what the nodes read.
        nodes: all nodes of the first graph between the values that agree and this one.
        others: the same of the second graph.
        missing: those of ``others`` that have no partner, but for what computes from sizes and constants alone.
        cause: why.
    """

    node: str
    other: str
    op: str
    module: str | None
    source: str | None
    value: str
    error: float
    inputs: float
    nodes: Sequence[str]
    others: Sequence[str]
    missing: Sequence[str]
    cause: Cause

    def to_json(self) -> dict[str, Any]:
        """The record as plain data."""
        plain = {**vars(self), "error": number(self.error), "inputs": number(self.inputs), "cause": vars(self.cause)}
        return {**plain, "nodes": list(self.nodes), "others": list(self.others), "missing": list(self.missing)}

    def __str__(self) -> str:
        """Where, why and what to do, as one sentence."""
        place = " ".join(part for part in (self.op, self.node) if part)
        where = ", ".join(part for part in (self.module, self.source) if part)
        code = f"{self.cause.code}: " if self.cause.code else ""
        told = f"{place} ({where})" if where else place
        size = f"error {self.error:.2g}, its inputs {self.inputs:.2g}"
        if self.cause.place in ("in front of", "behind"):
            return f"{self.cause.text}, {self.cause.place} {told}: {size}; {self.cause.fix}"
        return f"the runs part at {told}: {size}; {code}{self.cause.text}; {self.cause.fix}"


@dataclass(frozen=True)
class ProbeReport:
    """Two runs compared.

    Attributes:
        one: the run in question, as named.
        other: the run it is compared with.
        steps: valid steps of each symbol.
        containers: the steps that each is run at.
        tolerance: error from which values count as different.
        differences: what makes the two different models, told first: weights, tokens, front ends.
        outputs: error of each output, whole runs as an app sees them.
        forks: where they part; only the first is certain.
        layers: the compared values, in graph order.
        matched: how many nodes each graph has, how many were paired, and by what.
        cause: why the outputs differ although no value does, if so.
        versions: of the packages that ran.
        isolated: folder of the cut-out case, if one was asked for.
        notes: what was chosen for the user.
        changed: how many weights of paired nodes differ, and the first; empty where none does.
        shapes: of each input of the second run.
        untested: axes that nothing gave a size, such as ``x:1``: both runs took one step along them.
        ties: of choices that fall the other way between scores that agree, a line on each.
    """

    one: str
    other: str
    steps: Mapping[str, int]
    containers: tuple[Mapping[str, int], Mapping[str, int]]
    tolerance: float
    differences: Sequence[str]
    outputs: Mapping[str, float]
    forks: Sequence[ForkRecord]
    layers: Sequence[Layer]
    matched: Mapping[str, int]
    cause: Cause | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    isolated: str | None = None
    notes: Sequence[str] = ()
    changed: str = ""
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    untested: Sequence[str] = ()
    ties: Sequence[str] = ()

    @property
    def fork(self) -> ForkRecord | None:
        """The first fork; None where the runs agree."""
        return self.forks[0] if self.forks else None

    @property
    def ok(self) -> bool:
        """The outputs agree, and so do the models."""
        return self.agree and not self.differences

    @property
    def agree(self) -> bool:
        """The outputs agree."""
        return not self.forks and self.cause is None

    @property
    def verdict(self) -> str:
        """The outcome in one sentence or two."""
        told = [*self.differences]
        if self.fork is not None:
            told.append(str(self.fork))
            if self.changed and not self.differences and self.fork.cause.kind != "weights":
                told.append(self.changed)
        elif self.cause is not None:
            if self.changed and self.cause.kind != "weights":
                told.append(self.changed)
            told.append(f"{self.cause.text}; {self.cause.fix}")
        else:
            worst = max(self.outputs.values(), default=0.0)
            told.append(
                f"the runs agree: {f'outputs differ by at most {worst:.2g} of scale' if worst else 'bit for bit'}"
                + (f", but for ties: {'; '.join(self.ties)}" if self.ties else "")
                + (f"; but {self.changed}" if self.changed else "")
                + self._sizes
            )
        return ". ".join(text[:1].upper() + text[1:] for text in told)

    @property
    def _sizes(self) -> str:
        """What agreement was seen at."""
        if self.untested:
            declared = arguments(lengths=[f"{axis}={name}" for axis, name in zip(self.untested, "TSUVW", strict=False)])
            return f"; at one step along {', '.join(self.untested)}; declare {declared} to compare longer ones"
        if self.steps:
            return f"; at {', '.join(f'{name} = {count:,}' for name, count in self.steps.items())}"
        return (
            "; with " + ", ".join(f"{name} {list(sizes)}" for name, sizes in self.shapes.items()) if self.shapes else ""
        )

    def _repr_html_(self) -> str:
        """The report in a notebook."""
        from paddable.divergence.shown import about_probe  # which reads this module

        return embedded(about_probe(self))

    def to_json(self) -> dict[str, Any]:
        """The whole report as plain data."""
        return {
            "ok": self.ok,
            "verdict": self.verdict,
            "one": self.one,
            "other": self.other,
            "steps": dict(self.steps),
            "containers": [dict(size) for size in self.containers],
            "inputs": {name: list(sizes) for name, sizes in self.shapes.items()},
            "tolerance": self.tolerance,
            "differences": list(self.differences),
            "outputs": {name: number(error) for name, error in self.outputs.items()},
            "fork": self.fork.to_json() if self.fork else None,
            "further_forks": [fork.to_json() for fork in self.forks[1:]],
            "cause": vars(self.cause) if self.cause else None,
            "layers": [layer.to_json() for layer in self.layers],
            "matched": dict(self.matched),
            "isolated": self.isolated,
            "notes": list(self.notes),
            "ties": list(self.ties),
            "changed_weights": self.changed,
            "versions": dict(self.versions),
        }


def number(value: float) -> float | str:
    """Three digits; JSON knows no infinity."""
    return float(f"{value:.3g}") if math.isfinite(value) else str(value)
