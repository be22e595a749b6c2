"""Rows of a length that the model does not accept: the graph answers 0, which nobody should take for an answer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from paddable.bundle import Symbol
from paddable.errors import MisuseError, PaddableWarning
from paddable.lengths.accepted import nearest_accepted
from paddable.runtime.session.request import Row

__all__ = ["refuse_unaccepted"]


def refuse_unaccepted(rows: Sequence[Row], symbols: Mapping[str, Symbol], *, strict: bool, empty: bool) -> None:
    """Say which rows are too short, too long or off the step; with nothing to say, do nothing.

    Args:
        rows: of one request.
        symbols: the accepted lengths.
        strict: whether such a row is an error where there are others, too.
        empty: whether a row of 0 steps is meant, as one that only fills the batch.

    Raises:
        MisuseError: the only row, or with ``strict`` any row; the message names the nearest lengths that are accepted.

    Warns:
        PaddableWarning: rows beside others, which get the length 0.
    """
    wrong: dict[int, tuple[str, Symbol]] = {}
    for index, row in enumerate(rows):
        if empty and not any(row.steps.values()):
            continue
        for name, symbol in symbols.items():
            if why := _unaccepted(name, row.steps[name], symbol):
                wrong.setdefault(index, (why, symbol))
    if not wrong:
        return
    index, (why, symbol) = next(iter(wrong.items()))
    if strict or len(rows) == 1:
        raise MisuseError(
            why,
            where=f"input {symbol.input!r}" + (f", row {index}" if len(rows) > 1 else ""),
            fix="cut it or pad it yourself, if that is what the model was trained on",
        )
    told = f"rows {', '.join(map(str, wrong))} have" if len(wrong) > 1 else f"row {index} has"
    warnings.warn(f"{told} no answer, and the length 0: {why}", PaddableWarning, stacklevel=4)


def _unaccepted(name: str, steps: int, symbol: Symbol) -> str:
    near = nearest_accepted(steps, symbol.min, symbol.max, symbol.step)
    if near == [steps]:
        return ""
    kind = "too short" if steps < symbol.min else "off the step" if len(near) > 1 else "too long"
    lengths = "lengths are" if len(near) > 1 else "length is"
    return f"{name}={steps} is {kind}: the nearest accepted {lengths} {' and '.join(map(str, near))}"
