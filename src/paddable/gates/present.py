"""Whether there is an oracle at all: a native model that the runtime cannot run judges nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from paddable.bundle.metadata import Metadata
from paddable.errors import RefusedError, arguments
from paddable.gates.apart import Apart, ProcessEndedError
from paddable.gates.engine import Array, Engine, EngineError
from paddable.gates.oracle import Oracle
from paddable.gates.signals import Numbers, Signals
from paddable.gates.whole import Candidate, told
from paddable.lengths import constant
from paddable.runtime.session.flavours import runtime_version

__all__ = ["require_native"]


def require_native(
    oracle: Oracle, apart: Apart, candidate: Candidate, cases: Sequence[Mapping[str, int]], known: Numbers
) -> Numbers:
    """Load native and run it at a few lengths; one that runs at any of them is an oracle.

    Nothing says which numbers native takes where it computes with them first: a sum of integers may index a table, a
    logarithm has no answer below 0. So others are tried where it fails. A length at which it fails with all of them is
    the gates' business: the stated domain is wrong there.

    Args:
        oracle: the native model.
        apart: the same in a process that it may end; it runs there first.
        candidate: one of its padded graphs.
        cases: accepted lengths; the largest of the candidate's container is tried as well.
        known: what the graph tells of its numbers.

    Returns:
        Numbers with which native answers best.

    Raises:
        RefusedError: it does not load, or runs at none of the lengths, or is never anything but NaN.
    """
    tried = [candidate.largest, cases[-1], cases[len(cases) // 2], cases[0]]
    largest = {name: max(steps[name] for steps in tried) for name in candidate.largest}
    message = ""
    best, most = known, list[int]()
    try:
        apart.open()
        engine = oracle.engine
        for numbers in _choices(engine, candidate, known):
            signals = Signals(candidate.metadata, engine.dtypes, engine.shapes, largest, numbers, 1, 0)
            worth = []
            for steps in tried:
                try:
                    worth.append(_worth(apart.run(signals.native(0, steps), either=True)))
                except ProcessEndedError as error:  # what ends a process once is not run in this one
                    message, worth = f"{error.what} at {told(steps)} steps", []
                    break
                except EngineError as error:
                    message = message or error.what
            if sum(worth) > sum(most):
                best, most = numbers, worth
            if worth == [_ANSWERED] * len(tried):
                break
    except EngineError as error:
        message = error.what
    if max(most, default=0) > _ALL_NAN:
        return best
    if most:
        raise RefusedError(
            "native's answer is NaN whatever it is given",
            why="nothing can be compared with it",
            fix=_other_masks(candidate.metadata) or _bound_scalars(oracle.engine) or "look for NaN in its weights",
        )
    message = message.removeprefix("onnxruntime: ")
    raise RefusedError(
        f"native itself does not run on onnxruntime {runtime_version()} (CPU): {message}",
        why="its answer is what every gate compares with",
        fix=f"{_repair(message)}, or convert it unjudged with `verify=False`",
    )


def _other_masks(metadata: Metadata) -> str:
    """The declaration that turns the masks round: one that is true at padding masks everything if it is all true."""
    turned = [
        f"{name}:{axis}={'' if name in metadata.padding_masks else '~'}{length}"
        for name, axes in metadata.mask_inputs.items()
        for axis, length in axes.items()
    ]
    return f"if True means padding in the mask, declare {arguments(mask_inputs=turned)}" if turned else ""


def _bound_scalars(engine: Engine) -> str:
    """The numbers to give where they may decide the answer: of a lowest and a highest frequency not any two will do."""
    scalars = [f"{name}=VALUE" for name, shape in engine.shapes.items() if not shape]
    return f"give the numbers that it is run with, as {arguments(bindings=scalars)}" if scalars else ""


def _repair(message: str) -> str:
    if any(sign in message for sign in ("NOT_IMPLEMENTED", "Could not find an implementation", "No Op registered")):
        return "export it in types that have kernels there"
    return "mend what the message names"


def _choices(engine: Engine, candidate: Candidate, known: Numbers) -> Iterator[Numbers]:
    """What the graph tells; then small integers for samples, integers as of a mask, and all 0; then floats that are not
    negative."""
    held = {*candidate.metadata.length_inputs, *candidate.metadata.mask_inputs}
    free = {name: dtype.kind for name, dtype in engine.dtypes.items() if name not in held}
    integers = [name for name, kind in free.items() if kind in "iu"]
    yield known
    if known.sounds:
        yield replace(known, sounds={})
    for below in (2, 1) if integers else ():
        yield Numbers({**known.limits, **{name: [*known.limits.get(name, ()), constant(below)] for name in integers}})
    if "f" in free.values():
        yield replace(known, positive=True)


_ALL_NAN, _SOME_NAN, _ANSWERED = 1, 2, 3
"""Worth of an answer in which an output is nothing but NaN, of one with some NaN, and of one without."""


def _worth(outputs: Mapping[str, Array]) -> int:
    lost = [np.isnan(array) for array in outputs.values() if array.dtype.kind == "f" and array.size]
    if any(where.all() for where in lost):
        return _ALL_NAN
    return _SOME_NAN if any(where.any() for where in lost) else _ANSWERED
