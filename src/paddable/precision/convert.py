"""A graph in another precision, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import onnx_ir as ir

from paddable.errors import MisuseError
from paddable.precision.half import ComputeInHalfPass
from paddable.precision.int8 import SESSION_CONFIG, StoreWeightsAsInt8Pass

__all__ = ["PRECISIONS", "SESSION_CONFIGS", "in_precision"]

SESSION_CONFIGS: Mapping[str, Mapping[str, str]] = {"int8": SESSION_CONFIG}
"""By precision, session configuration entries that go into a file's advice."""

PRECISIONS: Mapping[str, Callable[[], ir.passes.PassBase] | None] = {
    "fp32": None,
    "fp16": ComputeInHalfPass,
    "int8": StoreWeightsAsInt8Pass,
}
"""By name, the pass that changes a model in place; fp32 is what models are in."""


def in_precision(model: ir.Model, precision: str) -> ir.Model:
    """The model in a precision. Inputs, outputs and states keep their types.

    Args:
        model: in fp32; it is not changed, and the result shares the weights that stay.
        precision: ``fp32``, ``fp16`` (computes and stores in half, except where half would change more than rounding)
            or ``int8`` (stores weights in 8 bits and computes in fp32).

    Raises:
        MisuseError: no such precision.
        RefusedError: the type of a value is not known.
    """
    if precision not in PRECISIONS:
        raise MisuseError(f"no precision is called {precision!r}", fix=f"choose {', '.join(PRECISIONS)}")
    change = PRECISIONS[precision]
    if change is None:
        return model
    return change()(model.clone()).model
