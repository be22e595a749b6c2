"""Examples of a model's inputs from a user's files: arrays, or recordings. A bad one is refused by its name."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddable.audio.read import read_audio
from paddable.bundle import Metadata
from paddable.errors import MisuseError, UnreadableError
from paddable.extras import import_extra
from paddable.gates.engine import Array
from paddable.gates.examples import Example, is_waveform, row_shape

__all__ = ["read_examples"]

_ARRAYS = {".npz", ".npy"}
_SOUNDS = {".aiff", ".flac", ".mp3", ".ogg", ".opus", ".wav"}


def read_examples(
    place: Path,
    metadata: Metadata,
    shapes: Mapping[str, Sequence[Any]],
    dtypes: Mapping[str, np.dtype[Any]],
    largest: Mapping[str, int],
) -> list[Example]:
    """Read one file, or every array and recording of a directory, in the order of their names.

    Args:
        place: ``.npz`` with arrays named after inputs, ``.npy`` for a model of one input, a recording for a model that
            takes a waveform, or a directory of those. The axis of the batch may be left out.
        metadata: what is ragged.
        shapes: of the native inputs.
        dtypes: of the native inputs.
        largest: steps at which longer examples are cut.

    Raises:
        MisuseError: nothing to read, or an example of another rate, shape or type; it names the file.
        UnreadableError: a file that cannot be read, or holds NaN or infinity.
    """
    if place.is_dir():
        files = sorted(path for path in place.iterdir() if path.suffix.lower() in _ARRAYS | _SOUNDS)
        if not files:
            raise MisuseError(
                "there is no example in it", where=str(place), fix="give .npz or .npy arrays, or recordings"
            )
    elif place.is_file():
        files = [place]
    else:
        raise UnreadableError("no such file or directory", where=str(place), fix="check `examples`")
    reader = _Reader(metadata, shapes, dtypes, largest)
    return [reader.read(path) for path in files]


class _Reader:
    def __init__(
        self,
        metadata: Metadata,
        shapes: Mapping[str, Sequence[Any]],
        dtypes: Mapping[str, np.dtype[Any]],
        largest: Mapping[str, int],
    ) -> None:
        self.metadata, self.shapes, self.dtypes, self.largest = metadata, shapes, dtypes, largest
        made = metadata.length_inputs.keys() | metadata.mask_inputs.keys()
        self.names = [name for name in shapes if name not in made]

    def read(self, path: Path) -> Example:
        arrays = self._sound(path) if path.suffix.lower() in _SOUNDS else self._arrays(path)
        for name, array in arrays.items():
            _refuse_non_finite(array, f"{path}: input {name}" if len(arrays) > 1 else str(path))
        rows = {name: self._row(path, name, array) for name, array in arrays.items()}
        steps = self._steps(path, rows)
        for name, row in rows.items():
            expected = row_shape(name, self.metadata, self.shapes, steps)
            if len(row.shape) != len(expected) or any(
                size != want
                for axis, (size, want) in enumerate(zip(row.shape, expected, strict=True))
                if axis not in self.metadata.inputs.get(name, {})
            ):
                raise self._wrong_shape(path, name, arrays[name].shape)
        cut = {name: self._cut(path, name, row, steps, arrays[name].shape) for name, row in rows.items()}
        return Example(path.name, steps, cut)

    def _arrays(self, path: Path) -> dict[str, Array]:
        try:
            loaded = np.load(path, allow_pickle=False)
            arrays = dict(loaded) if path.suffix.lower() == ".npz" else {"": loaded}
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise UnreadableError(
                "no file of numpy arrays", where=str(path), why=str(error), fix="write it with numpy.savez"
            ) from None
        if len(self.names) == 1 and len(arrays) == 1:
            arrays = {self.names[0]: next(iter(arrays.values()))}
        unknown = sorted(arrays.keys() - set(self.names))
        if unknown or not arrays:
            raise MisuseError(
                f"it holds {', '.join(map(repr, unknown)) or 'nothing'}, which is no input",
                where=str(path),
                fix=f"name its arrays after the inputs: {', '.join(self.names)}",
            )
        return {name: self._typed(path, name, array) for name, array in arrays.items()}

    def _typed(self, path: Path, name: str, array: Array) -> Array:
        wanted = self.dtypes[name]
        if array.dtype.kind != wanted.kind:
            hint = "; divide 16-bit samples by 32768" if array.dtype == np.int16 and wanted.kind == "f" else ""
            raise MisuseError(
                f"input {name} is {array.dtype}, expected {wanted}", where=str(path), fix=f"save it as {wanted}{hint}"
            )
        return array.astype(wanted)

    def _sound(self, path: Path) -> dict[str, Array]:
        found = [
            name
            for name in self.names
            if self.dtypes[name].kind == "f"
            and is_waveform(self.shapes[name], self.metadata.inputs.get(name, {}), self._batch(name))
        ]
        if len(found) != 1:
            raise MisuseError(
                "a recording, and no input takes a waveform",
                where=str(path),
                fix=f"give .npz files with {', '.join(self.names)}",
            )
        rates = [s.rate for s in self.metadata.symbols.values() if s.input == found[0] and s.rate]
        if not rates:
            raise MisuseError(
                "it is not known how many samples a second the model takes", where=str(path), fix="say it with `rate`"
            )
        rate = int(rates[0])
        samples = read_audio(path, rate).samples
        there = import_extra("soundfile").info(str(path)).samplerate
        if there != rate:
            raise MisuseError(
                f"it has {there} samples a second, the model takes {rate}",
                where=str(path),
                why="an example has to be what the model will hear",
                fix="resample it",
            )
        return {found[0]: samples}

    def _row(self, path: Path, name: str, array: Array) -> Array:
        """One row of an input, with its axes of size 1 where the file left them out."""
        shape, given = self.shapes[name], array.shape
        if array.ndim < len(shape) and name in self.metadata.inputs:
            ragged = set(self.metadata.inputs[name])
            for axis, size in enumerate(shape):
                single = axis == self._batch(name) or size == 1 or not isinstance(size, int)
                if array.ndim < len(shape) and axis not in ragged and single:
                    array = np.expand_dims(array, min(axis, array.ndim))
        if array.ndim != len(shape):
            raise self._wrong_shape(path, name, given)
        batch = self._batch(name)
        return array if batch is None else array.take([0], batch)

    def _steps(self, path: Path, rows: Mapping[str, Array]) -> dict[str, int]:
        """The longest valid length that each symbol has in the example and in the container."""
        steps = dict(self.largest)
        for name, symbol in self.metadata.symbols.items():
            if symbol.input not in rows:
                continue
            there = rows[symbol.input].shape[symbol.axis]
            if there < symbol.min:
                raise MisuseError(
                    f"it has {there} steps of {name}, native takes {symbol.min} or more",
                    where=str(path),
                    fix="give a longer example",
                )
            most = min(there, self.largest[name])
            steps[name] = symbol.min + (most - symbol.min) // symbol.step * symbol.step
        return steps

    def _cut(self, path: Path, name: str, row: Array, steps: Mapping[str, int], shape: tuple[int, ...]) -> Array:
        wanted = row_shape(name, self.metadata, self.shapes, steps)
        if any(size < want for size, want in zip(row.shape, wanted, strict=True)):
            raise self._wrong_shape(path, name, shape)
        return np.ascontiguousarray(row[tuple(slice(size) for size in wanted)])

    def _wrong_shape(self, path: Path, name: str, shape: tuple[int, ...]) -> MisuseError:
        ragged = self.metadata.inputs.get(name, {})
        sizes = [ragged.get(axis, size) for axis, size in enumerate(self.shapes[name])]
        return MisuseError(
            f"input {name} has shape {list(shape)}, expected [{', '.join(map(str, sizes))}]",
            where=str(path),
            fix="save it as the model takes it",
        )

    def _batch(self, name: str) -> int | None:
        return self.metadata.batch.inputs.get(name) if self.metadata.batch else None


def _refuse_non_finite(array: Array, where: str) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        first = np.argwhere(~np.isfinite(array))[0].tolist()
        raise UnreadableError(
            f"it is NaN or infinite at {first}", where=where, why="nothing follows from it", fix="repair or remove it"
        )
