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
from paddable.errors import MisuseError, UnreadableError, arguments
from paddable.extras import import_extra

__all__ = ["CtcGraph", "Logits", "Sound", "open_graph"]

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


@dataclass(frozen=True)
class Sound:
    """The input for sound.

    Attributes:
        name: of the input.
        axes: its layout; see ``runtime.speech.sound_input``.
        channels: of a feature; None for a waveform.
        bound: whether the graph declares as many channels.
    """

    name: str
    axes: str
    channels: int | None
    bound: bool = True

    @property
    def time(self) -> int:
        """The ragged axis."""
        return self.axes.index("S" if self.channels is None else "T")

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

    def logits(self, labels: int, name: str | None) -> tuple[Logits, str, int]:
        """The output with a score for each label, its layout, and its classes.

        Args:
            labels: how many there are; the blank may be one of them or not.
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
                f"no output has a class for each of {labels} labels, or one more",
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


def open_graph(path: Path) -> CtcGraph:
    """Finds out what a graph takes and gives.

    Raises:
        UnreadableError: not a model, or one that does not run.
        MisuseError: its inputs are not those of a recogniser of dynamic length.
    """
    ort = import_extra("onnxruntime", where=str(path))
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # two runs are not worth planning
    try:
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        why = _foreign(path) or _first_line(error)
        raise UnreadableError("ONNX Runtime does not open it", where=str(path), why=why) from error
    about = dict(session.get_modelmeta().custom_metadata_map)
    if KEY in about:
        raise MisuseError("it is padded already", where=str(path), fix="give the model that it was made from")
    inputs = {value.name: value for value in session.get_inputs()}
    floats = [value for value in inputs.values() if value.type in _FLOATS]
    if len(floats) != 1:
        raise MisuseError(
            f"{len(floats)} inputs of floats: {', '.join(value.name for value in floats) or 'none'}",
            where=str(path),
            why="a recogniser of whole recordings takes sound and lengths; states are those of a stream",
            fix="give the export that is no stream, or use paddable convert",
        )
    errors: list[str] = []
    for sound, pair in _candidates(floats[0], str(path)):
        others = [_other(value, sound, str(path)) for value in inputs.values() if value is not floats[0]]
        lengths = [name for name, axis in others if axis is None]
        masks = {name: axis for name, axis in others if axis is not None}
        try:
            runs = [session.run(None, _feeds(sound, inputs, lengths, masks, steps)) for steps in pair]
        except Exception as error:
            errors.append(_first_line(error))
            continue
        names = [value.name for value in session.get_outputs()]
        shapes = [
            Logits(name, (one.shape, other.shape))
            for name, one, other in zip(names, *runs, strict=True)
            if isinstance(one, np.ndarray) and one.dtype.kind == "f" and one.ndim == other.ndim
        ]
        return CtcGraph(path, sound, lengths, masks, [each for each in shapes if each.ragged], about)
    raise UnreadableError("it does not run at any length that was tried", where=str(path), why=errors[-1])


def _candidates(value: Any, where: str) -> Iterator[tuple[Sound, tuple[int, int]]]:
    """What the input may be, with lengths to try, the likeliest first."""
    shape = [size if isinstance(size, int) else None for size in value.shape]
    free = [i for i, size in enumerate(shape) if size is None]
    fixed = {i: size for i, size in enumerate(shape) if size is not None and size > 1}
    for axis, size in fixed.items():
        if not _CHANNELS[0] <= size <= _CHANNELS[1]:
            raise MisuseError(
                f"axis {axis} of input {value.name!r} has the fixed size {size}",
                where=where,
                why="as a batch it would be one of many rows, as a length it is fixed already",
                fix="export it again with dynamic batch and time",
            )
    if len(shape) not in (1, 2, 3) or len(fixed) > 1:
        raise MisuseError(
            f"input {value.name!r} has the shape {value.shape}",
            where=where,
            why="a recogniser takes a waveform [batch, samples] or features [batch, time, channels]",
            fix="use paddable convert",
        )
    if not free:
        raise MisuseError(
            f"input {value.name!r} has the fixed shape {value.shape}",
            where=where,
            why="its length is fixed already",
            fix="export it again with a dynamic time axis",
        )
    if fixed:
        ((place, channels),) = fixed.items()
        axes = ["B"] * len(shape)
        axes[place], axes[free[-1]] = "C", "T"
        for pair in _LENGTHS[:_WAVEFORM]:
            yield Sound(value.name, "".join(axes), channels), pair
    elif len(shape) < 3 or 1 in shape[1:]:
        axes = ["1" if i else "B" for i in range(len(shape))]
        axes[free[-1]] = "S"
        for pair in _LENGTHS[_WAVEFORM:]:
            yield Sound(value.name, "".join(axes), None), pair
    else:
        for axes_, channels in ((axes_, channels) for axes_ in ("BTC", "BCT") for channels in _LATTICE):
            yield Sound(value.name, axes_, channels, bound=False), _LENGTHS[0]
        for pair in _LENGTHS[_WAVEFORM:]:
            yield Sound(value.name, "B1S", None), pair


def _other(value: Any, sound: Sound, where: str) -> tuple[str, int | None]:
    """An input beside the sound: a length, or a mask with its time axis."""
    if value.type in ("tensor(int64)", "tensor(int32)") and len(value.shape) < 2 and "len" in value.name.lower():
        return value.name, None
    if value.type in _INTEGERS and len(value.shape) == 2 and sound.axes[0] == "B" and "mask" in value.name.lower():
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


def _foreign(path: Path) -> str:
    """What a file is that is no model; empty where it may be one."""
    with path.open("rb") as file:
        head = file.read(200)
    if not head:
        return "it is empty"
    if head.startswith(b"version https://git-lfs"):
        return "it is a Git LFS pointer, not the file itself; fetch it with git lfs pull"
    return "it is text; are the model and the labels swapped?" if head.isascii() and b"\n" in head else ""


_NOISE = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : |Load model from .*? failed:|/\S+\.\w+:\d+ .*?\) (?=[A-Z])")
"""What ONNX Runtime says around what is the matter."""


def _first_line(error: Exception) -> str:
    line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return _NOISE.sub("", line).strip()
