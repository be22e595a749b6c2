"""Windows over time: Conv, ConvTranspose, pooling, STFT (PAD102, PAD107).

Passes: windows of which no valid one reads past the valid end; STFT, whose frames never do.
Needs: where one does, what native finds there in the padding: 0 for a convolution, the lowest number for a maximum,
nothing that is counted for an average.
Refuses: channels or weights that vary with the length, SAME with a stride, a pool whose last window runtimes count
differently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from paddable.lengths import Length, minimum
from paddable.padding.deduce.broadcast import pads_of, same_axis
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.zero_point import Zero
from paddable.padding.facts.axes import Axis, subsets
from paddable.padding.facts.facts import Facts, PaddingFact, Pending
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind
from paddable.padding.remedies import Fill
from paddable.padding.remedies.forms import MaskedAveragePool, MaskedMean
from paddable.padding.rules.reduction import identity, lowest

__all__ = ["Window", "convolve", "output_axis", "spatial_value", "windows"]


@dataclass(frozen=True)
class Window:
    """One spatial axis of a window operator."""

    kernel: int
    stride: int
    dilation: int
    before: int
    after: int
    ceil: bool = False

    @property
    def extent(self) -> int:
        return self.dilation * (self.kernel - 1) + 1

    def size(self, length: Length) -> Length:
        padded = length + (self.before + self.after - self.extent)
        if not self.ceil:
            return padded // self.stride + 1
        return minimum(self.counted(length), (length + self.before).ceildiv(self.stride))

    def counted(self, length: Length) -> Length:
        """With ceil_mode, the windows that start anywhere, behind the input too."""
        return (length + (self.before + self.after - self.extent)).ceildiv(self.stride) + 1

    def last_read(self, outputs: Length) -> Length:
        """The largest input index that the last output reads."""
        return (outputs - 1) * self.stride + (self.extent - 1 - self.before)


def windows(context: RuleContext, value: Facts, kernel: Sequence[int]) -> list[Window]:
    """The spatial axes' windows from the attributes, ``auto_pad`` resolved."""
    rank = value.rank - 2
    strides = list(context.attribute("strides") or [1] * rank)
    dilations = list(context.attribute("dilations") or [1] * rank)
    pads = list(context.attribute("pads") or [0] * 2 * rank)
    mode = str(context.attribute("auto_pad", "NOTSET") or "NOTSET")
    ceil = bool(context.attribute("ceil_mode", 0))
    result = []
    for k in range(rank):
        before, after = pads[k], pads[rank + k]
        if mode.startswith("SAME"):
            before, after = _same(context, value, k, kernel[k], strides[k], dilations[k], mode)
        elif mode == "VALID":
            before = after = 0
        result.append(Window(kernel[k], strides[k], dilations[k], before, after, ceil))
    return result


def _same(
    context: RuleContext, value: Facts, k: int, kernel: int, stride: int, dilation: int, mode: str
) -> tuple[int, int]:
    size = value.size(k + 2)
    extent = dilation * (kernel - 1) + 1
    if stride == 1:
        total = extent - 1
    elif isinstance(size, Length) and size.is_constant:
        total = max(0, (-(-size.constant // stride) - 1) * stride + extent - size.constant)
    else:
        context.refuse(
            f"auto_pad={mode} with stride {stride} pads by an amount that depends on the length",
            "pad by constants: SAME changes the phase of the windows with the length",
        )
    small = total // 2
    return (small, total - small) if mode == "SAME_UPPER" else (total - small, small)


def spatial_value(context: RuleContext) -> Facts:
    """The input with one atom per ragged spatial axis; ragged channels are refused."""
    value = context.data(0)
    if value.rank < 3:
        context.refuse(f"{context.type} on a tensor of rank {value.rank}")
    if any(a.ragged or a.batch for a in value.axes[1]):
        context.refuse("the channels vary with the length")
    for axis in range(2, value.rank):
        if any(a.ragged for a in value.axes[axis]):
            value = context.prefix_axis(0, axis)
            context.replace(0, value)
        else:
            context.keep_rows_apart(value.axes[axis], "a window over")
    return value


def output_axis(context: RuleContext, size: Length) -> Axis:
    """The axis of a result of ``size`` windows, of which native needs one."""
    if not size.is_constant:
        context.need(size - 1, f"{context.type} needs an input of at least one window, {size} must be positive")
    elif size.constant <= 0:
        context.refuse("the window is longer than the input")
    return context.axis(size)


def window_kinds(
    value: Facts, out_rank_atoms: Sequence[tuple[int, bool]], *, weights: bool = True
) -> Callable[[tuple[int, ...]], Kind]:
    """Kind of a region of a windowed result: spatial indices may read valid steps and padding alike.

    Args:
        out_rank_atoms: per result factor, the source factor and whether it is spatial.
        weights: the weights are finite.
    """
    spatial = [source for source, is_spatial in out_rank_atoms if is_spatial and source >= 0]

    def kind_at(region: tuple[int, ...]) -> Kind:
        fixed = [out_rank_atoms[i][0] for i in region if not out_rank_atoms[i][1]]
        moving = [out_rank_atoms[i][0] for i in region if out_rank_atoms[i][1]]
        if not moving:
            return FINITE if weights and value.kind(fixed).finite else ANY
        kinds = [value.kind([*fixed, *extra]) for extra in subsets(spatial)]
        return FINITE if weights and all(k.finite for k in kinds) else ANY

    return kind_at


def atom_sources(value: Facts, out_axes: Sequence[Axis], channel_axis: int = 1) -> list[tuple[int, bool]]:
    """Per result atom its source atom (-1 for channels) and whether it is spatial."""
    sources: list[tuple[int, bool]] = []
    for position, axis in enumerate(out_axes):
        span = list(value.span(position)) if position < value.rank else []
        for k in range(len(axis)):
            if position == channel_axis or k >= len(span):
                sources.append((-1, False))
            else:
                sources.append((span[k], position >= 2))
    return sources


@rule("Conv")
def convolution(context: RuleContext) -> Sequence[Facts | None]:
    return [convolve(context, 1, bias=context.present(2))]


@rule("FusedConv", domain="com.microsoft")
def fused_convolution(context: RuleContext) -> Sequence[Facts | None]:
    """activation(convolution + sum)."""
    result = convolve(context, 1, bias=True)
    if not context.present(3):
        return [result]
    added = context.data(3)
    if added.rank != result.rank or not all(
        same_axis(context.scope, a, b) for a, b in zip(result.axes, added.axes, strict=True)
    ):
        context.refuse("FusedConv adds what is not of its result's shape at every length")

    def kind_at(region: tuple[int, ...]) -> Kind:
        return FINITE if result.kind(region).finite and added.kind(region).finite else ANY

    finite, masked = result.finite and added.finite, result.masked or added.masked
    return [replace(result, pads=pads_of(result.axes, kind_at), finite=finite, masked=masked)]


def convolve(context: RuleContext, weights: int, *, bias: bool = False, zero: Zero | None = None) -> Facts:
    """Facts of a convolution of input 0.

    Args:
        context: the node and its operands.
        weights: the input that holds the weights.
        bias: whether something is added to each output.
        zero: what stands for 0 in an operand of codes, whose results are codes of their own.
    """
    value = spatial_value(context)
    weight = context.data(weights)
    if weight.ragged:
        context.refuse("a convolution with weights that vary with the length")
    kernel = [int(_constant(context, weight, k + 2)) for k in range(value.rank - 2)]
    found = windows(context, value, kernel)
    axes: list[Axis] = [value.axes[0], context.axis(_constant(context, weight, 0))]
    overhanging = []
    for k, window in enumerate(found):
        length = context.length_of(value.axes[k + 2])
        size = context.scope.simplify(window.size(length))
        axes.append(output_axis(context, size))
        if any(a.ragged for a in value.axes[k + 2]) and not context.scope.at_most(window.last_read(size), length - 1):
            overhanging += list(value.span(k + 2))
    if overhanging:
        leak = "the window at the valid end reads the padding"
        value = (zero or Zero()).fill(context, 0, overhanging, "PAD102", leak)
    finite = _weights_finite(context)
    sources = atom_sources(value, axes)
    kinds = window_kinds(value, sources, weights=finite)
    if all(w.kernel == 1 and w.stride == 1 and w.before == w.after == 0 for w in found):

        def kinds(region: tuple[int, ...]) -> Kind:  # a result step reads one step, and is 0 where that is
            kind = value.kind([sources[i][0] for i in region])
            if not finite or not kind.finite:
                return ANY
            return ZERO if kind.is_zero and not bias and zero is None else FINITE

    pads = pads_of(tuple(axes), kinds)
    return Facts(value.dtype, tuple(axes), pads, finite=value.finite and finite, masked=value.masked)


def _weights_finite(context: RuleContext) -> bool:
    """Whether weights, biases and scales are."""
    return all(value.finite for value in context.operands[1:] if value is not None)


def _constant(context: RuleContext, value: Facts, axis: int) -> int:
    size = context.length_of(value.axes[axis])
    if not size.is_constant:
        context.refuse("the size of the weights varies")
    return size.constant


class _Deferred:
    """A zeroing that is placed only if something reads the steps that are wrong without it."""

    def __init__(self, context: RuleContext, remedy: Fill) -> None:
        self.context, self.remedy, self.done = context, remedy, False

    def commit(self) -> None:
        if not self.done:
            self.done = True
            self.context.ask(self.remedy)


@rule("ConvTranspose")
def transposed_convolution(context: RuleContext) -> Sequence[Facts | None]:
    value = spatial_value(context)
    weight = context.data(1)
    rank = value.rank - 2
    kernel = [_constant(context, weight, k + 2) for k in range(rank)]
    strides = list(context.attribute("strides") or [1] * rank)
    dilations = list(context.attribute("dilations") or [1] * rank)
    pads = list(context.attribute("pads") or [0] * 2 * rank)
    extra = list(context.attribute("output_padding") or [0] * rank)
    mode = str(context.attribute("auto_pad", "NOTSET") or "NOTSET")
    varies = any(a.ragged for axis in value.axes[2:] for a in axis)
    if (context.attribute("output_shape") or mode not in ("NOTSET", "VALID")) and varies:
        context.refuse("ConvTranspose with output_shape or auto_pad over time", "give explicit pads")
    channels = _constant(context, weight, 1) * context.attribute("group", 1)
    axes: list[Axis] = [value.axes[0], context.axis(channels)]
    leaks: list[tuple[int, int, Length]] = []
    for k in range(rank):
        before, after = (0, 0) if mode == "VALID" else (pads[k], pads[rank + k])
        extent = dilations[k] * (kernel[k] - 1) + 1
        length = context.length_of(value.axes[k + 2])
        size = context.scope.simplify((length - 1) * strides[k] + (extra[k] + extent - before - after))
        axes.append(output_axis(context, size))
        # input step n first reaches output n*s - before; native's outputs end at size
        overlap = extent - after + extra[k] - strides[k]
        if overlap > 0 and any(a.ragged for a in value.axes[k + 2]):
            leaks.append((k + 2, overlap, size))
    pending = None
    leak = "the padding's first steps overlap the valid end"
    if len(leaks) == 1 and not value.pads[value.span(leaks[0][0]).start].weak.is_zero:
        axis, overlap, size = leaks[0]
        atom = value.span(axis).start
        token = _Deferred(context, Fill("PAD102", leak, 0, value.axes, (atom,), 0.0))
        place = sum(len(a) for a in axes[:axis])
        pending = Pending(place, context.scope.simplify(size - overlap), token)
        if not any(atom.ragged for atom in axes[axis]):
            token.commit()
            pending = None
    elif len(leaks) > 1:
        atoms = [i for axis, _, _ in leaks for i in value.span(axis)]
        value = context.fill(0, atoms, 0.0, "PAD102", leak)
    finite = _weights_finite(context)
    kinds = window_kinds(value, atom_sources(value, axes), weights=finite)
    facts = pads_of(tuple(axes), kinds)
    result = Facts(value.dtype, tuple(axes), facts, finite=value.finite and finite, masked=value.masked)
    return [replace(result, pending=pending)]


@rule("MaxPool", "AveragePool", "LpPool")
def pool(context: RuleContext) -> Sequence[Facts | None]:
    value = spatial_value(context)
    kernel = list(context.attribute("kernel_shape"))
    found = windows(context, value, kernel)
    # what ceil_mode reads behind the input is counted by no one; where nothing is padded, there is nothing to include
    included = context.attribute("count_include_pad", 0) and any(w.before or w.after for w in found)
    axes: list[Axis] = [value.axes[0], value.axes[1]]
    overhanging: list[int] = []
    for k, window in enumerate(found):
        length = context.length_of(value.axes[k + 2])
        size = context.scope.simplify(window.size(length))
        _agreed(context, window, length, size, included=bool(included))
        axes.append(output_axis(context, size))
        if any(a.ragged for a in value.axes[k + 2]) and not context.scope.at_most(window.last_read(size), length - 1):
            overhanging += list(value.span(k + 2))
    low, high = {"MaxPool": (value.low, value.high), "LpPool": (0.0, math.inf)}.get(
        context.type, (min(value.low, 0.0), max(value.high, 0.0))
    )
    if overhanging:
        if context.type == "MaxPool":
            fill = -math.inf if value.masked else lowest(value.dtype)
            value = context.fill(
                0, overhanging, identity(value.dtype, fill), "PAD107", "the maximum at the valid end sees the padding"
            )
        elif context.type == "AveragePool" and not included:
            leak = "the average at the valid end counts the padding"
            value = context.fill(0, overhanging, 0.0, "PAD102", leak)
            context.ask(MaskedAveragePool("PAD102", leak, value.axes, tuple(overhanging)))
        elif any(w.ceil for w in found):
            context.refuse(
                f"{context.type} with ceil_mode over the valid end",
                "runtimes differ in what the last window counts: use count_include_pad=False, or pad by constants",
            )
        else:
            value = context.fill(0, overhanging, 0.0, "PAD102", "the window at the valid end reads the padding")
    sources = atom_sources(value, axes, channel_axis=-1)
    kinds = window_kinds(value, sources)
    if context.type == "MaxPool" and overhanging:
        base = kinds

        def kinds(region: tuple[int, ...]) -> Kind:  # a window of padding alone is the fill: its square overflows
            return ANY if region else base(region)

    result = Facts(
        value.dtype, tuple(axes), pads_of(tuple(axes), kinds), None, low, high, finite=value.finite, masked=value.masked
    )
    outputs: list[Facts | None] = [result]
    if len(context.node.outputs) > 1:
        if value.ragged and context.is_read(1):
            context.refuse("MaxPool's flat indices depend on the container's size")
        outputs.append(
            replace(result, dtype=ir.DataType.INT64, pads=tuple(PaddingFact.of(FINITE) for _ in result.atoms))
        )
    return outputs


def _agreed(context: RuleContext, window: Window, length: Length, size: Length, *, included: bool = False) -> None:
    """A last window that would start behind the input is dropped by kernels, but counted by ONNX before opset 22."""
    if window.ceil and context.version < 22 and not context.scope.same(size, window.counted(length)):
        context.refuse(
            "ceil_mode drops a window, and shape inference before opset 22 counts it",
            f"export with opset 22{' and count_include_pad=False' if included else ''}, or with a stride no longer "
            "than the kernel less its padding",
        )


@rule("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")
def global_pool(context: RuleContext) -> Sequence[Facts | None]:
    value = context.data(0)
    atoms = [i for a in range(2, value.rank) for i in value.span(a)]
    ragged = [i for i in atoms if value.atoms[i].ragged]
    context.keep_rows_apart((value.atoms[i] for i in atoms), "a pool over")
    axes = (*value.axes[:2], *((),) * (value.rank - 2))
    if ragged and context.type == "GlobalAveragePool":
        leak = "the mean over time counts the padding"
        sizes = tuple(value.atoms[i].size for i in atoms)
        value = context.fill(0, ragged, 0.0, "PAD101", leak)
        context.ask(MaskedMean("PAD101", leak, tuple(range(2, value.rank)), True, sizes))
    elif ragged and context.type == "GlobalLpPool":
        value = context.fill(0, ragged, 0.0, "PAD101", "the norm over time counts the padding")
    elif ragged:
        fill = identity(value.dtype, -math.inf)
        value = context.fill(0, ragged, fill, "PAD107", "the maximum over time sees the padding")
    kept = [i for i in range(len(value.atoms)) if i not in atoms]

    def kind_at(region: tuple[int, ...]) -> Kind:
        return FINITE if value.kind([kept[i] for i in region]).finite else ANY

    pads = pads_of(axes, kind_at)
    low, high = (0.0, math.inf) if context.type == "GlobalLpPool" else (value.low, value.high)
    return [Facts(value.dtype, axes, pads, None, low, high, finite=value.finite, masked=value.masked)]


@rule("STFT")
def short_time_transform(context: RuleContext) -> Sequence[Facts | None]:
    """Frames never read past the end: (L - frame) // step + 1 of them."""
    context.data(0)
    steps, sizes = context.integers(1), context.integers(3)
    window = context.data(2) if context.present(2) else None
    if sizes is None and window is not None:
        size = window.size(0)
        sizes = [size.constant] if isinstance(size, Length) and size.is_constant else None
    if steps is None or sizes is None:
        context.refuse("STFT with a computed frame length")
    (step,), (frame,) = steps, sizes
    value = context.prefix_axis(0, 1)
    length = context.length_of(value.axes[1])
    frames = context.scope.simplify((length - frame) // step + 1)
    bins = frame // 2 + 1 if context.attribute("onesided", 1) else frame
    axes = (value.axes[0], output_axis(context, frames), context.axis(bins), context.axis(2))
    weights = window is None or window.finite
    finite, valid = weights and value.everywhere.finite, weights and value.finite
    pads = pads_of(axes, lambda region: FINITE if finite else ANY)
    return [Facts(value.dtype, axes, pads, finite=valid, masked=value.masked)]
