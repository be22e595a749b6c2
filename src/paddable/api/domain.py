"""The lengths that a model accepts, as plain data."""

from __future__ import annotations

from typing import Any

from paddable.padding.analysis import Analysis

__all__ = ["domain"]


def domain(analysis: Analysis) -> dict[str, dict[str, Any]]:
    """Of each symbol, the accepted lengths, what limited them last, and what each limit comes from."""
    found = {}
    for name in analysis.declarations.symbols:
        span, reasons = analysis.scope.spans[name], analysis.scope.limits.get(name, {})
        found[name] = {
            "min": span.first,
            "max": span.last,
            "step": span.step,
            "because": analysis.scope.reasons.get(name),
            "limits": dict(reasons),
        }
    return found
