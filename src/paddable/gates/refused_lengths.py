"""Lengths that a caller should not give: 0, negative, below the minimum, off the step, above the container.

Contract (design, section 6): a length is clamped to the container; one that native refuses gives length 0 and an output
of zeros, never NaN, whatever stands in the container.
"""

from __future__ import annotations

import numpy as np

from paddable.gates.engine import Engine, EngineError
from paddable.gates.junk import FILLINGS
from paddable.gates.report import DomainCheck
from paddable.gates.signals import Signals
from paddable.gates.whole import Candidate

__all__ = ["judge_refused_lengths"]


def judge_refused_lengths(candidate: Candidate, engine: Engine, signals: Signals) -> list[DomainCheck]:
    """Run the padded model with lengths outside the domain.

    Args:
        candidate: the padded graph.
        engine: a session of it.
        signals: inputs as long as its container.
    """
    checks = []
    metadata, container = candidate.metadata, candidate.largest
    held = metadata.length_inputs
    for name, symbol in metadata.symbols.items():
        inputs = [title for title, text in held.items() if text == name]
        if not inputs:
            continue
        short = {0, -1, np.iinfo(np.int32).min, symbol.min - 1}
        if symbol.step > 1 and symbol.min + 1 < container[name]:
            short.add(symbol.min + 1)
        for value in sorted(short):
            found = _run(candidate, engine, signals, inputs[0], value)
            zero = found is not None and not any(np.any(array) for array in found)
            checks.append(
                DomainCheck(
                    name,
                    value,
                    f"{candidate.name}: a refused length gives zeros",
                    "zeros" if zero else "no zeros",
                    zero,
                )
            )
        above = _run(candidate, engine, signals, inputs[0], container[name] + 7)
        full = _run(candidate, engine, signals, inputs[0], container[name])
        same = (
            above is not None
            and full is not None
            and all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(above, full, strict=True))
        )
        checks.append(
            DomainCheck(
                name,
                container[name] + 7,
                f"{candidate.name}: a length above the container is clamped",
                "as the full container" if same else "not as the full container",
                same,
            )
        )
    return checks


def _run(candidate: Candidate, engine: Engine, signals: Signals, name: str, value: int) -> list[np.ndarray] | None:
    container = candidate.largest
    feeds = signals.padded([container] * signals.rows, container, FILLINGS - 2, engine.shapes, engine.dtypes)
    feeds[name] = np.full_like(feeds[name], value)
    if feeds[name].dtype.kind == "u" and value < 0:
        return []
    try:
        return list(engine.run(feeds).values())
    except EngineError:
        return None
