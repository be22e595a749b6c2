"""Data movement that only reorders or regroups factors: Transpose, Squeeze, Unsqueeze, Reshape, Flatten, Expand, Tile.

Passes: facts follow their factors.
Needs: shapes from the container's size; nothing of the padding; two steps where a Squeeze names no axes.
Refuses: a regrouping that the sizes do not prove at every length, and Squeeze of an axis that is not 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from paddable.lengths import Length, constant, symbol
from paddable.padding.deduce.broadcast import agree, bring_rows, pads_of
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.regroup import Origin, regroup
from paddable.padding.deduce.relative_shift import relative_view
from paddable.padding.deduce.scope import BATCH, Scope
from paddable.padding.facts.axes import Axes, Axis, Factor, axis_size, fixed
from paddable.padding.facts.facts import CONTENT_LIMIT, Affine, Bounded, Diagonal, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import Kind
from paddable.padding.facts.numbers import Face, Product, number, product
from paddable.padding.remedies import UseSize
from paddable.padding.remedies.forms import SqueezeBehindRows, TransposeBehindRows, UnsqueezeBehindRows

__all__ = ["moved", "reshaped", "target_axes"]


_IN_FRONT = "the batch stands in front"


def moved(value: Facts, axes: Axes, origins: Sequence[Origin], content: Elements | Affine | None) -> Facts:
    """The value with new axes whose atoms come from old ones; facts follow their atoms."""
    pads = tuple(value.pads[o.atom] if o.atom is not None else PaddingFact() for o in origins)
    pending = value.pending
    if pending is not None:
        place = [i for i, o in enumerate(origins) if o.atom == pending.atom and o.stride == 1]
        if len(place) == 1:
            pending = replace(pending, atom=place[0])
        else:
            pending.token.commit()
            pending = None
    diagonal = value.diagonal
    if diagonal is not None:
        places = [[i for i, o in enumerate(origins) if o.atom == own] for own in (diagonal.row, diagonal.column)]
        whole = all(len(found) == 1 for found in places)
        diagonal = Diagonal(places[0][0], places[1][0], diagonal.kind) if whole else None
    return replace(value, axes=axes, pads=pads, content=content, pending=pending, diagonal=diagonal)


def _renumbered(content: Elements | Affine | None, origins: Sequence[Origin]) -> Affine | None:
    if not isinstance(content, Affine):
        return None
    coefficients: list[tuple[int, Fraction]] = []
    for old, coefficient in content.coefficients:
        places = [i for i, origin in enumerate(origins) if origin.atom == old]
        if not places:
            return None
        coefficients += [(i, coefficient * origins[i].stride) for i in places]
    return Affine(content.base, tuple(coefficients))


@rule("Transpose")
def transpose(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    native = value.rank - value.rows_in_front
    order = context.attribute("perm") or list(reversed(range(native)))
    if value.rows_in_front:
        order = [0, *(place % native + 1 for place in order)]
        context.ask(TransposeBehindRows("", _IN_FRONT, tuple(order)))
    axes = tuple(value.axes[i] for i in order)
    origins = [Origin(k) for i in order for k in value.span(i)]
    content = value.content
    if isinstance(content, Elements):
        content = Elements(content.array.transpose(list(order)))
    else:
        content = _renumbered(content, origins)
    return [moved(value, axes, origins, content)]


def _axes_argument(context: RuleContext) -> list[int] | None:
    """``axes`` as an attribute (before opset 13) or as an input."""
    listed = context.attribute("axes")
    return list(listed) if listed is not None else context.integers(1)


@rule("Squeeze")
def squeeze(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    listed = _axes_argument(context)
    if listed is None:
        dropped = {i for i, axis in enumerate(value.axes) if not axis}
        for axis in value.axes:
            size = axis_size(axis)
            if isinstance(size, Length) and any(atom.ragged for atom in axis):
                context.need(size - 2, "Squeeze without axes drops an axis of one step")
    elif value.rows_in_front:
        dropped = {a % (value.rank - 1) + 1 for a in listed}
    else:
        dropped = {a % value.rank for a in listed}
    if value.rows_in_front:
        context.ask(SqueezeBehindRows("", _IN_FRONT, tuple(sorted(dropped))))
    for i in dropped:
        if value.axes[i]:
            size = axis_size(value.axes[i])
            if isinstance(size, Length) and value.axes[i][0].ragged:  # the domain ends where it is 1 no more
                context.scope.need_equal(size, constant(1), f"Squeeze of an axis of size {size}")
            context.refuse(f"Squeeze of an axis of size {size}")
    return [_with_axes(value, tuple(axis for i, axis in enumerate(value.axes) if i not in dropped))]


@rule("Unsqueeze")
def unsqueeze(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    listed = _axes_argument(context) or []
    rank = value.rank + len(listed)
    if value.rows_in_front:
        listed = [a % (rank - 1) + 1 for a in listed]
        context.ask(UnsqueezeBehindRows("", _IN_FRONT, tuple(listed)))
    new = {a % rank for a in listed}
    old = iter(value.axes)
    return [_with_axes(value, tuple(() if i in new else next(old) for i in range(rank)))]


def _integers(sizes: Sequence[Length | Product]) -> list[int]:
    """The sizes of known contents, which are constant."""
    return [size.constant for size in sizes if isinstance(size, Length)]


def _with_axes(value: Facts, axes: Axes) -> Facts:
    """Only axes of size 1 come or go: atoms keep their order."""
    content = value.content
    if isinstance(content, Elements):
        content = Elements(content.array.reshape(_integers([axis_size(axis) for axis in axes])))
    return replace(value, axes=axes, content=content)


def _reshape_sizes(context: RuleContext, value: Facts) -> list[Length | Product]:
    """Target sizes with 0 (copy) and -1 (infer) resolved."""
    sizes: list[Length | Product] = []
    inferred: int | None = None
    allow_zero = context.attribute("allowzero", 0)
    for i, wanted in enumerate(context.sizes(1)):
        if wanted.is_constant and wanted.fraction == -1:
            inferred = i
            sizes.append(constant(1))
        elif wanted.is_constant and wanted.fraction == 0 and not allow_zero:
            sizes.append(value.size(i))
        elif wanted.divisor != 1:
            context.refuse(f"a target size is the fraction {wanted}")
        else:
            sizes.append(wanted.length)
    if inferred is not None:
        sizes[inferred] = _remainder(context, value, sizes)
    return sizes


def _with_rows(size: Length | Product, rows: int | None) -> Length | Product:
    if rows is None:
        return size
    factors = size.factors if isinstance(size, Product) else (size,)
    scale = size.scale if isinstance(size, Product) else 1
    return product(scale, *(factor.substitute({BATCH: rows}) for factor in factors))


def _factored(scope: Scope, size: Length | Product) -> tuple[int, list[Length]]:
    """A size as a constant times lengths without a common factor of their own."""
    scale, factors = (size.scale, size.factors) if isinstance(size, Product) else (1, (size,))
    rest = []
    for factor in factors:
        common = math.gcd(factor.offset, *(coefficient for coefficient, _ in factor.terms))
        scale *= common
        if not factor.is_constant:
            rest.append(scope.simplify(factor // common))
    return scale, rest


def _remainder(context: RuleContext, value: Facts, sizes: Sequence[Length | Product]) -> Length | Product:
    scope = context.scope
    # a batch of a fixed size is a constant here: exporters write it as one
    total = product(1, *(scope.count(atom) or atom.size for atom in value.atoms))
    known = product(1, *(_with_rows(size, scope.rows) for size in sizes))
    scale, left = _factored(scope, total)
    divisor, right = _factored(scope, known)
    for factor in right:
        for k, own in enumerate(left):
            quotient = scope.ratio(own * scale, factor)
            if quotient is not None:
                left.pop(k)
                scale = quotient
                break
            if scope.same(own, factor):
                left.pop(k)
                break
        else:
            context.refuse(f"the size inferred for -1 is not a length: {total} / {known}")
    if scale % divisor == 0:
        return product(scale // divisor, *left)
    if len(left) == 1:
        whole = left[0] * scale
        if scope.need_multiple(whole, divisor, f"{whole} must be a multiple of {divisor}"):
            return scope.simplify(whole // divisor)
    context.refuse(f"{total} elements do not divide into {known}")


@rule("Reshape")
def reshape(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    if value.rows_in_front:
        return [_reshaped_behind_rows(context, value)]
    sizes = _reshape_sizes(context, value)
    viewed = relative_view(context, value, sizes)
    if viewed is not None:
        return [viewed]
    return [reshaped(context, value, sizes)]


def _reshaped_behind_rows(context: RuleContext, value: Facts) -> Facts:
    """Native's own axes regrouped, the rows in front of them kept."""
    rows = len(value.axes[0])
    own = replace(value, axes=value.axes[1:], pads=value.pads[rows:], content=None, rows_in_front=False)
    sizes = _reshape_sizes(context, own)
    new = reshaped(context, own, sizes)
    shape = [number(size, Face.SIZE) for size in (context.rows, *sizes)]
    context.ask(UseSize("", _IN_FRONT, 1, Elements(np.array(shape, dtype=object))))
    return replace(new, axes=(value.axes[0], *new.axes), pads=(*value.pads[:rows], *new.pads), rows_in_front=True)


def reshaped(context: RuleContext, value: Facts, sizes: Sequence[Length | Product]) -> Facts:
    """Regroup a value to given native sizes."""
    result = regroup(context.scope, value.atoms, sizes)
    if isinstance(result, str):  # T x 2 elements, asked for in threes: one run of 2T
        context.replace(0, value)
        value = _joined_prefixes(context.scope, context.settle(0))
        joined = regroup(context.scope, value.atoms, sizes)
        result = result if isinstance(joined, str) else joined
    if isinstance(result, str):
        context.refuse(
            f"Reshape [{', '.join(str(axis_size(a)) for a in value.axes)}] -> [{', '.join(map(str, sizes))}]: {result}",
            "reshape so that the time axis is kept whole, or split it by a divisor that holds at every length; a "
            "number in the target may be the example's length, frozen by the exporter (paddable lint)",
        )
    content = value.content
    if isinstance(content, Elements):
        content = Elements(content.array.reshape(_integers(sizes)))
    else:
        content = _renumbered(content, result.origins)
    new = moved(value, result.axes, result.origins, content)
    return new if new.atoms[-1:] == value.atoms[-1:] else replace(new, appended=None)


def _joined_prefixes(scope: Scope, value: Facts) -> Facts:
    """Each ragged prefix joined with the constants behind it to one atom, whose padding is a suffix again."""
    atoms: list[Factor] = []
    pads: list[PaddingFact] = []
    for atom, pad in zip(value.atoms, value.pads, strict=True):
        last = atoms[-1] if atoms else None
        if last is not None and last.ragged and last.prefix and atom.fixed:
            atoms[-1] = replace(last, size=scope.simplify(last.size * atom.size.constant))
        else:
            atoms.append(atom)
            pads.append(pad)
    known = value.content if value.scalar is not None else None
    return replace(value, axes=(tuple(atoms),), pads=tuple(pads), content=known)


@rule("Flatten")
def flatten(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    axis = context.attribute("axis", 1)
    axis = axis + value.rank if axis < 0 else axis
    sizes = [
        product(1, *(axis_size(a) for a in value.axes[:axis])),
        product(1, *(axis_size(a) for a in value.axes[axis:])),
    ]
    viewed = relative_view(context, value, sizes)
    return [viewed if viewed is not None else reshaped(context, value, sizes)]


def target_axes(context: RuleContext, index: int) -> tuple[Axes, Bounded | None]:
    """Axes of a value made to a computed shape (Expand, ConstantOfShape), which is an input of the node.

    A size that does not grow is made 1 in the container, where one element stands for all its copies.
    """
    axes: list[Axis] = []
    copies = None
    numbers = context.sizes(index)
    for place, wanted in enumerate(numbers):
        if wanted.divisor != 1:
            context.refuse(f"a size is the fraction {wanted}")
        length = wanted.length
        if isinstance(length, Length) and not length.is_constant:
            context.need(length, f"the size {length} must not be negative")
            if copies is None and not context.scope.grows(length):
                copies = Bounded(place, context.scope.simplify(length), equal=True)
                length = constant(1)
        axes.append(_rows_first(context.axis(length)))
    if copies is not None:
        shape = np.array(numbers, dtype=object)
        shape[copies.axis] = number(1)
        context.ask(UseSize("", "one element stands for all its copies", index, Elements(shape)))
    return tuple(axes), copies


def _rows_first(axis: Axis) -> Axis:
    """Heads of every row in one axis: equal copies stand in any order, so in the one in which exporters join them."""
    rows = symbol(BATCH)
    heads = axis[0].size.terms[0][0] if len(axis) == 1 and axis[0].batch else 1
    return (Factor(rows, batch=True), *fixed(heads)) if heads > 1 and axis[0].size == rows * heads else axis


@rule("Expand")
def expand(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    target, copies = target_axes(context, 1)
    if value.rows_in_front:
        value = _rows_in_place(context, value, target)
    rank = max(value.rank, len(target))
    if copies is not None:
        copies = replace(copies, axis=copies.axis + rank - len(target))
        if copies.axis >= rank - value.rank and value.axes[copies.axis - (rank - value.rank)]:
            context.refuse(f"Expand to the size {copies.count}, which does not grow with the length")
    own = ((),) * (rank - value.rank) + value.axes
    wanted = ((),) * (rank - len(target)) + target
    axes: list[tuple[Factor, ...]] = []
    origins: list[Origin] = []
    position = 0
    for a, b in zip(own, wanted, strict=True):
        if a:
            sizes = axis_size(a), axis_size(b)
            if b and not context.scope.same(*sizes) and not agree(context.scope, *sizes):
                context.refuse(f"Expand of size {sizes[0]} to {sizes[1]}")
            axes.append(a)
            origins += [Origin(position + k) for k in range(len(a))]
            position += len(a)
        else:
            axes.append(b)
            origins += [Origin(None)] * len(b)
    result = moved(value, tuple(axes), origins, _spread(value, axes, origins))
    back = {i: o.atom for i, o in enumerate(origins)}

    def kind_at(region: tuple[int, ...]) -> Kind:
        return value.kind([k for k in (back[i] for i in region) if k is not None])

    return [replace(result, pads=pads_of(result.axes, kind_at), bounded=copies)]


def _spread(value: Facts, axes: Sequence[Axis], origins: Sequence[Origin]) -> Elements | Affine | None:
    """Contents that stand again and again along axes of size 1."""
    content = value.content
    if not isinstance(content, Elements):
        return _renumbered(content, origins)
    if value.scalar is not None:
        return Affine(value.scalar)
    sizes = [size.constant for size in map(axis_size, axes) if isinstance(size, Length) and size.is_constant]
    if len(sizes) == len(axes) and math.prod(sizes) <= CONTENT_LIMIT:
        return Elements(np.broadcast_to(content.array, sizes))
    return _renumbered(value.progression, origins)


def _rows_in_place(context: RuleContext, value: Facts, target: Axes) -> Facts:
    """Rows in front of native's axes, brought to the batch of the target, or in front of all its axes."""
    batch = next((len(target) - k for k, axis in enumerate(target) if any(atom.batch for atom in axis)), None)
    place = max(value.rank - 1, len(target)) + 1 if batch is None else batch
    placed = bring_rows(context, 0, place, len(target))
    return context.replace(0, replace(placed, rows_in_front=batch is None))


@rule("Tile")
def tile(context: RuleContext) -> Sequence[Facts | None]:
    value = context.peek(0)
    axes: list[tuple[Factor, ...]] = []
    origins: list[Origin] = []
    for position, count in enumerate(context.sizes(1)):
        axis, span = value.axes[position], value.span(position)
        once = count.is_constant and count.fraction == 1
        if once:
            axes.append(axis)
            origins += [Origin(k) for k in span]
            continue
        context.keep_rows_apart(axis, "Tile along")
        if count.divisor != 1 or isinstance(count.length, Product):
            context.refuse("Tile by a computed fraction")
        outer = context.axis(count.length)
        axes.append((*outer, *axis))
        origins += [Origin(None)] * len(outer) + [Origin(k) for k in span]
    content = value.content
    if isinstance(content, Elements):
        content = Affine(value.scalar) if value.scalar is not None else _tiled(context, content)
    else:
        content = _renumbered(content, origins)
    back = {i: o.atom for i, o in enumerate(origins)}
    result = moved(value, tuple(axes), origins, content)

    def kind_at(region: tuple[int, ...]) -> Kind:
        return value.kind([k for k in (back[i] for i in region) if k is not None])

    return [replace(result, pads=pads_of(result.axes, kind_at))]


def _tiled(context: RuleContext, content: Elements) -> Elements | None:
    counts = context.sizes(1)
    if not all(c.is_constant for c in counts):
        return None
    return Elements(np.tile(content.array, [int(c.fraction) for c in counts]))
