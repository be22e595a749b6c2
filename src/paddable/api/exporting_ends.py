"""Outputs that stop growing before their container ends: what comes later in a recording would be lost in silence."""

from __future__ import annotations

from paddable.bundle import Metadata
from paddable.lengths import parse

__all__ = ["told_ends"]


def told_ends(metadata: Metadata) -> list[str]:
    """A line for each output that is as long at 99% of the container as at its end."""
    told = []
    for output, axes in metadata.lengths.items():
        for text in axes.values():
            length, whole = parse(text), dict(metadata.container)
            rows = length.evaluate(whole)
            if length.evaluate({symbol: steps * 99 // 100 for symbol, steps in whole.items()}) == rows > 99:
                sizes = ",".join(f"{symbol}={steps}" for symbol, steps in whole.items())
                told.append(
                    f"{sizes}: output {output!r} ends after {rows} rows ({text}): the model itself drops what comes "
                    "later; ask for smaller containers"
                )
    return told
