"""Like findings as one line: what differs by the number of a layer is said once."""

from __future__ import annotations

import re
from collections.abc import Iterable

from paddable.cli.flags import in_flags
from paddable.findings import Finding

__all__ = ["lines_of"]

_NUMBER_IN_A_NAME = re.compile(r"(?<=[A-Za-z_./\]\-])\d+|\d+(?=[._/][A-Za-z])")
"""A layer's number, as in ``layers.11.attn`` and ``node_MatMul_240``; a number that stands alone is not one."""


def lines_of(findings: Iterable[Finding]) -> list[str]:
    """One line for each kind of finding, in the order of the first of it.

    Args:
        findings: of one report; two are alike if only numbers in their names differ.
    """
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        source = str(finding.source) if finding.source else ""
        words = (finding.code, finding.op, finding.severity, finding.leak, finding.remedy, finding.node, source)
        key = tuple(_NUMBER_IN_A_NAME.sub("#", word) if word is not source else word for word in words)
        groups.setdefault(key, []).append(finding)
    return [_line(group) for group in groups.values()]


def _line(group: list[Finding]) -> str:
    first: str = in_flags(str(group[0]))
    if len(group) == 1:
        return first
    return f"{first} ({len(group)} places, the last {group[-1].node})"
