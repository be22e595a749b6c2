"""What a precision has to know of native before it changes it: what stays in fp32, from the ranges on examples.

What half cannot hold stays, with its reason; the others get their headroom, which says how much louder an input may be
than the examples. What fewer bits damage stays, or takes more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import onnx_ir as ir

from paddable.api.observing import Observed, fixed_ranges
from paddable.errors import arguments
from paddable.gates.examples import Example
from paddable.gates.signals import Numbers
from paddable.graph.lift import HALF
from paddable.precision import PRECISIONS
from paddable.precision.branches import UNHEARD, unheard
from paddable.precision.codes import bits_computed
from paddable.precision.damage import worth_keeping
from paddable.precision.decided import Decided, decided
from paddable.precision.half import reasons, weight_bytes
from paddable.precision.int8 import LEAST, storable
from paddable.precision.ranges import LARGEST, Range, beyond_half
from paddable.precision.samples import INT16
from paddable.precision.static import FixedRange, roundable, rounded_inputs
from paddable.precision.tied import kept_with_others, told_tables
from paddable.precision.untaken import called, untaken, why_untaken

__all__ = ["Measured", "measured"]

_NAMED = 3
"""Layers that a message names; the report has them all."""

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
            each layer in half) and ``headroom``, the least of them and of all that grows with the user's examples.
        fixed: ranges of values that are rounded to them.
        accept: what the answers on examples have to reach; see ``gates.verdict``.
        decided: of native, which of its nodes stay in fp32 where the others compute in half.
        beyond_half: values that would stay in fp32 in fp16, whatever this precision is: how small fp16 would be.
    """

    examples: Sequence[Example] = ()
    numbers: Numbers = field(default_factory=lambda: Numbers({}))
    kept: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, FixedRange] = field(default_factory=dict)
    accept: Mapping[str, float] = field(default_factory=dict)
    decided: Decided = field(default_factory=dict)
    beyond_half: Mapping[str, str] = field(default_factory=dict)


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
    beyond = _beyond_half(observed)
    blank = Measured(observed.examples, observed.numbers, accept=accept or {}, beyond_half=beyond)
    native = observed.native
    if PRECISIONS[precision].twins is not None:
        damage = observed.damage[precision]
        none = _if_none(precision, damage, native, on_message)
        kept = worth_keeping(damage, PRECISIONS[precision].bits, PRECISIONS[precision].most)
        if not PRECISIONS[precision].rounds:
            kept |= kept_with_others(native, damage.keys() - kept.keys())
        counted, all_of_them = _products(kept, native), _products(damage, native)
        if on_message is not None and counted:
            on_message(f"{precision}: {len(counted)} of {len(all_of_them)} {_NODES} stay in fp32: {_listed(counted)}")
        if on_message is not None:
            for line in told_tables(native, damage.keys() - kept.keys(), apart=PRECISIONS[precision].rounds):
                on_message(f"{precision}: {line}")
        shares = {name: _short(share) for name, share in damage.items()}
        return replace(blank, kept=kept, ranges={"damage": shares, "stays": dict(kept), **none})
    if PRECISIONS[precision].fixed:
        return _with_fixed(blank, observed, precision, on_message)
    if not PRECISIONS[precision].ranges:
        return blank
    kept = beyond
    fast = PRECISIONS[precision].fast
    stays = reasons(native, kept, fast=fast)
    nodes = {str(value.name): node for node in native.graph for value in node.outputs}
    told = _told(observed, stays, nodes)
    before, after, changed = weight_bytes(native, kept, fast=fast)
    held = _in_half_already(native)
    weights = {"fp32": before + held, precision: after + held, **({"in half already": held} if held else {})}
    if on_message is not None:
        for line in (
            *_lines(precision, kept, stays, observed, nodes),
            *_gain(precision, before, after, changed, told, native),
            *_no_faster(precision, native, kept, stays, changed),
        ):
            on_message(line)
    return replace(blank, kept=kept, decided=decided(native.graph, stays), ranges={**told, "weights": weights})


def _beyond_half(observed: Observed) -> dict[str, str]:
    """Names of the values that half cannot hold, each with its reason."""
    kept = beyond_half({name: found for name, found in observed.ranges.items() if name not in observed.samples})
    kept |= dict.fromkeys(_unheard(observed, by_numbers=True) & observed.ranges.keys(), UNHEARD)
    kept |= {
        name: f"overflows at full scale: it reaches {found.peak:.2g} there, half ends at {LARGEST:.0f}"
        for name, found in observed.full.items()
        if found.peak > LARGEST and name not in kept
    }
    return kept


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
        name: "what goes into it is silent on every example, which fixes no range"
        for node, weight in taken.items()
        if weight.at == 1 and (name := str(node.outputs[0].name)) not in eight
    }
    fixed = {}
    for bits in (8, 16):
        known = fixed_ranges(observed.native, observed.fixing, bits)
        for node, value in rounded_inputs(observed.native.graph):
            name = str(node.outputs[0].name)
            rounded = name in eight and name not in kept and (bits == 8 or name in wide)
            if rounded and value.name in known:
                fixed[str(value.name)] = known[str(value.name)]
    none = _if_none(precision, [called(node) for node in all_nodes], observed.native, on_message)
    if on_message is not None:
        for line in told_tables(observed.native, eight.keys() - kept.keys(), apart=True):
            on_message(f"{precision}: {line}")
        count = len(_products({**dict.fromkeys(eight, ""), **kept}, observed.native))
        sixteens = _in_16_bits(observed.native, fixed, wide, kept)
        for chosen, what in ((sixteens, "take 16 bits"), (_products(kept, observed.native), "stay in fp32")):
            if chosen:
                on_message(f"{precision}: {len(chosen)} of {count} {_NODES} {what}: {_listed(chosen)}")
        scaled = next((one.ranges for one in observed.louder if one.name.startswith("sound")), {})
        cut = [name for name, loud in scaled.items() if name in fixed and _cut(loud, fixed[name])]
        if cut:
            on_message(
                f"{precision}: sound scaled to 16 bits, up to {INT16:.0f}, is cut off at {len(cut)} of {len(fixed)} "
                "ranges; feed samples as those of the examples"
            )
        for parts, more in ((observed.shorter, "are so short"), (observed.stiller, "hold so much silence")):
            if passed := _passed(parts, fixed, more):
                on_message(f"{precision}: {passed}")
    damage = {name: [_short(share), _short(sixteen[name])] for name, share in eight.items()}
    return replace(blank, kept=kept, fixed=fixed, ranges={"damage": damage, "stays": kept, "fixed": fixed, **none})


def _unheard(observed: Observed, *, by_numbers: bool = False) -> set[str]:
    """Names of the values that no example hears; see ``branches.unheard``."""
    graph = observed.native.graph
    taken = {name for name, found in observed.ranges.items() if found.peak}
    return {str(value.name) for node in unheard(graph, taken, by_numbers=by_numbers) for value in node.outputs}


_Told = TypeVar("_Told")


def _products(answers: Mapping[str, _Told], native: ir.Model) -> dict[str, _Told]:
    """Those that are answers of products and convolutions, not of lookups in their tables."""
    rows = {str(node.outputs[0].name) for node in native.graph if node.op_type == "Gather"}
    return {name: told for name, told in answers.items() if name not in rows}


def _in_16_bits(
    native: ir.Model, fixed: Mapping[str, FixedRange], wide: Mapping[str, str], kept: Collection[str]
) -> dict[str, str]:
    """Names of the answers made of what is fixed in 16 bits, each with why; who reads the same follows."""
    found: dict[str, str] = {}
    first: dict[str, str] = {}
    readers = [(str(value.name), str(node.outputs[0].name)) for node, value in rounded_inputs(native.graph)]
    taken = [(value, name) for value, name in readers if value in fixed and name not in kept]
    for value, name in taken:
        if name in wide:
            found[name] = wide[name]
            first.setdefault(value, name)
    for value, name in taken:
        if fixed[value][2] == 16 and name not in found:
            found[name] = f"it reads {value}, as {first[value]} does"
    return found


def _passed(parts: Mapping[str, Mapping[str, Range]], fixed: Mapping[str, FixedRange], more: str) -> str:
    """Which of some inputs leaves the most ranges, none of which it fixed; nothing where none is left.

    Args:
        parts: by name of the input, the ranges on it.
        fixed: the ranges.
        more: what examples like it are.
    """
    left = {
        part: [name for name, found in ranges.items() if name in fixed and _cut(found, fixed[name])]
        for part, ranges in parts.items()
    }
    worst = max(left, key=lambda part: len(left[part]), default="")
    if not left.get(worst):
        return ""
    return (
        f"{worst} are cut off at {len(left[worst])} of {len(fixed)} ranges ({_several(left[worst])}); "
        f"add examples that {more} if it will hear any"
    )


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


def _told(observed: Observed, stays: Mapping[str, str], nodes: Mapping[str, ir.Node]) -> dict[str, Any]:
    ranges = observed.ranges
    layers = [
        {"node": node.name or name, "op": node.op_type, "peak": _short(found.peak), "headroom": _short(found.headroom)}
        for name, found in ranges.items()
        if (node := nodes.get(name)) is not None and node.op_type in _LAYERS and name not in stays and found.peak
    ]
    others = [float(f"{ranges[name].headroom:.3g}") for name in _growing(observed, stays, nodes) if ranges[name].peak]
    least = min([*(float(layer["headroom"] or 0) for layer in layers), *others], default=None)
    return {
        "examples": [{"name": example.name, "steps": dict(example.steps)} for example in observed.examples],
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
        over = [name for name, seen in found.items() if seen.peak > LARGEST and _in_half(name, stays, nodes)]
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


def _growing(observed: Observed, stays: Collection[str], nodes: Mapping[str, ir.Node]) -> Iterable[str]:
    """Names of the values in half that are louder where the user's examples are; of layers, all."""
    for name, found in observed.ranges.items() if observed.given else ():
        if _in_half(name, stays, nodes) and name not in observed.samples:
            soft = observed.softer.get(name)
            if nodes[name].op_type in _LAYERS or (soft is not None and found.peak > _GROWS * soft.peak):
                yield name


def _in_half(name: str, stays: Collection[str], nodes: Mapping[str, ir.Node]) -> bool:
    """Whether a value is made in half; a node that stays is known by its first answer."""
    return name in nodes and str(nodes[name].outputs[0].name) not in stays


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
        held = _in_half_already(native)
        coded = [f"{called(node)} is in {bits} bits already" for node in native.graph if (bits := bits_computed(node))]
        why = [f"{one['op']} {one['node']} {one['why']}" for one in told["stays"] if one["op"] in _LAYERS]
        more = f", {after - before:,} of them in both" if after > before else ""
        beside = f"{held:,} bytes are in half already, and " if held else ""
        gained = "" if held else ": nothing is gained, take fp32"
        yield (
            f"{precision}: no weight gets smaller, {beside}{after:,} bytes are in fp32{more}{gained}"
            + (f"; in fp32 stay {_several(why)}" if why else "")
            + (f"; {_several(coded)}" if coded else "")
        )


def _no_faster(
    precision: str, native: ir.Model, kept: Mapping[str, str], stays: Mapping[str, str], changed: int
) -> Iterable[str]:
    """A line where no norm and no residual goes to half besides."""
    if PRECISIONS[precision].fast and changed and reasons(native, kept).keys() == stays.keys():
        yield (
            f"{precision}: {arguments(half='fast')} changes nothing: no norm and no residual of this model goes to "
            "half by it, so it computes what fp16 computes without"
        )


def _in_half_already(native: ir.Model) -> int:
    """Bytes of the weights that native keeps in half itself."""
    tensors = [value.const_value for value in native.graph.initializers.values()]
    return sum(tensor.nbytes for tensor in tensors if tensor is not None and tensor.dtype in HALF)


def _listed(kept: Mapping[str, str]) -> str:
    return _several([f"{name}: {why}" for name, why in kept.items()])


def _several(texts: Sequence[str]) -> str:
    more = len(texts) - _NAMED
    return "; ".join(texts[:_NAMED]) + (f"; and {more} more (report.json has them)" if more > 0 else "")


def _short(number: float) -> float | None:
    return float(f"{number:.3g}") if number < float("inf") else None
