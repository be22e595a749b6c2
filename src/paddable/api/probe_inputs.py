"""What both runs of a probe hear: a sound, arrays, or random numbers, cut and padded for each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.api.probe_places import Place
from paddable.bundle import Metadata
from paddable.divergence.plain import Plain
from paddable.errors import MisuseError, PaddableError, UnreadableError
from paddable.gates.engine import Array, Engine, Source
from paddable.gates.signals import Numbers, Signals

__all__ = ["Fed", "Inputs", "Signature", "draw_inputs", "signature"]

SOUNDS = (".wav", ".flac", ".mp3", ".ogg", ".aiff")


@dataclass(frozen=True)
class Signature:
    """Inputs of a graph: type and shape by name; what is not an integer varies."""

    dtypes: Mapping[str, np.dtype[Any]]
    shapes: Mapping[str, list[Any]]


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
class Inputs:
    """Arrays by input, as given; none where numbers are drawn."""

    arrays: Mapping[str, Array]

    @classmethod
    def read(
        cls,
        source: str | os.PathLike[str] | Mapping[str, Array] | None,
        first: Place,
        second: Place,
        metadata: Metadata,
    ) -> Inputs:
        """Read a sound, an ``.npz``, or take arrays as they are.

        Args:
            source: the file or the arrays.
            first: one of the two graphs.
            second: the other.
            metadata: says which input is ragged, and its rate.

        Raises:
            UnreadableError: the file cannot be read.
            MisuseError: a sound for a model that takes none.
        """
        if source is None:
            return cls({})
        if isinstance(source, Mapping):
            return cls({name: np.asarray(array) for name, array in source.items()})
        path = Path(source)
        if path.suffix.lower() in SOUNDS:
            return cls(_sound(path, first, second, metadata))
        try:
            with np.load(path) as archive:
                return cls({name: archive[name] for name in archive.files})
        except (OSError, ValueError, AttributeError) as error:
            raise UnreadableError(
                f"neither a sound nor an .npz of arrays ({error})", where=str(path), fix="np.savez(file, x=array)"
            ) from None

    def steps(self, metadata: Metadata) -> dict[str, int]:
        """Steps of each symbol whose input is given."""
        return {
            name: int(self.arrays[symbol.input].shape[symbol.axis])
            for name, symbol in metadata.symbols.items()
            if symbol.input in self.arrays
        }


def _sound(path: Path, first: Place, second: Place, metadata: Metadata) -> dict[str, Array]:
    from paddable.audio.read import read_audio
    from paddable.runtime.families import front_end_of

    bundle = first.bundle or second.bundle
    owner = next(iter(metadata.symbols.values()), None)
    if owner is None:
        raise MisuseError("nothing says which input hears the sound", where=str(path), fix="declare it with `lengths`")
    rate = bundle.sample_rate if bundle is not None and bundle.sample_rate else int(owner.rate or 16_000)
    samples = np.asarray(read_audio(path, rate).samples, np.float32)
    front_end = front_end_of(bundle) if bundle is not None else None
    if front_end is not None:
        return {owner.input: front_end(samples)[None]}
    if owner.axis == 0:
        return {owner.input: samples}
    return {owner.input: samples.reshape([1] * owner.axis + [-1])}


@dataclass(frozen=True)
class Fed:
    """The inputs, once drawn.

    Attributes:
        signals: of the reference graph.
        reference: its signature.
        steps: the valid ones.
        extra: arrays that were given under names of the other graph.
        answers: of native to these inputs, where it was asked.
    """

    signals: Signals
    reference: Signature
    steps: Mapping[str, int]
    extra: Mapping[str, Array]
    answers: Mapping[str, Array] | None = None

    def of(self, inputs: Signature, metadata: Metadata | None, size: Mapping[str, int]) -> dict[str, Array]:
        """The inputs of one graph, at a size.

        Args:
            inputs: its signature.
            metadata: of a padded graph.
            size: steps of each symbol; more than the valid ones are filled with zeros.

        Raises:
            MisuseError: an input that nothing tells the contents of.
        """
        if metadata is not None or size != self.steps:
            names = {name: name for name in inputs.shapes if name in self.reference.shapes or metadata is not None}
            rows = [self.steps] * self.signals.rows
            feeds = self.signals.padded(rows, size, 0, {n: inputs.shapes[n] for n in names}, inputs.dtypes)
        else:
            feeds = self.signals.native(0, self.steps)
        return self._named(feeds, inputs)

    def _named(self, feeds: Mapping[str, Array], inputs: Signature) -> dict[str, Array]:
        """By the graph's own names: equal names first, then what is given, lengths, and what alone has its kind."""
        found: dict[str, Array] = {}
        left = dict(feeds)
        for name, dtype in inputs.dtypes.items():
            if name in self.extra:
                found[name] = self.extra[name].astype(dtype)
                left.pop(name, None)
            elif name in left:
                found[name] = left.pop(name).astype(dtype, copy=False)
        for name, dtype in inputs.dtypes.items():
            if name in found:
                continue
            shape = inputs.shapes[name]
            if dtype.kind in "iu" and "len" in name.lower() and len(shape) <= 1:
                count = next(iter(self.steps.values()), 1)
                found[name] = np.full([1] * len(shape), count, dtype)
                continue
            partner = next((n for n, a in left.items() if a.ndim == len(shape) and a.dtype.kind == dtype.kind), None)
            if partner is None:
                raise MisuseError(
                    "nothing says what this input is fed",
                    where=f"input {name!r}",
                    fix="give all inputs of both graphs by name: `inputs='arrays.npz'`",
                )
            found[name] = left.pop(partner).astype(dtype, copy=False)
        return found


def draw_inputs(
    reference: Plain,
    metadata: Metadata,
    given: Inputs,
    sizes: tuple[Mapping[str, int], Mapping[str, int]],
    steps: Mapping[str, int],
    numbers: Numbers,
    seed: int,
    native: Source,
    threads: int,
) -> Fed:
    """Draw what is not given.

    Args:
        reference: the graph whose inputs they are.
        metadata: what is ragged.
        given: what is given.
        sizes: steps that each graph is run at.
        steps: the valid ones.
        numbers: which numbers native takes.
        seed: of random numbers.
        native: run to see whether it takes them: some models have no answer for negative numbers.
        threads: of that run; 0 takes every core.
    """
    inputs = signature(reference.model)
    widest = {name: max(size[name] for size in sizes) for name in steps}
    rows = (metadata.batch.size if metadata.batch else None) or 1
    extra = {name: array for name, array in given.arrays.items() if name not in metadata.inputs}

    def drawn(numbers: Numbers) -> Signals:
        return Signals(metadata, inputs.dtypes, inputs.shapes, widest, numbers, rows, seed, given.arrays)

    signals = drawn(numbers)
    if set(given.arrays) >= set(metadata.inputs) and given.arrays:
        return Fed(signals, inputs, steps, extra)
    try:
        answers = Engine(native, threads=threads).run(signals.native(0, steps))
    except PaddableError:
        answers = None
    if answers is None or any(a.dtype.kind == "f" and not np.isfinite(a).all() for a in answers.values()):
        return Fed(drawn(Numbers(numbers.limits, positive=True)), inputs, steps, extra)
    return Fed(signals, inputs, steps, extra, answers)
