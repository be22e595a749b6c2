"""Rules that read a target's table, in the order of their codes."""

from __future__ import annotations

from paddable.providers.rule import TargetRule
from paddable.providers.rules.depthwise_conv_in_one_dimension import DepthwiseConvInOneDimension
from paddable.providers.rules.free_dim_on_static_target import FreeDimOnStaticTarget
from paddable.providers.rules.is_nan_splits_graph import IsNanSplitsGraph
from paddable.providers.rules.mixed_lengths_plan_anew import MixedLengthsPlanAnew
from paddable.providers.rules.operator_unsupported_on_target import OperatorUnsupportedOnTarget
from paddable.providers.rules.opset_above_target import OpsetAboveTarget
from paddable.providers.rules.skip_layer_normalization import SkipLayerNormalizationOnCpu
from paddable.providers.table import TableSite

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
