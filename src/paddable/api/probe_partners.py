"""Which input of one graph hears what an input of the other does; where none can, they are two models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from paddable.api.probe_given import Hearer, Signature, told_shape
from paddable.bundle import Metadata
from paddable.errors import MisuseError, arguments
from paddable.gates.engine import Array

__all__ = ["filled", "partners", "refuse_other_inputs", "refuse_other_sizes"]


def filled(inputs: Signature, reference: Signature, known: Collection[str]) -> set[str]:
    """Inputs of a graph that hear none of the reference's: lengths, and those that something else is known of.

    Args:
        inputs: of the graph.
        reference: the graph whose inputs are drawn.
        known: inputs of which the array, or the length that they hold, is given.
    """
    return {
        name for name in inputs.shapes if name not in reference.shapes and (name in known or inputs.holds_length(name))
    }


def partners(inputs: Signature, reference: Signature, metadata: Metadata, own: Collection[str] = ()) -> dict[str, str]:
    """By input of a graph, the one of the reference that it hears: of its name, else of what is left the first of its
    rank and kind of numbers, one of its sizes before others.

    Args:
        inputs: of the graph.
        reference: the graph whose inputs are drawn.
        metadata: what is ragged in that.
        own: inputs of the graph that are filled otherwise.
    """
    found = {name: name for name in inputs.shapes if name in reference.shapes and name not in own}
    for name, shape in inputs.shapes.items():
        left = [
            other
            for other, sizes in reference.shapes.items()
            if other not in found.values()
            and len(sizes) == len(shape)
            and reference.dtypes[other].kind == inputs.dtypes[name].kind
        ]
        if left and name not in found and name not in own:
            found[name] = min(left, key=lambda other: bool(_apart(shape, reference.shapes[other], metadata, other)))
    return found


def refuse_other_inputs(
    hearers: tuple[Hearer, Hearer], reference: Signature, metadata: Metadata, *, given: bool
) -> None:
    """Refuse two graphs of which one cannot hear what the other does: they are not one model.

    Args:
        hearers: both graphs.
        reference: the graph whose inputs are drawn.
        metadata: what is ragged in that.
        given: arrays are given by name, and checked with each graph.

    Raises:
        MisuseError: an input hears none of the other graph's; or has another rank or, along an axis that is neither
            ragged nor rows, another size than what it hears; or another name where graphs are padded.
    """
    (one, mine), (other, theirs) = ((hearer, hearer.inputs.shapes) for hearer in hearers)
    fix = "name two graphs of one model"
    for name in sorted(mine.keys() & theirs.keys() - one.derived - other.derived):
        if len(mine[name]) != len(theirs[name]) or _apart(mine[name], theirs[name], metadata, name):
            raise MisuseError(
                _DIFFER,
                where=f"input {name!r}",
                why=f"{one.title} takes {told_shape(mine[name])} and {other.title} takes {told_shape(theirs[name])}",
                fix=fix,
            )
    both = " and ".join(f"{hearer.title} takes {_told(hearer)}" for hearer in hearers)
    for hearer in hearers:
        shapes = hearer.inputs.shapes
        own = filled(hearer.inputs, reference, hearer.derived)
        found = partners(hearer.inputs, reference, metadata, own)
        for name in sorted(hearer.contents(), key=hearer.may_hold_length):
            partner = found.get(name)
            if partner == name or (given and not hearer.padded):
                continue
            if partner is None and hearer.may_hold_length(name):
                raise MisuseError(
                    "nothing says what this input is fed",
                    where=f"input {name!r}",
                    why=both,
                    fix=f"where it holds a length, say so, such as {arguments(length_inputs=[f'{name}=T'])}; else give "
                    "all inputs of both graphs by name: `inputs='arrays.npz'`",
                )
            if partner is None or _apart(shapes[name], reference.shapes[partner], metadata, partner):
                raise MisuseError(_DIFFER, where=f"input {name!r}", why=both, fix=fix)
            if hearer.padded:
                raise MisuseError(
                    _DIFFER,
                    where=f"input {name!r}",
                    why=both,
                    fix=f"{fix}; of one model, give its inputs one name in both before they are converted",
                )


def refuse_other_sizes(title: str, inputs: Signature, feeds: Mapping[str, Array]) -> None:
    """Refuse to feed a graph of one size another one, as a fixed export beside a graph of any length.

    Args:
        title: what messages call the graph.
        inputs: of it.
        feeds: what it would be fed.

    Raises:
        MisuseError: all axes of an input have fixed sizes, and the array has another.
    """
    for name, array in feeds.items():
        sizes = inputs.shapes.get(name, ())
        if len(sizes) != array.ndim or None in sizes:
            continue  # where another axis is open, the two may be different models
        for axis, (size, fed) in enumerate(zip(sizes, array.shape, strict=True)):
            if size not in (None, fed):
                raise MisuseError(
                    f"{title} takes {size} steps along axis {axis} alone, and the two would be compared at {fed}",
                    where=f"input {name!r}",
                    why=f"its size is fixed: {told_shape(sizes)}",
                    fix=f"compare at that size: {arguments(lengths=[f'{name}:{axis}=T'], at=size)}",
                )


_DIFFER = "the inputs of the two graphs differ, so they are not one model"


def _apart(mine: Sequence[Any], theirs: Sequence[Any], metadata: Metadata, name: str) -> list[int]:
    """The axes, neither ragged nor rows, along which two shapes of one rank have other sizes."""
    rows = metadata.batch.inputs.get(name) if metadata.batch is not None else None
    free = {*metadata.inputs.get(name, {}), rows}
    sizes = zip(mine, theirs, strict=True)
    return [axis for axis, (n, m) in enumerate(sizes) if n != m and None not in (n, m) and axis not in free]


def _told(hearer: Hearer) -> str:
    """What it takes, such as ``x float32 [1, any, 80]``."""
    shapes: Mapping[str, Sequence[Any]] = hearer.inputs.shapes
    return ", ".join(f"{name} {hearer.inputs.dtypes[name]} {told_shape(shapes[name])}" for name in shapes)
