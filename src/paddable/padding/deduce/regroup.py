"""Reshape as regrouping of atoms: which atoms make up each axis of the result.

Row-major order is kept, so an axis of the result is a run of source atoms, the first and last of which may be split by
a proven factor: ``T -> (T/5, 5)`` when 5 divides T at every length, ``(R, 6) <- 6R``. A constant in front of a ragged
atom (``heads x T``) stays in front of it: its padding is interleaved, which is why facts hang on atoms and not on axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddable.lengths import Length, constant
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.axes import Axes, Factor
from paddable.padding.facts.numbers import Product

__all__ = ["Origin", "Regrouping", "regroup"]


@dataclass(frozen=True)
class Origin:
    """Where an atom of the result comes from: ``index_of_source = stride * index`` within source atom ``atom``."""

    atom: int | None
    stride: int = 1


@dataclass(frozen=True)
class Regrouping:
    """The axes of the result, and where each of its atoms comes from."""

    axes: Axes
    origins: tuple[Origin, ...]


@dataclass
class _Run:
    """The source atoms not yet consumed, front first; ``stride`` tells how a split atom's part counts."""

    atoms: list[tuple[Factor, Origin]]

    def skip_ones(self) -> None:
        while self.atoms and self.atoms[0][0].fixed and self.atoms[0][0].size.constant == 1:
            self.atoms.pop(0)


def regroup(scope: Scope, atoms: Sequence[Factor], sizes: Sequence[Length | Product]) -> Regrouping | str:
    """Axes of the result of a row-major reshape of ``atoms`` to ``sizes``, or why there is no proof."""
    run = _Run([(atom, Origin(i)) for i, atom in enumerate(atoms)])
    axes: list[tuple[Factor, ...]] = []
    origins: list[Origin] = []
    for size in sizes:
        taken = _take(scope, run, size)
        if isinstance(taken, str):
            return taken
        axes.append(tuple(atom for atom, _ in taken))
        origins += [origin for _, origin in taken]
    run.skip_ones()
    if run.atoms:
        return f"elements are left over: {' x '.join(str(a) for a, _ in run.atoms)}"
    return Regrouping(tuple(axes), tuple(origins))


def _take(scope: Scope, run: _Run, size: Length | Product) -> list[tuple[Factor, Origin]] | str:
    scale, factors = _parts(scope, size)
    taken: list[tuple[Factor, Origin]] = []
    while scale != 1 or factors:
        run.skip_ones()
        if not run.atoms:
            return f"the target size {size} exceeds the elements that are left"
        atom, origin = run.atoms[0]
        count = scope.count(atom)
        if count is not None and not any(_holds(scope, factor, atom) for factor in factors):
            if factors and not _divides(scope, count, scale, factors):
                return f"{size} does not start at a multiple of {count}"
            if not factors and scale % count:
                split = _split_fixed(run, scale)
                if split is None:
                    return f"{count} elements cannot be regrouped to {size}"
                taken.append(split)
                scale = 1
                continue
            run.atoms.pop(0)
            taken.append((atom, origin))
            if factors and scale % count:
                factors = [_quotient(scope, factors[0], count), *factors[1:]]
            else:
                scale //= count
            continue
        if not factors:
            if scale and scope.domain.divisible(atom.size, scale):
                return f"the padding of {atom.size} stands at its end, and not behind each of the {scale} parts"
            return f"the varying size {atom.size} cannot be cut into {size}"
        used = _match(scope, run, atom, origin, scale, factors)
        if isinstance(used, str):
            return used
        part, scale, factors = used
        taken.append(part)
    return taken


def _holds(scope: Scope, factor: Length, atom: Factor) -> bool:
    """Whether a factor is the atom's size, or so many times a batch: that it has 3 rows is then of no matter."""
    return scope.same(atom.size, factor) or (atom.batch and scope.ratio(factor, atom.size) is not None)


def _parts(scope: Scope, size: Length | Product) -> tuple[int, list[Length]]:
    if isinstance(size, Product):
        return size.scale, list(size.factors)
    settled = size.constant if size.is_constant else scope.domain.is_constant(size)
    return (settled, []) if settled is not None else (1, [size])


def _divides(scope: Scope, count: int, scale: int, factors: Sequence[Length]) -> bool:
    return scale % count == 0 or scope.domain.divisible(factors[0], count)


def _quotient(scope: Scope, length: Length, divisor: int) -> Length:
    return scope.simplify(length // divisor)


def _split_fixed(run: _Run, wanted: int) -> tuple[Factor, Origin] | None:
    """Cut ``wanted`` off the front of a run of constants, merging them if one does not suffice."""
    total, count = 1, 0
    for atom, _ in run.atoms:
        if not atom.fixed:
            return None
        total *= atom.size.constant
        count += 1
        if total % wanted == 0:
            break
    else:
        return None
    rest = total // wanted
    single = count == 1
    origin = run.atoms[0][1] if single else Origin(None)
    del run.atoms[:count]
    if rest > 1:
        run.atoms.insert(0, (Factor(constant(rest)), Origin(origin.atom, origin.stride) if single else Origin(None)))
    return Factor(constant(wanted)), Origin(origin.atom, origin.stride * rest) if single else Origin(None)


def _match(
    scope: Scope, run: _Run, atom: Factor, origin: Origin, scale: int, factors: list[Length]
) -> tuple[tuple[Factor, Origin], int, list[Length]] | str:
    """Consume a varying atom against one factor of the target size."""
    for k, factor in enumerate(factors):
        others = factors[:k] + factors[k + 1 :]
        if scope.same(atom.size, factor):
            run.atoms.pop(0)
            return (atom, origin), scale, others
        times = scope.ratio(factor, atom.size)  # the target holds the atom several times: constants must follow
        if times is not None:
            run.atoms.pop(0)
            return (atom, origin), scale * times, others
        if atom.size.symbols == factor.symbols:
            whole = factor * scale
            pieces = scope.ratio(atom.size, whole)  # the atom is cut: (atom / pieces, pieces)
            if pieces is not None and atom.prefix:
                run.atoms.pop(0)
                run.atoms.insert(0, (Factor(constant(pieces)), Origin(origin.atom, origin.stride)))
                outer = Factor(scope.simplify(whole), ragged=atom.ragged, batch=atom.batch)
                return (outer, Origin(origin.atom, origin.stride * pieces)), 1, others
    return f"the varying size {atom.size} is neither part nor multiple of {' * '.join(map(str, factors))}"
