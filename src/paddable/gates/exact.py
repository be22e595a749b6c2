"""Native with kernels in double that round much: what their rounding moves is part of native's noise."""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

from paddable.gates.engine import Source
from paddable.gates.lift import read_source
from paddable.graph import fourier, statistics
from paddable.graph.io.write import write_model

__all__ = ["exact_where_replaced"]

_KINDS = {
    "fourier": (fourier.transforms, fourier.in_double),
    "statistics": (statistics.normalisations, statistics.in_double),
}
"""Of each kind of kernel: the nodes of a model, and what writes them in double."""


def exact_where_replaced(analysed: ir.Model, native: Source, padded: Source, path: Path) -> Path | None:
    """Native with its kernels of a kind in double, where a padded graph no longer has all of them: a remedy or a fix
    wrote them otherwise.

    Args:
        analysed: native as it was analysed, which says without reading it again whether there is any.
        native: a file, or a serialised model.
        padded: likewise.
        path: where the result goes, the kinds at the end of its stem, unless it lies there already; large weights lie
            beside it.

    Returns:
        The file, or None where both round in the same kernels.
    """
    counts = {kind: len(of(analysed)) for kind, (of, _) in _KINDS.items()}
    if not any(counts.values()):
        return None
    written = read_source(padded)
    replaced = [kind for kind, (of, _) in _KINDS.items() if len(of(written)) < counts[kind]]
    if not replaced:
        return None
    path = path.with_stem("_".join([path.stem, *replaced]))
    if not path.exists():
        model = read_source(native)
        if model.functions:
            InlinePass()(model)
        for kind in replaced:
            _KINDS[kind][1](model)
        write_model(model, path)
    return path
