"""Rules that read a target's table, in the order of their codes."""

from __future__ import annotations

from paddable.targets.rule import TargetRule
from paddable.targets.rules.depthwise_conv_in_one_dimension import DepthwiseConvInOneDimension
from paddable.targets.rules.free_dim_on_static_target import FreeDimOnStaticTarget
from paddable.targets.rules.is_nan_splits_graph import IsNanSplitsGraph
from paddable.targets.rules.mixed_lengths_plan_anew import MixedLengthsPlanAnew
from paddable.targets.rules.operator_unsupported_on_target import OperatorUnsupportedOnTarget
from paddable.targets.rules.opset_above_target import OpsetAboveTarget
from paddable.targets.rules.skip_layer_normalization import SkipLayerNormalizationOnCpu
from paddable.targets.table import TableSite

__all__ = ["TABLE_RULES"]

TABLE_RULES: tuple[TargetRule[TableSite], ...] = (
    FreeDimOnStaticTarget(),
    OpsetAboveTarget(),
    MixedLengthsPlanAnew(),
    OperatorUnsupportedOnTarget(),
    DepthwiseConvInOneDimension(),
    SkipLayerNormalizationOnCpu(),
    IsNanSplitsGraph(),
)
