"""The valid part of a value, as one block: what is compared, and where its time axis lies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from paddable.bundle import Metadata
from paddable.divergence.plain import Plain
from paddable.gates.engine import Array
from paddable.gates.regions import Frame
from paddable.gates.signals import evaluate
from paddable.padding.facts.facts import Facts

__all__ = ["Block", "comparable", "from_facts", "from_sizes", "made_of_sizes", "of_output"]


@dataclass(frozen=True)
class Block:
    """The valid part of an array.

    Attributes:
        array: it, in the shape of the value's factors; a view.
        time: the axis of it that is ragged, None without one.
        physical: steps of that axis in the container.
    """

    array: Array
    time: int | None
    physical: int


def comparable(facts: Facts | None) -> bool:
    """Contents computed from sizes are the container's by design; what is inside a relative shift has no valid
    prefix."""
    if facts is None or facts.relative is not None or facts.content is not None:
        return False
    return facts.bounded is None and facts.dtype != ir.DataType.STRING


def made_of_sizes(plain: Plain, *, constants: bool = False, given: Collection[str] = ()) -> set[ir.Value]:
    """Values that nothing but sizes and constants make: in a container they are the container's by design.

    Args:
        plain: the graph.
        constants: also those that constants alone make.
        given: inputs that count as sizes, such as those that hold lengths; they are among the values.
    """
    found = {value for value in plain.model.graph.inputs if value.name in given}
    for node in plain.nodes:
        above = list(plain.inputs(node))
        if node.op_type in ("Shape", "Size") or ((above or constants) and found.issuperset(above)):
            found.update(node.outputs)
    return found


def from_facts(array: Array, facts: Facts, frame: Frame, *, clean: bool = False) -> Block | None:
    """The valid part as the length analysis knows it, of the first row; None where the shape is another than the facts
    say.

    Args:
        array: the value.
        facts: about it.
        frame: its container.
        clean: leave out the last steps where a converted model is wrong by design: what overlaps there is cut off
            further down, so that no remedy was placed.
    """
    sizes = tuple(frame.physical(atom.size) for atom in facts.atoms)
    if [n for n in array.shape if n != 1] != [n for n in frame.shape(facts) if n != 1]:
        return None
    windows = []
    for position, (atom, size) in enumerate(zip(facts.atoms, sizes, strict=True)):
        if atom.batch:
            windows.append(slice(0, 1))
        elif atom.ragged:
            start = frame.physical(atom.shift) - frame.valid_size(atom.shift, 0)
            pending = facts.pending if clean else None
            cut = pending is not None and pending.atom == position and not pending.token.done
            keep = pending.clean if pending is not None and cut else atom.size
            windows.append(slice(start, start + frame.valid_size(keep, 0)))
        else:
            windows.append(slice(0, size))
    time = facts.ragged[0] if facts.ragged else None
    return Block(_part(array.reshape(sizes), windows), time, 1 if time is None else sizes[time])


def from_sizes(
    array: Array, metadata: Metadata | None, container: Mapping[str, int], steps: Mapping[str, int]
) -> Block:
    """The valid part as the sizes tell: an axis as long as a length that the metadata states is that length.

    Where several are as long in the container, the shortest is taken: all of it is valid whichever it is.

    Args:
        array: the value.
        metadata: of its graph; None where nothing is padded.
        container: steps of each symbol in the graph.
        steps: the valid ones.
    """
    known: dict[int, int] = {}
    if metadata is not None and container != steps:
        texts = [text for axes in (*metadata.inputs.values(), *metadata.lengths.values()) for text in axes.values()]
        for text in dict.fromkeys(texts):
            size, valid = evaluate(text, container), evaluate(text, steps)
            known[size] = min(known.get(size, valid), valid)
    time = next((axis for axis, size in enumerate(array.shape) if size in known), None)
    inside = tuple(slice(known.get(size, size)) for size in array.shape)
    return Block(_part(array, inside), time, 1 if time is None else array.shape[time])


def of_output(
    name: str, array: Array, metadata: Metadata | None, container: Mapping[str, int], steps: Mapping[str, int]
) -> Array:
    """The valid part of an output, by the lengths that the metadata states for it; by its sizes without those.

    Args:
        name: of the output.
        array: it.
        metadata: of its graph; None where nothing is padded.
        container: steps of each symbol in the graph.
        steps: the valid ones.
    """
    stated = metadata.lengths.get(name) if metadata is not None else None
    if stated is None:
        return from_sizes(array, metadata, container, steps).array
    windows = [slice(None)] * array.ndim
    for axis, text in stated.items():
        if axis < array.ndim:
            windows[axis] = slice(evaluate(text, steps))
    return _part(array, windows)


def _part(array: Array, windows: Iterable[slice]) -> Array:
    """What lies in the windows, a view; of one number too, which an index without an ellipsis copies."""
    index: Any = (*windows, ...)
    part: Array = array[index]
    return part
