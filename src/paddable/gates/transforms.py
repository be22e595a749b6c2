"""Native with its Fourier transforms in double: what their rounding moves is part of native's noise."""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

from paddable.gates.engine import Source
from paddable.gates.lift import read_source
from paddable.graph.fourier import in_double, transforms
from paddable.graph.io.write import write_model

__all__ = ["exact_where_replaced"]


def exact_where_replaced(analysed: ir.Model, native: Source, padded: Source, path: Path) -> Path | None:
    """Native with its transforms in double, where a padded graph no longer has all of them: a fix wrote them otherwise.

    Args:
        analysed: native as it was analysed, which says without reading it again whether there is any.
        native: a file, or a serialised model.
        padded: likewise.
        path: where the result goes, unless it lies there already; large weights lie beside it.

    Returns:
        ``path``, or None where both round in the same kernels.
    """
    count = len(transforms(analysed))
    if not count or len(transforms(read_source(padded))) >= count:
        return None
    if not path.exists():
        model = read_source(native)
        if model.functions:
            InlinePass()(model)
        in_double(model)
        write_model(model, path)
    return path
