"""``check``: where padding would leak, and what ``convert`` would do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

from paddable.api.domain import domain
from paddable.api.opened import Declared, Model, Progress, open_model
from paddable.api.versions import versions
from paddable.errors import RefusedError
from paddable.findings import Finding
from paddable.graph.io.scratch import letting_go
from paddable.padding.analysis import Analysis
from paddable.report import embedded

__all__ = ["CheckReport", "check"]


@dataclass(frozen=True)
class CheckReport:
    """What padding would do to a model.

    Attributes:
        findings: the leaks, in graph order; or why the model is refused.
        refusal: the refusal in one line, None when the model can be converted.
        lengths: of each ragged output, the length along each ragged axis.
        domain: of each symbol the lengths that the model accepts: ``min``, ``max``, ``step`` and, in
            ``limits``, what each of them comes from; see ``told_domain``.
        notes: sentences about what was decided and not declared, such as that no axis counts rows.
        versions: of the packages that judged.
    """

    findings: tuple[Finding, ...] = ()
    refusal: str | None = None
    lengths: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    domain: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=versions)

    @property
    def ok(self) -> bool:
        """The model can be padded as it is."""
        return not self.findings and self.refusal is None

    def _repr_html_(self) -> str:
        """The report in a notebook."""
        count = len(self.findings)
        verdict = self.refusal or (f"Padding would leak at {count} places." if count else "Padding leaks nowhere.")
        rows = [
            {"code": f.code, "node": f.node, "source": str(f.source or ""), "leak": f.leak, "remedy": f.remedy}
            for f in self.findings
        ]
        tables = [{"title": "Findings", "rows": rows}] if rows else []
        data = {"command": "check", "title": "What padding would do", "ok": self.ok, "verdict": verdict}
        return embedded({**data, "tables": tables, "versions": dict(self.versions)})

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "ok": self.ok,
            "findings": [finding.to_json() for finding in self.findings],
            "refusal": self.refusal,
            "lengths": {name: {str(a): text for a, text in axes.items()} for name, axes in self.lengths.items()},
            "domain": {name: dict(limits) for name, limits in self.domain.items()},
            "notes": list(self.notes),
            "versions": dict(self.versions),
        }


@letting_go
def check(
    model: Model, lengths: str | Sequence[str], *, progress: Progress | None = None, **declared: Unpack[Declared]
) -> CheckReport:
    """Find where padding would leak into the answer.

    Args:
        model: a file, or a model in memory.
        lengths: the ragged axes, such as ``["x:1=T"]``.
        progress: called with (stage, done, total).
        **declared: what else is known of the model, such as ``length_inputs=["ilens=T"]``; see ``Declared``.

    Raises:
        UnreadableError: not a model.
        MisuseError: a declaration that does not fit it.
    """
    opened = open_model(model, lengths, **declared)
    if progress is not None:
        progress("analyse", 0, 1)
    try:
        analysis = opened.analyse()
    except RefusedError as refusal:
        return CheckReport(refusal.findings, str(refusal), notes=tuple(opened.forgotten()))
    if progress is not None:
        progress("analyse", 1, 1)
    return CheckReport(tuple(analysis.findings), None, texts(analysis), domain(analysis), tuple(opened.notes()))


def texts(analysis: Analysis) -> dict[str, dict[int, str]]:
    """Of each ragged output, the length along each ragged axis, as text."""
    return {name: {axis: str(size) for axis, size in axes.items()} for name, axes in analysis.lengths().items()}
