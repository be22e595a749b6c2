"""DirectML's rules, in the order of their codes."""

from __future__ import annotations

from paddable.targets.directml.rules.computed_required_input import ComputedRequiredInput
from paddable.targets.directml.rules.conv_transpose_auto_pad import ConvTransposeAutoPad
from paddable.targets.directml.rules.conv_transpose_output_padding import ConvTransposeOutputPadding
from paddable.targets.directml.rules.copy_between_providers import CopyBetweenProviders
from paddable.targets.directml.rules.double_values import DoubleValues
from paddable.targets.directml.rules.dynamic_quantisation_of_ragged import DynamicQuantisationOfRagged
from paddable.targets.directml.rules.dynamic_range_rounds import DynamicRangeRounds
from paddable.targets.directml.rules.empty_reduction import EmptyReduction
from paddable.targets.directml.rules.form_without_kernel import FormWithoutKernel
from paddable.targets.directml.rules.free_dim_blocks_fusion import FreeDimBlocksFusion
from paddable.targets.directml.rules.gather_out_of_range import GatherOutOfRange
from paddable.targets.directml.rules.glu_as_split import GluAsSplit
from paddable.targets.directml.rules.int64_mod import Int64Mod
from paddable.targets.directml.rules.mask_overflows_half import MaskOverflowsHalf
from paddable.targets.directml.rules.negative_pad import NegativePad
from paddable.targets.directml.rules.operator_without_kernel import OperatorWithoutKernel
from paddable.targets.directml.rules.opset_outside_sweet_spot import OpsetOutsideSweetSpot
from paddable.targets.directml.rules.pooling_differs import PoolingDiffers
from paddable.targets.directml.rules.positions_in_half import PositionsInHalf
from paddable.targets.directml.rules.process_ends import ProcessEnds
from paddable.targets.directml.rules.quantised_form_fails import QuantisedFormFails
from paddable.targets.directml.rules.rank_above_eight import RankAboveEight
from paddable.targets.directml.rules.recurrent_island import RecurrentIsland
from paddable.targets.directml.rules.reshape_count_mismatch import ReshapeCountMismatch
from paddable.targets.directml.rules.reshape_minus_one_with_allowzero import ReshapeMinusOneWithAllowzero
from paddable.targets.directml.rules.resize_differs import ResizeDiffers
from paddable.targets.directml.rules.stale_static_shape import StaleStaticShape
from paddable.targets.directml.rules.subgraph_blocks_fusion import SubgraphBlocksFusion
from paddable.targets.directml.rules.type_without_kernel import TypeWithoutKernel
from paddable.targets.directml.rules.variadic_arithmetic import VariadicArithmetic
from paddable.targets.directml.rules.where_as_mask import WhereAsMask
from paddable.targets.directml.rules.zero_size_dim import ZeroSizeDim
from paddable.targets.directml.site import DirectMLRule

__all__ = ["RULES"]

RULES: tuple[DirectMLRule, ...] = (
    ReshapeMinusOneWithAllowzero(),
    GluAsSplit(),
    StaleStaticShape(),
    ConvTransposeOutputPadding(),
    ConvTransposeAutoPad(),
    OpsetOutsideSweetSpot(),
    OperatorWithoutKernel(),
    TypeWithoutKernel(),
    FormWithoutKernel(),
    FreeDimBlocksFusion(),
    ComputedRequiredInput(),
    SubgraphBlocksFusion(),
    VariadicArithmetic(),
    NegativePad(),
    GatherOutOfRange(),
    RankAboveEight(),
    ResizeDiffers(),
    PoolingDiffers(),
    RecurrentIsland(),
    ZeroSizeDim(),
    CopyBetweenProviders(),
    WhereAsMask(),
    QuantisedFormFails(),
    ReshapeCountMismatch(),
    EmptyReduction(),
    ProcessEnds(),
    DynamicRangeRounds(),
    Int64Mod(),
    DoubleValues(),
    MaskOverflowsHalf(),
    PositionsInHalf(),
    DynamicQuantisationOfRagged(),
)
