"""Everything that is known about a model on one target, and the fixes that it can have there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import onnx
import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

from paddable.bundle.providers import SessionAdvice
from paddable.findings import Finding
from paddable.providers.cuda.placement import CudaPlacement
from paddable.providers.cuda.placement import place as place_on_cuda
from paddable.providers.cuda.rules import CUDA_RULES
from paddable.providers.directml.fixes import FIXES
from paddable.providers.directml.placement import Placement, place
from paddable.providers.directml.rules import RULES
from paddable.providers.directml.site import sites
from paddable.providers.fix import GraphFix
from paddable.providers.fixes import TABLE_FIXES
from paddable.providers.fixing import FixReport, Runner, apply_fixes
from paddable.providers.folding import view_model
from paddable.providers.light import light_proto
from paddable.providers.lint import findings_of
from paddable.providers.rules import TABLE_RULES
from paddable.providers.table import TableSite, Target
from paddable.providers.tables import target as table_of

__all__ = ["TargetReport", "fix_for", "lint_for"]


@dataclass(frozen=True)
class TargetReport:
    """What a target makes of a model.

    Attributes:
        target: the target's table, with its session advice.
        findings: errors first.
        placement: where each node runs; None for targets whose placement is not modelled.
    """

    target: Target
    findings: list[Finding]
    placement: Placement | CudaPlacement | None = None

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def advice(self) -> SessionAdvice:
        """How to open a session for this graph: without capture where the provider could not capture it."""
        if isinstance(self.placement, CudaPlacement) and not self.placement.capturable:
            return replace(self.target.advice, static_options={})
        return self.target.advice

    def to_json(self) -> dict[str, Any]:
        """The report as ``--json`` prints it."""
        return {
            "ok": self.ok,
            "target": {**self.target.to_json(), "session": self.advice.to_json()},
            "findings": [finding.to_json() for finding in self.findings],
            "placement": self.placement.to_json() if self.placement else None,
        }


def lint_for(model: onnx.ModelProto | ir.Model, target: str, general: Sequence[Finding] = ()) -> TargetReport:
    """What will break, slow down or silently change a model on a target.

    Args:
        model: the model; weights may be absent, and a ModelProto loaded without external data is the fastest form.
        target: name of the target (`paddable.providers.tables.TARGETS`).
        general: findings of the lint without a target; those that a finding here supersedes are left out of the
            report, and those that speak of another target are notes.

    Raises:
        MisuseError: no target has that name.
    """
    table = table_of(target)
    view = view_model(model if isinstance(model, onnx.ModelProto) else light_proto(model))
    found = findings_of(TABLE_RULES, [TableSite(part, table) for part in view.walk()])
    placement: Placement | CudaPlacement | None = None
    if target == "directml":
        placement = place(view)
        found += findings_of(RULES, sites(placement))
    elif target == "cuda":
        placement = place_on_cuda(view)
        found += findings_of(CUDA_RULES, list(placement.walk()))
    replaced = {code: rule.code for rule in RULES for code in rule.supersedes}
    places = {(finding.code, finding.node) for finding in found}
    kept = [
        replace(finding, severity="note") if finding.code in replaced and target != "directml" else finding
        for finding in general
        if (replaced.get(finding.code), finding.node) not in places
    ]
    order = ("error", "warning", "note").index
    return TargetReport(table, sorted([*found, *kept], key=lambda finding: order(finding.severity)), placement)


def fix_for(
    model: ir.Model, target: str, runner: Runner | None = None, feeds: Sequence[Mapping[str, Any]] = ()
) -> tuple[ir.Model, FixReport]:
    """Apply a target's fixes; see `paddable.providers.fixing.apply_fixes`. The model's own functions are inlined first.

    Raises:
        MisuseError: no target has that name.
    """
    if model.functions:
        model = model.clone()
        InlinePass()(model)
    fixes: Mapping[str, Sequence[GraphFix[Any]]] = {"directml": FIXES, **TABLE_FIXES}
    return apply_fixes(model, fixes.get(table_of(target).name, ()), runner, feeds)
