"""Length expressions: how many steps an axis has, as a function of the input's length, with decided equality."""

from paddable.lengths.decide.columns import Undecided
from paddable.lengths.domain import Domain
from paddable.lengths.expression import (
    Atom,
    FloorDiv,
    Length,
    Max,
    Min,
    NotALength,
    Symbol,
    constant,
    maximum,
    minimum,
    symbol,
)
from paddable.lengths.span import Span
from paddable.lengths.text import parse

__all__ = [
    "Atom",
    "Domain",
    "FloorDiv",
    "Length",
    "Max",
    "Min",
    "NotALength",
    "Span",
    "Symbol",
    "Undecided",
    "constant",
    "maximum",
    "minimum",
    "parse",
    "symbol",
]
