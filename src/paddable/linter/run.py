"""Asks rules about a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import onnx
import onnx_ir as ir

from paddable.findings import Finding
from paddable.graph import trace
from paddable.linter.provider_facts import ProviderFacts
from paddable.linter.registry import rules
from paddable.linter.rule import Match, Rule
from paddable.linter.site import PlacementT, Site, sites_of
from paddable.linter.subject import LengthAxis, Runner, Subject

__all__ = ["by_gravity", "findings_of", "lint_model", "matches_of"]


def lint_model(
    model: ir.Model,
    *,
    runner: Runner | None = None,
    declarations: Sequence[LengthAxis] = (),
    weights: bool = False,
    facts: ProviderFacts | None = None,
    select: Sequence[type[Rule[Any]]] | None = None,
) -> list[Finding]:
    """What the rules about any graph say about a model.

    Args:
        model: the model; it is not changed.
        runner: runs a serialised model on named inputs; with one, the model is also run at two lengths.
        declarations: the axes that carry time (``.input``, ``.axis``); else every free axis but the batch.
        weights: also ask the rules that read every weight.
        facts: what is known of the provider that it is to run on, if one is named.
        select: the rules to ask, instead of all.

    Returns:
        Errors first; within a severity by code, then in the order of the graph.
    """
    subject = Subject(model, runner=runner, declarations=declarations)
    asked = rules() if select is None else select
    return findings_of([rule for rule in asked if weights or not rule.reads_weights], sites_of(subject, facts))


def matches_of(
    rule: type[Rule[PlacementT]], sites: Sequence[Site[PlacementT]]
) -> Iterator[tuple[Site[PlacementT], Match]]:
    """Each match of a rule, in the main graph and in every body."""
    asked = rule()
    for site in sites:
        for match in asked.check(site):
            yield site, match


def findings_of(asked: Sequence[type[Rule[Any]]], sites: Sequence[Site[Any]]) -> list[Finding]:
    """What rules say about a model: errors first, then in the order of the rules, then of the graph."""
    return by_gravity([_finding(rule, match) for rule in asked for _, match in matches_of(rule, sites)])


def by_gravity(findings: Sequence[Finding]) -> list[Finding]:
    """Errors first, then warnings, then notes; else as they stand."""
    return sorted(findings, key=lambda finding: ("error", "warning", "note").index(finding.severity))


def _finding(rule: type[Rule[Any]], match: Match) -> Finding:
    node = match.node
    origin = _Origin.of(node.proto) if node is not None else None
    return Finding(
        code=match.code or rule.code,
        node=node.name if node is not None else match.value,
        op=node.op if node is not None else "",
        leak=match.what,
        remedy=match.remedy,
        axis=match.axis,
        module=trace.module_path(origin) if origin is not None else None,
        source=trace.source(origin) if origin is not None else None,
        severity=match.severity or rule.severity,
    )


_READ = frozenset({trace.NAME_SCOPES, trace.STACK_TRACE})


@dataclass(slots=True)
class _Origin:
    """What the exporter recorded at a node."""

    name: str
    doc_string: str
    metadata_props: dict[str, str]

    @classmethod
    def of(cls, proto: onnx.NodeProto) -> _Origin:
        recorded = {key: entry.value for entry in proto.metadata_props if (key := entry.key) in _READ}
        return cls(proto.name, proto.doc_string, recorded)
