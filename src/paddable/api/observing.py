"""Native on examples: the range of every value, and what fewer bits do to each product.

Native runs once on each example, in fp32, and once more on those that are shorter than the largest container, repeated
until they fill it: a sum over the steps grows with them. Where ranges are fixed, it runs on the beginning of each too:
what is attended over few steps, or is nearer to an end, leaves the range that it has over many. And on each
with silence in place of a part: examples may have none, and every microphone is switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import onnx_ir as ir

from paddable.api.examples import read_examples
from paddable.api.running import Lend
from paddable.bundle import Metadata
from paddable.errors import MisuseError
from paddable.gates.damage import Comparison, compared
from paddable.gates.engine import Array, EngineError
from paddable.gates.examples import Example, Inputs, power_inputs, sound_inputs
from paddable.gates.observe import Observer, watched
from paddable.gates.signals import Numbers, Signals
from paddable.graph.types import know_types
from paddable.precision import PRECISIONS
from paddable.precision.ranges import Range, merged
from paddable.precision.samples import INT16, held_samples
from paddable.precision.static import FixedRange, rounded_inputs, twins_in
from paddable.runtime.speech.sound_input import SoundInput

__all__ = ["Louder", "Observed", "fixed_ranges", "longest", "observe"]

_PARTS = (2, 4)
"""A half and a quarter of each example fix ranges too, beside the smaller containers."""

_SHORTEST = 8
"""An eighth of each fixes none: it shows whether what is shorter still stays inside them."""

_SHARES = {2: "half", 4: "quarter", 8: "eighth"}

_SILENT = 1e-30
"""A peak up to which a value has no range: one 65,535th of it has to be a normal number."""


@dataclass(frozen=True)
class Louder:
    """Native on an input louder than it is made for.

    Attributes:
        name: of the level.
        advice: what to do where it is met.
        ranges: of its values.
    """

    name: str
    advice: str
    ranges: Mapping[str, Range]


@dataclass(frozen=True)
class Observed:
    """Native on examples.

    Attributes:
        native: the model.
        examples: those that it runs on.
        numbers: which numbers it takes besides.
        ranges: of its values over all examples.
        louder: levels that it may meet by mistake or seldom.
        given: whether the examples are the user's.
        samples: values that hold 16-bit samples as they are.
        damage: what fewer bits do to each node at worst, by precision, and ``8`` and ``16`` for ranges that are fixed.
        full: ranges on the user's examples of sound, where they are softer than full scale, at full scale.
        softer: ranges on the first of the user's examples, half as loud.
        fixing: ranges over all examples and their beginnings, where a precision fixes them.
        shorter: by name of an example, ranges on a beginning that is shorter than all of them.
        stiller: by name of an example, ranges on it with more silence than any of them has.
    """

    native: ir.Model
    examples: Sequence[Example]
    numbers: Numbers
    ranges: Mapping[str, Range]
    louder: Sequence[Louder]
    given: bool
    samples: Collection[str]
    damage: Mapping[str, Mapping[str, float]]
    full: Mapping[str, Range] = field(default_factory=dict)
    softer: Mapping[str, Range] = field(default_factory=dict)
    fixing: Mapping[str, Range] = field(default_factory=dict)
    shorter: Mapping[str, Mapping[str, Range]] = field(default_factory=dict)
    stiller: Mapping[str, Mapping[str, Range]] = field(default_factory=dict)


def observe(
    native: ir.Model,
    metadata: Metadata,
    steps: Mapping[str, int],
    lend: Lend,
    *,
    numbers: Numbers | None = None,
    examples: str | Path | None = None,
    precisions: Collection[str] = (),
    smaller: Sequence[Mapping[str, int]] = (),
    sound: SoundInput | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Observed:
    """Run native on examples.

    Args:
        native: in fp32; it is not changed.
        metadata: of its padded graph: what is ragged.
        steps: of the largest container; longer examples are cut.
        lend: writes a model to a file for as long as it runs.
        numbers: which numbers native takes besides.
        examples: a directory or file of examples; levels that speech models meet by default.
        precisions: that are asked for; what some of them do to each product is measured too.
        smaller: steps of the other containers.
        sound: how a recording becomes an input of a model whose front end is not in its graph.
        on_message: called with a line for what of the examples does not count.

    Raises:
        MisuseError: an example that native does not run on.
        UnreadableError: an example that cannot be read, or holds NaN.
    """
    numbers, most = numbers or Numbers({}), longest(metadata, steps)
    model, names = watched(native)
    typed = native.clone()
    know_types(typed)
    with lend(model) as file:
        observer = Observer(file, names)
        shapes, dtypes = observer.shapes, observer.dtypes
        sounds = sound_inputs(typed.graph, metadata, shapes, dtypes, numbers.limits)
        inputs = Inputs(metadata, shapes, dtypes, sounds, power_inputs(typed.graph))

        def feeds_of(example: Example) -> dict[str, Array]:
            signals = Signals(metadata, dtypes, shapes, example.steps, numbers, 1, 0, example.arrays)
            return signals.native(0, example.steps)

        def ranges_of(example: Example) -> dict[str, Range]:
            return observer.ranges(feeds_of(example))

        given = None if examples is None else read_examples(Path(examples), inputs, most, on_message, sound=sound)
        found, used = [], []
        for example in inputs.default(most) if given is None else given:
            try:
                found.append(ranges_of(example))
                used.append(example)
            except EngineError as error:  # a level that was not asked for is no fault of anybody
                if given is not None:
                    raise MisuseError(f"native does not run on it: {error.what}", where=example.name) from None
        long = _filled(used, inputs, most, ranges_of, on_message)
        fixes = any(PRECISIONS[name].fixed for name in precisions)
        begun, shorter = _beginnings(used, metadata, smaller, ranges_of) if fixes else ([], {})
        still, stiller = _with_silence(used, inputs, ranges_of) if fixes else ([], {})
        full: dict[str, Range] = {}
        softer: dict[str, Range] = {}
        if given is not None and any(PRECISIONS[name].ranges for name in precisions):
            with suppress(EngineError):
                full = merged(map(ranges_of, inputs.at_full_scale(used)))
                softer = ranges_of(inputs.scaled(used[0], 0.5))
        louder = []
        if given is None:
            for example, advice in inputs.louder(most):
                with suppress(EngineError):
                    louder.append(Louder(example.name, advice, ranges_of(example)))
        elif fixes:
            with suppress(EngineError):
                scaled = merged(map(ranges_of, inputs.scaled_to_16_bits(used)))
                louder.append(Louder("sound scaled to 16 bits", "feed samples as those of the examples", scaled))
    ranges = merged([*found, *(ranges for _, ranges in long)])
    fixing = merged([ranges, *begun, *(ranges for _, ranges in still)])
    kinds = {name: twins for name in precisions if (twins := PRECISIONS[name].twins) is not None}
    if fixes:
        kinds |= {bits: twins_in(fixed_ranges(native, fixing, int(bits))) for bits in ("8", "16")}
    damage: dict[str, dict[str, float]] = {}
    for kind, twins in kinds.items():
        worst = damage.setdefault(kind, {})
        model, energies = compared(native, twins)
        with lend(model) as file:
            comparison = Comparison(file, energies)
            for example in used:
                for name, share in comparison.damage(feeds_of(example)).items():
                    worst[name] = max(share, worst.get(name, 0.0))
    whole = {name for name in inputs.sounds if dtypes[name].kind == "i"}
    samples = {
        name
        for name in held_samples(typed.graph, whole)
        if name in ranges and ranges[name].peak <= INT16  # never louder, and of no more digits than matter
    }
    # The loudest of the long ones is judged as well: each costs a run of every container.
    loudest = max(long, key=lambda one: max((found.peak for found in one[1].values()), default=0.0), default=None)
    judged = [*used, *([loudest[0]] if loudest is not None else []), *(example for example, _ in still[:1])]
    return Observed(
        native,
        judged,
        numbers,
        ranges,
        louder,
        given is not None,
        samples,
        damage,
        full,
        softer,
        fixing,
        shorter,
        stiller,
    )


def longest(metadata: Metadata, steps: Mapping[str, int]) -> dict[str, int]:
    """The longest valid length of each symbol in a container."""
    found = {}
    for name, size in steps.items():
        symbol = metadata.symbols[name]
        most = size if symbol.max is None else min(size, symbol.max)
        found[name] = symbol.min + (most - symbol.min) // symbol.step * symbol.step
    return found


def _filled(
    examples: Sequence[Example],
    inputs: Inputs,
    most: Mapping[str, int],
    ranges_of: Callable[[Example], dict[str, Range]],
    on_message: Callable[[str], None] | None,
) -> list[tuple[Example, dict[str, Range]]]:
    """Those that are shorter than the largest container, repeated until they fill it, with their ranges there."""
    found = []
    short = [example for example in examples if any(example.steps[name] < size for name, size in most.items())]
    for example in short:
        with suppress(EngineError):  # native may bound its lengths where no symbol says so
            longer = inputs.repeated(example, most)
            found.append((longer, ranges_of(longer)))
    if len(found) < len(short) and on_message is not None:
        reach = ", ".join(
            f"{max(e.steps[name] for e in short):,} of {size:,} steps of {name}" for name, size in most.items()
        )
        on_message(f"the examples cover {reach}, and native does not run on them repeated: what grows is not known")
    return found


def _beginnings(
    examples: Sequence[Example],
    metadata: Metadata,
    smaller: Sequence[Mapping[str, int]],
    ranges_of: Callable[[Example], dict[str, Range]],
) -> tuple[list[dict[str, Range]], dict[str, dict[str, Range]]]:
    """Ranges on what smaller containers hold of each example and on parts of it; by name, those on a shorter part."""

    def part(steps: Mapping[str, int], divisor: int) -> dict[str, int]:
        least = {name: metadata.symbols[name].min for name in steps}
        return longest(metadata, {name: max(least[name], count // divisor) for name, count in steps.items()})

    found: list[dict[str, Range]] = []
    shorter: dict[str, dict[str, Range]] = {}
    fits = [longest(metadata, size) for size in smaller]
    for example in examples:
        whole = dict(example.steps)
        cuts = [{name: min(count, size[name]) for name, count in whole.items()} for size in fits]
        cuts += [part(whole, divisor) for divisor in _PARTS]
        for place, steps in enumerate(cuts):
            if steps not in (whole, *cuts[:place]):
                with suppress(EngineError):  # native may need more steps than the domain says
                    found.append(ranges_of(replace(example, steps=steps)))
        last = part(whole, _SHORTEST)
        if last not in (whole, *cuts):
            with suppress(EngineError):
                told = ", ".join(f"{count:,} steps of {name}" for name, count in last.items())
                shorter[f"the first {told} of {example.name}"] = ranges_of(replace(example, steps=last))
    return found, shorter


def _with_silence(
    examples: Sequence[Example], inputs: Inputs, ranges_of: Callable[[Example], dict[str, Range]]
) -> tuple[list[tuple[Example, dict[str, Range]]], dict[str, dict[str, Range]]]:
    """Examples that fall silent, or begin with silence, with their ranges; by name, ranges where less is heard.

    A logarithm of silence lies far below that of soft sound, and what is normalised over time grows with silence.
    """
    found: list[tuple[Example, dict[str, Range]]] = []
    stiller: dict[str, dict[str, Range]] = {}
    for example in examples:
        for part in (*_PARTS, _SHORTEST):
            for start, end, where in ((1 / part, 1.0, "first"), (0.0, 1 - 1 / part, "last")):
                still = inputs.silenced(example, start, end, f"silent but for its {where} {_SHARES[part]}")
                if still is None:
                    continue
                with suppress(EngineError):
                    if part == _SHORTEST:
                        stiller[f"the {where} {_SHARES[part]} of {example.name} and silence"] = ranges_of(still)
                    else:
                        found.append((still, ranges_of(still)))
    return found, stiller


def fixed_ranges(native: ir.Model, ranges: Mapping[str, Range], bits: int) -> dict[str, FixedRange]:
    """The range of what goes into each product or convolution that can be rounded; silence fixes none."""
    names = [str(value.name) for _, value in rounded_inputs(native.graph)]
    return {
        name: (ranges[name].low, ranges[name].high, bits)
        for name in names
        if name in ranges and ranges[name].peak > _SILENT
    }
