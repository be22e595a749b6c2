"""Apply a target's fixes to a model, each re-checked numerically, and taken back where the numbers move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from paddable.errors import PaddableError
from paddable.targets.fix import GraphFix

__all__ = ["FixReport", "Runner", "apply_fixes"]

Array = npt.NDArray[Any]
Runner = Callable[[ir.Model, Mapping[str, Array]], Sequence[Array]]
"""Runs a model on the CPU: outputs in the order of the graph. Handed in, since this layer knows no runtime."""

TOLERANCE = 1e-6
"""Largest change of an output, relative to its largest absolute value, that a fix may cause."""


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
    feeds: Sequence[Mapping[str, Array]] = (),
) -> tuple[ir.Model, FixReport]:
    """Apply fixes one after the other.

    Args:
        model: the model; it is not changed, its tensors are shared with the result.
        fixes: the fixes of one target, in order.
        runner: runs a model on the CPU; without it nothing is re-checked, and the report says so.
        feeds: inputs to compare on, each one run before and after every fix that changed something.

    Returns:
        The fixed model and the report.
    """
    report = FixReport()
    reference = [runner(model, feed) for feed in feeds] if runner else []
    sites: Sequence[Any] | None = None  # what the fixes of one target see is the same until one changes the model
    for fix in fixes:
        name = name_of(fix)
        if sites is None:
            sites = fix.look(model)
        if not fix.matches(sites):
            continue
        try:
            result = fix(model.clone())
            change = _largest_change(result.model, reference, runner, feeds) if runner and feeds else None
        except (PaddableError, ir.passes.PassError) as error:  # it cannot be done here, or its result does not run
            report.refused[name] = str(error.__cause__ or error)
            continue
        if change is not None and not change <= TOLERANCE:
            report.refused[name] = f"it would change the outputs by {change:.1e} of scale"
            continue
        report.applied[name] = change
        model = result.model
        sites = None
    return model, report


def name_of(fix: GraphFix[Any]) -> str:
    """What a fix does, from its class name: ``drop allowzero``."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in type(fix).__name__).strip()


def _largest_change(
    model: ir.Model, reference: list[Sequence[Array]], runner: Runner, feeds: Sequence[Mapping[str, Array]]
) -> float:
    changes = [
        relative_change(before, after)
        for outputs, feed in zip(reference, feeds, strict=True)
        for before, after in zip(outputs, runner(model, feed), strict=True)
    ]
    return max(changes, default=0.0)


def relative_change(before: Array, after: Array) -> float:
    """Largest difference over the largest absolute value (floor 1e-6); inf where shape, type or finiteness differ."""
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
