"""DTY106."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.linter.evidence import reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["NonFiniteWeight"]

_CHUNK = 1 << 22  # elements looked at together: a mapped file is scanned, never held


class NonFiniteWeight(Rule[Any]):
    """## What it does
    Finds weights that hold NaN or +inf. It reads every weight, so it runs on request only. -inf is how masks are
    written, and no fault.

    ## Why is this bad
    One NaN makes every answer NaN, and no comparison with the native model can say anything then. It is what a training
    that diverged, a conversion to half precision that overflowed, or a damaged file leaves.

    ## Example
    An fp16 checkpoint whose weight 70000.0 became inf

    ## Use instead
    The checkpoint before the conversion, or bfloat16.

    ## Fix safety
    No fix: the right number is gone.
    """

    code = "DTY106"
    name = "non-finite-weight"
    severity = "warning"
    evidence = (reported("IEEE 754: every operation on NaN but min and max gives NaN"),)
    reads_weights = True
    VALID = (
        "m (float[1,2] x) => (float[1,2] y) <float[2] w = {1.0, -2.0}> { y = Mul(x, w) }",
        "m (float[1,2] x) => (float[1,2] y) <float[2] mask = {0.0, -inf}> { y = Add(x, mask) }",
    )
    INVALID = (
        "m (float[1,2] x) => (float[1,2] y) <float[2] w = {1.0, nan}> { y = Mul(x, w) }",
        "m (float[1,2] x) => (float[1,2] y) <float[2] w = {inf, 1.0}> { y = Mul(x, w) }",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each such weight, with the first place."""
        model = site.subject.model
        for graph in model.graphs() if model is not None and site.is_main else ():
            for name, value in graph.initializers.items():
                bad = None if value.const_value is None else _first_bad(value.const_value)
                if bad is not None:
                    yield Match(
                        f"weight {name!r} holds {bad[1]} at flat index {bad[0]}",
                        "take the checkpoint before it was converted, or copy the file again",
                        value=name,
                    )


def _first_bad(tensor: ir.TensorProtocol) -> tuple[int, float] | None:
    if not tensor.dtype.is_floating_point():
        return None
    flat = tensor.numpy().reshape(-1)
    for start in range(0, flat.size, _CHUNK):
        chunk = flat[start : start + _CHUNK]
        bad = np.isnan(chunk) | np.isposinf(chunk)
        if bad.any():
            at = int(bad.argmax())
            return start + at, float(chunk[at])
    return None
