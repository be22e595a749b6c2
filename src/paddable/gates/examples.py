"""Inputs at the levels that a speech model meets, for what depends on them: ranges, and the verdict on a precision.

The gates draw standard normal numbers, which prove padding and say nothing of loudness: log-mels of 16-bit sound lie
around 12, and a layer that reaches 3e4 on noise reaches 3e5 on them.

Louder levels, such as MFCCs and power spectra, would leave half with nothing to do in models that never meet them. What
they would overflow is told, and stays in fp32 only where such examples are given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np
import onnx_ir as ir

from paddable.bundle import Metadata
from paddable.gates.engine import Array
from paddable.gates.signals import evaluate
from paddable.precision.exact import front_end_nodes
from paddable.precision.samples import INT16, full_scale, takes_samples

__all__ = ["Example", "Inputs", "is_waveform", "power_inputs", "sound_inputs"]

Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Array]

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


def sound_inputs(
    graph: ir.Graph,
    metadata: Metadata,
    shapes: Mapping[str, Sequence[Any]],
    dtypes: Mapping[str, np.dtype[Any]],
    indices: Collection[str] = (),
) -> dict[str, float]:
    """The inputs that take sound, each with the amplitude of full scale.

    Args:
        graph: native's.
        metadata: what is ragged.
        shapes: of the native inputs.
        dtypes: of the native inputs.
        indices: inputs whose integers look something up.
    """
    values = {str(value.name): value for value in graph.inputs}
    found = {}
    for name, dtype in dtypes.items():
        batch = metadata.batch.inputs.get(name) if metadata.batch else None
        made = name in metadata.length_inputs or name in metadata.mask_inputs or name in indices
        if made or not is_waveform(shapes[name], metadata.inputs.get(name, {}), batch):
            continue
        if dtype.kind == "f" or takes_samples(values[name]):
            found[name] = full_scale(values[name])
    return found


def power_inputs(graph: ir.Graph) -> set[str]:
    """Names of the inputs that a front end begins with: it takes a logarithm of them before anything is learned."""
    front_end = front_end_nodes(graph)
    return {str(value.name) for value in graph.inputs if any(user in front_end for user, _ in value.uses())}


@dataclass(frozen=True)
class Inputs:
    """What the inputs of a native model take.

    Attributes:
        metadata: what is ragged.
        shapes: of each input.
        dtypes: of each input.
        sounds: those that take sound, with the amplitude of full scale.
        powers: those that the model takes a logarithm of first, and so perhaps a power spectrum.
    """

    metadata: Metadata
    shapes: Mapping[str, Sequence[Any]]
    dtypes: Mapping[str, np.dtype[Any]]
    sounds: Mapping[str, float]
    powers: Collection[str] = ()

    def row_shape(self, name: str, steps: Mapping[str, int]) -> tuple[int, ...]:
        """Shape of one row of an input at given steps."""
        ragged, batch = self.metadata.inputs.get(name, {}), self.batch(name)
        sizes = [
            1 if axis == batch or not isinstance(size, int) else size for axis, size in enumerate(self.shapes[name])
        ]
        return tuple(evaluate(ragged[axis], steps) if axis in ragged else size for axis, size in enumerate(sizes))

    def batch(self, name: str) -> int | None:
        """The axis of an input that counts rows."""
        return self.metadata.batch.inputs.get(name) if self.metadata.batch else None

    def default(self, steps: Mapping[str, int]) -> list[Example]:
        """An example of so many steps for each level that some input may have."""
        found = [
            *(self._at(level, steps, self.sounds, partial(_sound, peak=peak)) for level, peak in _SOUNDS.items()),
            *(self._at(level, steps, self.features, draw) for level, draw in _FEATURES.items()),
        ]
        return [example for example in found if example.arrays] or [Example("random numbers", steps, {})]

    def louder(self, steps: Mapping[str, int]) -> list[tuple[Example, str]]:
        """Levels that an input may have by mistake, or seldom, the softest first; each with what to do then."""
        small = [name for name, full in self.sounds.items() if full == 1]
        found = [
            (
                self._at(f"sound scaled to 16 bits, up to {INT16:.0f}", steps, small, partial(_sound, peak=INT16)),
                "feed samples in -1 .. 1, or give such sound as examples",
            ),
            *(
                (self._at(level, steps, names, draw), "give such features as examples if the model takes them")
                for level, names, draw in (
                    (_MFCC, self.features, _features(-100.0, 50.0, -250.0, 50.0)),
                    (_POWER, [name for name in self.features if name in self.powers], _power(12.0, 3.0, -4.0, 24.0)),
                )
            ),
        ]
        return [(example, advice) for example, advice in found if example.arrays]

    def scaled_to_16_bits(self, examples: Sequence[Example]) -> list[Example]:
        """The examples with their sound multiplied by 32768; those without sound in -1 .. 1 are left out."""
        small = {name for name, full in self.sounds.items() if full == 1}
        found = []
        for example in examples:
            heard = {
                name: array for name, array in example.arrays.items() if name in small and np.abs(array).max() <= 1
            }
            if heard:
                loud = {name: np.asarray(array * np.float32(INT16)) for name, array in heard.items()}
                found.append(replace(example, arrays={**example.arrays, **loud}))
        return found

    def at_full_scale(self, examples: Sequence[Example]) -> list[Example]:
        """Those whose sound is softer than full scale, with their loudest sample there."""
        found = []
        for example in examples:
            peaks = {name: float(np.abs(example.arrays[name].astype(np.float64)).max(initial=0.0))
                     for name in self.sounds if name in example.arrays}  # fmt: skip
            gains = [self.sounds[name] / peak for name, peak in peaks.items() if peak]
            if gains and min(gains) > 1:
                found.append(self.scaled(example, min(gains)))
        return found

    def scaled(self, example: Example, gain: float) -> Example:
        """The example with its sound and features times as loud, cut off at the ends of their type."""
        arrays = dict(example.arrays)
        for name in (*self.sounds, *self.features):
            if name in arrays:
                kind = arrays[name].dtype
                ends: Any = np.iinfo(kind) if kind.kind in "iu" else np.finfo(kind)
                louder = arrays[name].astype(np.float64) * gain  # the gain of a sound of 1e-41 is no float32
                whole = np.rint(louder) if kind.kind in "iu" else louder
                arrays[name] = np.clip(whole, ends.min, ends.max).astype(kind)
        return replace(example, arrays=arrays)

    def repeated(self, example: Example, steps: Mapping[str, int]) -> Example:
        """The example from its beginning again and again, up to so many steps."""
        arrays = {}
        for name, array in example.arrays.items():
            shape = self.row_shape(name, steps)
            for axis, size in enumerate(shape):
                if array.size:
                    array = array.take(np.arange(size) % array.shape[axis], axis)
            arrays[name] = array if array.size else np.zeros(shape, array.dtype)
        told = ", ".join(f"{size:,} steps of {name}" for name, size in steps.items())
        return Example(f"{example.name} repeated to {told}", dict(steps), arrays)

    def silenced(self, example: Example, start: float, end: float, title: str) -> Example | None:
        """The example with silence instead of its sound and features from one share of its steps to another.

        Silence is samples of 0, and of features their quietest frame. None where none of them has steps.
        """
        arrays = dict(example.arrays)
        for name in (*self.sounds, *self.features):
            axis = self._steps_axis(name) if name in arrays else None
            if axis is None:
                continue
            array = np.moveaxis(arrays[name].copy(), axis, 0)
            where = slice(round(start * len(array)), round(end * len(array)))
            loudness = array.reshape(len(array), -1).astype(np.float64).mean(1)
            array[where] = 0 if name in self.sounds else array[loudness.argmin()]
            arrays[name] = np.moveaxis(array, 0, axis)
        same = all(np.array_equal(array, example.arrays[name]) for name, array in arrays.items())
        return None if same else replace(example, name=f"{example.name}, {title}", arrays=arrays)

    def _steps_axis(self, name: str) -> int | None:
        """The axis of an input along which time runs; of sound of a fixed size, the longest."""
        times = [axis for axis in self.metadata.inputs.get(name, {}) if axis != self.batch(name)]
        if not times and name in self.sounds:
            sizes = [size if isinstance(size, int) else 0 for size in self.shapes[name]]
            return int(np.argmax(sizes))
        return times[0] if len(times) == 1 else None

    @property
    def features(self) -> list[str]:
        """The other float inputs."""
        made = self.metadata.length_inputs.keys() | self.metadata.mask_inputs.keys() | self.sounds.keys()
        return [name for name, dtype in self.dtypes.items() if dtype.kind == "f" and name not in made]

    def _at(self, level: str, steps: Mapping[str, int], names: Collection[str], draw: Draw) -> Example:
        rng = np.random.default_rng(0)
        arrays = {}
        for name in names:
            dtype, drawn = self.dtypes[name], draw(rng, self.row_shape(name, steps)) * self.sounds.get(name, 1.0)
            drawn = self._with_silence(name, drawn, _SILENCE.get(level, 0.0))
            if dtype.kind == "i":
                drawn = np.clip(np.rint(drawn), np.iinfo(dtype).min, np.iinfo(dtype).max)
            with np.errstate(over="ignore"):
                typed = drawn.astype(dtype)
            if dtype.kind != "f" or np.isfinite(typed).all():  # an input in half never holds a power spectrum
                arrays[name] = typed
        return Example(level, steps, arrays)

    def _with_silence(self, name: str, drawn: Array, floor: float) -> Array:
        """An input with a stretch of digital silence in its middle: all its frames hold what the level has then."""
        made = drawn.copy()
        for axis in self.metadata.inputs.get(name, {}):
            count = drawn.shape[axis]
            if axis != self.batch(name) and count >= _LONG_ENOUGH:
                where = [slice(None)] * drawn.ndim
                where[axis] = slice(count // 2, count // 2 + count // _LONG_ENOUGH)
                made[tuple(where)] = floor
        return made


def _sound(rng: np.random.Generator, shape: tuple[int, ...], *, peak: float) -> Array:
    """A tone with harmonics that swells and fades, in noise: what has a spectrum, and loud and soft frames."""
    count = prod(shape)
    time = np.arange(count) / 16_000
    tone = sum(np.sin(2 * np.pi * 120 * k * time) / k for k in range(1, 20))
    mixed = tone * (0.55 + 0.45 * np.sin(2 * np.pi * 3 * time)) + 0.1 * rng.standard_normal(count)
    return np.asarray(peak * mixed / max(1e-9, np.abs(mixed).max()), np.float32).reshape(shape)


def _features(mean: float, deviation: float, low: float, high: float) -> Draw:
    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        return np.asarray(np.clip(mean + deviation * rng.standard_normal(shape), low, high), np.float32)

    return draw


def _power(mean: float, deviation: float, low: float, high: float) -> Draw:
    logarithms = _features(mean, deviation, low, high)
    return lambda rng, shape: np.exp(logarithms(rng, shape))


_SOUNDS = {"sound at 1": 1.0, "sound at 0.01": 0.01, "sound at 0.0001": 1e-4}
"""Peak of a waveform: full scale, speech from afar, and what is left after a bad gain."""

_FEATURES = {
    "log-mel of 16-bit sound, 12 ± 3": _features(12.0, 3.0, -4.0, 24.0),
    "normalised features, -4 .. 4": _features(0.0, 1.5, -4.0, 4.0),
    "log-mel of sound in -1 .. 1, -16 .. 4": _features(-6.0, 4.0, -16.0, 4.0),
    "embeddings, 0 ± 0.02": _features(0.0, 0.02, -0.1, 0.1),
}
"""Mean, deviation and limits: what Kaldi and FunASR compute before CMVN, behind it, what torchaudio computes, and rows
of an embedding table."""

_SILENCE = {"log-mel of 16-bit sound, 12 ± 3": -4.0, "log-mel of sound in -1 .. 1, -16 .. 4": -16.0}
"""What a frame of digital silence holds, the logarithm of its floor; 0 at other levels, as where samples are 0."""

_LONG_ENOUGH = 8
"""Steps from which on an input has a stretch of silence, an eighth of it: a frame of zeros is divided by its norm."""

_MFCC = "an MFCC, -250 .. 50"
_POWER = "a power spectrum of 16-bit sound, up to 1e10"
