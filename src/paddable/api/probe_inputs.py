"""What both runs of a probe hear: what was given, or random numbers, cut and padded for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from paddable.api.probe_given import NO_LENGTHS, Inputs, Signature, signature
from paddable.api.probe_partners import filled, partners
from paddable.bundle import Metadata
from paddable.divergence.outputs import flat
from paddable.divergence.plain import Plain
from paddable.errors import PaddableError
from paddable.gates.engine import Array, Engine, Source
from paddable.gates.signals import Numbers, Signals, evaluate

__all__ = ["Fed", "draw_inputs"]


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

    def of(
        self,
        inputs: Signature,
        metadata: Metadata | None,
        size: Mapping[str, int],
        lengths: Mapping[str, str] = NO_LENGTHS,
    ) -> dict[str, Array]:
        """The inputs of one graph, at a size.

        Args:
            inputs: its signature.
            metadata: of a padded graph.
            size: steps of each symbol; more than the valid ones are filled with zeros.
            lengths: what its own inputs hold that the reference lacks, such as ``{"ilens": "T"}``.
        """
        ragged = self.signals.metadata
        held = [name for name in inputs.shapes if name in ragged.length_inputs]
        heard = partners(inputs, self.reference, ragged, filled(inputs, self.reference, {*self.extra, *lengths, *held}))
        if metadata is not None or size != self.steps:
            shapes = {
                **{name: self.reference.shapes[name] for name in heard.values()},
                **{name: inputs.shapes[name] for name in held},
            }
            rows = [self.steps] * self.signals.rows
            feeds = self.signals.padded(rows, size, 0, shapes, {**self.reference.dtypes, **inputs.dtypes})
        else:
            feeds = self.signals.native(0, self.steps)
        found: dict[str, Array] = {}
        for name, dtype in inputs.dtypes.items():
            array = self.extra.get(name, feeds.get(heard.get(name, name)))
            if array is None:
                shape = inputs.shapes[name]
                count = evaluate(lengths[name], self.steps) if name in lengths else next(iter(self.steps.values()), 1)
                array = np.full([n or 1 for n in shape], count)
            found[name] = array.astype(dtype, copy=False)
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
    rows = metadata.rows or 1
    extra = {name: array for name, array in given.arrays.items() if name not in metadata.inputs}

    def drawn(numbers: Numbers) -> Signals:
        return Signals(metadata, inputs.dtypes, inputs.shapes, widest, numbers, rows, seed, given.arrays)

    signals = drawn(numbers)
    if set(given.arrays) >= set(metadata.inputs) and given.arrays:
        return Fed(signals, inputs, steps, extra)
    try:
        answers = flat(Engine(native, threads=threads).run(signals.native(0, steps)))
    except PaddableError:
        answers = None
    if answers is None or any(a.dtype.kind == "f" and not np.isfinite(a).all() for a in answers.values()):
        return Fed(drawn(replace(numbers, positive=True)), inputs, steps, extra)
    return Fed(signals, inputs, steps, extra, answers)
