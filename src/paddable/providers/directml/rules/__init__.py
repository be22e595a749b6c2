"""DirectML's rules, in the order of their codes."""

from __future__ import annotations

from typing import Any

from paddable.linter.rule import Rule
from paddable.linter.rules.reshape_minus_one_under_allowzero import ReshapeMinusOneUnderAllowzero
from paddable.providers.directml.rules.average_pool_overhang import AveragePoolOverhang
from paddable.providers.directml.rules.computed_required_input import ComputedRequiredInput
from paddable.providers.directml.rules.conv_transpose_auto_pad import ConvTransposeAutoPad
from paddable.providers.directml.rules.conv_transpose_output_padding import ConvTransposeOutputPadding
from paddable.providers.directml.rules.copy_between_providers import CopyBetweenProviders
from paddable.providers.directml.rules.double_values import DoubleValues
from paddable.providers.directml.rules.dynamic_quantisation_of_ragged import DynamicQuantisationOfRagged
from paddable.providers.directml.rules.dynamic_range_rounds import DynamicRangeRounds
from paddable.providers.directml.rules.empty_reduction import EmptyReduction
from paddable.providers.directml.rules.form_without_kernel import FormWithoutKernel
from paddable.providers.directml.rules.fourier_size_rounds import FourierSizeRounds
from paddable.providers.directml.rules.free_dim_blocks_fusion import FreeDimBlocksFusion
from paddable.providers.directml.rules.gather_out_of_range import GatherOutOfRange
from paddable.providers.directml.rules.glu_as_split import GluAsSplit
from paddable.providers.directml.rules.int64_mod import Int64Mod
from paddable.providers.directml.rules.island_split_by_order import IslandSplitByOrder
from paddable.providers.directml.rules.mask_overflows_half import MaskOverflowsHalf
from paddable.providers.directml.rules.negative_pad import NegativePad
from paddable.providers.directml.rules.operator_without_kernel import OperatorWithoutKernel
from paddable.providers.directml.rules.opset_outside_sweet_spot import OpsetOutsideSweetSpot
from paddable.providers.directml.rules.pooling_differs import PoolingDiffers
from paddable.providers.directml.rules.positions_in_half import PositionsInHalf
from paddable.providers.directml.rules.process_ends import ProcessEnds
from paddable.providers.directml.rules.quantised_form_fails import QuantisedFormFails
from paddable.providers.directml.rules.rank_above_eight import RankAboveEight
from paddable.providers.directml.rules.recurrent_island import RecurrentIsland
from paddable.providers.directml.rules.reshape_count_mismatch import ReshapeCountMismatch
from paddable.providers.directml.rules.resize_differs import ResizeDiffers
from paddable.providers.directml.rules.sequences_differ import SequencesDiffer
from paddable.providers.directml.rules.stale_static_shape import StaleStaticShape
from paddable.providers.directml.rules.subgraph_blocks_fusion import SubgraphBlocksFusion
from paddable.providers.directml.rules.type_without_kernel import TypeWithoutKernel
from paddable.providers.directml.rules.variadic_arithmetic import VariadicArithmetic
from paddable.providers.directml.rules.where_as_mask import WhereAsMask
from paddable.providers.directml.rules.zero_size_dim import ZeroSizeDim

__all__ = ["RULES"]

RULES: tuple[type[Rule[Any]], ...] = (
    ReshapeMinusOneUnderAllowzero,
    GluAsSplit,
    StaleStaticShape,
    ConvTransposeOutputPadding,
    ConvTransposeAutoPad,
    OpsetOutsideSweetSpot,
    OperatorWithoutKernel,
    TypeWithoutKernel,
    FormWithoutKernel,
    FreeDimBlocksFusion,
    ComputedRequiredInput,
    SubgraphBlocksFusion,
    VariadicArithmetic,
    NegativePad,
    GatherOutOfRange,
    RankAboveEight,
    ResizeDiffers,
    PoolingDiffers,
    RecurrentIsland,
    ZeroSizeDim,
    CopyBetweenProviders,
    WhereAsMask,
    QuantisedFormFails,
    ReshapeCountMismatch,
    EmptyReduction,
    ProcessEnds,
    DynamicRangeRounds,
    Int64Mod,
    DoubleValues,
    MaskOverflowsHalf,
    PositionsInHalf,
    DynamicQuantisationOfRagged,
    AveragePoolOverhang,
    SequencesDiffer,
    IslandSplitByOrder,
    FourierSizeRounds,
)
