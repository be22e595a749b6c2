"""Whether there is an oracle at all: a native model that the runtime cannot run judges nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from paddable.bundle import Metadata
from paddable.errors import Refused
from paddable.gates.engine import Engine, EngineError, Source
from paddable.gates.oracle import run_native
from paddable.gates.signals import Signals
from paddable.lengths import Length

__all__ = ["require_native"]


def require_native(
    native: Source,
    metadata: Metadata,
    largest: Mapping[str, int],
    cases: Sequence[Mapping[str, int]],
    limits: Mapping[str, Sequence[Length]],
) -> None:
    """Load native and run it at a few lengths; one that runs at any of them is an oracle.

    A single length at which it fails is the gates' business: the stated domain is wrong there.

    Args:
        native: the native model.
        metadata: of a padded one.
        largest: steps of each symbol, at least those of every case.
        cases: accepted lengths.
        limits: what integers of an input index.

    Raises:
        Refused: it does not load, or runs at none of them.
    """
    message = ""
    try:
        engine, plain = (Engine(native, optimise=optimise, where="native") for optimise in (True, False))
        signals = Signals(metadata, engine.dtypes, engine.shapes, largest, limits, 1, 0)
        for steps in (cases[-1], cases[len(cases) // 2], cases[0]):
            try:
                run_native(engine, plain, signals.native(0, steps))
            except EngineError as error:
                message = error.what
            else:
                return
    except EngineError as error:
        message = error.what
    message = message.removeprefix("onnxruntime: ")
    raise Refused(
        f"native itself does not run on onnxruntime {version('onnxruntime')} (CPU): {message}",
        why="its answer is what every gate compares with",
        fix="export it in types that have kernels there, or convert it unjudged with --no-verify",
    )
