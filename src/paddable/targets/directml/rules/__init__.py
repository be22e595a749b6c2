"""DirectML's rules, in the order of their codes."""

from __future__ import annotations

from paddable.targets.directml.rules.conv_transpose_output_padding import ConvTransposeOutputPadding
from paddable.targets.directml.rules.glu_as_split import GluAsSplit
from paddable.targets.directml.rules.reshape_minus_one_with_allowzero import ReshapeMinusOneWithAllowzero
from paddable.targets.directml.rules.stale_static_shape import StaleStaticShape
from paddable.targets.rule import TargetRule

__all__ = ["RULES"]

RULES: tuple[TargetRule, ...] = (
    ReshapeMinusOneWithAllowzero(),
    GluAsSplit(),
    StaleStaticShape(),
    ConvTransposeOutputPadding(),
)
