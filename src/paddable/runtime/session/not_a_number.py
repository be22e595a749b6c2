"""NaN in an answer, told wherever it was computed: a provider that goes wrong often does so by NaN, and in silence."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from paddable.errors import PaddableWarning

__all__ = ["tell_not_a_number"]


def tell_not_a_number(inputs: Mapping[str, Any], outputs: Mapping[str, Any], provider: str) -> None:
    """Warn, with a `PaddableWarning`, of outputs that hold NaN although no input does.

    Args:
        inputs: what the caller gave, by name: arrays, or lists of them.
        outputs: the valid parts of the answer, likewise.
        provider: where it was computed.
    """
    lost = [name for name, value in outputs.items() if _holds_nan(value)]
    if not lost or any(map(_holds_nan, inputs.values())):
        return
    infinite = [name for name, value in inputs.items() if _holds_infinity(value)]
    if infinite:
        told = f"the model answers NaN in {', '.join(lost)}, and {', '.join(infinite)} that it was given holds infinity"
        warnings.warn(told, PaddableWarning, stacklevel=3)
        return
    elsewhere = "" if provider == "CPUExecutionProvider" else "; run it with provider='cpu' to see whose fault it is"
    warnings.warn(
        f"the model answers NaN in {', '.join(lost)} on {provider}{elsewhere}",
        PaddableWarning,
        stacklevel=3,
    )


def _holds_infinity(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_infinity, value))
    array = np.asarray(value)
    return array.dtype.kind == "f" and bool(np.isinf(array).any())


def _holds_nan(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_nan, value))
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return False
    return bool(np.isnan(np.minimum.reduce(array, axis=None, initial=np.inf)))  # without an array of answers
