"""Native and padded runs on ONNX Runtime, and the compilation under test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime

from paddable.graph.io.read import read_model
from paddable.graph.io.write import to_proto
from paddable.lengths.declare import parse_length, parse_length_input, parse_mask_input
from paddable.padding.analysis import Analysis, analyse
from paddable.padding.declaration import resolve
from paddable.padding.rewrite.rewrite import rewrite

from .case import Case

__all__ = ["Compiled", "Session", "compile_case"]

_LEVELS = onnxruntime.GraphOptimizationLevel


class Session:
    """A model on ONNX Runtime, outputs by name."""

    def __init__(self, model: onnx.ModelProto, *, optimise: bool = True) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.graph_optimization_level = _LEVELS.ORT_ENABLE_BASIC if optimise else _LEVELS.ORT_DISABLE_ALL
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        self.inputs = {i.name for i in self.session.get_inputs()}
        self.names = [o.name for o in self.session.get_outputs()]

    def __call__(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        given = {k: v for k, v in feeds.items() if k in self.inputs}
        return dict(zip(self.names, self.session.run(None, given), strict=True))


@dataclass(frozen=True)
class Compiled:
    """A padded model and the analysis that made it."""

    analysis: Analysis
    model: onnx.ModelProto


def compile_case(case: Case, container: Mapping[str, int] | None = None) -> Compiled:
    """Analyse and rewrite a copy of the case's model."""
    copy = onnx.ModelProto()
    copy.CopyFrom(case.model)
    model = read_model(copy)
    declarations = resolve(
        model,
        [parse_length(t) for t in case.lengths],
        [parse_length_input(t) for t in case.length_inputs],
        [parse_mask_input(t) for t in case.mask_inputs],
        batch_size=case.rows,
        keep_dynamic=case.rows is None,
    )
    analysis = analyse(model, declarations)
    sites = (*analysis.sites, *analysis.outputs)
    skipped = [remedy for site in sites for remedy in site.remedies if remedy.code in case.left_out]
    return Compiled(analysis, to_proto(rewrite(analysis, container, leave_out=skipped)))
