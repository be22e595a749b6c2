"""Everything that is known about a model on one target, and the fixes that it can have there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import onnx
import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

from paddable.findings import Finding
from paddable.linter.fixing import FixReport, Runner, apply_fixes
from paddable.linter.run import by_gravity, findings_of
from paddable.linter.site import Placement
from paddable.linter.view.folding import view_model
from paddable.linter.view.light import light_proto
from paddable.providers.provider import Provider
from paddable.providers.registry import provider as provider_named
from paddable.providers.registry import rules_of
from paddable.providers.session_advice import SessionAdvice

__all__ = ["TargetReport", "fix_for", "lint_for"]


@dataclass(frozen=True)
class TargetReport:
    """What a target makes of a model.

    Attributes:
        provider: the target's record.
        findings: errors first.
        placement: where each node runs; None for targets whose placement is not modelled.
    """

    provider: Provider
    findings: list[Finding]
    placement: Placement | None = None

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def advice(self) -> SessionAdvice:
        """How to open a session for this graph: without capture where the provider could not capture it."""
        advice = self.provider.advice
        fit = self.placement is None or self.placement.capturable
        return advice if fit else replace(advice, static_options={})

    def to_json(self) -> dict[str, Any]:
        """The report as ``--json`` prints it."""
        return {
            "ok": self.ok,
            "target": {**self.provider.to_json(), "session": self.advice.to_json()},
            "findings": [finding.to_json() for finding in self.findings],
            "placement": self.placement.to_json() if self.placement else None,
        }


def lint_for(model: onnx.ModelProto | ir.Model, target: str, general: Sequence[Finding] = ()) -> TargetReport:
    """What will break, slow down or silently change a model on a target.

    Args:
        model: the model; weights may be absent, and a ModelProto loaded without external data is the fastest form.
        target: name of the provider.
        general: what the rules about any graph say; put among the findings of the provider's.

    Raises:
        MisuseError: no target has that name.
    """
    record = provider_named(target)
    view = view_model(model if isinstance(model, onnx.ModelProto) else light_proto(model))
    sites = record.sites(view)
    found = findings_of(rules_of(record), sites)
    return TargetReport(record, by_gravity([*found, *general]), sites[0].placement)


def fix_for(
    model: ir.Model, target: str, runner: Runner | None = None, feeds: Sequence[Mapping[str, Any]] = ()
) -> tuple[ir.Model, FixReport]:
    """Apply a target's fixes; see `paddable.linter.fixing.apply_fixes`. The model's own functions are inlined first.

    Raises:
        MisuseError: no target has that name.
    """
    record = provider_named(target)
    if model.functions:
        model = model.clone()
        InlinePass()(model)
    return apply_fixes(model, [fix(record.look) for fix in record.fixes], runner, feeds)
