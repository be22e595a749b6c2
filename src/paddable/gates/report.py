"""What the gates found, as plain records. Rendering is somebody else's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paddable.report import embedded

__all__ = ["DomainCheck", "GateReport", "Row", "SiteResult"]


@dataclass(frozen=True)
class Row:
    """Gates C and J of one output at one length, the worst of the containers tried.

    Attributes:
        model: which padded graph, such as ``symbolic`` or a container's size.
        output: the output.
        length: the valid steps; ``T=7,U=3`` with several symbols.
        container: where the error is largest.
        error: largest difference to native over the valid part, relative to scale.
        noise: native's own rounding, relative to scale.
        tolerance: max(1e-5, 3 * noise).
        cosine: of the valid parts, in float64.
        length_right: ``<output>_length`` is native's length.
        zero_behind: everything past the length is exactly 0.
        junk: the output is bit-equal whatever the padding holds; None where there is no padding.
        note: what went wrong besides.
        told: what differs and is no fault, such as choices that are a tie.
    """

    model: str
    output: str
    length: int | str
    container: int | str
    error: float
    noise: float
    tolerance: float
    cosine: float
    length_right: bool = True
    zero_behind: bool = True
    junk: bool | None = None
    note: str = ""
    told: str = ""

    @property
    def ok(self) -> bool:
        """Whether the promise holds here."""
        return (
            self.error <= self.tolerance
            and self.length_right
            and self.zero_behind
            and self.junk is not False
            and not self.note
        )

    def to_json(self) -> dict[str, Any]:
        """The row as plain data; an infinite error is written as text."""
        plain = {name: _plain(value) for name, value in vars(self).items() if name != "told" or value}
        return {**plain, "ok": self.ok}


@dataclass(frozen=True)
class SiteResult:
    """Gate L of one operator with its remedies.

    Attributes:
        node: its name; of a relative shift, its first node's.
        op: its type.
        ok: the valid part is bit-equal whatever the padding holds; None when it could not be judged alone.
        detail: which output, length and filling differ, or why it could not be judged.
    """

    node: str
    op: str
    ok: bool | None
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        """The result as plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class DomainCheck:
    """Whether native fails just outside the stated domain.

    Attributes:
        symbol: the length.
        at: the value tried.
        why: which border it is behind.
        outcome: what native did.
        ok: native failed or its answer is undefined; None when it was not tried.
        fix: how to go on where native answers.
        note: what a user of the padded model should know although nothing is wrong.
    """

    symbol: str
    at: int
    why: str
    outcome: str
    ok: bool | None
    fix: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The check as plain data."""
        return dict(vars(self))


@dataclass(frozen=True)
class GateReport:
    """Gates L, C and J of one or several padded graphs of a native model.

    Attributes:
        rows: C and J, by graph, length and output.
        sites: L, in graph order.
        domain: native just outside the stated domain.
        first_difference: of the first failing row, the first value that differs from native, and its node.
        precision: by precision and output, how far native in it is from native in fp32.
        examples: by precision, what it does on each example; see ``gates.verdict``.
        ranges: by precision, what stays in fp32 and the headroom of the others; see ``api.measuring``.
        streams: of step graphs: ``ok``, ``tolerance``, ``noise`` and ``rows``; empty where there are none.
    """

    rows: Sequence[Row] = ()
    sites: Sequence[SiteResult] = ()
    domain: Sequence[DomainCheck] = ()
    first_difference: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    precision: Mapping[str, Any] = field(default_factory=dict)
    examples: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    streams: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Every gate passed. A site that could not be judged alone fails no gate; the summary counts it."""
        return (
            all(row.ok for row in self.rows)
            and all(site.ok is not False for site in self.sites)
            and all(check.ok is not False for check in self.domain)
            and all(row["ok"] for rows in self.examples.values() for row in rows)
            and bool(self.streams.get("ok", True))
        )

    def ties(self) -> list[str]:
        """A line for each output that hangs on choices which fall the other way at ties, at the first such length."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.told:
                found.setdefault(row.output, []).append(row)
        return [
            f"{rows[0].model}: {rows[0].told} (output {output}, {rows[0].length} steps in {rows[0].container}"
            + (f", and {len(rows) - 1:,} more lengths and graphs" if len(rows) > 1 else "")
            + "): scores agree as far as they are known, and either choice is right"
            for output, rows in found.items()
        ]

    def _repr_html_(self) -> str:
        """The report in a notebook."""
        from paddable.gates.shown import about_gates  # which reads this module

        judged = f"{len(self.rows)} answers and {len(self.sites)} operators were judged"
        verdict = f"Every gate passed: {judged}." if self.ok else f"A gate failed: {judged}."
        return embedded(
            {
                "command": "gates",
                "title": "Padded against native",
                "ok": self.ok,
                "verdict": verdict,
                "versions": dict(self.versions),
                **about_gates(self),
            }
        )

    def beside(self, other: GateReport) -> GateReport:
        """This report with what was found in graphs of another number of rows."""
        examples = {
            precision: [*self.examples.get(precision, ()), *other.examples.get(precision, ())]
            for precision in {**self.examples, **other.examples}
        }
        return replace(
            self,
            rows=[*self.rows, *other.rows],
            sites=[*self.sites, *other.sites],
            domain=[*self.domain, *other.domain],
            first_difference=self.first_difference or other.first_difference,
            precision={**other.precision, **self.precision},
            examples=examples,
            ranges={**other.ranges, **self.ranges},
        )

    def summary(self) -> dict[str, Any]:
        """Few numbers, as they go into a file's metadata."""
        judged = [site for site in self.sites if site.ok is not None]
        return {
            "L": {
                "sites": len(judged),
                "failing": sum(not site.ok for site in judged),
                "not_judged": len(self.sites) - len(judged),
            },
            "C": {
                "rows": len(self.rows),
                "failing": sum(not row.ok for row in self.rows),
                "error": _plain(max((row.error for row in self.rows), default=0.0)),
                "noise": _plain(max((row.noise for row in self.rows), default=0.0)),
            },
            "J": {
                "rows": sum(row.junk is not None for row in self.rows),
                "failing": sum(row.junk is False for row in self.rows),
            },
        }

    def to_json(self) -> dict[str, Any]:
        """The whole report as plain data."""
        return {
            "ok": self.ok,
            "rows": [row.to_json() for row in self.rows],
            "summary": self.summary(),
            "failing_sites": [site.to_json() for site in self.sites if site.ok is False],
            "sites_not_judged": [site.to_json() for site in self.sites if site.ok is None],
            "domain": [check.to_json() for check in self.domain],
            "first_difference": dict(self.first_difference) if self.first_difference else None,
            "versions": dict(self.versions),
            **({"precision": dict(self.precision)} if self.precision else {}),
            **({"examples": dict(self.examples)} if self.examples else {}),
            **({"ranges": dict(self.ranges)} if self.ranges else {}),
            **({"streams": dict(self.streams)} if self.streams else {}),
        }


def _plain(value: Any) -> Any:
    """Three digits of a float: the rest is not the same on two machines, and JSON knows no infinity."""
    if isinstance(value, float):
        return float(f"{value:.3g}") if abs(value) < float("inf") else str(value)
    return value
