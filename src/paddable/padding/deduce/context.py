"""One node as a rule sees it: facts of its operands, decisions, and the remedies it asks for.

A rule never edits the graph. It reads operands through :meth:`RuleContext.data` (as data) or :meth:`RuleContext.sizes`
(as a shape), which is where a number's right face is chosen, asks for remedies, and returns facts of the outputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
import onnx_ir as ir

from paddable.lengths import Length, Undecided, symbol
from paddable.lengths import constant as length_constant
from paddable.padding.deduce.scope import BATCH, Scope
from paddable.padding.facts.axes import Axes, Axis, Factor, axis_size, flatten, row_axis
from paddable.padding.facts.facts import Affine, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, Kind, constant, scalar
from paddable.padding.facts.numbers import Face, Number, Product, number
from paddable.padding.remedies import Fill, GiveRows, Remedy, Segment, Take, UseLength, UseSize

__all__ = ["NoProof", "RuleContext", "merge_axis", "window_shift"]


_NO_ROWS = "what depends on the length has no batch axis here, and each row has a length of its own"


_RUNS = 16
"""Runs of time in one axis that one gather closes up."""


class NoProof(Exception):
    """A rule found no proof: the reason and, if known, the rewrite that would help."""

    def __init__(self, reason: str, fix: str = "") -> None:
        super().__init__(reason)
        self.reason, self.fix = reason, fix


@dataclass
class RuleContext:
    """A node with the facts of its operands.

    Attributes:
        node: the node; rules read attributes only.
        version: opset version of the node's domain.
        operands: facts per input, None for an absent optional input.
        scope: the domain and its decisions.
        constants: input position to constant array, where the input is an initialiser.
        shapes: positions of the inputs that were read as shapes.
    """

    node: ir.Node
    version: int
    operands: list[Facts | None]
    scope: Scope
    constants: dict[int, np.ndarray]
    remedies: list[Remedy] = field(default_factory=list)
    shapes: set[int] = field(default_factory=set)

    # -- reading -----------------------------------------------------------------------------------------------

    @property
    def type(self) -> str:
        return self.node.op_type

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute's Python value, or the default."""
        found = self.node.attributes.get(name)
        return default if found is None else found.value

    def is_read(self, output: int) -> bool:
        """Whether an output is there and a node, or the caller, reads it."""
        found = self.node.outputs[output : output + 1]
        return any(value.is_graph_output() or value.uses() for value in found)

    def present(self, index: int) -> bool:
        return index < len(self.operands) and self.operands[index] is not None

    def constant(self, index: int) -> np.ndarray | None:
        """The operand as a constant array, None when it is computed or absent."""
        return self.constants.get(index)

    def peek(self, index: int) -> Facts:
        """The operand's facts as they stand, with neither face chosen. Only for symbolic evaluation."""
        value = self.operands[index]
        if value is None:
            self.refuse(f"input {index} of {self.type} is missing")
        return value

    def data(self, index: int, *, row_axis: int | None = None, shifted: bool = False) -> Facts:
        """The operand used as data: correct on its valid part.

        Numbers computed from shapes are emitted again from the run-time length (PAD106).

        Args:
            index: the input.
            row_axis: the axis, counted from the right, in which the result has the batch; allows one value a row.
            shifted: accept a value whose valid part does not start at index 0.
        """
        value = self.settle(index)
        content = value.content
        counts_rows = isinstance(content, Affine) and any(value.atoms[i].batch for i, _ in content.coefficients)
        if counts_rows or value.own_row is not None:
            self.refuse("a row's place in the batch is used as data, and native has one row", "export with batch 1")
        if content is not None and self.depends_on_sizes(value):
            value = self._use_length(index, value, content, row_axis, shifted)
        if not shifted and any(not atom.prefix for atom in value.atoms):
            value = self.align(index, value, row_axis)
        return value

    def replace(self, index: int, value: Facts) -> Facts:
        """Take other facts for an operand: the same tensor, seen through other axes or after a remedy."""
        self.operands[index] = value
        return value

    def settle(self, index: int) -> Facts:
        """Force a pending remedy: this use reads the steps that are still wrong."""
        value = self.peek(index)
        if value.pending is not None:
            value.pending.token.commit()
            value = replace(value, pending=None)
            self.operands[index] = value
        return value

    def depends_on_sizes(self, value: Facts) -> bool:
        """Whether the contents are known, and are native's at the container's length instead of at each row's."""
        content = value.content
        return content is not None and content.face in (Face.SIZE, Face.MIXED) and not self._stable(content)

    def _stable(self, content: Elements | Affine) -> bool:
        numbers = content.array.flat if isinstance(content, Elements) else [content.base]
        for found in numbers:
            if found is None or found.face is Face.MIXED:
                return False
            if found.is_constant:
                continue
            length = found.integer
            if length is None or self.scope.domain.is_constant(length) is None:
                return False
        return True

    def _use_length(
        self, index: int, value: Facts, content: Elements | Affine, row_axis: int | None, shifted: bool
    ) -> Facts:
        if shifted and isinstance(content, Affine) and len(content.coefficients) == 1:
            moved = self._shift_of(value, content)
            if moved is not None and not self.scope.single_row and self._is_suffix(moved):
                moved = None  # a suffix has to be aligned, which needs the rows
            if moved is not None:
                self.operands[index] = moved
                return moved
        if isinstance(content, Elements) and any(x is None for x in content.array.flat):
            self.refuse("a value computed from shapes is used as data and is not known symbolically")
        if self.rows.symbols & _symbols(content):
            self.refuse("the number of rows is used as data, and native has one row at a time", "export with batch 1")
        axes = value.axes
        if not self.scope.single_row:
            content = value.progression or content
            own = axes[len(axes) - row_axis] if row_axis is not None and len(axes) >= row_axis else ()
            spread = own == self.scope.axis(self.rows)  # each row has its own already: the length of its mask
            if row_axis is None or (own and not spread):
                self.refuse(_NO_ROWS, "export with batch 1, or compute the length per row")
            axes = ((),) * (row_axis - len(axes)) + axes
            place = len(axes) - row_axis
            inserted = sum(len(axis) for axis in axes[:place])
            axes = (*axes[:place], self.scope.axis(self.rows), *axes[place + 1 :])
            if isinstance(content, Affine) and not spread:  # atoms behind the batch are counted one further
                behind = tuple((i + (i >= inserted), c) for i, c in content.coefficients)
                content = Affine(content.base, behind)
        self.ask(
            UseLength(
                "PAD106", "a length computed from the container's size is used as data", index, content, axes, row_axis
            )
        )
        kind = FINITE
        if isinstance(content, Affine) and content.coefficients:  # it counts on to the container's end, beyond native's
            if value.is_integer:  # the bounds are those of the valid part, which may be an index
                kind = ANY
            else:
                content = Affine(replace(content.base, face=Face.LENGTH), content.coefficients)
        low, high = self.bounds(content, axes)
        pads = tuple(PaddingFact.of(kind) for axis in axes for _ in axis)
        value = Facts(value.dtype, axes, pads, None, low, high, finite=True, masked=False)
        self.operands[index] = value
        return value

    @property
    def rows(self) -> Length:
        return symbol(BATCH)

    def _shift_of(self, value: Facts, content: Affine) -> Facts | None:
        """Keep the physical vector base(C) + c*i and move the valid part instead: base(n) + c*i sits at i + k(C-n)."""
        ((position, coefficient),) = content.coefficients
        atom = value.atoms[position]
        base = content.base
        if not isinstance(base.length, Length) or base.face is not Face.SIZE or not atom.ragged:
            return None
        if base.divisor != 1 or abs(coefficient) != 1:
            return None
        shift = window_shift(self.scope, base.length if coefficient < 0 else -base.length, atom.size)
        if shift is None:
            return None
        axes = _replace_atom(value.axes, position, replace(atom, shift=shift))
        low, high = self.bounds(content, value.axes)
        pads = tuple(PaddingFact.of(FINITE) for _ in value.atoms)
        return Facts(value.dtype, axes, pads, None, low, high, finite=True, masked=False)

    @staticmethod
    def _is_suffix(value: Facts) -> bool:
        return any(not atom.prefix and (atom.size - atom.shift).is_constant for atom in value.atoms)

    def align(self, index: int, value: Facts, row_axis: int | None = None) -> Facts:
        """Move a shifted valid part to the front by a run-time gather, of each row's own where ``row_axis`` says so."""
        alike = self.scope.single_row or any(atom.batch for atom in value.atoms)
        if row_axis is not None and not alike:
            value = self.give_rows(index, value, row_axis)
        for axis in range(value.rank):
            for atom in value.axes[axis]:
                if atom.prefix:
                    continue
                if len(value.axes[axis]) != 1:
                    self.refuse("the valid part of a merged axis is not a prefix")
                segments = (Segment(length_constant(0), -atom.shift, atom.shift),)
                value = self.take(
                    index,
                    axis,
                    atom.size,
                    segments,
                    "PAD105",
                    "the valid part is counted from the end of the container",
                )
        return value

    def give_rows(self, index: int, value: Facts, row_axis: int) -> Facts:
        """A table repeated for every row, the batch ``row_axis`` from the right: each row reads another part of it."""
        added = max(0, row_axis - value.rank)
        axes = ((),) * added + value.axes
        place = len(axes) - row_axis
        if axes[place]:
            self.refuse(_NO_ROWS, "export with batch 1, or compute it per row")
        before = sum(len(axis) for axis in axes[:place])
        axes = (*axes[:place], self.scope.axis(self.rows), *axes[place + 1 :])
        pads = (*value.pads[:before], PaddingFact.of(ANY), *value.pads[before:])
        self.ask(GiveRows("", "each row reads another part of a table", index, axes, added))
        return self.replace(index, replace(value, axes=axes, pads=pads, content=None, diagonal=None))

    def sizes(self, index: int) -> list[Number]:
        """The operand used as a shape: its elements, with the container's face (lengths are emitted as sizes)."""
        value = self.peek(index)
        self.shapes.add(index)
        content = value.content
        if isinstance(content, Affine):
            count = math.prod(_known(axis_size(a)) or 0 for a in value.axes) if value.axes else 1
            if content.coefficients or (value.axes and not count):
                self.refuse("a shape is computed from an index vector", "compute the size from x.shape")
            content = Elements(np.array([content.base] * count, dtype=object))
        if content is None or any(x is None for x in content.array.flat):
            self.refuse(
                "a size is computed from data, or from lengths in a way that is not an expression of the input length",
                "write the operation with a mask instead of a size (see PAD190)",
            )
        if content.face in (Face.LENGTH, Face.MIXED):
            if any(isinstance(x.length, Product) for x in content.array.flat):
                self.refuse("a size is a product of run-time lengths")
            self.ask(UseSize("", "a shape is computed from the length input", index, content))
            content = Elements(
                np.array(
                    [number(x.length, Face.SIZE) if x.divisor == 1 else x for x in content.array.flat], dtype=object
                )
            )
        return list(content.array.flat)

    def integers(self, index: int) -> list[int] | None:
        """The operand as constant integers, None when it is absent; a varying one is refused."""
        if not self.present(index):
            return None
        numbers = self.sizes(index)
        if not all(x.is_constant for x in numbers):
            self.refuse(
                f"input {index} of {self.type} varies with the length",
                f"export the model with a constant there, or compute what {self.type} makes from a mask over the steps",
            )
        return [int(x.fraction) for x in numbers]

    def bounds(self, content: Elements | Affine, axes: Axes) -> tuple[float, float]:
        """Bounds of a known content over the domain, in the container's padding too."""
        if isinstance(content, Affine) and content.coefficients:
            return self._affine_bounds(content, axes)
        numbers = [content.base] if isinstance(content, Affine) else list(content.array.flat)
        lows, highs = [], []
        for found in numbers:
            if found is None or isinstance(found.length, Product):
                return -math.inf, math.inf
            low, high = self.scope.domain.bounds(found.length)
            lows.append(-math.inf if low is None else low / found.divisor)
            highs.append(math.inf if high is None else high / found.divisor)
        return (min(lows), max(highs)) if lows else (-math.inf, math.inf)

    def _affine_bounds(self, content: Affine, axes: Axes) -> tuple[float, float]:
        base, atoms = content.base, [atom for axis in axes for atom in axis]
        if not isinstance(base.length, Length):
            return -math.inf, math.inf
        scale = math.lcm(base.divisor, *(c.denominator for _, c in content.coefficients))
        start = base.length * (scale // base.divisor)
        steps = [((atoms[i].size - 1) * int(c * scale), c > 0) for i, c in content.coefficients]
        lows = [start, *(length for length, rises in steps if not rises)]
        highs = [start, *(length for length, rises in steps if rises)]
        if base.face in (Face.CONSTANT, Face.SIZE):  # base and indices belong to one length: native's tensor at C
            lows, highs = [sum(lows[1:], lows[0])], [sum(highs[1:], highs[0])]
        low = [self.scope.domain.bounds(length)[0] for length in lows]
        high = [self.scope.domain.bounds(length)[1] for length in highs]
        return (
            -math.inf if any(x is None for x in low) else sum(x for x in low if x is not None) / scale,
            math.inf if any(x is None for x in high) else sum(x for x in high if x is not None) / scale,
        )

    # -- remedies ----------------------------------------------------------------------------------------------

    def ask(self, remedy: Remedy) -> None:
        if isinstance(remedy, Fill):  # a mask is spread inside an axis that is joined with the rows, a gather is not
            has_rows = any(atom.batch for atom in flatten(remedy.axes))
        else:
            has_rows = not isinstance(remedy, Take) or row_axis(remedy.axes) is not None
        if not (has_rows or self.scope.single_row):
            self.refuse(_NO_ROWS, "export with batch 1, or compute it per row")
        self.remedies.append(remedy)

    def fill(
        self, index: int, atoms: Iterable[int], value: float, code: str, leak: str, *, scalar_input: int | None = None
    ) -> Facts:
        """Ask for the padding of an operand to be filled along some atoms, and return its facts afterwards.

        Nothing is asked for where the padding has the value already: along one atom the weak fact suffices, along
        several each needs the strong one. With ``scalar_input``, the one element of that input stands for the value.
        """
        operand = self.peek(index)
        kind = constant(value) if scalar_input is None else self.scalar_kind(scalar_input)
        ragged = [i for i in atoms if operand.atoms[i].ragged]
        facts = {i: operand.pads[i].weak if ragged == [i] else operand.pads[i].strong for i in ragged}
        wanted = tuple(i for i, fact in facts.items() if not fact.equals(kind))
        if wanted:
            self.ask(Fill(code, leak, index, operand.axes, wanted, value, scalar_input))
            operand = operand.with_fill(wanted, kind)
            self.operands[index] = operand
        return operand

    def scalar_kind(self, index: int) -> Kind:
        """The kind of what equals the one element of an input everywhere."""
        source = self.node.inputs[index]
        assert source is not None and source.name
        return scalar(source.name)

    def take(
        self,
        index: int,
        axis: int,
        size: Length,
        segments: Sequence[Segment],
        code: str,
        leak: str,
        *,
        instead: bool = False,
    ) -> Facts:
        """Ask for a run-time gather along one axis of an operand, and return its facts afterwards."""
        operand = self.peek(index)
        if len(operand.axes[axis]) > 1:
            self.refuse("a run-time gather along a merged axis")
        source = axis_size(operand.axes[axis])
        assert isinstance(source, Length)
        self.ask(Take(code, leak, index, axis, operand.axes, size, source, tuple(segments), instead=instead))
        new_axis = self.scope.axis(size)
        axes = (*operand.axes[:axis], new_axis, *operand.axes[axis + 1 :])
        pads: list[PaddingFact] = []
        finite = operand.everywhere.finite
        for position, old in enumerate(operand.axes):
            if position == axis:
                pads += [PaddingFact.of(FINITE if finite else ANY) for _ in new_axis]
            else:
                pads += [operand.pads[i] for i in operand.span(position)][: len(old)]
        taken = replace(operand, axes=axes, pads=tuple(pads), content=None, pending=None, diagonal=None, image=False)
        self.operands[index] = taken
        return taken

    # -- decisions ---------------------------------------------------------------------------------------------

    def refuse(self, reason: str, fix: str = "") -> NoReturn:
        """No proof: stop with a reason that names this node."""
        raise NoProof(reason, fix)

    def keep_rows_apart(self, atoms: Iterable[Factor], what: str) -> None:
        """Refuse to act along the batch: native never sees two rows together, and each has a length of its own."""
        if any(atom.batch for atom in atoms):
            self.refuse(f"{what} the batch mixes rows of different lengths", "act along another axis, or use batch 1")

    def need(self, length: Length, reason: str, fix: str = "") -> None:
        """State that ``length >= 0``; the model's domain shrinks to where it holds, or it is refused with a fix."""
        if not self.scope.need(length, reason):
            where = "at no length" if self.scope.never(length) else "at some lengths and not at others between them"
            self.refuse(f"{reason}: {length} >= 0 holds {where}", fix)

    def need_steps(self, value: Facts, axes: Iterable[int], reader: str = "") -> None:
        """State that some axes of a value are not empty at any accepted length."""
        for axis in axes:
            for atom in value.axes[axis]:
                if atom.ragged and not self.scope.has_steps(atom.size):
                    self.need(atom.size - 1, f"{reader or self.type} needs at least one of {atom.size} steps")

    def axis(self, size: Length | Product | int) -> Axis:
        return self.scope.axis(size)

    def prefix_axis(self, index: int, axis: int) -> Facts:
        """The operand with the atoms of one axis merged to a single one, its padding a suffix."""
        value = self.data(index)
        merged = merge_axis(self.scope, value, axis)
        return self._in_order(index, value, axis) if merged is None else merged

    def _in_order(self, index: int, value: Facts, axis: int) -> Facts:
        """Several runs of time in one axis (x repeated twice), each with its padding behind it: one gather closes the
        gaps."""
        atoms = value.axes[axis]
        place = next((k for k, atom in enumerate(atoms) if not atom.fixed), len(atoms))
        runs = math.prod(atom.size.constant for atom in atoms[:place])
        (time, *rest), inside = atoms[place:] or (None,), [atom.size for atom in atoms[place + 1 :]]
        if time is None or not (time.ragged and time.prefix and all(atom.fixed for atom in rest)) or runs > _RUNS:
            self.refuse(
                "padding is interleaved with valid steps on this axis",
                "keep time an axis of its own here: act on one axis after the other, or bring time in front first",
            )
        each = time.size * math.prod(size.constant for size in inside)
        whole = self.scope.axis(each * runs)
        span = value.span(axis)
        pad = PaddingFact.of(FINITE if value.everywhere.finite else ANY)
        pads = (*value.pads[: span.start], *(pad for _ in whole), *value.pads[span.stop :])
        axes = (*value.axes[:axis], whole, *value.axes[axis + 1 :])
        self.replace(index, replace(value, axes=axes, pads=pads, content=None, diagonal=None, image=False))
        segments = [Segment(each * k, each * -k, each * k) for k in range(runs)]
        leak = "what follows a run of steps in the same axis stands behind its padding"
        return self.take(index, axis, each * runs, segments, "PAD105", leak)

    def length_of(self, axis: Axis) -> Length:
        size = axis_size(axis)
        if isinstance(size, Product):
            self.refuse("an axis is a product of lengths")
        return size

    def decided(self, condition: Any) -> bool:
        """Evaluate a domain decision, undecidable counting as no."""
        try:
            return bool(condition())
        except Undecided:
            return False


def window_shift(scope: Scope, position: Length, size: Length) -> Length | None:
    """The shift of a window of ``size`` whose start moves by ``position(C) - position(n)``, if it is one.

    The valid part lies inside the container when both the shift and what remains behind it grow with the length.
    """
    shift = scope.simplify(position)
    shift = shift - shift.offset
    symbols = size.symbols | shift.symbols
    grows = all(scope.domain.monotone(part, name) for part in (shift, size - shift) for name in symbols)
    return shift if grows and not shift.is_constant else None


def merge_axis(scope: Scope, value: Facts, axis: int) -> Facts | None:
    """Merge ``(R, constants...)`` to one prefix atom; None when a constant or the batch stands in front of R."""
    atoms = value.axes[axis]
    if len(atoms) <= 1:
        return value
    span = value.span(axis)
    if any(a.batch for a in atoms):
        return None
    if all(a.fixed for a in atoms):
        merged = Factor(length_constant(math.prod(a.size.constant for a in atoms)))
        pad = PaddingFact.of(ANY)
    elif atoms[0].ragged and atoms[0].prefix and all(a.fixed for a in atoms[1:]):
        scale = math.prod(a.size.constant for a in atoms[1:])
        merged = Factor(scope.simplify(atoms[0].size * scale), ragged=True)
        pad = value.pads[span[0]]
    else:
        return None
    pads = (*value.pads[: span.start], pad, *value.pads[span.stop :])
    axes = (*value.axes[:axis], (merged,), *value.axes[axis + 1 :])
    return replace(value, axes=axes, pads=pads, content=None, diagonal=None)


def _replace_atom(axes: Axes, position: int, atom: Factor) -> Axes:
    result, count = [], 0
    for axis in axes:
        result.append(tuple(atom if count + k == position else old for k, old in enumerate(axis)))
        count += len(axis)
    return tuple(result)


def _symbols(content: Elements | Affine) -> frozenset[str]:
    numbers = [content.base] if isinstance(content, Affine) else list(content.array.flat)
    lengths = [found.length for found in numbers if found is not None]
    factors = [factor for each in lengths for factor in (each.factors if isinstance(each, Product) else (each,))]
    return frozenset().union(*(factor.symbols for factor in factors))


def _known(size: Length | Product) -> int | None:
    return size.constant if isinstance(size, Length) and size.is_constant else None
