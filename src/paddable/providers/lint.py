"""Ask every rule of a target about a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import onnx

from paddable.findings import Finding
from paddable.graph import trace
from paddable.lint.rule import BaseRule
from paddable.providers.rule import Match, TargetRule

__all__ = ["findings_of", "matches_of"]


SiteT = TypeVar("SiteT")


def matches_of(rule: TargetRule[SiteT], sites: Sequence[SiteT]) -> Iterator[tuple[SiteT, Match]]:
    """Each match of a rule, in the main graph and in every subgraph."""
    for site in sites:
        for match in rule.check(site):
            yield site, match


def findings_of(rules: Sequence[TargetRule[SiteT]], sites: Sequence[SiteT]) -> list[Finding]:
    """What the rules say about a graph: errors first, then by code, then in the order of the graph."""
    found = [_finding(rule, match) for rule in rules for _, match in matches_of(rule, sites)]
    return sorted(found, key=lambda finding: ("error", "warning", "note").index(finding.severity))


def _finding(rule: BaseRule, match: Match) -> Finding:
    node = match.node
    origin = _Origin.of(node.proto) if node is not None else None
    return Finding(
        code=rule.code,
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
