"""The Fourier transform of each frame: DFT (an inverse one too).

Passes: a transformed axis of fixed size, which makes it a product with a constant matrix, framewise.
Needs: nothing.
Refuses: a transform along time, where every result depends on every step and on how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddable.padding.deduce.broadcast import pads_of
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.axes import flatten
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind

__all__: list[str] = []

_ALONG_TIME = "transform frames of a fixed size: STFT, or a transform of each row of a matrix of frames"


@rule("DFT")
def discrete_fourier_transform(context: RuleContext) -> Sequence[Facts | None]:
    value = context.data(0)
    axis = _axis(context, value.rank)
    context.keep_rows_apart(value.axes[axis], "a Fourier transform over")
    size = context.length_of(value.axes[axis])
    parts = context.length_of(value.axes[-1])
    if not (size.is_constant and parts.is_constant):
        context.refuse("a Fourier transform over an axis that varies with the length", _ALONG_TIME)
    given = context.integers(1)
    length = given[0] if given else size.constant
    inverse, onesided = bool(context.attribute("inverse", 0)), bool(context.attribute("onesided", 0))
    if inverse and onesided:
        context.refuse(
            "an inverse DFT with onesided=1, which ONNX defines since opset 20 only, and runtimes read apart"
        )
    axes = list(value.axes)
    axes[axis] = context.axis(length // 2 + 1 if onesided else length)
    axes[-1] = context.axis(2)
    # the atoms of the two fixed axes come and go; the ragged ones keep their order
    own = [i for i, atom in enumerate(value.atoms) if not atom.fixed]
    back = dict(zip((i for i, atom in enumerate(flatten(axes)) if not atom.fixed), own, strict=True))

    def kind_at(region: tuple[int, ...]) -> Kind:
        kind = value.kind([back[i] for i in region if i in back])
        return ZERO if kind.is_zero else FINITE if kind.finite else ANY

    pads = pads_of(tuple(axes), kind_at)
    return [Facts(value.dtype, tuple(axes), pads, finite=value.finite, masked=value.masked)]


def _axis(context: RuleContext, rank: int) -> int:
    """The transformed axis: an attribute before opset 20, then an input."""
    if context.version < 20:
        return int(context.attribute("axis", 1)) % rank
    listed = context.integers(2)
    return (listed[0] if listed else -2) % rank
