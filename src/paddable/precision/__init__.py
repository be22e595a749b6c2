"""Precision: the last change of a graph, after padding and after a target's fixes.

Padding rules hold here too: nothing that tells valid steps from padding (masks, lengths, positions) is rounded.
"""

from __future__ import annotations

from paddable.precision.convert import PRECISIONS, SESSION_CONFIGS, in_precision

__all__ = ["PRECISIONS", "SESSION_CONFIGS", "in_precision"]
