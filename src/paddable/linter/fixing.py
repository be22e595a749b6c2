"""Apply a target's fixes to a model, each re-checked, and taken back where the numbers move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import onnx
import onnx_ir as ir

from paddable.errors import PaddableError, RefusedError
from paddable.linter.fix import TOLERANCE, GraphFix
from paddable.linter.view.light import without_weights

__all__ = ["TOLERANCE", "Changed", "FixReport", "Judge", "Runner", "apply_fixes"]

Array = npt.NDArray[Any]
Feed = Mapping[str, Array]
Runner = Callable[[ir.Model, Sequence[Feed]], Sequence[Sequence[Array]]]
"""Loads a model on the CPU, once, and runs it on each feed: outputs in the order of the graph. Without a feed it only
loads it. Handed in, since this layer knows no runtime."""


@dataclass
class FixReport:
    """What happened.

    Attributes:
        applied: names of the fixes that changed the model, with the largest relative change of an output, or None where
            nothing was compared.
        refused: names of the fixes that were not applied, and why.
    """

    applied: dict[str, float | None] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def apply_fixes(
    model: ir.Model,
    fixes: Sequence[GraphFix[Any]],
    runner: Runner | None = None,
    feeds: Sequence[Feed] = (),
) -> tuple[ir.Model, FixReport]:
    """Apply fixes one after the other. What a fix gives has to be a valid graph that loads where the model does.

    Args:
        model: the model; it is not changed, its tensors are shared with the result.
        fixes: the fixes of one target, in order.
        runner: loads and runs a model on the CPU; without it nothing is re-checked, and the report says so.
        feeds: inputs to compare on, each one run before and after every fix that changed something. Where there are
            none, only exact fixes are applied.

    Returns:
        The fixed model and the report.
    """
    report = FixReport()
    judge: Judge | None = None
    sites: Sequence[Any] | None = None  # what the fixes of one target see is the same until one changes the model
    for fix in fixes:
        name = name_of(type(fix))
        try:
            if sites is None:
                sites = fix.look(model)
            if not fix.matches(sites):
                continue
            judge = judge or Judge(model, runner, feeds)
            fixed = fix(_named(model.clone())).model
            change = judge.change(model, fixed, fix)
        except Exception as error:  # a fix is a help: whatever goes wrong in one, the graph before it is still there
            report.refused[name] = _shown(error.__cause__ or error)
        else:
            report.applied[name] = change
            model = fixed
            sites = None
    return model, report


class Changed(Protocol):
    """A pass whose result is compared with the model before it: a fix, or a form."""

    @property
    def exact(self) -> bool:
        """Whether the result is the same function by construction, and needs no comparison."""

    @property
    def tolerance(self) -> float:
        """Largest change of an output, of its largest absolute value."""

    def reference(self, model: ir.Model) -> ir.Model:
        """What the result is compared with."""


class Judge:
    """What a model was before any fix: how valid it is, whether it loads, and its answers."""

    def __init__(self, model: ir.Model, runner: Runner | None, feeds: Sequence[Feed]) -> None:
        self._runner, self._feeds = runner, feeds
        self._complaint = complaint(model)
        self._reference: Sequence[Sequence[Array]] | None = None
        if runner is not None:
            with suppress(PaddableError):  # no kernel on the CPU: made for a provider that has one
                self._reference = runner(model, feeds)

    def change(self, model: ir.Model, fixed: ir.Model, fix: Changed) -> float | None:
        """Largest relative change of an output against the fix's reference; None where nothing was compared.

        Args:
            model: before the fix.
            fixed: after it.
            fix: what changed it.

        Raises:
            RefusedError: the result must not take the model's place.
        """
        found = complaint(fixed)
        if found and found != self._complaint:
            raise RefusedError(f"its result is not a valid graph: {found}")
        if self._runner is None:
            return None
        outputs: Sequence[Sequence[Array]] = ()
        if self._reference is not None:
            try:
                outputs = self._runner(fixed, self._feeds)
            except PaddableError as error:
                raise RefusedError(f"its result does not run: {error.what}") from None
        if not outputs or self._reference is None:
            if not fix.exact:
                raise RefusedError(
                    "it could not be compared: no sample input was found that the graph runs on",
                    why="it may round otherwise",
                )
            return None
        wanted, allowed, exact = self._reference, fix.tolerance, fix.reference(model)
        if exact is not model:
            wanted = self._runner(exact, self._feeds)
            allowed = max(allowed, _largest(wanted, self._reference))
        change = _largest(wanted, outputs)
        if not change <= allowed:
            raise RefusedError(
                "it would change the shape, type or finiteness of an output"
                if np.isinf(change)
                else f"it would change the outputs by {change:.1e} of scale"
            )
        if exact is not model:  # what the next fix gives is nearer to this than to what the model was
            self._reference = outputs
        return change


def _largest(before: Sequence[Sequence[Array]], after: Sequence[Sequence[Array]]) -> float:
    """The largest relative change of an output on any of the inputs."""
    changes = [
        relative_change(one, other)
        for answers, results in zip(before, after, strict=True)
        for one, other in zip(answers, results, strict=True)
    ]
    return max(changes, default=0.0)


def complaint(model: ir.Model) -> str | None:
    """The first thing that ONNX's checker has to say against a model, names of graphs left aside; None if nothing."""
    proto = without_weights(_named(model.clone()))
    try:
        onnx.checker.check_model(proto)
    except (onnx.checker.ValidationError, ValueError) as error:
        return (str(error).strip().splitlines() or [type(error).__name__])[0]
    return None


def _named(model: ir.Model) -> ir.Model:
    """The model, each graph of which has a name: ONNX demands one."""
    for graph in model.graphs():
        graph.name = graph.name or "graph"
    return model


def _shown(error: BaseException) -> str:
    if isinstance(error, PaddableError):  # it cannot be done here, or its result is not the same
        return str(error)
    told = ": ".join(filter(None, (type(error).__name__, *str(error).strip().splitlines()[:1])))
    return f"it failed on this graph, which is a mistake in it; report it ({told})"


def name_of(fix: type[GraphFix[Any]]) -> str:
    """What a fix does, from its class name: ``drop allowzero``."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in fix.__name__).strip()


def relative_change(before: Any, after: Any) -> float:
    """Largest difference over the largest absolute value (floor 1e-6); inf where shape, type or finiteness differ."""
    if not isinstance(before, np.ndarray):  # a sequence, or an optional that is absent
        pairs = list(zip(before or (), after or (), strict=False))
        alike = len(before or ()) == len(after or ())
        return max((relative_change(*pair) for pair in pairs), default=0.0) if alike else float("inf")
    if before.shape != after.shape or before.dtype != after.dtype:
        return float("inf")
    if before.dtype.kind not in "fc":
        return 0.0 if np.array_equal(before, after) else float("inf")
    finite = np.isfinite(before)
    if not np.array_equal(before[~finite], after[~finite], equal_nan=True) or not np.isfinite(after[finite]).all():
        return float("inf")
    wide, other = before[finite].astype(np.float64), after[finite].astype(np.float64)
    if not wide.size:
        return 0.0
    return float(np.abs(wide - other).max() / max(np.abs(wide).max(), 1e-6))
