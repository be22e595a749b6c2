"""Declarations brought to the graph: which axis of which input is ragged, who holds lengths, where the batch is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import onnx_ir as ir

from paddable.errors import MisuseError, arguments
from paddable.lengths import Length, symbol
from paddable.lengths.declare import BatchAxis, LengthDeclaration, LengthInput, MaskInput
from paddable.padding.suggestion import suggest

__all__ = ["Declarations", "resolve"]


@dataclass(frozen=True)
class Declarations:
    """What the user declared, checked against the graph's inputs.

    Attributes:
        axes: input name to axis to length.
        length_inputs: input name to the length it holds.
        masks: input name to (axis, length) of inputs that are made from the lengths.
        symbols: the ragged symbols in order of declaration, each with the input and axis that defines it.
        batch: input and axis of the batch, None when there is none.
        batch_axes: the axis of the batch in each input for which it was declared; in another it is axis 0.
        rows: the batch size: an integer, or None when it stays symbolic.
        padding_masks: the masks among ``masks`` that are true at padding, not at valid steps.
        shortest: the shortest accepted length of a symbol, where the user asks for more than native needs.
        batch_assumed: nobody said that the batch is one; its axis has a fixed size above 1, which may be data too.
    """

    axes: Mapping[str, Mapping[int, Length]]
    length_inputs: Mapping[str, Length] = field(default_factory=dict)
    masks: Mapping[str, tuple[int, Length]] = field(default_factory=dict)
    symbols: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    batch: BatchAxis | None = None
    rows: int | None = 1
    batch_axes: Mapping[str, int] = field(default_factory=dict)
    shortest: Mapping[str, int] = field(default_factory=dict)
    padding_masks: Collection[str] = ()
    batch_assumed: bool = False

    @property
    def without_batch(self) -> Declarations:
        """The same, with no axis that counts rows."""
        return replace(self, batch=None, rows=1, batch_axes={}, batch_assumed=False)


def resolve(
    model: ir.Model,
    lengths: Sequence[LengthDeclaration],
    length_inputs: Sequence[LengthInput] = (),
    mask_inputs: Sequence[MaskInput] = (),
    batches: Sequence[BatchAxis] | None = (),
    batch_size: int | None = None,
    keep_dynamic: bool = False,
    shortest: Mapping[str, int] | None = None,
) -> Declarations:
    """Check declarations against the inputs.

    Args:
        model: the model.
        lengths: the ragged axes.
        length_inputs: inputs that hold lengths.
        mask_inputs: inputs that hold padding masks.
        batches: the batch axis of one or several inputs; the first says how large the batch is. Empty: axis 0 of the
            first ragged input. None: no axis counts rows.
        batch_size: of a symbolic batch axis.
        keep_dynamic: keep a symbolic batch axis.
        shortest: the shortest accepted length of some symbols.

    Raises:
        MisuseError: an unknown input, an axis that does not exist or has a fixed size, an undeclared dynamic axis, an
            undeclared length input; the message lists the dynamic axes and suggests the declaration.
    """
    inputs = {value.name or "": value for value in model.graph.inputs}
    axes: dict[str, dict[int, Length]] = {}
    for declared in lengths:
        value = _input(inputs, declared.input, "`lengths`")
        axis = _axis(value, declared.axis)
        size = value.shape[axis] if value.shape is not None else None
        if isinstance(size, int):
            raise MisuseError(
                f"axis {axis} has the fixed size {size}",
                where=arguments(lengths=[f"{declared.input}:{declared.axis}"]),
                why="a length can only be declared for an axis that varies",
                fix=f"export the model with axis {axis} of {declared.input} dynamic",
            )
        other = axes.setdefault(declared.input, {}).setdefault(axis, declared.length)
        if other != declared.length:
            raise MisuseError(
                f"axis {axis} of {declared.input} is declared as {other} and as {declared.length}",
                where="`lengths`",
                fix="keep the one that is true",
            )
    if not axes:
        raise MisuseError("nothing is declared with `lengths`", why=_dynamic(inputs), fix=_suggestion(inputs))
    held: dict[str, Length] = {}
    for item in length_inputs:
        _input(inputs, item.name, "`length_inputs`")
        if held.get(item.name, item.length) != item.length:
            raise MisuseError(
                f"{item.name} is declared to hold {held[item.name]} and {item.length}",
                where="`length_inputs`",
                fix="keep the one that is true",
            )
        held[item.name] = item.length
    masks = {}
    for mask in mask_inputs:
        value = _input(inputs, mask.name, "`mask_inputs`")
        if mask.name in axes:
            raise MisuseError(
                f"{mask.name} is declared with `lengths` and with `mask_inputs`",
                why="a mask input is dropped and made from the lengths; what has a length of its own is data",
                fix="keep one of the two",
            )
        masks[mask.name] = (_axis(value, mask.axis), mask.length)
    symbols: dict[str, tuple[str, int]] = {}
    for declared in lengths:
        axis = _axis(inputs[declared.input], declared.axis)
        for name in sorted(declared.length.symbols):
            if declared.length == symbol(name):
                symbols.setdefault(name, (declared.input, axis))
    for declared in lengths:
        missing = declared.length.symbols - set(symbols)
        if missing:
            raise MisuseError(
                f"the symbol {sorted(missing)[0]} is not the size of any axis by itself",
                where=arguments(lengths=[f"{declared.input}:{declared.axis}={declared.length}"]),
                fix=f"declare an axis that has exactly {sorted(missing)[0]} steps",
            )
    for name, length in [*held.items(), *((n, m[1]) for n, m in masks.items())]:
        if length.symbols - set(symbols):
            raise MisuseError(
                f"{name} holds {length}, and `lengths` does not declare {sorted(length.symbols - set(symbols))[0]}"
            )
    for name in ("ilens", *(f"ilens_{s}" for s in symbols)):
        if name in inputs and name not in held and name not in masks:
            raise MisuseError(
                f"the model has an input called {name} that is not declared",
                why="the length input would be added under the same name",
                fix=f"add {arguments(length_inputs=[f'{name}={next(iter(symbols))}'])} if it holds the length",
            )
    placed = [BatchAxis(b.input, _axis(_input(inputs, b.input, "`batch`"), b.axis)) for b in batches or ()]
    found: BatchAxis | None = None
    rows: int | None = 1
    if batches is not None:
        found, rows = _batch(inputs, axes, placed, batch_size, keep_dynamic, lengths[0].input)
    elif batch_size not in (None, 1):
        raise MisuseError(f"`batch='none'`, but {arguments(batch_size=batch_size)}", fix="keep one of the two")
    assumed = found is not None and not placed and batch_size is None and rows != 1 and not keep_dynamic
    batch_axes = {b.input: b.axis for b in placed}
    _undeclared(inputs, axes, masks, held, found, batch_axes)
    for name in set(shortest or {}) - set(symbols):
        raise MisuseError(
            f"`shortest` gives {name!r}, which `lengths` does not declare",
            why=f"the declared symbols are {', '.join(symbols)}",
        )
    inverted = frozenset(mask.name for mask in mask_inputs if mask.padding)
    return Declarations(axes, held, masks, symbols, found, rows, batch_axes, dict(shortest or {}), inverted, assumed)


def _input(inputs: Mapping[str, ir.Value], name: str, option: str) -> ir.Value:
    if name not in inputs:
        raise MisuseError(
            f"the model has no input {name!r}", where=option, why=_dynamic(inputs), fix=_suggestion(inputs)
        )
    return inputs[name]


def _axis(value: ir.Value, axis: int) -> int:
    rank = len(value.shape) if value.shape is not None else 0
    if not -rank <= axis < rank:
        raise MisuseError(
            f"input {value.name!r} has rank {rank}, so no axis {axis}",
            fix=f"its axes are 0 to {rank - 1}" if rank else "a scalar has no axes; name another input",
        )
    return axis % rank


def _batch(
    inputs: Mapping[str, ir.Value],
    axes: Mapping[str, Mapping[int, Length]],
    placed: Sequence[BatchAxis],
    batch_size: int | None,
    keep_dynamic: bool,
    first: str,
) -> tuple[BatchAxis | None, int | None]:
    for own in placed:
        if own.axis in axes.get(own.input, {}):
            raise MisuseError(f"axis {own.axis} of {own.input} is declared both ragged and the batch")
    if not placed and 0 in axes[first]:
        return None, 1
    batch = placed[0] if placed else BatchAxis(first, 0)
    size = _size(inputs, batch)
    for own in placed:
        if _size(inputs, own) != size and isinstance(size, int) and isinstance(_size(inputs, own), int):
            raise MisuseError(
                f"the batch has the size {size} in {batch.input} and {_size(inputs, own)} in {own.input}",
                where="`batch`",
                fix="name the axis that counts the same rows in each",
            )
    if isinstance(size, int):
        if batch_size is not None and batch_size != size:
            raise MisuseError(
                f"{arguments(batch_size=batch_size)}, but axis {batch.axis} of {batch.input} has the size {size}"
            )
        return batch, size
    if keep_dynamic and batch_size is None:
        return batch, None
    return batch, batch_size or 1


def _size(inputs: Mapping[str, ir.Value], batch: BatchAxis) -> object:
    shape = inputs[batch.input].shape
    return shape[batch.axis] if shape is not None else None


def _undeclared(
    inputs: Mapping[str, ir.Value],
    axes: Mapping[str, Mapping[int, Length]],
    masks: Mapping[str, tuple[int, Length]],
    held: Mapping[str, Length],
    batch: BatchAxis | None,
    batch_axes: Mapping[str, int],
) -> None:
    open_axes = []
    for name, value in inputs.items():
        if name in masks or value.shape is None:
            continue
        for axis, size in enumerate(value.shape):
            if isinstance(size, int) or axis in axes.get(name, {}):
                continue
            if batch is not None and axis == batch_axes.get(name, 0):
                continue
            if name in held:
                continue
            open_axes.append((name, axis))
    if open_axes:
        name, axis = open_axes[0]
        raise MisuseError(
            f"axis {axis} of input {name!r} varies and is not declared",
            why=_dynamic(inputs),
            fix=_suggestion(inputs),
        )


def _dynamic(inputs: Mapping[str, ir.Value]) -> str:
    found = []
    for name, value in inputs.items():
        if value.shape is None:
            continue
        varying = [str(axis) for axis, size in enumerate(value.shape) if not isinstance(size, int)]
        if varying:
            found.append(f"{name} axis {', '.join(varying)} of {value.shape}")
    return "its dynamic axes are: " + "; ".join(found) if found else "none of its inputs has a dynamic axis"


def _suggestion(inputs: Mapping[str, ir.Value]) -> str:
    found = suggest(inputs)
    if found.options:
        return f"declare {found.parameters}"
    if found.batch:
        return "only the number of rows varies; fix it with `batch_size=1` and no `lengths`"
    return "export the model with its time axis dynamic"
