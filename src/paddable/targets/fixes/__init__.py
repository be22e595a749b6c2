"""Fixes of rules that read a target's table."""

from __future__ import annotations

from paddable.targets.fixes.widen_depthwise_conv import WidenDepthwiseConv

__all__ = ["WidenDepthwiseConv"]
