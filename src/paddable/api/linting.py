"""``lint``: hazards of a graph as it is written, in general or on one target, and the safe fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir

from paddable.api.domain import domain
from paddable.api.opened import Declared, Model, file_of, open_model, told_raised
from paddable.api.place import demand_place, writing_to
from paddable.api.running import Sampled, run_bytes
from paddable.api.versions import versions
from paddable.bundle import KEY
from paddable.errors import MisuseError, PaddableError, RefusedError
from paddable.findings import Finding
from paddable.graph.io.read import read_model
from paddable.graph.io.scratch import letting_go
from paddable.graph.io.write import write_model
from paddable.graph.prepare.raise_opset import raise_opset
from paddable.lengths.declare import parse_length
from paddable.linter import lint_model, rules
from paddable.padding.suggestion import suggest
from paddable.providers.registry import provider as provider_named
from paddable.providers.registry import rules_of
from paddable.providers.report import fix_for, lint_for
from paddable.several import several

__all__ = ["LintReport", "lint"]


@dataclass(frozen=True)
class LintReport:
    """What lint says.

    Attributes:
        findings: errors first.
        placement: on a target whose placement is modelled, where the nodes run; None elsewhere.
        advice: the session settings that the target needs.
        fixed: names of the fixes that were applied, with the largest relative change of an output.
        left: names of the fixes that were not, and why.
        out: the file that was written; None if none was.
        skipped: what was not looked at, and how to ask for it.
        domain: as of ``check``: of each symbol the lengths that the model accepts; empty where that is not known.
    """

    findings: tuple[Finding, ...] = ()
    placement: Mapping[str, Any] | None = None
    advice: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, float | None] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)
    out: str | None = None
    skipped: tuple[str, ...] = ()
    domain: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=versions)

    @property
    def ok(self) -> bool:
        """No finding is an error."""
        return not any(finding.severity == "error" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "ok": self.ok,
            "findings": [finding.to_json() for finding in self.findings],
            "placement": self.placement,
            "advice": dict(self.advice),
            "fixed": dict(self.fixed),
            "left": dict(self.left),
            "out": self.out,
            "skipped": list(self.skipped),
            "lengths": {},
            "domain": {name: dict(limits) for name, limits in self.domain.items()},
            "versions": dict(self.versions),
        }


@letting_go
def lint(
    model: Model,
    *,
    lengths: str | Sequence[str] = (),
    target: str | None = None,
    fix: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    run: bool | None = None,
) -> LintReport:
    """Find what will break, slow down or silently change a graph.

    Args:
        model: a file, or a model in memory.
        lengths: the ragged axes, such as ``["x:1=T"]``; without them every free axis but the batch is taken for time.
        target: the execution provider to judge by; None judges in general.
        fix: apply the target's safe fixes, each re-checked numerically on the CPU, and judge the result.
        out: where the fixed model goes.
        force: replace what is at ``out``; never the model itself.
        run: also run the model at two lengths, which reads its weights and finds frozen sizes that its structure does
            not show; None does so for models with up to 256 MB of weights.

    Raises:
        UnreadableError: not a model.
        MisuseError: an unknown target, a fix without a target, or a place that holds something else.
    """
    lengths = several("lengths", lengths)
    place = None if out is None else Path(out)
    if place is not None:
        demand_place(place, file_of(model), force)
    original = read_model(model, for_lint=True, older=True)
    found = raise_opset(original, "model" if isinstance(model, onnx.ModelProto) else str(model))
    raised = () if found is original else (told_raised(original.opset_imports[""], found),)
    applied: Mapping[str, float | None] = {}
    left: Mapping[str, str] = {}
    if fix:
        if target is None:
            raise MisuseError("`fix=True` needs a `target`", fix="add one, such as `target='directml'`")
        found, report = fix_for(found, target, Sampled())
        applied, left = report.applied, report.refused
        if place is not None:
            with writing_to(place):
                write_model(found, place, force=force)
    declared = [parse_length(text) for text in lengths]
    skipped: tuple[str, ...] = ()
    if run is None:
        size = _weight_bytes(found)
        run = size <= _RUN_UP_TO
        if not run:
            skipped = (f"not run at two lengths, for its {size / 1e6:,.0f} MB of weights: `run=True` does it",)
    accepted, stopped = _accepted(model, found, lengths)
    runner = run_bytes if run else None
    record = None if target is None else provider_named(target)
    general = lint_model(
        found,
        runner=runner,
        declarations=declared,
        facts=None if record is None else record.facts,
        select=None if record is None else [rule for rule in rules() if rule not in rules_of(record)],
    )
    if target is None:
        return LintReport((*general, *stopped), skipped=(*raised, *skipped), domain=accepted)
    as_it_is = fix or raised or isinstance(model, onnx.ModelProto)
    source = found if as_it_is else onnx.load(model, load_external_data=False)
    judged = lint_for(source, target, general)
    payload = judged.to_json()
    return LintReport(
        (*judged.findings, *stopped),
        payload["placement"],
        payload["target"],
        applied,
        left,
        str(place) if fix and place is not None else None,
        (*raised, *skipped),
        accepted,
    )


def _accepted(
    model: Model, found: ir.Model, lengths: Sequence[str]
) -> tuple[Mapping[str, Mapping[str, Any]], tuple[Finding, ...]]:
    """The lengths that the model accepts, by the analysis of ``check``.

    Returns:
        The domain, empty where it is not known. Where axes are declared and the analysis stops: what it stopped at,
        as a note; a guess of the axes may be what is wrong.
    """
    guess = suggest({value.name or "": value for value in found.graph.inputs}, found.graph.outputs)
    wanted = lengths or guess.lengths
    if not wanted or KEY in found.metadata_props:
        return {}, ()
    declared = Declared(
        length_inputs=[f"{name}=T" for name in guess.length_inputs],
        mask_inputs=[f"{name}:{axis}=T" for name, axis in guess.masks],
        batch=guess.batch_axes,
    )
    try:
        return domain(open_model(model, wanted, **declared).analyse()), ()
    except RefusedError as refusal:
        return {}, tuple(replace(each, severity="note") for each in refusal.findings) if lengths else ()
    except PaddableError:  # the guess does not fit
        return {}, ()


_RUN_UP_TO = 256_000_000
"""Bytes of weights that are read without being asked for: a run of more takes seconds, all else a fraction of one."""


def _weight_bytes(model: ir.Model) -> int:
    tensors = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    return sum(tensor.nbytes for tensor in tensors if tensor is not None)
