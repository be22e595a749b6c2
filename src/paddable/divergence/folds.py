"""Scales and shifts behind a layer: one exporter folds them into its weights, another leaves them as nodes."""

from __future__ import annotations

import numpy as np

from paddable.gates.engine import Array

__all__ = ["but_for_rounding"]

_ROUNDING = 1e-5
"""Of the weight's scale: what folding in fp32 rounds."""


def but_for_rounding(mine: Array, theirs: Array) -> Array:
    """The second with the first's numbers where only rounding lies between the two."""
    scale = float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0))
    return np.where(np.isclose(mine, theirs, rtol=_ROUNDING, atol=_ROUNDING * scale), mine, theirs)
