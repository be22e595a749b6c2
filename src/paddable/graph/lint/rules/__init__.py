"""The built-in rules, one file each, named by the problem."""

from paddable.graph.lint.rule import Rule
from paddable.graph.lint.rules.computed_reshape_target import ComputedReshapeTarget
from paddable.graph.lint.rules.data_dependent_size import DataDependentSize
from paddable.graph.lint.rules.frozen_length import FrozenLength
from paddable.graph.lint.rules.length_input_missing import LengthInputMissing
from paddable.graph.lint.rules.length_input_unused import LengthInputUnused
from paddable.graph.lint.rules.non_finite_weight import NonFiniteWeight
from paddable.graph.lint.rules.opset_without_rules import OpsetWithoutRules
from paddable.graph.lint.rules.range_fed_reshape import RangeFedReshape
from paddable.graph.lint.rules.reshape_minus_one_under_allowzero import ReshapeMinusOneUnderAllowzero

__all__ = ["BUILT_IN"]

BUILT_IN: tuple[type[Rule], ...] = (
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
