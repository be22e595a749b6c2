"""Which part of a pair of values is valid, as far as it is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from paddable.divergence.regions import Block, comparable, from_facts, from_sizes
from paddable.divergence.side import Side
from paddable.gates.engine import Array
from paddable.padding.facts.facts import Facts

__all__ = ["Known", "is_comparable", "valid_blocks"]


@dataclass(frozen=True)
class Known:
    """What the length analysis of native says.

    Attributes:
        facts: by value of native.
        native: by value of the second graph, the value of native; None where there is no analysis.
        single_row: the analysis was made for one row.
    """

    facts: Mapping[str, Facts] = field(default_factory=dict)
    native: Callable[[ir.Value, ir.Value], str | None] | None = None
    single_row: bool = True


def is_comparable(a: ir.Value, b: ir.Value, known: Known) -> bool:
    """Whether a pair of values has a valid part that is to be the same."""
    if known.native is None:
        return True
    name = known.native(a, b)
    return name is not None and comparable(known.facts.get(name))


def valid_blocks(
    one: Side, other: Side, a: ir.Value, b: ir.Value, mine: Array, theirs: Array, known: Known
) -> tuple[Block | None, Block | None]:
    """The valid part of a pair of values; None where a shape is another than the analysis says.

    Args:
        one: the first run.
        other: the second.
        a: a value of the first graph.
        b: its partner.
        mine: the first run's array.
        theirs: the second's.
        known: which part is valid.
    """
    if known.native is None:
        left = from_sizes(mine, one.metadata, one.container, one.steps)
        return left, from_sizes(theirs, other.metadata, other.container, other.steps)
    facts = known.facts.get(known.native(a, b) or "")
    if facts is None:
        return None, None
    converted = one.metadata is not None or other.metadata is not None
    return (
        from_facts(mine, facts, one.frame(known.single_row), clean=converted),
        from_facts(theirs, facts, other.frame(known.single_row), clean=converted),
    )
