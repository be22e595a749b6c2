"""What has to hold where both branches of an If are computed and a Where selects (see ``deduce/branches.py``)."""

from __future__ import annotations

from typing import NoReturn

from paddable.lengths import Length
from paddable.padding.deduce.broadcast import same_axis
from paddable.padding.deduce.context import RuleContext
from paddable.padding.facts.axes import axis_size
from paddable.padding.facts.facts import Facts

__all__ = ["need_equal_shapes", "need_total", "refuse_narrowing"]

_WHY = "the condition of an If depends on the length or on data"
_BOUND = "fix what the condition reads, if that is an input, by `bindings=['NAME=VALUE']`"
_FIX = f"{_BOUND}, or export the model so that one branch holds at every length"
_BY_INDEX = ("Gather", "GatherElements", "GatherND")


def need_equal_shapes(context: RuleContext) -> None:
    """Of the two results that a Where selects from: native has one of them, and Where would broadcast."""
    then, other = context.peek(1), context.peek(2)
    if then.rank != other.rank or not all(
        same_axis(context.scope, a, b) for a, b in zip(then.axes, other.axes, strict=True)
    ):
        context.refuse(f"{_WHY}, and its branches make different shapes", f"{_FIX}, or give both results one shape")


def need_total(context: RuleContext) -> None:
    """Of an operator inside a branch: it is computed where native does not take the branch, and must not stop there."""
    if context.type in _BY_INDEX:
        source, index = context.peek(0), context.peek(1)
        axis = None if context.type == "GatherND" else context.attribute("axis", 0)
        if index.content is None and not _inside(source, index, axis):
            context.refuse(
                f"{_WHY}, and a branch reads by an index that may be out of range where it is not taken",
                f"{_FIX}, or clamp the index",
            )
    elif context.type in ("Div", "Mod"):
        divisor = context.peek(1)
        if divisor.is_integer and not (divisor.low > 0 or divisor.high < 0):
            context.refuse(
                f"{_WHY}, and a branch divides integers by what may be 0 where it is not taken",
                f"{_FIX}, or keep the divisor above 0",
            )


def refuse_narrowing(context: RuleContext) -> NoReturn:
    """An operator inside a branch does not take every length, and native computes it only where it takes the branch."""
    reasons = " and ".join(dict.fromkeys(context.scope.reasons.values()))
    context.refuse(
        f"{_WHY}, and a branch does not take the lengths of the other: {reasons}",
        f"give `shortest=['T=N']` if one branch holds from there on, {_BOUND}, or export the model so",
    )


def _inside(source: Facts, index: Facts, axis: int | None) -> bool:
    """Whether the index lies in the axis whatever the data is; for tuples of indices, in every axis."""
    read = source.axes if axis is None else (source.axes[axis % source.rank],)
    sizes = [axis_size(found) for found in read]
    rows = min((size.constant if isinstance(size, Length) and size.is_constant else 0 for size in sizes), default=0)
    return index.low >= -rows and index.high < rows
