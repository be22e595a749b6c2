"""Normalisation (PAD101).

Passes: LayerNormalization, BatchNormalization and their kind over channels: each step depends on itself alone.
Needs: statistics over time from the valid steps, in two passes; LpNormalization over time needs zeros in the padding.
Refuses: LayerNormalization over time, whose weights have one length, and training mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paddable.padding.deduce.broadcast import broadcast, pads_of
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, FINITE, Kind
from paddable.padding.remedies.forms import MaskedNormalisation

__all__: list[str] = []

_LEAK = "mean and variance over time count the padding"


def _weights_finite(context: RuleContext, first: int = 1) -> bool:
    """Whether scale, bias and statistics are."""
    return all(value.finite for value in context.operands[first:] if value is not None)


def _framewise(context: RuleContext, value: Facts) -> Facts:
    """Each padding step depends on itself alone; an epsilon keeps it finite, and far above a mask's fill."""
    weights = _weights_finite(context)

    def kind_at(region: tuple[int, ...]) -> Kind:
        return FINITE if weights and value.kind(region).finite else ANY

    pads = pads_of(value.axes, kind_at)
    return Facts(value.dtype, value.axes, pads, finite=weights and value.finite, masked=False)


@rule("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
def layer_normalisation(context: RuleContext) -> Sequence[Facts | None]:
    value = context.data(0)
    axis = context.attribute("axis", -1) % value.rank
    atoms = [i for a in range(axis, value.rank) for i in value.span(a)]
    context.keep_rows_apart((value.atoms[i] for i in atoms), "a normalisation over")
    if any(value.atoms[i].ragged for i in atoms):
        context.refuse(
            "LayerNormalization over time needs weights of the length", "normalise the channels, or use GroupNorm"
        )
    if context.is_read(1) or context.is_read(2):
        context.refuse(f"{context.type} with used statistics outputs")
    return [_framewise(context, value), *[None] * (len(context.node.outputs) - 1)]


@rule("SimplifiedLayerNormalization", domain="com.microsoft")
def simplified_layer_normalisation(context: RuleContext) -> Sequence[Facts | None]:
    return layer_normalisation(context)


@rule("BatchNormalization")
def batch_normalisation(context: RuleContext) -> Sequence[Facts | None]:
    """Inference only: an affine map per channel, framewise."""
    if context.attribute("training_mode", 0) or len(context.node.outputs) > 1:
        context.refuse("BatchNormalization in training mode", "export the model in eval mode")
    value = context.data(0)
    if value.rank > 1 and any(a.ragged for a in value.axes[1]):
        context.refuse("BatchNormalization over time as channels")
    return [_framewise(context, value)]


@rule("InstanceNormalization", "GroupNormalization")
def instance_normalisation(context: RuleContext) -> Sequence[Facts | None]:
    value = context.data(0)
    reduced = list(range(2, value.rank))
    groups = 0
    atoms = [i for a in reduced for i in value.span(a)]
    if context.type == "GroupNormalization":
        groups = context.attribute("num_groups")
        atoms += list(value.span(1))
    ragged = [i for i in atoms if value.atoms[i].ragged]
    context.keep_rows_apart((value.atoms[i] for i in atoms), "a normalisation over")
    if not all(a.fixed for a in value.axes[1]):
        context.refuse("the channels vary with the length")
    if ragged:
        sizes = tuple(value.atoms[i].size for a in reduced for i in value.span(a))
        context.ask(
            MaskedNormalisation(
                "PAD101", _LEAK, value.axes, tuple(ragged), sizes,
                channels=context.length_of(value.axes[1]).constant,
                groups=groups,
                epsilon=float(context.attribute("epsilon", 1e-5)),
                grouped_scale=context.type == "GroupNormalization" and context.version < 21,
            )
        )  # fmt: skip
    kept = [i for i in range(len(value.atoms)) if i not in atoms]
    weights = _weights_finite(context)

    def kind_at(region: tuple[int, ...]) -> Kind:
        rows = [i for i in region if i in kept]
        read = value.kind(rows if ragged else region)  # the masked form fills the padding itself
        return FINITE if weights and read.finite else ANY

    pads = pads_of(value.axes, kind_at)
    return [Facts(value.dtype, value.axes, pads, finite=weights and value.finite, masked=False)]


@rule("LpNormalization")
def vector_normalisation(context: RuleContext) -> Sequence[Facts | None]:
    """x / |x|: zeros in the padding leave the norm as it is."""
    value = context.data(0)
    atoms = list(value.span(context.attribute("axis", -1) % value.rank))
    context.keep_rows_apart((value.atoms[i] for i in atoms), "a normalisation over")
    ragged = [i for i in atoms if value.atoms[i].ragged]
    if ragged:
        value = context.fill(0, ragged, 0.0, "PAD101", "the norm over time counts the padding")
    kinds = pads_of(value.axes, lambda region: ANY)
    return [Facts(value.dtype, value.axes, kinds, masked=False)]  # 0 / 0 where all is 0


@rule("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain="com.microsoft")
def skip_layer_normalisation(context: RuleContext) -> Sequence[Facts | None]:
    """x + skip (+ bias), then LayerNormalization over the last axis; output 3 is the sum."""
    for i in (0, 1):
        context.data(i)
    joined = broadcast(context, (0, 1))
    if any(not atom.fixed for atom in joined.axes[-1]):
        context.refuse(f"{context.type} over time", "normalise the channels")
    if context.is_read(1) or context.is_read(2):
        context.refuse(f"{context.type} with used statistics outputs")
    weights = _weights_finite(context, 2)

    def kind_at(region: tuple[int, ...]) -> Kind:
        return FINITE if weights and all(kind.finite for kind in joined.kinds(region)) else ANY

    finite = weights and all(value.finite for value in joined.values)
    pads = pads_of(joined.axes, kind_at)
    result = Facts(joined.values[0].dtype, joined.axes, pads, finite=finite, masked=False)
    added = replace(result, masked=any(value.masked for value in joined.values))
    return [result, None, None, added][: len(context.node.outputs)]
