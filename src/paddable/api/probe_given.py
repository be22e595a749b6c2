"""What a user gives both runs to hear: a sound or arrays, read, named and checked against the inputs of both graphs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.api.probe_places import Place
from paddable.bundle import Metadata
from paddable.errors import MisuseError, UnreadableError
from paddable.gates.engine import Array
from paddable.gates.signals import evaluate

__all__ = ["NO_LENGTHS", "Hearer", "Inputs", "Signature", "is_sound", "signature", "told_shape"]

SOUNDS = (".wav", ".flac", ".mp3", ".ogg", ".aiff")

NO_LENGTHS: Mapping[str, str] = MappingProxyType({})

_KINDS = {"f": "floats", "i": "integers", "u": "integers", "b": "booleans", "U": "texts", "O": "texts"}


@dataclass(frozen=True)
class Signature:
    """Inputs of a graph: type and shape by name; what is not an integer varies."""

    dtypes: Mapping[str, np.dtype[Any]]
    shapes: Mapping[str, list[Any]]

    def holds_length(self, name: str) -> bool:
        """Whether an input is a length by its name and type, such as ``ilens``."""
        return self.dtypes[name].kind in "iu" and "len" in name.lower() and len(self.shapes[name]) <= 1


def signature(model: ir.Model) -> Signature:
    """The inputs of a graph that are fed."""
    fed = [value for value in model.graph.inputs if value.const_value is None and value.name]
    dtypes = {str(value.name): (value.dtype or ir.DataType.FLOAT).numpy() for value in fed}
    shapes = {
        str(value.name): [n if isinstance(n, int) else None for n in value.shape.dims]
        if value.shape is not None
        else []
        for value in fed
    }
    return Signature(dtypes, shapes)


@dataclass(frozen=True)
class Hearer:
    """One of the two graphs, as the arrays are checked against it.

    Attributes:
        title: what messages call it, such as ``A (native.onnx)``.
        inputs: what it takes.
        derived: inputs that are made from the lengths.
        padded: it was made by this compiler.
    """

    title: str
    inputs: Signature
    derived: frozenset[str]
    padded: bool = False

    def contents(self) -> list[str]:
        """The inputs that somebody has to fill."""
        return [n for n in self.inputs.shapes if n not in self.derived and not self.inputs.holds_length(n)]

    def may_hold_length(self, name: str) -> bool:
        """Whether an input could be a length that nobody declared."""
        return self.inputs.dtypes[name].kind in "iu" and len(self.inputs.shapes[name]) <= 1


@dataclass(frozen=True)
class Inputs:
    """Arrays by input, as given; none where numbers are drawn.

    Attributes:
        arrays: by input.
        notes: what was done to them that a reader should know.
    """

    arrays: Mapping[str, Array]
    notes: Sequence[str] = ()

    @classmethod
    def read(
        cls,
        source: str | os.PathLike[str] | Mapping[str, Array] | None,
        places: tuple[Place, Place],
        hearers: tuple[Hearer, Hearer],
        metadata: Metadata,
    ) -> Inputs:
        """Read a sound, an ``.npz`` or ``.npy``, or take arrays as they are.

        Args:
            source: the file or the arrays.
            places: both graphs.
            hearers: what they take.
            metadata: says which input is ragged, and its rate.

        Raises:
            UnreadableError: the file cannot be read.
            MisuseError: a sound for a model that takes none; an array that fits no input, an input without an array, or
                a number that is not finite.
        """
        if source is None:
            return cls({})
        if not isinstance(source, Mapping) and is_sound(source):
            return _sound(Path(source), places, hearers, metadata)
        if isinstance(source, Mapping):
            where, arrays = "`inputs`", {name: np.asarray(array) for name, array in source.items()}
        else:
            where, arrays = str(source), _arrays(Path(source), hearers)
        if not arrays:
            raise MisuseError("it holds no array", where=where, fix=_wanted(hearers))
        for name, array in arrays.items():
            _check_array(name, array, where, hearers, metadata)
        for hearer in hearers:
            _check_whole(arrays, where, hearer)
        return cls(arrays)

    def steps(self, metadata: Metadata) -> dict[str, int]:
        """Steps of each symbol whose input is given."""
        return {
            name: int(self.arrays[symbol.input].shape[symbol.axis])
            for name, symbol in metadata.symbols.items()
            if symbol.input in self.arrays
        }

    def check_steps(
        self, metadata: Metadata, steps: Mapping[str, int], lengths: Mapping[str, str] = NO_LENGTHS
    ) -> None:
        """Refuse arrays that are shorter than the steps that they are cut to, and lengths that say other steps.

        Args:
            metadata: what is ragged, and which inputs hold lengths.
            steps: the valid ones.
            lengths: what further inputs hold.

        Raises:
            MisuseError: one of them is.
        """
        told = ", ".join(f"{symbol} = {count:,}" for symbol, count in steps.items())
        for name, text in {**metadata.length_inputs, **lengths}.items():
            if name in self.arrays and (wrong := self.arrays[name] != evaluate(text, steps)).any():
                raise MisuseError(
                    f"the array says {self.arrays[name][wrong].flat[0]:,} and the run has {evaluate(text, steps):,}",
                    where=f"input {name!r}",
                    why=f"it holds the length {text}, and the run is at {told}",
                    fix="leave it out: it is filled with the steps that are heard",
                )
        for name, axes in metadata.inputs.items():
            for axis, text in axes.items() if name in self.arrays else ():
                there, asked = self.arrays[name].shape[axis], evaluate(text, steps)
                if there < asked:
                    raise MisuseError(
                        f"the input has {there:,} steps and {asked:,} are asked for",
                        where=f"input {name!r}, axis {axis}",
                        why=f"the run is at {told}",
                        fix="choose fewer with `at`, or give a longer input",
                    )


def is_sound(source: str | os.PathLike[str]) -> bool:
    """Whether a file is a sound, by its name."""
    return Path(source).suffix.lower() in SOUNDS


def _arrays(path: Path, hearers: tuple[Hearer, Hearer]) -> dict[str, Array]:
    """What a file of NumPy holds; an ``.npy`` is for the only input that is not a length."""
    try:
        with path.open("rb") as file:
            head = file.read(6)
            if head[:2] != b"PK" and head != b"\x93NUMPY":
                raise UnreadableError(
                    "neither a sound nor an .npz of arrays", where=str(path), fix="np.savez(file, x=array) writes one"
                )
            file.seek(0)
            found = np.load(file, allow_pickle=False)
            if not isinstance(found, np.ndarray):
                return {name: found[name] for name in found.files}
        names = list(dict.fromkeys(name for hearer in hearers for name in hearer.contents()))
        if any(len(hearer.contents()) != 1 for hearer in hearers):
            raise MisuseError(
                f"one array for {len(names)} inputs: {', '.join(names)}", where=str(path), fix=_wanted(hearers)
            )
        return dict.fromkeys(names, found)
    except OSError as error:
        raise UnreadableError(
            error.strerror or "it cannot be read", where=str(path), fix="give a sound, or an .npz of arrays by input"
        ) from None
    except ValueError as error:
        if isinstance(error, UnreadableError | MisuseError):
            raise
        objects = "pickle" in str(error)
        raise UnreadableError(
            "it holds Python objects, which are not read" if objects else "it is damaged",
            where=str(path),
            fix="save arrays of numbers: np.savez(file, x=array)",
        ) from None
    except Exception:  # what zipfile and NumPy raise at a damaged archive has no common base
        raise UnreadableError("it is damaged", where=str(path), fix="write it again: np.savez(file, x=array)") from None


def _wanted(hearers: Sequence[Hearer]) -> str:
    names = list(dict.fromkeys(name for hearer in hearers for name in hearer.contents()))
    return f"write np.savez(file, {', '.join(f'{name}=...' for name in names)})"


def _check_array(name: str, array: Array, where: str, hearers: tuple[Hearer, Hearer], metadata: Metadata) -> None:
    takers = [hearer for hearer in hearers if name in hearer.inputs.shapes]
    if not takers:
        there = "; ".join(f"{hearer.title} takes {', '.join(hearer.inputs.shapes)}" for hearer in hearers)
        raise MisuseError(f"neither graph has an input {name!r}", where=where, why=there, fix=_wanted(hearers))
    rows = metadata.batch.inputs.get(name) if metadata.batch is not None else None
    taken = [hearer.inputs.dtypes[name] for hearer in takers]  # one of them: a precision is probed with one array
    for hearer in takers:
        dtype, shape = hearer.inputs.dtypes[name], hearer.inputs.shapes[name]
        place = f"input {name!r} of {hearer.title}"
        if _KINDS.get(array.dtype.kind) != _KINDS.get(dtype.kind) or (
            array.dtype not in taken and dtype.kind in "fiub"
        ):
            raise MisuseError(
                f"it takes {dtype} and the array is {array.dtype}",
                where=place,
                fix=f"convert it: {name}.astype(np.{dtype})",
            )
        if array.ndim != len(shape):
            raise MisuseError(
                f"it has {len(shape)} axes and the array {array.ndim}, {list(array.shape)}",
                where=place,
                fix=f"give {told_shape(shape)}",
            )
        ragged = metadata.inputs.get(name, {})
        for axis, (size, wanted) in enumerate(zip(array.shape, shape, strict=True)):
            if axis == rows:
                if size != 1:
                    raise MisuseError(
                        f"the array has {size} rows", where=place, why="one row is compared", fix="give one row"
                    )
            elif wanted is not None and size != wanted and axis not in ragged:
                raise MisuseError(
                    f"axis {axis} is {wanted} and the array's is {size}", where=place, fix=f"give {told_shape(shape)}"
                )
        if dtype.kind in "iu" and array.size:
            limits = np.iinfo(dtype)
            if int(array.min()) < limits.min or int(array.max()) > limits.max:
                raise MisuseError(f"the array has numbers that {dtype} does not hold", where=place)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            lost = ~np.isfinite(array if array.dtype.itemsize <= 4 else array.astype(np.float32))
        if lost.any():
            at = [int(n) for n in np.unravel_index(int(lost.argmax()), array.shape)]
            raise MisuseError(
                f"the number at {at} is {array[tuple(at)]}",
                where=f"input {name!r}",
                why="NaN and infinity spread through both runs and hide what differs",
                fix="give finite numbers",
            )


def told_shape(shape: Sequence[Any]) -> str:
    """A shape as messages name it: what varies is any."""
    return f"[{', '.join('any' if n is None else str(n) for n in shape)}]"


def _check_whole(arrays: Mapping[str, Array], where: str, hearer: Hearer) -> None:
    """Every input has its array, under its own name or under the other graph's."""
    foreign = [array for name, array in arrays.items() if name not in hearer.inputs.shapes]
    for name in hearer.contents():
        if name in arrays:
            continue
        rank, kind = len(hearer.inputs.shapes[name]), hearer.inputs.dtypes[name].kind
        index = next((i for i, a in enumerate(foreign) if a.ndim == rank and a.dtype.kind == kind), None)
        if index is None:
            raise MisuseError(f"no array for input {name!r} of {hearer.title}", where=where, fix=_wanted([hearer]))
        foreign.pop(index)


def _sound(path: Path, places: tuple[Place, Place], hearers: tuple[Hearer, Hearer], metadata: Metadata) -> Inputs:
    """The samples, or what the bundle's front end makes of them, for the input whose length is declared; without one
    for the only input of floats."""
    from paddable.audio.read import file_rate, read_audio
    from paddable.runtime.families import sound_input_of

    bundle = places[0].bundle or places[1].bundle
    owner = next(iter(metadata.symbols.values()), None)
    if owner is not None:
        name, axis = owner.input, owner.axis
    else:
        inputs = hearers[1].inputs
        floats = [name for name in inputs.shapes if inputs.dtypes[name].kind == "f"]
        if len(floats) != 1:
            raise MisuseError(
                "nothing says which input hears the sound", where=str(path), fix="declare it with `lengths`"
            )
        name, axis = floats[0], max(0, len(inputs.shapes[floats[0]]) - 1)
    known = bundle.sample_rate if bundle is not None and bundle.sample_rate else owner.rate if owner else None
    rate = int(known or 16_000)
    samples = np.asarray(read_audio(path, rate).samples, np.float32)
    notes = []
    if known is None and (own := file_rate(path)) != rate:
        notes.append(
            f"{path.name} has {own:,} samples a second and was resampled to {rate:,}: `rate` says another rate"
        )
    if bundle is not None and bundle.front_end:
        (heard,) = sound_input_of(bundle)(samples).values()
        return Inputs({name: heard}, notes)
    shape = next((h.inputs.shapes[name] for h in hearers[::-1] if name in h.inputs.shapes), [None] * (axis + 1))
    if any(n not in (None, 1) for i, n in enumerate(shape) if i != axis):
        raise MisuseError(
            f"input {name!r} of shape {told_shape(shape)} takes no samples",
            where=str(path),
            why="it takes features",
            fix="give the features as .npz, or a bundle, which knows its front end",
        )
    sizes = [1] * len(shape)
    sizes[axis] = -1
    others = [n for hearer in hearers for n in hearer.contents() if n != name and n in hearers[1].inputs.shapes]
    if others:
        notes.append(f"random numbers were taken for {', '.join(dict.fromkeys(others))}")
    return Inputs({name: samples.reshape(sizes)}, notes)
