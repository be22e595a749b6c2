"""The built-in rules, one file each, named by the problem."""

from typing import Any

from paddable.lint.rule import Rule
from paddable.lint.rules.computed_reshape_target import ComputedReshapeTarget
from paddable.lint.rules.data_dependent_size import DataDependentSize
from paddable.lint.rules.frozen_length import FrozenLength
from paddable.lint.rules.length_input_missing import LengthInputMissing
from paddable.lint.rules.length_input_unused import LengthInputUnused
from paddable.lint.rules.non_finite_weight import NonFiniteWeight
from paddable.lint.rules.opset_without_rules import OpsetWithoutRules
from paddable.lint.rules.range_fed_reshape import RangeFedReshape
from paddable.lint.rules.reshape_minus_one_under_allowzero import ReshapeMinusOneUnderAllowzero

__all__ = ["BUILT_IN"]

BUILT_IN: tuple[type[Rule[Any]], ...] = (
    ComputedReshapeTarget,
    DataDependentSize,
    FrozenLength,
    LengthInputMissing,
    LengthInputUnused,
    NonFiniteWeight,
    OpsetWithoutRules,
    RangeFedReshape,
    ReshapeMinusOneUnderAllowzero,
)
