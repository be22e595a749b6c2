"""A minimum or maximum that ties several symbols together: one branch for each argument that may be the extreme one.

Where ``min(a, b)`` is a, the order ``a <= b`` holds. If ``b - a`` has a symbol s with coefficient 1 or -1, s is
replaced by a new symbol ``b - a >= 0``: the region of the branch is a box again. Where that loses a bound or the step
of s, and where no such symbol exists, the box covers more than the region. Then it may prove, but not refute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paddable.lengths.decide import product
from paddable.lengths.expression import Atom, FloorDiv, Length, Max, Min, Symbol, atomic
from paddable.lengths.span import Span

__all__ = ["Branch", "branches", "directions", "innermost_extreme"]


@dataclass(frozen=True)
class Branch:
    """A length that equals the original on a region of the domain, and a box that covers the region.

    ``tight``: the box is the region, no larger.
    """

    length: Length
    spans: Mapping[str, Span]
    tight: bool


def innermost_extreme(length: Length) -> Min | Max:
    """The first minimum or maximum whose arguments have none."""
    return next(atom for atom in length.walk() if isinstance(atom, Min | Max))


def branches(length: Length, atom: Min | Max, spans: Mapping[str, Span]) -> list[Branch]:
    """The branches of a length by the order of the arguments of an innermost minimum or maximum; they cover the domain.

    Arguments that another argument replaces everywhere have no branch.
    """
    sign = 1 if isinstance(atom, Min) else -1
    args: list[Length] = []
    for arg in atom.args:
        if not any(_never_negative((arg - other) * sign, spans) for other in args):
            args = [other for other in args if not _never_negative((other - arg) * sign, spans)]
            args.append(arg)
    if len(args) == 1:
        return [Branch(length.replace({atom: args[0]}), spans, True)]
    return [
        _restricted(length.replace({atom: arg}), [(other - arg) * sign for other in args if other is not arg], spans)
        for arg in args
    ]


def _never_negative(length: Length, spans: Mapping[str, Span]) -> bool:
    bound = product.least(length, spans)
    return bound.value is not None and bound.value >= 0


def _restricted(branch: Length, orders: Sequence[Length], spans: Mapping[str, Span]) -> Branch:
    """The branch where every order is >= 0, if possible as a box in new symbols."""
    loose: Branch | None = None
    for order in orders:
        affine = order.linear()
        if affine is None:
            continue
        for symbol, coefficient in affine[0].items():
            span = spans[symbol]
            if abs(coefficient) != 1:
                continue
            extent = product.least(-order, spans).value
            gap = Symbol(f"#{symbol}")  # free, since its namesake is leaving; no text of a user makes this name
            rest = order - atomic(Symbol(symbol)) * coefficient
            replaced = (atomic(gap) - rest) * coefficient
            inner = {name: spans[name] for name in branch.symbols | order.symbols if name != symbol}
            inner[gap.name] = Span(0, None if extent is None else -extent)
            kept = _never_negative(replaced - span.first, inner) and (
                span.last is None or _never_negative(span.last - replaced, inner)
            )
            found = Branch(branch.substitute({symbol: replaced}), inner, kept and span.step == 1 and len(orders) == 1)
            if found.tight:
                return found
            loose = loose or found
    return loose or Branch(branch, spans, False)


def directions(length: Length, wanted: Atom, rising: bool = True) -> set[bool]:
    """Whether the length rises (True) and falls (False) with an atom, over all its occurrences."""
    found: set[bool] = set()
    for coefficient, atom in length.terms:
        direction = rising == (coefficient > 0)
        if atom == wanted:
            found.add(direction)
        match atom:
            case FloorDiv(numerator, _):
                found |= directions(numerator, wanted, direction)
            case Min(args) | Max(args):
                for arg in args:
                    found |= directions(arg, wanted, direction)
            case Symbol():
                pass
    return found
