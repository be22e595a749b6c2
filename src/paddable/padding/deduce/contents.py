"""Contents that depend on sizes are never lost: who drops them has to read the operand as data.

A value computed from sizes is native's at the container's length. While its contents are known, whoever reads it as
data makes it again from the run-time length (PAD106). A rule that moves a value and does not say what the contents are
afterwards would pass on the container's numbers as if they were native's, without a leak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from paddable.padding.deduce.context import RuleContext
from paddable.padding.facts.facts import Facts

__all__ = ["keep_contents"]


def keep_contents(
    context: RuleContext, rule: Callable[[RuleContext], Sequence[Facts | None]], *, in_front: bool
) -> Sequence[Facts | None]:
    """The rule's answer; asked once more, with operands read as data, where it dropped what was known of them.

    Args:
        context: of the node, as nobody has read it.
        rule: of its operator.
        in_front: the rule takes an operand with the rows in front of native's axes.
    """
    operands = list(context.operands)
    outputs = rule(context)
    dropped = [i for i, value in enumerate(context.operands) if value is not None and _is_dropped(context, i, value)]
    if not dropped or all(_is_known(value) for value in outputs):
        return outputs
    context.operands[:] = operands
    context.remedies.clear()
    context.shapes.clear()
    for i in dropped:
        value = context.peek(i)
        place = value.row_place
        if place is None and in_front and not context.scope.single_row:
            place = value.rank + 1
        made = context.data(i, row_axis=place)
        context.replace(i, replace(made, rows_in_front=made.rank > value.rank))
    return rule(context)


def _is_dropped(context: RuleContext, position: int, value: Facts) -> bool:
    return position not in context.shapes and context.depends_on_sizes(value)


def _is_known(value: Facts | None) -> bool:
    """Whether the contents are known, or the value is one of which only the shape may be read."""
    return value is None or value.content is not None or value.own_row is not None
