"""Elementwise arithmetic on known contents: sizes, index vectors, decided conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from paddable.lengths import Domain, Length, Undecided, constant
from paddable.padding.deduce.broadcast import Broadcast, regions
from paddable.padding.deduce.context import RuleContext
from paddable.padding.facts import numbers
from paddable.padding.facts.axes import Axes, Factor, axis_size
from paddable.padding.facts.facts import Affine, Elements
from paddable.padding.facts.numbers import Face, Number, Product, merge_faces, number

__all__ = ["decide_comparison", "difference", "elementwise_content"]

Scalar = Callable[..., Number | None]
LIMIT = 4096
FLOATS = (1, 10, 11, 16)
"""The float types of a Cast, as ONNX numbers them."""


def _bool(value: bool | None, *parts: Number) -> Number | None:
    """A decided condition; decided from both faces at once it holds in native only."""
    return None if value is None else number(int(value), merge_faces(*(part.face for part in parts)))


def _scalar_function(context: RuleContext) -> Scalar | None:
    domain = context.scope.domain
    integer = context.peek(0).is_integer

    def compared(a: Number, b: Number, equal: bool) -> Number | None:
        decided = numbers.compare(a, b, domain)[equal]
        if decided is not None and numbers.holds_in_container(a, b, decided, domain):
            return number(int(decided))
        return _bool(decided, a, b)

    def cast(x: Number) -> Number | None:
        to = context.attribute("to")
        if to == 9:
            return _bool(bool(x.fraction) if x.is_constant else None, x)
        if to in FLOATS or x.divisor == 1:
            return x
        if x.is_constant:
            return number(int(x.fraction), x.face)
        if isinstance(x.length, Length) and _nonnegative(domain, x.length):
            return rounded(x, False)
        return None

    def rounded(x: Number, up: bool) -> Number | None:
        if x.divisor > 1 and isinstance(x.length, Length) and not x.length.is_constant:
            reason = "float arithmetic on lengths is exact below it"
            if not context.scope.need(constant(numbers.EXACT_BELOW) - x.length, reason):
                return None
        return numbers.rounded(x, up=up, domain=context.scope.domain)

    def where(c: Number, x: Number, y: Number) -> Number:
        picked = x if c.fraction else y
        return number(picked.length, Face.MIXED) if c.face is Face.MIXED and picked.divisor == 1 else picked

    def extremum(first: Number | None, *others: Number, largest: bool) -> Number | None:
        for other in others:
            first = None if first is None else numbers.extremum(first, other, largest=largest, domain=domain)
        return first

    def clip(x: Number, *limits: Number) -> Number | None:
        left = iter(limits)
        least = [next(left)] if context.present(1) else []
        return extremum(extremum(x, *least, largest=True), *left, largest=False)

    def power(x: Number, y: Number) -> Number | None:
        if not y.is_constant:
            return None
        if x.is_constant and y.fraction.denominator == 1 and 0 <= y.fraction <= 62:
            return number(x.fraction ** int(y.fraction))
        if y.fraction == 1:
            return x
        return numbers.multiply(x, x) if y.fraction == 2 else None

    table: dict[str, Scalar] = {
        "Add": numbers.add,
        "Sub": lambda x, y: numbers.add(x, numbers.negate(y)),
        "Mul": numbers.multiply,
        "Div": lambda x, y: numbers.divide(x, y, integer=integer, domain=domain),
        "Mod": lambda x, y: None if context.attribute("fmod") else numbers.modulo(x, y, domain),
        "Pow": power,
        "Neg": numbers.negate,
        "Abs": lambda x: extremum(x, numbers.negate(x), largest=True),
        "Min": partial(extremum, largest=False),
        "Max": partial(extremum, largest=True),
        "Sum": _sum,
        "Clip": clip,
        "Ceil": partial(rounded, up=True),
        "Floor": partial(rounded, up=False),
        "Cast": cast,
        "Identity": lambda x: x,
        "Equal": lambda x, y: _bool(numbers.equal(x, y, domain), x, y),
        "Less": lambda x, y: compared(x, y, False),
        "LessOrEqual": lambda x, y: compared(x, y, True),
        "Greater": lambda x, y: compared(y, x, False),
        "GreaterOrEqual": lambda x, y: compared(y, x, True),
        "Not": lambda x: _bool(not x.fraction, x),  # a condition that is not decided is no number
        "And": lambda *x: _bool(all(c.fraction for c in x), *x),
        "Or": lambda *x: _bool(any(c.fraction for c in x), *x),
        "Xor": lambda x, y: _bool(x.fraction != y.fraction, x, y),
        "Where": where,
        "Sign": lambda x: _sign(x, domain),
    }
    return table.get(context.type)


def _sum(first: Number | None, *others: Number) -> Number | None:
    for other in others:
        first = None if first is None else numbers.add(first, other)
    return first


def _sign(x: Number, domain: Domain) -> Number | None:
    if not isinstance(x.length, Length):
        return None
    sign = domain.sign(x.length)
    return None if sign is None else number(sign)


def _nonnegative(domain: Domain, length: Length) -> bool:
    try:
        return domain.nonnegative(length)
    except Undecided:
        return False


def elementwise_content(context: RuleContext, joined: Broadcast) -> Elements | Affine | None:
    """The contents of an elementwise result, None when they are not known symbolically."""
    function = _scalar_function(context)
    contents = [value.content for value in joined.values]
    if function is None:
        return None
    scalars = [value.scalar for value in joined.values]
    known = [s for s in scalars if s is not None]
    if len(known) == len(scalars):
        result = function(*known)
        return None if result is None else _uniform(result, joined.axes)
    if context.type in ("And", "Or", "Where"):  # decided although one operand is unknown
        decided = _decided_early(context.type, scalars)
        if decided is not None:
            return decided if isinstance(decided, Affine) else contents_of(joined, decided)
    if any(content is None for content in contents):
        return None
    if any(isinstance(content, Affine) and content.coefficients for content in contents):
        return _affine(context, joined, contents)
    return _elements(function, joined)


def contents_of(joined: Broadcast, which: int) -> Elements | Affine | None:
    """The contents of one operand, if broadcasting does not change them."""
    content = joined.values[which].content
    if isinstance(content, Affine):
        return _moved(content, joined.places[which])
    return content if joined.values[which].axes == joined.axes else None


def _decided_early(op_type: str, scalars: Sequence[Number | None]) -> Affine | int | None:
    known = [s.fraction if s is not None and s.is_constant and s.face is not Face.MIXED else None for s in scalars]
    if op_type == "Where":
        if known[0] is None:
            return None
        return 1 if known[0] else 2
    absorbing = 0 if op_type == "And" else 1
    return Affine(number(absorbing)) if absorbing in known else None


def _uniform(value: Number, axes: Axes) -> Elements | Affine:
    return Affine(value) if axes else Elements(np.array(value, dtype=object))


def _elements(function: Scalar, joined: Broadcast) -> Elements | None:
    shape = []
    for axis in joined.axes:
        size = axis_size(axis)
        if isinstance(size, Product) or not size.is_constant:
            return None
        shape.append(size.constant)
    if int(np.prod(shape, dtype=np.int64)) > LIMIT:
        return None
    arrays = []
    for value in joined.values:
        content = value.content
        if isinstance(content, Affine):
            arrays.append(np.full((), content.base, dtype=object))
        else:
            assert content is not None
            arrays.append(content.array)
    result = np.empty(np.broadcast_shapes(*(a.shape for a in arrays), tuple(shape)), dtype=object)
    grids = [np.broadcast_to(array, result.shape) for array in arrays]
    for index in np.ndindex(result.shape):
        parts: list[Any] = [grid[index] for grid in grids]
        result[index] = None if any(part is None for part in parts) else function(*parts)
        if result[index] is None and any(part is not None and part.face is not Face.CONSTANT for part in parts):
            return None  # an element that varies and is not known: the operands are data, read at the run-time length
    return Elements(result)


def _moved(content: Affine, place: Sequence[int | None]) -> Affine:
    """Coefficients renumbered from an operand's atoms to the result's."""
    back = {own: i for i, own in enumerate(place) if own is not None}
    return Affine(content.base, tuple((back[i], c) for i, c in content.coefficients))


def difference(joined: Broadcast) -> Affine | None:
    """``first - second`` of a comparison as an affine index function over the result's atoms."""
    parts = []
    for value, place in zip(joined.values, joined.places, strict=True):
        content = value.content
        if isinstance(content, Elements):
            scalar = value.scalar
            content = None if scalar is None else Affine(scalar)
        if content is None:
            return None
        parts.append(_moved(content, place))
    first, second = parts
    return _total(first, _opposite(second))


def _opposite(x: Affine) -> Affine:
    return Affine(numbers.negate(x.base), tuple((i, -c) for i, c in x.coefficients))


def _total(first: Affine, second: Affine) -> Affine | None:
    base = numbers.add(first.base, second.base)
    total = dict(first.coefficients)
    for i, c in second.coefficients:
        total[i] = total.get(i, Fraction(0)) + c
    return None if base is None else Affine(base, tuple((i, c) for i, c in sorted(total.items()) if c))


def _affine(context: RuleContext, joined: Broadcast, contents: Sequence[Elements | Affine | None]) -> Affine | None:
    parts: list[Affine] = []
    for value, place in zip(joined.values, joined.places, strict=True):
        content = value.content
        if isinstance(content, Elements):
            content = Affine(value.scalar) if value.scalar is not None else value.progression
        if content is None:
            return None
        parts.append(_moved(content, place))
    op_type = context.type
    if op_type == "Identity":
        return parts[0]
    if op_type == "Cast":
        integral = parts[0].base.divisor == 1 and all(c.denominator == 1 for _, c in parts[0].coefficients)
        to = context.attribute("to")
        return parts[0] if to in FLOATS or (integral and to != 9) else None
    if op_type == "Neg":
        return _opposite(parts[0])
    if op_type == "Add":
        return _total(*parts)
    if op_type == "Sub":
        return difference(joined)
    if op_type == "Mul":
        scale = next((p for p in parts if not p.coefficients and p.base.is_constant), None)
        if scale is None:
            return None
        other = parts[1] if scale is parts[0] else parts[0]
        factor = scale.base.fraction
        base = numbers.multiply(other.base, scale.base)
        return None if base is None else Affine(base, tuple((i, c * factor) for i, c in other.coefficients if factor))
    if op_type in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"):
        gap = difference(joined)
        if gap is None or gap.face is Face.MIXED:
            return None
        atoms = tuple(atom for axis in joined.axes for atom in axis)
        everywhere = [decide_comparison(context, gap, atoms, region) for region in regions(atoms)]
        if all(x is not None and x == everywhere[0] for x in everywhere):
            return Affine(number(int(bool(everywhere[0]))))
        return None
    if op_type in ("Max", "Min") and len(parts) == 2:
        gap = difference(joined)
        if gap is None or gap.face is Face.MIXED:
            return None
        atoms = tuple(atom for axis in joined.axes for atom in axis)
        domain = context.scope.domain
        bounds = [_bounds(domain, gap, atoms, region) for region in regions(atoms)]
        smaller, larger = parts
        if not all(high is not None and _nonnegative(domain, -high) for _, high in bounds):
            if not all(low is not None and _nonnegative(domain, low) for low, _ in bounds):
                return None
            larger, smaller = parts
        return larger if op_type == "Max" else smaller
    return None


def _bounds(
    domain: Domain, gap: Affine, atoms: Sequence[Factor], region: Sequence[int]
) -> tuple[Length | None, Length | None]:
    """Bounds of ``gap`` (times its common denominator) where exactly the atoms in ``region`` are padding."""
    if not isinstance(gap.base.length, Length):
        return None, None
    denominator = gap.base.divisor
    for _, c in gap.coefficients:
        denominator = denominator * c.denominator
    low: Length | None = gap.base.length * (denominator // gap.base.divisor)
    high: Length | None = low
    for i, c in gap.coefficients:
        scale = int(c * denominator)
        size = atoms[i].size
        first = size if i in region else constant(0)
        last = None if i in region else size - 1
        smallest = first * scale if scale > 0 else (None if last is None else last * scale)
        largest = (None if last is None else last * scale) if scale > 0 else first * scale
        low = None if low is None or smallest is None else low + smallest
        high = None if high is None or largest is None else high + largest
    return low, high


def decide_comparison(context: RuleContext, gap: Affine, atoms: Sequence[Factor], region: Sequence[int]) -> bool | None:
    """Decide ``gap (op) 0`` for every index of a region and every length, None where it varies."""
    low, high = _bounds(context.scope.domain, gap, atoms, region)
    domain = context.scope.domain

    def positive(x: Length | None) -> bool:
        return x is not None and _nonnegative(domain, x - 1)

    def nonnegative(x: Length | None) -> bool:
        return x is not None and _nonnegative(domain, x)

    def negated(x: Length | None) -> Length | None:
        return None if x is None else -x

    op_type = context.type
    if op_type in ("Greater", "GreaterOrEqual"):  # a > b as -a < -b
        low, high = negated(high), negated(low)
    if op_type in ("Less", "Greater"):
        return True if positive(negated(high)) else False if nonnegative(low) else None
    if op_type in ("LessOrEqual", "GreaterOrEqual"):
        return True if nonnegative(negated(high)) else False if positive(low) else None
    if positive(low) or positive(negated(high)):  # Equal
        return False
    return True if nonnegative(low) and nonnegative(negated(high)) else None
