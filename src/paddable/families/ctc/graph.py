"""What a stranger's graph takes and gives, found by running it at two lengths.

Declared shapes name axes as their exporter liked; what a run shows is not to be argued with. That the graph may be
padded is proven later, by the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle import KEY
from paddable.bundle.foreign import HEAD, POINTER, foreign
from paddable.errors import MisuseError, UnreadableError, arguments
from paddable.extras import import_extra
from paddable.lengths.declare import BatchAxis, LengthDeclaration, parse_batches, parse_length

__all__ = ["CtcGraph", "Logits", "Sound", "open_graph", "shown"]

_LENGTHS = ((100, 148), (400, 592), (16_000, 24_000), (64_000, 80_000))
"""Steps to run at: features, or samples. The first pair that the graph runs at tells its axes."""
_WAVEFORM = 2
"""Of ``_LENGTHS``, where those of a waveform begin."""
_FLOATS = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}
_CHANNELS = (16, 1_000)
"""Fewest and most of a feature."""
_LATTICE = (40, 64, 80, 96, 128)
"""Channels to try where the graph leaves them open."""
_ORDERS = ("BTC", "BCT", "TBC", "TCB", "CBT", "CTB")
"""Layouts to try there, the likeliest first."""
_APART = 1e-6
"""Of scale: what a step may move the answers to others by that know nothing of it."""
_AXES = {"B": "batch", "S": "samples", "T": "time", "C": "channels", "V": "classes", "1": "1"}


@dataclass(frozen=True)
class Sound:
    """The input for sound.

    Attributes:
        name: of the input.
        axes: its layout; see ``runtime.speech.sound_input``.
        channels: of a feature; None for a waveform.
        open: axes whose size the graph leaves open.
        symbol: of its length, as it was declared.
    """

    name: str
    axes: str
    channels: int | None
    open: tuple[int, ...] = ()
    symbol: str = ""

    @property
    def time(self) -> int:
        """The ragged axis."""
        return self.axes.index("S" if self.channels is None else "T")

    @property
    def takes_rows(self) -> bool:
        """Whether it has a batch axis of any size."""
        return "B" in self.axes and self.axes.index("B") in self.open

    @property
    def bindings(self) -> list[str]:
        """The sizes of open axes that are neither time nor a batch, as ``x:1=80``."""
        sizes = {"C": self.channels, "1": 1}
        return [
            f"{self.name}:{i}={sizes[axis]}" for i, axis in enumerate(self.axes) if axis in sizes and i in self.open
        ]

    def shape(self, steps: int) -> list[int]:
        """Of so many steps."""
        return [steps if axis in "ST" else self.channels or 1 if axis == "C" else 1 for axis in self.axes]


@dataclass(frozen=True)
class Logits:
    """An output that may hold a score for each class: its name, and its shape at the two lengths."""

    name: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def ragged(self) -> list[int]:
        """The axes that follow the length."""
        return [i for i, (one, other) in enumerate(zip(*self.shapes, strict=True)) if one != other]

    @property
    def is_of_one_row(self) -> bool:
        """Whether, beside one of time, at most one axis is larger than 1."""
        sizes = [size for axis, size in enumerate(self.shapes[0]) if axis not in self.ragged and size > 1]
        return len(self.ragged) == 1 and len(sizes) < 2


@dataclass(frozen=True)
class CtcGraph:
    """A recogniser's graph.

    Attributes:
        path: its file.
        sound: the input for sound.
        length_inputs: inputs that take the number of steps.
        mask_inputs: inputs that are 1 at valid steps, with their time axis.
        outputs: floats whose length follows that of the sound.
        about: metadata of the file.
    """

    path: Path
    sound: Sound
    length_inputs: Sequence[str]
    mask_inputs: Mapping[str, int]
    outputs: Sequence[Logits]
    about: Mapping[str, str]

    def logits(self, labels: int, name: str | None, called: str = "") -> tuple[Logits, str, int]:
        """The output with a score for each label, its layout, and its classes.

        Args:
            labels: how many there are; the blank may be one of them or not.
            called: what an error calls them.
            name: of the output, where it is known.

        Raises:
            MisuseError: none fits, or several do.
        """
        if name is not None and name not in [output.name for output in self.outputs]:
            told = ", ".join(output.name for output in self.outputs)
            raise MisuseError(
                f"{arguments(logits=name)} is no output that follows the sound", where=str(self.path), fix=f"say {told}"
            )
        asked = [output for output in self.outputs if name in (None, output.name)]
        fitting = [found for output in asked if (found := _fit(output, (labels, labels + 1))) is not None]
        if not fitting:
            told = "; ".join(f"{output.name} is {' x '.join(map(str, output.shapes[0]))}" for output in asked)
            raise MisuseError(
                f"no output has a class for each of {called or f'{labels} labels'}, or one more",
                where=str(self.path),
                why=f"{told}, in a run" if told else "no output of floats follows the length of the sound",
                fix="give the labels of this very model" if told else "export the model with its logits as an output",
            )
        if len(fitting) > 1:
            told = ", ".join(output.name for output, *_ in fitting)
            raise MisuseError(
                f"{len(fitting)} outputs may hold the logits: {told}",
                where=str(self.path),
                fix=f"say {arguments(logits=fitting[0][0].name)}",
            )
        return fitting[0]


def _fit(output: Logits, classes: Sequence[int]) -> tuple[Logits, str, int] | None:
    """The layout of an output, if one axis follows the length, one counts classes and the others are 1."""
    shape, ragged = output.shapes[0], output.ragged
    counts = [i for i, size in enumerate(shape) if i not in ragged and size in classes and size > 1]
    if len(ragged) != 1 or len(counts) != 1 or any(s != 1 for i, s in enumerate(shape) if i not in (*ragged, *counts)):
        return None
    axes = ["1"] * len(shape)
    axes[ragged[0]], axes[counts[0]] = "T", "V"
    text = "".join(axes).replace("1", "B", 1)
    return output, text, shape[counts[0]]


def shown(axes: str) -> str:
    """A layout in words: ``[batch, samples]``."""
    return f"[{', '.join(_AXES[axis] for axis in axes)}]"


def open_graph(path: Path, length: str | None = None, batch: str | None = None) -> CtcGraph:
    """Finds out what a graph takes and gives.

    Of the layouts that its input may have, the first is taken at which it runs, answers one row, and its steps know of
    each other: where each is answered for itself, they may be rows. Another one is taken only where none is so.

    Args:
        path: the model.
        length: the time axis of the sound, as ``x:1=T``; by default it is found.
        batch: the batch axis, as ``x:0``, or ``none``; by default it is found.

    Raises:
        UnreadableError: not a model, or one that does not run.
        MisuseError: its inputs are not those of a recogniser of dynamic length.
    """
    session = _session(path)
    about = dict(session.get_modelmeta().custom_metadata_map)
    if KEY in about:
        raise MisuseError("it is padded already", where=str(path), fix="give the model that it was made from")
    inputs = {value.name: value for value in session.get_inputs()}
    value = _input_of_sound(inputs, str(path))
    failed: dict[str, str] = {}
    unlikely: list[CtcGraph] = []
    for sound, pair in _candidates(value, str(path), _asked(value.name, length, batch)):
        others = [_other(other, sound, str(path)) for other in inputs.values() if other is not value]
        lengths = [name for name, axis in others if axis is None]
        masks = {name: axis for name, axis in others if axis is not None}
        feeds = [_feeds(sound, inputs, lengths, masks, steps) for steps in pair]
        try:
            outputs = _outputs(session, feeds)
            apart = all(_apart(session, feeds[0], sound, output, pair) for output in outputs)
        except Exception as error:  # of another layout
            failed[" and ".join(str(sound.shape(steps)) for steps in pair)] = _first_line(error)
            continue
        graph = CtcGraph(path, sound, lengths, masks, outputs, about)
        if not apart and any(output.is_of_one_row for output in outputs):
            return graph
        unlikely.append(graph)
    if unlikely:
        return unlikely[0]
    raise UnreadableError(
        f"it does not run at any length that was tried: {value.name!r} of {'; '.join(list(failed)[:3])}",
        where=str(path),
        why=f"{next(iter(failed.values()))}; mostly its length was frozen when it was exported",
        fix=f"export it again with a dynamic time axis, or say which one that is: {_say_time(value.name)}",
    )


def _say_time(name: str) -> str:
    return arguments(length=f"{name}:1=T")


def _outputs(session: Any, feeds: Sequence[Mapping[str, NDArray[Any]]]) -> list[Logits]:
    """Outputs of floats whose length follows that of the sound."""
    names = [output.name for output in session.get_outputs()]
    runs = [session.run(None, each) for each in feeds]
    found = [
        Logits(name, (one.shape, other.shape))
        for name, one, other in zip(names, *runs, strict=True)
        if isinstance(one, np.ndarray) and one.dtype.kind == "f" and one.ndim == other.ndim
    ]
    return [each for each in found if each.ragged]


def _apart(
    session: Any, feeds: Mapping[str, NDArray[Any]], sound: Sound, output: Logits, pair: tuple[int, int]
) -> bool:
    """Whether an output has a row for each step of the input, and a step that moves moves no other's."""
    axes, middle = output.ragged, pair[0] // 2
    if len(axes) != 1 or tuple(shape[axes[0]] for shape in output.shapes) != pair:
        return False
    moved = feeds[sound.name].copy()
    moved[(slice(None),) * sound.time + (middle,)] /= 2
    one, other = (session.run([output.name], {**feeds, sound.name: x})[0] for x in (feeds[sound.name], moved))
    others = np.delete(np.abs(other - one), middle, axes[0])
    return bool(others.max(initial=0) <= _APART * np.abs(one).max(initial=0))


def _session(path: Path) -> Any:
    ort = import_extra("onnxruntime", where=str(path))
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # a few runs are not worth planning
    try:
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        with path.open("rb") as file:
            head = file.read(HEAD)
        other = foreign(head)
        why = f"it is {other}" if other else _first_line(error) if head else "it is empty"
        fix = "give the .onnx of a recogniser; what PyTorch saves becomes one with torch.onnx.export"
        if other == "text":
            fix = "are the model and the labels swapped?"
        elif other == POINTER:
            fix = "fetch it with git lfs pull"
        elif not head:
            fix = "fetch or export it again"
        raise UnreadableError("ONNX Runtime does not open it", where=str(path), why=why, fix=fix) from error


def _input_of_sound(inputs: Mapping[str, Any], where: str) -> Any:
    floats = [value for value in inputs.values() if value.type in _FLOATS]
    if len(floats) == 1:
        return floats[0]
    if not floats:
        told = ", ".join(f"{value.name} is {value.type}" for value in inputs.values()) or "it has none"
        raise MisuseError(
            f"no input of floats: {told}",
            where=where,
            why="sound is given as floats in [-1, 1], or as features of it",
            fix="export it with a float input; samples of 16 bits are those times 32768, in front of a Cast to int16",
        )
    raise MisuseError(
        f"{len(floats)} inputs of floats: {', '.join(value.name for value in floats)}",
        where=where,
        why="a recogniser of whole recordings takes sound and lengths; states are those of a stream",
        fix="give the export that is no stream, or use paddable convert",
    )


@dataclass(frozen=True)
class _Asked:
    """The layout of the sound as far as it was declared: letters by axis, and the symbol of its length.

    Attributes:
        letters: what an axis may be called.
        symbol: of the length; empty where it was not declared.
        rows: whether it has a batch axis, where nobody said that it has none.
    """

    letters: Mapping[int, str]
    symbol: str
    rows: bool

    def admits(self, axes: str) -> bool:
        """Whether a layout is as declared."""
        return all(-len(axes) <= axis < len(axes) and axes[axis] in said for axis, said in self.letters.items())


def _asked(name: str, length: str | None, batch: str | None) -> _Asked:
    letters, symbol, rows = {}, "", parse_batches(batch)
    for each in rows or ():
        letters[_axis_of(each, name)] = "B"
    if length is not None:
        time = parse_length(length)
        letters[_axis_of(time, name)] = "TS"
        symbol = str(time.length)
        if not symbol.isidentifier():
            raise MisuseError(
                f"{arguments(length=length)} is no symbol", why="it is the sound itself", fix=f"say {_say_time(name)}"
            )
    return _Asked(letters, symbol, rows is not None)


def _axis_of(declared: LengthDeclaration | BatchAxis, name: str) -> int:
    if declared.input != name:
        raise MisuseError(f"{declared.input!r} is not the input for sound", fix=f"say {_say_time(name)}")
    return declared.axis


def _candidates(value: Any, where: str, asked: _Asked) -> Iterator[tuple[Sound, tuple[int, int]]]:
    """What the input may be, with lengths to try, the likeliest first."""
    shape = [size if isinstance(size, int) else None for size in value.shape]
    free = [i for i, size in enumerate(shape) if size is None]
    fixed = {i: size for i, size in enumerate(shape) if size is not None and size > 1}
    _refuse_fixed(value, free, fixed, where)
    rank, found = len(shape), list[tuple[str, int | None]]()
    if fixed:
        ((place, count),) = fixed.items()
        found += [(_layout(rank, {place: "C", time: "T"}), count) for time in reversed(free)]
    elif rank < 3 or 1 in shape[1:]:
        found += [(_layout(rank, {time: "S"}), None) for time in reversed(free)]
    if rank == 3 and not fixed and len(free) > 1:
        orders = [axes for axes in _ORDERS if axes.index("C") in free and axes.index("T") in free]
        found += [(axes, channels) for axes in orders for channels in _LATTICE]
        found += [("B1S", None)] if len(free) == 3 else []
    if not asked.rows:
        found = [(axes.replace("B", "1"), channels) for axes, channels in found]
    found = [(axes, channels) for axes, channels in found if asked.admits(axes)]
    if not found:
        raise MisuseError(
            f"input {value.name!r} of the shape {_shape(value)} has no such layout",
            where=where,
            why="its length is that of an axis without a fixed size",
            fix="declare another axis, or leave it to be found",
        )
    for axes, channels in found:
        for pair in _LENGTHS[_WAVEFORM:] if channels is None else _LENGTHS[: _WAVEFORM if fixed else 1]:
            yield Sound(value.name, axes, channels, tuple(free), asked.symbol), pair


def _layout(rank: int, known: Mapping[int, str]) -> str:
    """The letters of all axes: of those that are not known the first is the batch, and others have the size 1."""
    letters = [known.get(axis, "1") for axis in range(rank)]
    return "".join(letters).replace("1", "B", 1)


def _shape(value: Any) -> str:
    return f"[{', '.join(str(size or '?') for size in value.shape)}]"


def _refuse_fixed(value: Any, free: Sequence[int], fixed: Mapping[int, int], where: str) -> None:
    """What is no shape of sound."""
    again = "export it again with dynamic batch and time"
    if not 1 <= len(value.shape) <= 3:
        raise MisuseError(
            f"input {value.name!r} has the shape {_shape(value)}",
            where=where,
            why="a recogniser takes a waveform [batch, samples] or features [batch, time, channels]",
            fix="use paddable convert",
        )
    for axis, size in fixed.items():
        if size < _CHANNELS[0] and axis:
            why = "sound is mixed to one channel before the model, and features have 16 channels or more"
            fix = "export it again for one channel of sound"
        elif size < _CHANNELS[0]:
            why, fix = "every run would need as many recordings", again
        elif size > _CHANNELS[1]:
            why, fix = "as a length it takes no other, and features have 1000 channels at most", again
        else:
            continue
        raise MisuseError(
            f"axis {axis} of input {value.name!r} has the fixed size {size}", where=where, why=why, fix=fix
        )
    if len(fixed) > 1 or not free:
        raise MisuseError(
            f"input {value.name!r} has the shape {_shape(value)}",
            where=where,
            why="its length is fixed: no axis of time is open",
            fix=again,
        )


def _other(value: Any, sound: Sound, where: str) -> tuple[str, int | None]:
    """An input beside the sound: a length, or a mask with its time axis."""
    if value.type in ("tensor(int64)", "tensor(int32)") and len(value.shape) < 2 and "len" in value.name.lower():
        return value.name, None
    if value.type in _INTEGERS and len(value.shape) == 2 and "B" in sound.axes and "mask" in value.name.lower():
        return value.name, 1
    raise MisuseError(
        f"what is the input {value.name!r} of type {value.type} and shape {value.shape}?",
        where=where,
        why="beside sound, it may be a length or a mask, and its name says neither",
        fix="export the model with that input fixed",
    )


def _feeds(
    sound: Sound, inputs: Mapping[str, Any], lengths: Sequence[str], masks: Mapping[str, int], steps: int
) -> dict[str, NDArray[Any]]:
    noise = np.random.default_rng(0).normal(0, 0.1, sound.shape(steps))
    feeds: dict[str, NDArray[Any]] = {sound.name: noise.astype(_FLOATS[inputs[sound.name].type])}
    for name in lengths:
        feeds[name] = np.full([1] * len(inputs[name].shape), steps, _INTEGERS[inputs[name].type])
    for name in masks:
        feeds[name] = np.ones((1, steps), _INTEGERS[inputs[name].type])
    return feeds


_NOISE = re.compile(
    r"^\[ONNXRuntimeError\] : \d+ : \w+ : |Load model from .*? failed:|Non-zero status code returned while running "
    r"|/\S+\.\w+:\d+ .*?\) (?:.*? was false\. )?(?=[A-Z])"
)
"""What ONNX Runtime says around what is the matter."""


def _first_line(error: Exception) -> str:
    line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return _NOISE.sub("", line).strip()
