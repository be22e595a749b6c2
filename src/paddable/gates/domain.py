"""The stated domain against native: just outside it native must fail, or its answer be undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from paddable.bundle import Metadata
from paddable.gates.apart import Apart
from paddable.gates.engine import Array, EngineError
from paddable.gates.report import DomainCheck
from paddable.gates.signals import Signals, evaluate
from paddable.padding.rules.slicing import KEEPS_SIGN

__all__ = ["judge_domain"]

AFFORDABLE = 1 << 15
"""Steps up to which native is tried beyond the end of the domain; attention over more would fill the memory."""

_BEYOND = "beyond the longest"

_BY_ITSELF = ", by ONNX's definition of its operators"
"""A runtime may cut a window short where ONNX has none: it answers, with another length than the operators define."""

_FIX = "to go on without the shorter lengths, which then give zeros and length 0, add `shortest=['{name}={least}']`"


def judge_domain(
    metadata: Metadata,
    native: Apart,
    signals: Callable[[Mapping[str, int]], Signals],
    inside: Mapping[str, int],
    reasons: Mapping[str, str],
    limits: Mapping[str, Mapping[str, str]],
) -> list[DomainCheck]:
    """Try native below, beyond and off the step of each symbol. A shortest length that was asked for is native's too.

    Args:
        metadata: states the domain.
        native: the native model, in a process that it may end.
        signals: makes inputs that reach so far.
        inside: an accepted length of each symbol; the other symbols keep it.
        reasons: why each symbol's shortest length is what it is.
        limits: what each symbol's ``min`` and ``max`` come from.
    """
    checks = []
    for name, symbol in metadata.symbols.items():
        tries = []
        if symbol.min > max(1, symbol.shortest or 1):
            tries.append((symbol.min - 1, "below the shortest"))
        if symbol.step > 1:
            tries.append((symbol.min + symbol.step + 1, f"off the step of {symbol.step}"))
        if symbol.max is not None:
            tries.append((symbol.max + symbol.step, _BEYOND))
        for at, why in tries:
            if at > max(AFFORDABLE, 2 * inside[name]):
                checks.append(DomainCheck(name, at, why, "not tried: too long for a test", None))
                continue
            steps = {**inside, name: at}
            outcome = _outcome(metadata, native, signals(steps), steps)
            end = limits.get(name, {}).get("max" if why == _BEYOND else "min", "")
            if KEEPS_SIGN in end and (not outcome or _BY_ITSELF in outcome):
                outcome = f"native reads from the other end of an axis: {end}"
            answers = f"native answers, and {reasons[name]}" if name in reasons else "native answers"
            fix = _FIX.format(name=name, least=symbol.min) if not outcome and at < symbol.min else ""
            does = f"ONNX Runtime answers ({outcome})" if _BY_ITSELF in outcome else outcome
            told = f"{name}={at}: {does}; the padded model gives zeros and length 0"
            note = told if _BY_ITSELF in outcome or KEEPS_SIGN in outcome else ""
            checks.append(DomainCheck(name, at, why, outcome or answers, bool(outcome), fix, note))
    return checks


def _outcome(metadata: Metadata, native: Apart, signals: Signals, steps: Mapping[str, int]) -> str:
    """How native fails, or why its answer is undefined; empty when it answers."""
    try:
        outputs = native.run(signals.native(0, steps))
    except EngineError as error:
        return f"native fails: {error.what}"
    for name, array in outputs.items():
        if found := _undefined(metadata, name, array, steps):
            return found
    return ""


def _undefined(metadata: Metadata, name: str, array: Array, steps: Mapping[str, int]) -> str:
    if not array.size:
        return f"{name} is empty"
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return f"{name} is not finite everywhere"
    for axis, text in metadata.lengths.get(name, {}).items():
        if array.shape[axis] != evaluate(text, steps):
            return f"{name} is {array.shape[axis]} long{_BY_ITSELF} {text}"
    return ""
