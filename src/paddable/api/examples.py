"""Examples of a model's inputs from a user's files: arrays, or recordings. A bad one is refused by its name."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.audio.read import SOUNDS, read_audio
from paddable.bundle.foreign import HEAD, POINTER, foreign
from paddable.errors import MisuseError, UnreadableError
from paddable.extras import import_extra
from paddable.gates.engine import Array
from paddable.gates.examples import Example, Inputs
from paddable.gates.signals import evaluate
from paddable.runtime.speech.sound_input import SoundInput

__all__ = ["read_examples"]

_ARRAYS = {".npz", ".npy"}
_CANCELLED = 0.1
"""Share of its loudest channel below which a mix has lost what the channels hold."""


def read_examples(
    place: Path,
    inputs: Inputs,
    largest: Mapping[str, int],
    on_message: Callable[[str], None] | None = None,
    *,
    sound: SoundInput | None = None,
) -> list[Example]:
    """Read one file, or every array and recording of a directory, in the order of their names; each row is an example.

    Args:
        place: ``.npz`` with arrays named after inputs, ``.npy`` for a model of one input, a recording for a model that
            takes a waveform, or a directory of those. The axis of the batch may be left out.
        inputs: of native.
        largest: steps at which longer examples are cut.
        on_message: called with a line for what of a file does not count: what is cut, mixed down, or silent.
        sound: how a recording becomes an input of a model whose front end is not in its graph.

    Raises:
        MisuseError: nothing to read, or an example of another rate, shape or type; it names the file. Or all are
            silent.
        UnreadableError: a file that cannot be read, or holds NaN, infinity or more than the input's type.
    """
    if place.is_dir():
        files = sorted(path for path in place.iterdir() if path.suffix.lower() in _ARRAYS | SOUNDS)
        if not files:
            raise MisuseError(
                "there is no example in it", where=str(place), fix="give .npz or .npy arrays, or recordings"
            )
    elif place.is_file():
        files = [place]
    else:
        raise UnreadableError("no such file or directory", where=str(place), fix="check `examples`")
    reader = _Reader(inputs, largest, sound)
    found = [example for path in files for example in reader.read(path)]
    if len(reader.silent) == len(found):
        (first, *others) = dict.fromkeys(reader.silent.values())
        raise MisuseError(
            ("it " if len(found) == 1 else "each example ")
            + (
                first if not others else f"holds nothing but zeros in what counts of it ({'; '.join([first, *others])})"
            ),
            where=str(place),
            why="no range and no verdict follows from silence",
            fix="give what the model will hear",
        )
    if on_message is not None:
        for line in [*reader.told, *reader.told_lacking(), *(f"{name} {why}" for name, why in reader.silent.items())]:
            on_message(line)
    return found


class _Reader:
    """Attributes: ``told`` are lines on what of the files does not count, ``silent`` why by example that gives none."""

    def __init__(self, inputs: Inputs, largest: Mapping[str, int], sound: SoundInput | None = None) -> None:
        self.inputs, self.largest, self.metadata, self.sound = inputs, largest, inputs.metadata, sound
        self.told: list[str] = []
        self.silent: dict[str, str] = {}
        self._lost: dict[Path, str] = {}
        self._soundless: dict[Path, str] = {}
        self._lacking: dict[tuple[str, ...], list[str]] = {}
        self.made = {*self.metadata.length_inputs, *self.metadata.mask_inputs}
        self.names = [name for name in inputs.shapes if name not in self.made]

    def read(self, path: Path) -> list[Example]:
        if path.suffix.lower() not in SOUNDS:
            arrays = self._without_made(path, self._arrays(path))
        else:
            arrays = self._sound(path) if self.sound is None else self._features(path, self.sound)
        lacking = tuple(name for name in self.names if name not in arrays)
        if lacking:
            self._lacking.setdefault(lacking, []).append(path.name)
        whole = {name: self._with_all_axes(path, name, array) for name, array in arrays.items()}
        return [self._example(path, row, label) for row, label in self._rows(path, whole)]

    def told_lacking(self) -> Iterable[str]:
        """A line for the files that lack the same inputs."""
        for names, files in self._lacking.items():
            more = f" and {len(files) - 1} more file{'s'[: len(files) != 2]}" if len(files) > 1 else ""
            verb = "give" if more else "gives"
            place = "its place" if len(names) == 1 else "their place"
            yield f"{files[0]}{more} {verb} no {' and no '.join(names)}: random numbers are in {place}"

    def _example(self, path: Path, rows: Mapping[str, Array], label: str) -> Example:
        steps = self._steps(path, rows)
        for name, row in rows.items():
            expected = self.inputs.row_shape(name, steps)
            if any(
                size != want
                for axis, (size, want) in enumerate(zip(row.shape, expected, strict=True))
                if axis not in self.metadata.inputs.get(name, {})
            ):
                raise self._wrong_shape(path, name, row.shape)
        cut = {name: self._cut(path, name, row, steps) for name, row in rows.items()}
        why = self._why_silent(path, rows, cut)
        if why:
            self.silent[f"{path.name}{label}"] = why
        return Example(f"{path.name}{label}", steps, cut)

    def _why_silent(self, path: Path, rows: Mapping[str, Array], cut: Mapping[str, Array]) -> str:
        """Why an example gives no sound and no features; nothing where it does, or is of indices alone."""
        if path in self._soundless:
            return self._soundless[path]
        names = [name for name, array in cut.items() if name in self.inputs.sounds or array.dtype.kind == "f"]
        if not names or any(cut[name].any() for name in names):
            return ""
        if any(rows[name].any() for name in names):
            return "holds nothing but zeros up to the end of the largest container"
        if path in self._lost:
            return f"holds nothing but zeros {self._lost[path]}"
        others = any(array.any() for name, array in cut.items() if name not in names)
        return f"holds nothing but zeros for {' and '.join(names)}" if others else "holds nothing but zeros"

    def _arrays(self, path: Path) -> dict[str, Array]:
        with path.open("rb") as file:
            head = file.read(HEAD)
        try:
            loaded = np.load(path, allow_pickle=False)
            arrays = dict(loaded) if path.suffix.lower() == ".npz" else {"": loaded}
        except (OSError, EOFError, ValueError, zipfile.BadZipFile):
            kind = foreign(head)
            named = head.startswith((b"\x93NUMPY", b"PK\x03\x04"))
            raise UnreadableError(
                "no file of numpy arrays",
                where=str(path),
                why="it is damaged, or its arrays hold Python objects and not numbers"
                if named
                else f"it is {kind or 'nothing that numpy wrote'}",
                fix="fetch it with git lfs pull" if kind == POINTER else "write it with numpy.savez",
            ) from None
        (first, *others) = arrays or [""]
        if len(self.names) == 1 and not others and arrays and first not in self.inputs.shapes:
            if first:
                self.told.append(f"{path.name}: its only array {first!r} is taken for {self.names[0]}, the only input")
            arrays = {self.names[0]: arrays[first]}
        unknown = sorted(arrays.keys() - self.inputs.shapes.keys())
        if unknown or self.made.issuperset(arrays):
            held = "an array without a name" if first == "" and arrays else ", ".join(map(repr, arrays)) or "nothing"
            raise MisuseError(
                f"it holds {held}, and the graph wants {', '.join(map(repr, self.names))}"
                + (
                    f" ({', '.join(sorted(arrays))} is made of the lengths)"
                    if arrays and self.made.issuperset(arrays)
                    else ""
                ),
                where=str(path),
                fix=f"leave {', '.join(unknown)} out"
                if self.inputs.shapes.keys() & arrays.keys() and unknown
                else "name its arrays after the inputs" + (", in a .npz" if first == "" and arrays else ""),
            )
        where = f"{path}: input {{}}" if len(arrays) > 1 else str(path)
        return {name: self._typed(path, name, array, where.format(name)) for name, array in arrays.items()}

    def _without_made(self, path: Path, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """The inputs but lengths and masks, which are made of the others' lengths and have to say the same."""
        others = {name: self._with_all_axes(path, name, array) for name, array in arrays.items() if name in self.names}
        there = {
            name: others[symbol.input].shape[symbol.axis]
            for name, symbol in self.metadata.symbols.items()
            if symbol.input in others
        }
        for name in arrays.keys() & self.made:
            text = self.metadata.length_inputs.get(name)
            known = len(there) == len(self.metadata.symbols)
            if text is None:
                valid: Any = name not in self.metadata.padding_masks
                said = "masks steps"
            elif known:
                valid = evaluate(text, there)
                said = f"is {', '.join(map(str, np.unique(arrays[name]).tolist()))}"
            else:
                continue
            if (arrays[name] != valid).any():
                held = ", ".join(f"{size:,} steps of {symbol}" for symbol, size in there.items())
                raise MisuseError(
                    f"{name} {said}, and it has {held}",
                    where=str(path),
                    why="an example is as long as its arrays, and nothing of it is padding",
                    fix=f"save each row at its own length, or leave {name} out",
                )
        return others

    def _typed(self, path: Path, name: str, array: Array, where: str) -> Array:
        wanted = self.inputs.dtypes[name]
        if array.dtype.kind != wanted.kind:
            small = array.dtype == np.int16 and wanted.kind == "f" and self.inputs.sounds.get(name, 1) == 1
            hint = "; divide 16-bit samples by 32768" if small else ""
            raise MisuseError(
                f"input {name} is {array.dtype}, expected {wanted}", where=str(path), fix=f"save it as {wanted}{hint}"
            )
        _refuse(array, array.dtype.kind == "f" and ~np.isfinite(array), where, "it is NaN or infinite at {}")
        with np.errstate(over="ignore"):
            typed = array.astype(wanted)
        lost = ~np.isfinite(typed) if wanted.kind == "f" else typed != array
        _refuse(array, lost, where, f"it is {{1:.3g}} at {{0}}, which {wanted} cannot hold")
        if array.any() and not typed.any():
            self._lost[path] = f"in {wanted}: it is too soft"
        return typed

    def _sound(self, path: Path) -> dict[str, Array]:
        if len(self.inputs.sounds) != 1:
            raise MisuseError(
                "a recording, and no input takes a waveform"
                if not self.inputs.sounds
                else "a recording, and several inputs take a waveform",
                where=str(path),
                fix=f"give .npz files with {', '.join(self.names)}",
            )
        ((name, full),) = self.inputs.sounds.items()
        rates = [s.rate for s in self.metadata.symbols.values() if s.input == name and s.rate]
        if not rates:
            raise MisuseError(
                "it is not known how many samples a second the model takes", where=str(path), fix="say it with `rate`"
            )
        samples, count = self._mixed(path, int(rates[0]))
        channels = self._channels(path, name, count)
        if channels is not None:
            apart = import_extra("soundfile").read(str(path), dtype="float32", always_2d=True)[0]
            samples = apart if channels else apart.T
        elif count > 1:
            self._tell_mixed(path, samples, count)
        mixed = float(np.abs(samples).max(initial=0))
        dtype = self.inputs.dtypes[name]
        if dtype.kind == "i":
            bounds = np.iinfo(dtype)
            typed = np.clip(np.rint(samples * full), bounds.min, bounds.max).astype(dtype)
        else:
            typed = np.asarray(samples * full, dtype)
        if mixed and not typed.any():
            self._lost[path] = f"in {dtype}: it is too soft"
        return {name: typed}

    def _features(self, path: Path, sound: SoundInput) -> dict[str, Array]:
        """What the front end of a bundle makes of a recording, no longer than the largest container."""
        samples, count = self._mixed(path, sound.rate)
        if count > 1:
            self._tell_mixed(path, samples, count)
        steps = next((self.largest[name] for name, s in self.metadata.symbols.items() if s.input == sound.name), None)
        most = len(samples) if steps is None else sound.features.most_samples(steps)
        if len(samples) > most:
            seconds, there = most / sound.rate, len(samples) / sound.rate
            self.told.append(f"{path.name}: the first {seconds:.3g} of its {there:.3g} seconds count, the rest is cut")
        heard = samples[:most]
        if not heard.any():
            end = " up to the end of the largest container" if samples.any() else ""
            lost = f" {self._lost[path]}" if path in self._lost else end
            self._soundless[path] = f"holds nothing but zeros{lost}"
        return {name: array.astype(self.inputs.dtypes[name]) for name, array in sound(heard).items()}

    def _mixed(self, path: Path, rate: int) -> tuple[NDArray[np.float32], int]:
        """Samples of one channel, and how many the recording has."""
        samples = read_audio(path, rate).samples
        about = import_extra("soundfile").info(str(path))
        if about.samplerate != rate:
            raise MisuseError(
                f"it has {about.samplerate} samples a second, the model takes {rate}",
                where=str(path),
                why="an example has to be what the model will hear",
                fix="resample it",
            )
        return samples, about.channels

    def _tell_mixed(self, path: Path, samples: NDArray[np.float32], count: int) -> None:
        mixed = float(np.abs(samples).max(initial=0))
        blocks = import_extra("soundfile").blocks(str(path), 1 << 20)
        loudest = max(float(np.abs(block).max(initial=0)) for block in blocks)
        if loudest and not mixed:
            self._lost[path] = "once its channels are mixed: they cancel"
        lost = f": they cancel, {loudest:.2g} apart and {mixed:.2g} together" if mixed < _CANCELLED * loudest else ""
        self.told.append(f"{path.name}: its {count} channels are mixed to one{lost}")

    def _channels(self, path: Path, name: str, count: int) -> bool | None:
        """Whether channels stand behind the samples in an input that takes two of them; None where it takes one."""
        shape, batch, ragged = self.inputs.shapes[name], self.inputs.batch(name), self.metadata.inputs.get(name, {})
        axes = [axis for axis, size in enumerate(shape) if size == 2 and axis != batch and axis not in ragged]
        if not axes or not ragged:
            return None
        if count != 2:
            raise MisuseError(
                f"it has {count} channel{'s'[: count != 1]}, and {name} takes 2",
                where=str(path),
                fix="give recordings of two channels, or .npz files",
            )
        return axes[0] > max(axis for axis in ragged if axis != batch)

    def _with_all_axes(self, path: Path, name: str, array: Array) -> Array:
        """An input with its axes of size 1 where the file left them out."""
        shape, given = self.inputs.shapes[name], array.shape
        if array.ndim < len(shape) and name in self.metadata.inputs:
            ragged = set(self.metadata.inputs[name])
            for axis, size in enumerate(shape):
                single = axis == self.inputs.batch(name) or size == 1 or not isinstance(size, int)
                if array.ndim < len(shape) and axis not in ragged and single:
                    array = np.expand_dims(array, min(axis, array.ndim))
        if array.ndim != len(shape):
            raise self._wrong_shape(path, name, given)
        return array

    def _rows(self, path: Path, arrays: Mapping[str, Array]) -> Iterable[tuple[dict[str, Array], str]]:
        """Each row of the inputs, with its label; an input without a batch, or of one row, is the same in all."""
        axes = {name: axis for name in arrays if (axis := self.inputs.batch(name)) is not None}
        counts = {name: arrays[name].shape[axis] for name, axis in axes.items()}
        many = {name: count for name, count in counts.items() if count != 1}
        if 0 in many.values() or len(set(many.values())) > 1:
            told = ", ".join(f"{count} of {name}" for name, count in counts.items())
            raise MisuseError(
                f"it has rows: {told}", where=str(path), why="a row of one belongs to a row of the other",
                fix="give each input as many rows, one at least",
            )  # fmt: skip
        total = max(many.values(), default=1)
        for row in range(total):
            picked = {
                name: array.take([row if name in many else 0], axes[name]) if name in axes else array
                for name, array in arrays.items()
            }
            yield picked, f", row {row + 1}" if total > 1 else ""

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
            line = f"{path.name}: {steps[name]:,} of its {there:,} steps of {name} count, the rest is cut"
            if steps[name] < there - symbol.step and line not in self.told:
                self.told.append(line)
        return steps

    def _cut(self, path: Path, name: str, row: Array, steps: Mapping[str, int]) -> Array:
        wanted = self.inputs.row_shape(name, steps)
        if any(size < want for size, want in zip(row.shape, wanted, strict=True)):
            raise self._wrong_shape(path, name, row.shape)
        return np.ascontiguousarray(row[tuple(slice(size) for size in wanted)])

    def _wrong_shape(self, path: Path, name: str, shape: tuple[int, ...]) -> MisuseError:
        ragged = self.metadata.inputs.get(name, {})
        sizes = [ragged.get(axis, size) for axis, size in enumerate(self.inputs.shapes[name])]
        return MisuseError(
            f"input {name} has shape {list(shape)}, expected [{', '.join(map(str, sizes))}]",
            where=str(path),
            fix="save it as the model takes it",
        )


def _refuse(array: Array, lost: Array | bool, where: str, what: str) -> None:
    """Raise for the first number that is lost."""
    if np.any(lost):
        first = np.argwhere(lost)[0].tolist()
        raise UnreadableError(
            what.format(first, array[tuple(first)]),
            where=where,
            why="nothing follows from it",
            fix="repair or remove it",
        )
