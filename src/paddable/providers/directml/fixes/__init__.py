"""DirectML's fixes, in the order in which they are applied."""

from __future__ import annotations

from typing import Any

from paddable.linter.fix import GraphFix
from paddable.providers.directml.fixes.clear_stale_shapes import ClearStaleShapes
from paddable.providers.directml.fixes.convert_opset import ConvertOpset
from paddable.providers.directml.fixes.drop_allowzero import DropAllowzero
from paddable.providers.directml.fixes.expand_operators import ExpandOperators
from paddable.providers.directml.fixes.pad_before_average_pool import PadBeforeAveragePool
from paddable.providers.directml.fixes.reorder_nodes import ReorderNodes
from paddable.providers.directml.fixes.replace_clip import ReplaceClip
from paddable.providers.directml.fixes.replace_int64_mod import ReplaceInt64Mod
from paddable.providers.directml.fixes.replace_negative_pad import ReplaceNegativePad
from paddable.providers.directml.fixes.replace_split_with_slices import ReplaceSplitWithSlices
from paddable.providers.directml.fixes.rewrite_conv_transpose import RewriteConvTranspose
from paddable.providers.directml.fixes.split_variadic import SplitVariadic
from paddable.providers.directml.fixes.write_fourier_as_product import WriteFourierAsProduct

__all__ = ["FIXES"]

FIXES: tuple[type[GraphFix[Any]], ...] = (
    ClearStaleShapes,  # first: every later look at the graph trusts shapes
    ExpandOperators,  # before the opset moves: Gelu exists from 20 only
    ConvertOpset,
    DropAllowzero,
    ReplaceSplitWithSlices,
    RewriteConvTranspose,
    ReplaceNegativePad,
    PadBeforeAveragePool,
    WriteFourierAsProduct,
    SplitVariadic,
    ReplaceInt64Mod,
    ReplaceClip,
    ReorderNodes,  # last: the others add nodes
)
