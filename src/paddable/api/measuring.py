"""What a precision has to know of native before it changes it: the range of every value, on examples.

Native runs once on each example, in fp32, and once more on those that are shorter than the largest container, repeated
until they fill it: a sum over the steps grows with them. What half cannot hold there stays in fp32, with its reason;
the others get their headroom, which says how much louder an input may be than the examples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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
from paddable.precision.branches import UNHEARD, unheard
from paddable.precision.codes import bits_computed
from paddable.precision.damage import worth_keeping
from paddable.precision.half import reasons, weight_bytes
from paddable.precision.int8 import LEAST, storable
from paddable.precision.ranges import LARGEST, Range, beyond_half, merged
from paddable.precision.samples import INT16, held_samples
from paddable.precision.static import FixedRange, roundable, rounded_inputs, twins_in
from paddable.precision.tied import kept_with_others, told_tables
from paddable.precision.untaken import called, untaken, why_untaken

__all__ = ["Measured", "Observed", "longest", "measured", "observe"]

_NAMED = 3
"""Layers that a message names; the report has them all."""

_SILENT = 1e-30
"""A peak up to which a value has no range: one 65,535th of it has to be a normal number."""

_NEAR = 10.0
"""Headroom below which it is told: another speaker or microphone may be so much louder."""

_GROWS = 1.1
"""Times that a value has to be louder on twice as loud inputs to hang on how loud they are; a mask is not."""

_BEYOND = 0.1
"""Share of a range, beyond its end, from which on it cuts off."""

_NODES = "products and convolutions"

_LAYERS = {"Conv", "ConvTranspose", "Einsum", "GRU", "Gemm", "LSTM", "MatMul"}


@dataclass(frozen=True)
class Measured:
    """What a precision knows of native.

    Attributes:
        examples: the inputs that native was run on, and that the result is judged on.
        numbers: which numbers native takes besides.
        kept: values that stay in fp32, each with its reason.
        ranges: for the report: ``examples``, ``stays`` (nodes in fp32, with their reasons), ``layers`` (the headroom of
            each layer in half) and ``headroom``, the least of them.
        fixed: ranges of values that are rounded to them.
        accept: what the answers on examples have to reach; see ``gates.verdict``.
    """

    examples: Sequence[Example] = ()
    numbers: Numbers = field(default_factory=lambda: Numbers({}))
    kept: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, FixedRange] = field(default_factory=dict)
    accept: Mapping[str, float] = field(default_factory=dict)


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
        softer: ranges on the user's examples, half as loud.
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


def observe(
    native: ir.Model,
    metadata: Metadata,
    steps: Mapping[str, int],
    lend: Lend,
    *,
    numbers: Numbers | None = None,
    examples: str | Path | None = None,
    precisions: Collection[str] = (),
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

        given = None if examples is None else read_examples(Path(examples), inputs, most, on_message)
        found, used = [], []
        for example in inputs.default(most) if given is None else given:
            try:
                found.append(ranges_of(example))
                used.append(example)
            except EngineError as error:  # a level that was not asked for is no fault of anybody
                if given is not None:
                    raise MisuseError(f"native does not run on it: {error.what}", where=example.name) from None
        long = _filled(used, inputs, most, ranges_of, on_message)
        full: dict[str, Range] = {}
        softer: dict[str, Range] = {}
        if given is not None and any(PRECISIONS[name].ranges for name in precisions):
            with suppress(EngineError):
                full = merged(map(ranges_of, inputs.at_full_scale(used)))
                softer = merged(ranges_of(inputs.scaled(example, 0.5)) for example in used)
        louder = []
        if given is None:
            for example, advice in inputs.louder(most):
                with suppress(EngineError):
                    louder.append(Louder(example.name, advice, ranges_of(example)))
        elif any(PRECISIONS[name].fixed for name in precisions):
            with suppress(EngineError):
                scaled = merged(map(ranges_of, inputs.scaled_to_16_bits(used)))
                louder.append(Louder("sound scaled to 16 bits", "feed samples as those of the examples", scaled))
    ranges = merged([*found, *(ranges for _, ranges in long)])
    kinds = {name: twins for name in precisions if (twins := PRECISIONS[name].twins) is not None}
    if any(PRECISIONS[name].fixed for name in precisions):
        kinds |= {bits: twins_in(_fixed(native, ranges, int(bits))) for bits in ("8", "16")}
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
    judged = [*used, loudest[0]] if loudest is not None else used
    return Observed(native, judged, numbers, ranges, louder, given is not None, samples, damage, full, softer)


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


def _fixed(native: ir.Model, ranges: Mapping[str, Range], bits: int) -> dict[str, FixedRange]:
    """The range of what goes into each product or convolution that can be rounded; silence fixes none."""
    names = [str(value.name) for _, value in rounded_inputs(native.graph)]
    return {
        name: (ranges[name].low, ranges[name].high, bits)
        for name in names
        if name in ranges and ranges[name].peak > _SILENT
    }


def measured(
    observed: Observed,
    precision: str,
    accept: Mapping[str, float] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Measured:
    """What stays in fp32 in a precision.

    Args:
        observed: native on examples.
        precision: the precision.
        accept: what the answers have to reach.
        on_message: called with a line for the values that stay, and one for what the others would not survive.
    """
    blank = Measured(observed.examples, observed.numbers, accept=accept or {})
    native, ranges = observed.native, observed.ranges
    if PRECISIONS[precision].twins is not None:
        damage = observed.damage[precision]
        none = _if_none(precision, damage, native, on_message)
        kept = worth_keeping(damage, PRECISIONS[precision].bits, PRECISIONS[precision].most)
        if not PRECISIONS[precision].rounds:
            kept |= kept_with_others(native, damage.keys() - kept.keys())
        if on_message is not None and kept:
            on_message(f"{precision}: {len(kept)} of {len(damage)} {_NODES} stay in fp32: {_listed(kept)}")
        if on_message is not None:
            for line in told_tables(native, damage.keys() - kept.keys(), apart=PRECISIONS[precision].rounds):
                on_message(f"{precision}: {line}")
        shares = {name: _short(share) for name, share in damage.items()}
        return replace(blank, kept=kept, ranges={"damage": shares, "stays": dict(kept), **none})
    if PRECISIONS[precision].fixed:
        return _with_fixed(blank, observed, precision, on_message)
    if not PRECISIONS[precision].ranges:
        return blank
    kept = beyond_half({name: found for name, found in ranges.items() if name not in observed.samples})
    kept |= dict.fromkeys(_unheard(observed, by_numbers=True) & ranges.keys(), UNHEARD)
    kept |= {
        name: f"overflows at full scale: it reaches {found.peak:.2g} there, half ends at {LARGEST:.0f}"
        for name, found in observed.full.items()
        if found.peak > LARGEST and name not in kept
    }
    fast = PRECISIONS[precision].fast
    stays = reasons(native, kept, fast=fast)
    nodes = {str(value.name): node for node in native.graph for value in node.outputs}
    told = _told(observed.examples, ranges, stays, nodes)
    before, after, changed = weight_bytes(native, kept, fast=fast)
    if on_message is not None:
        for line in (
            *_lines(precision, kept, stays, observed, nodes),
            *_gain(precision, before, after, changed, told, native),
        ):
            on_message(line)
    return replace(blank, kept=kept, ranges={**told, "weights": {"fp32": before, precision: after}})


def _with_fixed(
    blank: Measured, observed: Observed, precision: str, on_message: Callable[[str], None] | None
) -> Measured:
    """Each product and convolution in 8 bits, in 16 where 8 damage it, in fp32 where 16 do."""
    eight, sixteen = observed.damage["8"], observed.damage["16"]
    wide = worth_keeping(eight, 8, PRECISIONS[precision].most)
    kept = worth_keeping(sixteen, 16, PRECISIONS[precision].most)
    taken, all_nodes = roundable(observed.native.graph), storable(observed.native.graph)
    kept |= {
        str(node.outputs[0].name): why_untaken(node, weight, PRECISIONS[precision].rounds)
        for node, weight in all_nodes.items()
        if node not in taken
    }
    kept |= dict.fromkeys(_unheard(observed) & {str(node.outputs[0].name) for node in taken}, UNHEARD)
    kept |= {
        name: "what goes into it is 0 on every example, which fixes no range"
        for node, weight in taken.items()
        if weight.at == 1 and (name := str(node.outputs[0].name)) not in eight
    }
    fixed = {}
    for bits in (8, 16):
        known = _fixed(observed.native, observed.ranges, bits)
        for node, value in rounded_inputs(observed.native.graph):
            name = str(node.outputs[0].name)
            rounded = name in eight and name not in kept and (bits == 8 or name in wide)
            if rounded and value.name in known:
                fixed[str(value.name)] = known[str(value.name)]
    none = _if_none(precision, [called(node) for node in all_nodes], observed.native, on_message)
    if on_message is not None:
        for line in told_tables(observed.native, eight.keys() - kept.keys(), apart=True):
            on_message(f"{precision}: {line}")
        count = len(eight.keys() | kept.keys())
        sixteens = {name: why for name, why in wide.items() if name not in kept}
        for chosen, what in ((sixteens, "take 16 bits"), (kept, "stay in fp32")):
            if chosen:
                on_message(f"{precision}: {len(chosen)} of {count} {_NODES} {what}: {_listed(chosen)}")
        scaled = next((one.ranges for one in observed.louder if one.name.startswith("sound")), {})
        cut = [name for name, loud in scaled.items() if name in fixed and _cut(loud, fixed[name])]
        if cut:
            on_message(
                f"{precision}: sound scaled to 16 bits, up to {INT16:.0f}, is cut off at {len(cut)} of {len(fixed)} "
                "ranges; feed samples as those of the examples"
            )
    damage = {name: [_short(share), _short(sixteen[name])] for name, share in eight.items()}
    return replace(blank, kept=kept, fixed=fixed, ranges={"damage": damage, "stays": kept, "fixed": fixed, **none})


def _unheard(observed: Observed, *, by_numbers: bool = False) -> set[str]:
    """Names of the values that no example hears; see ``branches.unheard``."""
    graph = observed.native.graph
    taken = {name for name, found in observed.ranges.items() if found.peak}
    return {str(value.name) for node in unheard(graph, taken, by_numbers=by_numbers) for value in node.outputs}


def _cut(loud: Range, fixed: FixedRange) -> bool:
    """Whether a range leaves out more than rounding would; behind a logarithm that is less than twice as loud."""
    low, high, _ = fixed
    return max(loud.high - high, low - loud.low) > _BEYOND * (high - low)


def _if_none(
    precision: str, taken: Collection[str], native: ir.Model, on_message: Callable[[str], None] | None
) -> dict[str, Any]:
    """Where no weight is taken, what has one and why it keeps it: for the report, and told in a line."""
    if taken:
        return {}
    others = untaken(native, taken, PRECISIONS[precision].rounds)
    if on_message is not None:
        why = f"it leaves {_several(others)}" if others else f"no node has a weight of {LEAST:,} numbers or more"
        on_message(f"{precision}: no weight gets fewer bits, since {why}")
    return {"untaken": others}


def longest(metadata: Metadata, steps: Mapping[str, int]) -> dict[str, int]:
    """The longest valid length of each symbol in a container."""
    found = {}
    for name, size in steps.items():
        symbol = metadata.symbols[name]
        most = size if symbol.max is None else min(size, symbol.max)
        found[name] = symbol.min + (most - symbol.min) // symbol.step * symbol.step
    return found


def _told(
    examples: Sequence[Example],
    ranges: Mapping[str, Range],
    stays: Mapping[str, str],
    nodes: Mapping[str, ir.Node],
) -> dict[str, Any]:
    layers = [
        {"node": node.name or name, "op": node.op_type, "peak": _short(found.peak), "headroom": _short(found.headroom)}
        for name, found in ranges.items()
        if (node := nodes.get(name)) is not None and node.op_type in _LAYERS and name not in stays and found.peak
    ]
    least = min((float(layer["headroom"] or 0) for layer in layers), default=None)
    return {
        "examples": [{"name": example.name, "steps": dict(example.steps)} for example in examples],
        "headroom": least,
        "stays": [
            {
                "node": nodes[name].name or name,
                "op": nodes[name].op_type,
                "why": why,
                "peak": _short(ranges[name].peak) if name in ranges else None,
                "headroom": _short(ranges[name].headroom) if name in ranges and ranges[name].peak else None,
            }
            for name, why in stays.items()
            if name in nodes
        ],
        "layers": layers,
    }


def _lines(
    precision: str,
    kept: Mapping[str, str],
    stays: Mapping[str, str],
    observed: Observed,
    nodes: Mapping[str, ir.Node],
) -> Iterable[str]:
    """What stays because of its range; the first louder level that overflows, or how near the user's examples come."""
    named = [name for name in kept if name in nodes]
    if named:
        yield (
            f"{precision}: {'1 value stays' if len(named) == 1 else f'{len(named)} values stay'} in fp32: "
            + _several([f"{called(nodes[name])} {kept[name]}" for name in named])
        )
    for level in observed.louder if not observed.given else ():
        found = level.ranges
        over = [name for name, seen in found.items() if seen.peak > LARGEST and name in nodes and name not in stays]
        if over:
            worst = max(over, key=lambda name: found[name].peak)
            yield (
                f"{precision}: {level.name}, overflows: {called(nodes[worst])} would reach "
                f"{found[worst].peak:.2g}, half ends at {LARGEST:.0f}; {level.advice}"
            )
            return
    near = min(_growing(observed, stays, nodes), key=lambda name: observed.ranges[name].headroom, default=None)
    if near is not None and (nearest := observed.ranges[near]).headroom < _NEAR:
        yield (
            f"{precision}: an input that makes {called(nodes[near])} {nearest.headroom:.2g} times louder than "
            f"the examples do overflows: it reaches {nearest.peak:.2g} on them, half ends at {LARGEST:.0f}; add louder "
            "examples if it will hear any"
        )


def _growing(observed: Observed, stays: Collection[str], nodes: Collection[str]) -> Iterable[str]:
    """Names of the values in half that are louder where the user's examples are."""
    for name, soft in observed.softer.items():
        loud = name in nodes and name not in stays and name not in observed.samples and observed.ranges[name]
        if loud and loud.peak > _GROWS * soft.peak:
            yield name


def _gain(
    precision: str, before: int, after: int, changed: int, told: Mapping[str, Any], native: ir.Model
) -> Iterable[str]:
    """A line where the weights are no smaller for it."""
    if not before and changed:
        nodes = "one node computes" if changed == 1 else f"{changed} nodes compute"
        yield f"{precision}: no weight gets smaller, since native has none in fp32; {nodes} in half"
    elif not before:
        wide = any(value.dtype == ir.DataType.DOUBLE for node in native.graph for value in node.inputs if value)
        reason = "it computes in float64" if wide else "native has no value in fp32 that half would hold"
        yield f"{precision}: nothing changes, since {reason}"
    elif after >= before:
        coded = [f"{called(node)} is in {bits} bits already" for node in native.graph if (bits := bits_computed(node))]
        why = [f"{one['op']} {one['node']} {one['why']}" for one in told["stays"] if one["op"] in _LAYERS]
        more = f", {after - before:,} of them in both" if after > before else ""
        yield (
            f"{precision}: no weight gets smaller, {after:,} bytes are in fp32{more}: nothing is gained, take fp32"
            + (f"; in fp32 stay {_several(why)}" if why else "")
            + (f"; {_several(coded)}" if coded else "")
        )


def _listed(kept: Mapping[str, str]) -> str:
    return _several([f"{name}: {why}" for name, why in kept.items()])


def _several(texts: Sequence[str]) -> str:
    more = len(texts) - _NAMED
    return "; ".join(texts[:_NAMED]) + (f"; and {more} more (report.json has them)" if more > 0 else "")


def _short(number: float) -> float | None:
    return float(f"{number:.3g}") if number < float("inf") else None
