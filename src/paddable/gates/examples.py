"""Inputs at the levels that a speech model meets, for what depends on them: ranges, and the verdict on a precision.

The gates draw standard normal numbers, which prove padding and say nothing of loudness: log-mels of 16-bit sound lie
around 12, and a layer that reaches 3e4 on noise reaches 3e5 on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from paddable.bundle import Metadata
from paddable.gates.engine import Array
from paddable.gates.signals import evaluate

__all__ = ["INT16", "Example", "default_examples", "row_shape", "is_waveform", "mistaken_examples", "scaled_to_16_bits"]

INT16 = 32768.0
"""Full scale of 16-bit samples, which some feed as they are to a model that takes -1 .. 1."""

_SOUNDS = {"sound at 1": 1.0, "sound at 0.01": 0.01, "sound at 0.0001": 1e-4}
"""Peak of a waveform: full scale, speech from afar, and what is left after a bad gain."""

_FEATURES = {
    "log-mel of 16-bit sound, 12 ± 3": (12.0, 3.0, -4.0, 24.0),
    "normalised features, -4 .. 4": (0.0, 1.5, -4.0, 4.0),
    "log-mel of sound in -1 .. 1, -16 .. 4": (-6.0, 4.0, -16.0, 4.0),
    "embeddings, 0 ± 0.02": (0.0, 0.02, -0.1, 0.1),
}
"""Mean, deviation and limits: what Kaldi and FunASR compute before CMVN, behind it, what torchaudio computes, and rows
of an embedding table."""

_LONG = 400
"""Steps from which on an axis of fixed size that stands alone is time: 25 ms at 16 kHz."""


@dataclass(frozen=True)
class Example:
    """One input of a model.

    Attributes:
        name: in reports and messages: a file, or a level.
        steps: its length, by symbol.
        arrays: by input, one row of that length. Inputs that are not there are drawn as the gates draw them.
    """

    name: str
    steps: Mapping[str, int]
    arrays: Mapping[str, Array]


def is_waveform(shape: Sequence[Any], ragged: Mapping[int, Any], batch: int | None) -> bool:
    """Whether an input takes samples: one long axis, and beside it the batch and at most two channels."""
    times = [axis for axis in ragged if axis != batch]
    if not times:
        times = [axis for axis, size in enumerate(shape) if isinstance(size, int) and size >= _LONG]
    others = [size for axis, size in enumerate(shape) if axis not in times and axis != batch]
    return len(times) == 1 and prod(size if isinstance(size, int) else 1 for size in others) <= 2


def default_examples(
    metadata: Metadata,
    shapes: Mapping[str, Sequence[Any]],
    dtypes: Mapping[str, np.dtype[Any]],
    steps: Mapping[str, int],
) -> list[Example]:
    """An example for each level that some float input may have.

    Args:
        metadata: what is ragged.
        shapes: of the native inputs.
        dtypes: of the native inputs.
        steps: how long the examples are.
    """
    sounds, others = _inputs(metadata, shapes, dtypes)
    examples = [
        _example(level, steps, dict.fromkeys(sounds, ("sound", peak)), metadata, shapes)
        for level, peak in _SOUNDS.items()
        if sounds
    ]
    examples += [
        _example(level, steps, dict.fromkeys(others, ("features", how)), metadata, shapes)
        for level, how in _FEATURES.items()
        if others
    ]
    return examples or [Example("random numbers", steps, {})]


def mistaken_examples(
    metadata: Metadata,
    shapes: Mapping[str, Sequence[Any]],
    dtypes: Mapping[str, np.dtype[Any]],
    steps: Mapping[str, int],
) -> list[Example]:
    """Sound that somebody forgot to divide by 32768; nothing where no input takes sound."""
    sounds, _ = _inputs(metadata, shapes, dtypes)
    level = dict.fromkeys(sounds, ("sound", INT16))
    return [_example("sound scaled to 16 bits, to 32768", steps, level, metadata, shapes)] if sounds else []


def scaled_to_16_bits(
    examples: Sequence[Example],
    metadata: Metadata,
    shapes: Mapping[str, Sequence[Any]],
    dtypes: Mapping[str, np.dtype[Any]],
) -> list[Example]:
    """The examples with their sound multiplied by 32768; those without sound in -1 .. 1 are left out."""
    sounds, _ = _inputs(metadata, shapes, dtypes)
    found = []
    for example in examples:
        heard = {name: array for name, array in example.arrays.items() if name in sounds and np.abs(array).max() <= 1}
        if heard:
            loud = {name: np.asarray(array * np.float32(INT16)) for name, array in heard.items()}
            found.append(replace(example, arrays={**example.arrays, **loud}))
    return found


def row_shape(
    name: str, metadata: Metadata, shapes: Mapping[str, Sequence[Any]], steps: Mapping[str, int]
) -> tuple[int, ...]:
    """Shape of one row of an input at given steps."""
    ragged, batch = metadata.inputs.get(name, {}), _batch(metadata, name)
    sizes = [1 if axis == batch or not isinstance(size, int) else size for axis, size in enumerate(shapes[name])]
    return tuple(evaluate(ragged[axis], steps) if axis in ragged else size for axis, size in enumerate(sizes))


def _inputs(
    metadata: Metadata, shapes: Mapping[str, Sequence[Any]], dtypes: Mapping[str, np.dtype[Any]]
) -> tuple[list[str], list[str]]:
    """The float inputs that take sound, and the others."""
    sounds: list[str] = []
    others: list[str] = []
    for name, dtype in dtypes.items():
        if dtype == np.float32 and name not in metadata.length_inputs and name not in metadata.mask_inputs:
            sound = is_waveform(shapes[name], metadata.inputs.get(name, {}), _batch(metadata, name))
            (sounds if sound else others).append(name)
    return sounds, others


def _batch(metadata: Metadata, name: str) -> int | None:
    return metadata.batch.inputs.get(name) if metadata.batch else None


def _example(
    level: str,
    steps: Mapping[str, int],
    how: Mapping[str, tuple[str, Any]],
    metadata: Metadata,
    shapes: Mapping[str, Sequence[Any]],
) -> Example:
    rng = np.random.default_rng(0)
    arrays = {}
    for name, (kind, numbers) in how.items():
        shape = row_shape(name, metadata, shapes, steps)
        arrays[name] = _sound(rng, shape, numbers) if kind == "sound" else _features(rng, shape, *numbers)
    return Example(level, steps, arrays)


def _sound(rng: np.random.Generator, shape: tuple[int, ...], peak: float) -> Array:
    """A tone with harmonics that swells and fades, in noise: what has a spectrum, and loud and soft frames."""
    count = prod(shape)
    time = np.arange(count) / 16_000
    tone = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 20))
    mixed = tone * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * time)) + 0.1 * rng.standard_normal(count)
    return np.asarray(peak * mixed / max(1e-9, np.abs(mixed).max()), np.float32).reshape(shape)


def _features(
    rng: np.random.Generator, shape: tuple[int, ...], mean: float, deviation: float, low: float, high: float
) -> Array:
    return np.asarray(np.clip(mean + deviation * rng.standard_normal(shape), low, high), np.float32)
