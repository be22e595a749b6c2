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
    written, and no fault; nor is +inf where it bounds or masks: a Clip without an upper limit, a Min, a Where.

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
        "m (float[1,2] x) => (float[1,2] y) <float low = {0.1}, float high = {inf}> { y = Clip(x, low, high) }",
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
                tensor = value.const_value
                bad = None if tensor is None else _first_bad(tensor)
                if tensor is not None and bad is not None and np.isposinf(bad[1]) and _bounds_only(value):
                    bad = _first_bad(tensor, infinite=False)
                if bad is not None:
                    yield Match(
                        f"weight {name!r} holds {bad[1]} at flat index {bad[0]}",
                        "take the checkpoint before it was converted, or copy the file again",
                        value=name,
                    )


_BOUNDS = {"Clip": (1, 2), "Equal": (0, 1), "Greater": (0, 1), "GreaterOrEqual": (0, 1), "Less": (0, 1),
           "LessOrEqual": (0, 1), "Where": (1, 2)}  # fmt: skip
"""Operators and the inputs in which an infinity limits, compares or masks."""


def _bounds_only(value: ir.Value) -> bool:
    """Whether every reader takes the weight as a bound or a mask."""
    readers = value.uses()
    return bool(readers) and all(
        not use.node.domain and (use.node.op_type in ("Max", "Min") or use.idx in _BOUNDS.get(use.node.op_type, ()))
        for use in readers
    )


def _first_bad(tensor: ir.TensorProtocol, *, infinite: bool = True) -> tuple[int, float] | None:
    if not tensor.dtype.is_floating_point():
        return None
    flat = tensor.numpy().reshape(-1)
    for start in range(0, flat.size, _CHUNK):
        chunk = flat[start : start + _CHUNK]
        bad = np.isnan(chunk) | (np.isposinf(chunk) if infinite else False)
        if bad.any():
            at = int(bad.argmax())
            return start + at, float(chunk[at])
    return None
