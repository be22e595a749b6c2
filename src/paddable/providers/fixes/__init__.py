"""Fixes of rules that read a target's table, by target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddable.providers.fix import NodeFix
from paddable.providers.fixes.compare_with_itself import CompareWithItself
from paddable.providers.fixes.widen_depthwise_conv import WidenDepthwiseConv
from paddable.providers.table import TableSite

__all__ = ["TABLE_FIXES"]

TABLE_FIXES: Mapping[str, Sequence[NodeFix[TableSite]]] = {
    "cpu": (WidenDepthwiseConv(),),
    "openvino": (CompareWithItself(),),
}
