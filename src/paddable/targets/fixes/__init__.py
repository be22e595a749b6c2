"""Fixes of rules that read a target's table, by target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddable.targets.fix import NodeFix
from paddable.targets.fixes.compare_with_itself import CompareWithItself
from paddable.targets.fixes.widen_depthwise_conv import WidenDepthwiseConv
from paddable.targets.table import TableSite

__all__ = ["TABLE_FIXES"]

TABLE_FIXES: Mapping[str, Sequence[NodeFix[TableSite]]] = {
    "cpu": (WidenDepthwiseConv(),),
    "openvino": (CompareWithItself(),),
}
