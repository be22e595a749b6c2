"""Native computed in double precision by ONNX's reference implementation: who is right where two kernels differ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from paddable.gates.lift import lift

__all__ = ["truth"]


def truth(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """Native's outputs in double; None where the reference has no implementation."""
    wide = ir.from_proto(model)
    lift(wide, (ir.DataType.FLOAT,), ir.DataType.DOUBLE)
    given = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in feeds.items()}
    try:
        session = ReferenceEvaluator(ir.to_proto(wide))
        return dict(zip(session.output_names, session.run(None, given), strict=True))
    except Exception:  # the reference raises whatever numpy raises
        return None
