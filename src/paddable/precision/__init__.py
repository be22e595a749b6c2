"""Precision: the last change of a graph, after padding and after a target's fixes.

Padding rules hold here too: nothing that tells valid steps from padding (masks, lengths, positions) is rounded.
"""

from __future__ import annotations

from paddable.precision.convert import (
    PRECISIONS,
    Precision,
    before,
    in_precision,
    least_noise,
    register_precision,
    session_config,
)

__all__ = ["PRECISIONS", "Precision", "before", "in_precision", "least_noise", "register_precision", "session_config"]
