"""Random inputs, cut to any length for native and set into any container for the padded model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paddable.bundle import Metadata
from paddable.gates.engine import Array
from paddable.gates.junk import draw, fill
from paddable.lengths import Length, parse

__all__ = ["Numbers", "Signals", "evaluate"]


@dataclass(frozen=True)
class Numbers:
    """Which numbers native takes.

    Attributes:
        limits: by input, the sizes that its integers index; they lie in 0 .. 7 where none is known.
        positive: floats are not negative.
        sounds: integers that are samples, by input, with the amplitude of full scale.
    """

    limits: Mapping[str, Sequence[Length]]
    positive: bool = False
    sounds: Mapping[str, float] = field(default_factory=dict)


def evaluate(text: str, steps: Mapping[str, int]) -> int:
    """A length of the metadata at given steps."""
    return parse(text).evaluate(dict(steps))


class Signals:
    """One random signal for each row and input, as long as the largest container.

    Args:
        metadata: of the padded model: what is ragged.
        dtypes: type of each native input.
        shapes: shape of each native input; what is not an integer varies.
        largest: steps of each symbol.
        numbers: which numbers native takes.
        rows: rows of the padded model.
        seed: of the numbers.
        given: arrays to take in place of random ones, the same for each row.
    """

    def __init__(
        self,
        metadata: Metadata,
        dtypes: Mapping[str, np.dtype[Any]],
        shapes: Mapping[str, Sequence[Any]],
        largest: Mapping[str, int],
        numbers: Numbers,
        rows: int,
        seed: int,
        given: Mapping[str, Array] | None = None,
    ) -> None:
        self.metadata, self.dtypes, self.shapes, self.numbers, self.rows = metadata, dtypes, shapes, numbers, rows
        self.batch: Mapping[str, int] = metadata.batch.inputs if metadata.batch else {}
        self._seed = seed
        rng = np.random.default_rng(seed)
        self._whole: list[dict[str, Array]] = [{} for _ in range(rows)]
        for name, shape in shapes.items():
            if name in metadata.length_inputs or name in metadata.mask_inputs:
                continue
            sizes = self._sizes(name, shape, largest)
            for row in range(rows):
                if row and name not in self.batch:  # what has no batch axis is the same for every row
                    self._whole[row][name] = self._whole[0][name]
                    continue
                dtype = dtypes[name]
                if given and name in given:
                    self._whole[row][name] = given[name].astype(dtype)
                    continue
                if name in numbers.sounds:
                    self._whole[row][name] = _noise(rng, sizes, dtype, numbers.sounds[name])
                    continue
                high = self.limit(name, largest) - 1 if dtype.kind in "iu" else np.inf
                drawn = draw(rng, sizes, dtype, high=high)
                self._whole[row][name] = np.abs(drawn) if numbers.positive and dtype.kind == "f" else drawn

    def limit(self, name: str, steps: Mapping[str, int]) -> int:
        """Valid integers of an input are below this at given steps."""
        if name in self.numbers.sounds:
            return int(self.numbers.sounds[name])
        return max(1, min((size.evaluate(dict(steps)) for size in self.numbers.limits.get(name, ())), default=8))

    def _sizes(self, name: str, shape: Sequence[Any], steps: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of one row at given steps."""
        ragged = self.metadata.inputs.get(name) or self.metadata.mask_inputs.get(name) or {}
        sizes = []
        for axis, size in enumerate(shape):
            if axis in ragged:
                sizes.append(evaluate(ragged[axis], steps))
            elif axis == self.batch.get(name) or not isinstance(size, int):
                sizes.append(1)
            else:
                sizes.append(size)
        return tuple(sizes)

    def native(self, row: int, steps: Mapping[str, int]) -> dict[str, Array]:
        """Native's inputs: one row, exactly ``steps`` long, repeated where native's batch is fixed."""
        feeds = {}
        for name, shape in self.shapes.items():
            dtype = self.dtypes[name]
            if name in self.metadata.length_inputs:
                sizes = tuple(size if isinstance(size, int) else 1 for size in shape)
                feeds[name] = np.full(sizes, evaluate(self.metadata.length_inputs[name], steps), dtype)
                continue
            if name in self.metadata.mask_inputs:
                sizes = self._sizes(name, shape, steps)
                array = np.full(list(sizes), name not in self.metadata.padding_masks, dtype)
            else:
                array = self._valid(row, name, steps)
            axis = self.batch.get(name)
            if axis is not None and isinstance(shape[axis], int):
                array = np.repeat(array, shape[axis], axis)
            elif name in self.metadata.mask_inputs and shape and isinstance(shape[0], int):
                array = np.repeat(array[:1], shape[0], 0)
            feeds[name] = np.ascontiguousarray(array)
        return feeds

    def padded(
        self,
        lengths: Sequence[Mapping[str, int]],
        container: Mapping[str, int],
        filling: int,
        shapes: Mapping[str, Sequence[Any]],
        dtypes: Mapping[str, np.dtype[Any]],
    ) -> dict[str, Array]:
        """The padded model's inputs: the rows in a container, junk behind each.

        Args:
            lengths: steps of each row.
            container: steps of the container.
            filling: which junk, see ``junk.fill``.
            shapes: shapes of the padded model's inputs.
            dtypes: types of the padded model's inputs.
        """
        feeds = {}
        rng = np.random.default_rng(self._seed + 1)
        for name, shape in shapes.items():
            if name in self.metadata.length_inputs:
                numbers = [evaluate(self.metadata.length_inputs[name], steps) for steps in lengths]
                rest = [size if isinstance(size, int) else 1 for size in shape[1:]]
                held = np.array(numbers, dtypes[name])
                feeds[name] = held.reshape([len(numbers), *rest]) if shape else held.reshape(-1)[:1].reshape(())
                continue
            parts = [self._filled(row, name, steps, container, filling, rng) for row, steps in enumerate(lengths)]
            axis = self.batch.get(name)
            feeds[name] = parts[0] if axis is None else np.concatenate(parts, axis)
        return feeds

    def _valid(self, row: int, name: str, steps: Mapping[str, int]) -> Array:
        whole = self._whole[row][name]
        ragged = self.metadata.inputs.get(name, {})
        slices = [slice(evaluate(ragged[a], steps)) if a in ragged else slice(None) for a in range(whole.ndim)]
        cut = whole[tuple(slices)]
        if any(size.symbols for size in self.numbers.limits.get(name, ())):  # an index of a shorter signal is smaller
            cut = cut % self.limit(name, steps)
        return cut

    def _filled(
        self,
        row: int,
        name: str,
        steps: Mapping[str, int],
        container: Mapping[str, int],
        filling: int,
        rng: np.random.Generator,
    ) -> Array:
        valid = self._valid(row, name, steps)
        if name not in self.metadata.inputs:
            return valid
        shape = self._sizes(name, self.shapes[name], container)
        result = fill(filling, shape, valid.dtype, rng, self.limit(name, steps))
        result[tuple(slice(size) for size in valid.shape)] = valid
        return result


def _noise(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], full: float) -> Array:
    """Samples of noise up to full scale, a few of them cut off there: one quieter is none to whoever rounds it."""
    most = min(full - 1, float(np.iinfo(dtype).max))
    return np.asarray(np.clip(np.rint(full / 3 * rng.standard_normal(shape)), -most, most)).astype(dtype)
