"""The stated domain against native: just outside it native must fail, or its answer be undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from paddable.bundle import Metadata
from paddable.gates.apart import Apart
from paddable.gates.engine import Array, EngineError
from paddable.gates.report import DomainCheck
from paddable.gates.signals import Signals, evaluate
from paddable.padding.deduce.scope import KEEPS_SIGN, Scope

__all__ = ["judge_domain"]

AFFORDABLE = 1 << 15
"""Steps up to which native is tried beyond the end of the domain; attention over more would fill the memory."""

_BEYOND = "beyond the longest"

_OTHER_END = "native reads from the other end of an axis"

_TRIED = 16
"""Lengths at which a bound has another sign that are tried: the nearest, and others down to the shortest."""

_BY_ITSELF = ", by ONNX's definition of its operators"
"""A runtime may cut a window short where ONNX has none: it answers, with another length than the operators define."""

_FIX = "to go on without the shorter lengths, which then give zeros and length 0, add `shortest=['{name}={least}']`"


def judge_domain(
    metadata: Metadata,
    native: Apart,
    signals: Callable[[Mapping[str, int]], Signals],
    inside: Mapping[str, int],
    scope: Scope,
) -> list[DomainCheck]:
    """Try native below, beyond and off the step of each symbol. A shortest length that was asked for is native's too.

    Args:
        metadata: states the domain.
        native: the native model, in a process that it may end.
        signals: makes inputs that reach so far.
        inside: an accepted length of each symbol; the other symbols keep it.
        scope: why the domain is what it is.
    """
    checks = []
    reasons = scope.reasons
    for name, symbol in metadata.symbols.items():
        tries = []
        least, (turn, turned) = max(1, symbol.shortest or 1), scope.turns.get(name, (0, ""))
        shorter = [at for at in range(turn - symbol.step, least - 1, -symbol.step) if at <= AFFORDABLE]
        if shorter:
            checks.append(_other_end(metadata, native, signals, inside, name, shorter, turned))
        if symbol.min > max(least, turn):
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
            end = scope.limits.get(name, {}).get("max", "")
            if why == _BEYOND and KEEPS_SIGN in end and (not outcome or _BY_ITSELF in outcome):
                outcome = f"{_OTHER_END}: {end}"
            answers = f"native answers, and {reasons[name]}" if name in reasons else "native answers"
            fix = _FIX.format(name=name, least=symbol.min) if not outcome and at < symbol.min else ""
            does = f"ONNX Runtime answers ({outcome})" if _BY_ITSELF in outcome else outcome
            told = f"{name}={at}: {does}; the padded model gives zeros and length 0"
            note = told if _BY_ITSELF in outcome or _OTHER_END in outcome else ""
            checks.append(DomainCheck(name, at, why, outcome or answers, bool(outcome), fix, note))
    return checks


def _other_end(
    metadata: Metadata,
    native: Apart,
    signals: Callable[[Mapping[str, int]], Signals],
    inside: Mapping[str, int],
    name: str,
    shorter: Sequence[int],
    reason: str,
) -> DomainCheck:
    """Try native at the lengths, longest first, at which a bound has another sign: what it answers is told."""
    near = shorter[: _TRIED // 2]
    far = shorter[len(near) :]
    tried = [*near, *far[:: -(-len(far) // (_TRIED // 2)) or 1]]
    outcomes = {}
    for at in tried:
        steps = {**inside, name: at}
        outcomes[at] = _outcome(metadata, native, signals(steps), steps)
    answered = [at for at in tried if not outcomes[at] or _BY_ITSELF in outcomes[at]]
    if not answered:
        return DomainCheck(name, shorter[0], "below the shortest", outcomes[shorter[0]], True)
    outcome = f"{_OTHER_END}: {reason}"
    among = "" if len(tried) == len(shorter) else " (of those that were tried)"
    lengths = _runs(sorted(answered), shorter)
    told = f"{name}={lengths}{among}: {outcome}; the padded model gives zeros and length 0"
    return DomainCheck(name, answered[0], "below the shortest", outcome, True, note=told)


def _runs(chosen: Sequence[int], there: Sequence[int]) -> str:
    """``1, 3 to 5``: some of the lengths that there are."""
    place = {at: k for k, at in enumerate(sorted(there))}
    runs: list[list[int]] = []
    for at in chosen:
        if runs and place[at] == place[runs[-1][-1]] + 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


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
