"""Operators that only move numbers: none of them is ever the cause."""

from __future__ import annotations

__all__ = ["MOVING"]

MOVING = frozenset(
    {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape"}
    | {"Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
)
"""Operators that move numbers and compute none."""
