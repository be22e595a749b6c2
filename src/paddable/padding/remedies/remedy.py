"""The remedies as data. A rule asks for one; ``check`` prints it, ``convert`` applies it, a test can leave it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import onnx_ir as ir

from paddable.lengths import Length
from paddable.padding.facts.axes import Axes, Axis
from paddable.padding.facts.facts import Affine, Elements

if TYPE_CHECKING:
    from paddable.padding.remedies.emitter import Emitter

__all__ = [
    "Fill",
    "FromEnd",
    "GiveRows",
    "PadAll",
    "PadByOne",
    "Remedy",
    "Replace",
    "Segment",
    "SequenceLengths",
    "Spread",
    "Take",
    "UseLength",
    "UseSize",
]


@dataclass(frozen=True, eq=False)
class Remedy:
    """What to do at one node.

    Attributes:
        code: the finding's code; empty for a remedy that mends shapes and is no leak.
        leak: what leaks into what, in the user's words.
        operand: the node input concerned.
    """

    code: str
    leak: str
    operand: int

    @property
    def text(self) -> str:
        """The remedy in a few words, as reports print it."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Fill(Remedy):
    """``operand := Where(valid, operand, value)`` along some atoms. Masks select, they never multiply (0 * NaN).

    Attributes:
        scalar_input: the input of the node whose one element stands for ``value``: a zero point that is computed.
    """

    axes: Axes
    atoms: tuple[int, ...]
    value: float
    scalar_input: int | None = None

    @property
    def text(self) -> str:
        if self.scalar_input is not None:
            return "fill the padding with the zero point"
        return "zero the padding first" if self.value == 0 else f"fill the padding with {self.value:.6g}"


@dataclass(frozen=True, eq=False)
class UseLength(Remedy):
    """Emit a length-only operand again from the run-time lengths, because it is used as data.

    Attributes:
        row_axis: the axis that becomes the batch when each row has its own length, counted from the right.
    """

    content: Elements | Affine
    axes: Axes
    row_axis: int | None = None

    @property
    def text(self) -> str:
        return "substitute the run-time length"


@dataclass(frozen=True, eq=False)
class UseSize(Remedy):
    """Emit a shape operand from the container's size, because a shape cannot depend on run-time lengths."""

    content: Elements | Affine

    @property
    def text(self) -> str:
        return "size by the container"


class PadAll(UseSize):
    """Amounts of all axes of a Pad, whose list of axes goes."""

    @property
    def text(self) -> str:
        return "state the amounts of all axes"


class PadByOne(PadAll):
    """Amounts of one step, which a gather then reads as often as the run-time length asks for."""

    @property
    def text(self) -> str:
        return "pad by one step, gather by run-time index"


@dataclass(frozen=True, eq=False)
class FromEnd(Remedy):
    """``operand := Where(operand < 0, operand + size, operand)``: an index from the end counts from the valid end.

    Attributes:
        sizes: the native size of the axis that is read; of index tuples of each entry, None where it stays as it is.
        axes: of the operand.
    """

    sizes: tuple[Length | None, ...]
    axes: Axes

    @property
    def text(self) -> str:
        return "count from the run-time length"


@dataclass(frozen=True, eq=False)
class Spread(Remedy):
    """Put ``count`` axes of size 1 behind the batch in front of the operand, so that it broadcasts against rows.

    A negative count takes axes away.
    """

    count: int

    @property
    def text(self) -> str:
        return "align the rows"


@dataclass(frozen=True, eq=False)
class GiveRows(Remedy):
    """Repeat the operand for every row, each of which reads another part of it.

    Attributes:
        axes: of the operand afterwards.
        added: axes in front that it has not.
    """

    axes: Axes
    added: int

    @property
    def text(self) -> str:
        return "give every row its own"


@dataclass(frozen=True)
class Segment:
    """From output index ``start`` on, read ``base + step * index`` of the source.

    ``start`` and ``native`` are evaluated at n, ``physical`` at C: ``base = native(n) + physical(C)``.
    """

    start: Length
    native: Length
    physical: Length
    step: int = 1


@dataclass(frozen=True, eq=False)
class Take(Remedy):
    """Gather along one axis by a run-time index vector, clamped to the source.

    Attributes:
        axis: the axis of the operand (or of the output) that is read.
        size: the native size of the result; the container holds ``size`` at C.
        segments: the index map, piecewise affine.
        source: native size of the axis that is read.
        on_output: gather the node's first output instead of an operand.
        instead: the gather replaces the node (a reflecting Pad, a reversing Slice).
    """

    axis: int
    axes: Axes
    size: Length
    source: Length
    segments: tuple[Segment, ...]
    on_output: bool = False
    instead: bool = False
    output: int = 0

    @property
    def text(self) -> str:
        return "gather by run-time index"


@dataclass(frozen=True, eq=False)
class SequenceLengths(Remedy):
    """Give a recurrent operator its ``sequence_lens`` input, one for each entry of the batch axis."""

    size: Length
    batch: Axis

    @property
    def text(self) -> str:
        return "give the operator its sequence lengths"


@dataclass(frozen=True, eq=False)
class Replace(Remedy):
    """Replace the node by others, made of its first operand; see ``remedies/forms.py``."""

    operand: int = field(init=False, default=0)

    def emit(self, emitter: Emitter, node: ir.Node, x: ir.Value, axes: Axes) -> ir.Value | tuple[ir.Value, ...]:
        """Emit what stands for the node.

        Args:
            emitter: of the rewritten graph.
            node: it is removed afterwards.
            x: its first operand, with the remedies asked before this one.
            axes: of ``x``, merged axes included.

        Returns:
            What the readers of its output read from now on, or of each output, of several.
        """
        raise NotImplementedError
