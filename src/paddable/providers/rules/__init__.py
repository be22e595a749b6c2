"""Rules that any provider is asked: each tests the facts that are known of it. In the order of their codes."""

from __future__ import annotations

from typing import Any

from paddable.linter.rule import Rule
from paddable.providers.rules.depthwise_conv_in_one_dimension import DepthwiseConvInOneDimension
from paddable.providers.rules.free_dim_on_static_target import FreeDimOnStaticTarget
from paddable.providers.rules.is_nan_splits_graph import IsNanSplitsGraph
from paddable.providers.rules.mixed_lengths_plan_anew import MixedLengthsPlanAnew
from paddable.providers.rules.operator_unsupported_on_target import OperatorUnsupportedOnTarget
from paddable.providers.rules.opset_above_target import OpsetAboveTarget
from paddable.providers.rules.skip_layer_normalization import SkipLayerNormalizationOnCpu

__all__ = ["FACT_RULES"]

FACT_RULES: tuple[type[Rule[Any]], ...] = (
    FreeDimOnStaticTarget,
    OpsetAboveTarget,
    MixedLengthsPlanAnew,
    OperatorUnsupportedOnTarget,
    DepthwiseConvInOneDimension,
    SkipLayerNormalizationOnCpu,
    IsNanSplitsGraph,
)
