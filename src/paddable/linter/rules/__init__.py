"""The built-in rules, one file each, named by the problem."""

from typing import Any

from paddable.linter.rule import Rule
from paddable.linter.rules.block_too_many import BlockTooMany
from paddable.linter.rules.computed_reshape_target import ComputedReshapeTarget
from paddable.linter.rules.data_dependent_size import DataDependentSize
from paddable.linter.rules.frozen_length import FrozenLength
from paddable.linter.rules.length_input_missing import LengthInputMissing
from paddable.linter.rules.length_input_unused import LengthInputUnused
from paddable.linter.rules.non_finite_weight import NonFiniteWeight
from paddable.linter.rules.opset_without_rules import OpsetWithoutRules
from paddable.linter.rules.range_fed_reshape import RangeFedReshape
from paddable.linter.rules.reshape_minus_one_under_allowzero import ReshapeMinusOneUnderAllowzero
from paddable.linter.rules.truncating_division import TruncatingDivision

__all__ = ["BUILT_IN"]

BUILT_IN: tuple[type[Rule[Any]], ...] = (
    BlockTooMany,
    ComputedReshapeTarget,
    DataDependentSize,
    FrozenLength,
    LengthInputMissing,
    LengthInputUnused,
    NonFiniteWeight,
    OpsetWithoutRules,
    RangeFedReshape,
    ReshapeMinusOneUnderAllowzero,
    TruncatingDivision,
)
