"""From two runs to a report: compared, explained, told."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import onnx_ir as ir

from paddable.divergence.causes import Cause, cause_of
from paddable.divergence.changed import Changed, Weights, changed_weights, counted, is_weight
from paddable.divergence.fork import Fork, region
from paddable.divergence.isolate import write_case
from paddable.divergence.joined import same_names, taken_apart
from paddable.divergence.known import Known
from paddable.divergence.matching import match
from paddable.divergence.outputs import told_alone
from paddable.divergence.parting import Parting, part
from paddable.divergence.plain import Plain
from paddable.divergence.quantised import changed_quantised
from paddable.divergence.result import ForkRecord, Layer, ProbeReport
from paddable.divergence.saturation import hint
from paddable.divergence.side import Side
from paddable.divergence.unpaired import unpaired
from paddable.divergence.weights import Fingerprint
from paddable.errors import MisuseError
from paddable.findings import Finding
from paddable.gates.engine import EngineError
from paddable.graph.trace import module_path, source

__all__ = ["TOLERANCE", "find", "tolerance_of"]

TOLERANCE = 1e-4
"""Of scale, between two runs in fp32: re-ordered sums stay below it."""

_TOLERANCE_HALF = 3e-2


def tolerance_of(one: Side, other: Side) -> float:
    """The error from which values of two runs count as different."""
    return TOLERANCE if {one.precision, other.precision} == {"fp32"} else _TOLERANCE_HALF


def find(
    one: Side,
    other: Side,
    known: Known,
    *,
    findings: Sequence[Finding] = (),
    differences: Sequence[str] = (),
    notes: Sequence[str] = (),
    tolerance: float | None = None,
    untested: Sequence[str] = (),
    isolate: Path | None = None,
    force: bool = False,
    versions: Mapping[str, str] | None = None,
    tick: Callable[[int, int], None] = lambda done, total: None,
) -> ProbeReport:
    """Find where two runs part.

    Args:
        one: the run in question.
        other: the run to compare with.
        known: what the length analysis of native says.
        findings: of native, where one of the runs is padded.
        differences: what is known to differ between the models, to be told first.
        notes: what was chosen for the user.
        tolerance: error relative to scale from which values differ; by precision where None.
        untested: axes of one step because nothing gave them a size.
        isolate: folder for the first fork, cut out with its inputs.
        force: replace what is there.
        versions: of the packages that run.
        tick: called with the nodes done and their number.

    Raises:
        MisuseError: one of them does not run with what the other takes: they are two models.
        EngineError: one of them does not run.
    """
    limit = tolerance_of(one, other) if tolerance is None else tolerance
    one, other, known = _in_parts(one, other, known)
    try:
        parting = part(one, other, known, tolerance=limit, tick=tick)
    except EngineError as error:
        raise _not_one_model(one, other, error) or error from None
    values = parting.matching.values()
    unlike = _unlike(parting)
    places = list(parting.forks) if unlike is None else []
    told = [_record(parting, fork, values, findings) for fork in places]
    behind = _behind_rounding(parting, told, values, findings)
    if behind is not None:
        places, told = [behind[0], *places], [behind[1], *told]
    cause = None if told else _cause_of_whole(parting, limit, unlike)
    weights = Weights((), 0) if unlike is not None else _weights(parting)
    others = [f"the weights differ: {weights.told}"] if weights.are_others and (told or cause is not None) else []
    isolated, said = None, [*notes, *told_alone(one.plain, other.plain, parting.ends)]
    if told or cause is not None:
        said += parting.ties
    if behind is not None:
        said.append(f"rounding alone passes the tolerance in front of that, from {told[1].op} {told[1].node} on")
    if isolate is not None and not told:
        said.append(f"nothing was written to {isolate}: no node parts the runs")
    elif isolate is not None and told[0].cause.kind in _NO_CASE:
        said.append(f"nothing was written to {isolate}: the node is right, and alone it would show no fault")
    elif isolate is not None:
        case = write_case(isolate, parting, places[0], told[0].cause, force=force)
        isolated = str(case) if case is not None else None
        if case is None:
            said.append(
                f"nothing was written to {isolate}: cut out alone, the nodes there do not show what parts the runs"
            )
    saturates = hint((one, other)) if told or cause is not None else ""
    if saturates:
        said.append(saturates)
    return ProbeReport(
        one=one.title,
        other=other.title,
        steps=one.steps,
        containers=(one.container, other.container),
        tolerance=limit,
        differences=[*others, *differences],
        outputs=parting.outputs,
        forks=told,
        layers=_layers(parting),
        matched={
            "nodes": len(one.plain.nodes),
            "nodes of the other": len(other.plain.nodes),
            "paired": len(parting.matching.pairs),
            "compared values": len(parting.measures),
            **{f"paired by {by}": count for by, count in sorted(Counter(parting.matching.by.values()).items())},
        },
        cause=cause,
        versions=versions or {},
        isolated=isolated,
        notes=said,
        changed="" if weights.are_others else counted([_at_node(each) for each in weights.changed]),
        shapes={name: list(array.shape) for name, array in other.feeds.items()},
        untested=untested,
        ties=parting.ties,
    )


_COARSER = (4.0, 16.0)
"""Above the tolerance, so many times, what 8 bits round is told apart from a fault behind it."""

_FAULTS = ("attributes", "structure", "training", "weights", "wiring")
"""Causes that are no rounding."""


def _behind_rounding(
    parting: Parting, told: Sequence[ForkRecord], values: Mapping[ir.Value, ir.Value], findings: Sequence[Finding]
) -> tuple[Fork, ForkRecord] | None:
    """Where the runs part by more than 8 bits round, for another reason than that; None where no place is."""
    rounds = "int" in parting.one.precision + parting.other.precision
    if not rounds or not told or told[0].cause.kind != "precision":
        return None
    seen = {fork.value for fork in parting.forks}
    for times in _COARSER:
        for fork in parting.above(times * parting.tolerance):
            read = max((parting.errors.get(value, 0.0) for value in fork.inputs), default=0.0)
            if fork.value in seen or parting.errors.get(fork.value, 0.0) < times * read:
                continue
            if not parting.carries(fork.value, read):
                continue
            seen.add(fork.value)
            record = _record(parting, fork, values, findings)
            if record.cause.kind in _FAULTS:
                return fork, record
    return None


def _in_parts(one: Side, other: Side, known: Known) -> tuple[Side, Side, Known]:
    """Both with those products in parts that the other graph has in parts."""
    mine, theirs = taken_apart(one.plain, other.plain)
    if mine is one.plain and theirs is other.plain:
        return one, other, known
    before = {
        value: old
        for plain, whole in ((mine, one.plain), (theirs, other.plain))
        if plain is not whole
        for value, old in same_names(plain, whole)
    }
    native = known.native
    if native is not None:
        known = replace(known, native=lambda a, b: native(before.get(a, a), before.get(b, b)))
    return replace(one, plain=mine), replace(other, plain=theirs), known


_NO_CASE = ("wiring",)
"""Causes for which the node itself is right."""

_RELATED = 0.1
"""Share of the smaller graph's nodes that must be paired for the two to be one model."""

_TELLING, _LARGE = 4, 64
"""Weights of so many elements, from which they tell whether two graphs are one model."""


def _unlike(parting: Parting) -> Cause | None:
    """Why the two are no two graphs of one model: their weights are others', or too few nodes are paired."""
    one, other, pairs = parting.one, parting.other, parting.matching.pairs
    in_float = "int" not in one.precision + other.precision
    apart = _unlike_weights(one.plain, other.plain, pairs) if in_float else None
    if apart is not None:
        return apart
    if not parting.measures or parting.matching.share < _RELATED:
        paired, fewest = len(pairs), min(len(one.plain.nodes), len(other.plain.nodes))
        return _unrelated(
            "the two graphs have nothing in common that could be compared: "
            f"{paired} of {fewest} nodes are paired and {len(parting.measures)} values could be compared"
        )
    return None


def _unlike_weights(one: Plain, other: Plain, pairs: Mapping[ir.Node, ir.Node]) -> Cause | None:
    """Most weights of the smaller graph have neither a partner of their size nor their numbers in the other."""
    mine, theirs = _large(one), _large(other)
    if len(mine) > len(theirs):
        mine, theirs, pairs = theirs, mine, {partner: node for node, partner in pairs.items()}
    held = {each for prints in theirs.values() for each in prints}
    found = 0
    for node, prints in mine.items():
        partner = pairs.get(node)
        sizes = {size for size, _ in theirs.get(partner, ())} if partner is not None else set()
        found += any(each in held or each[0] in sizes for each in prints)
    if len(mine) >= _TELLING and found < len(mine) / 2:
        return _unrelated(
            f"these are two different models: of the {len(mine)} nodes with weights in the smaller one, {found} have a "
            "partner with weights of that size in the other"
        )
    return None


def _not_one_model(one: Side, other: Side, error: EngineError) -> MisuseError | None:
    """What to say where one of two runs fails because it is fed what another model takes; None for two graphs of one
    model."""
    if "int" in one.precision + other.precision:
        return None
    matching = match(one.plain, other.plain)
    apart = _unlike_weights(matching.one, matching.other, matching.pairs)
    if apart is None:
        return None
    shapes = [f"{side.title} takes {', '.join(_taken(side.plain))}" for side in (one, other)]
    return MisuseError(apart.text, why=f"{' and '.join(shapes)}; {error.where} does not run with it", fix=apart.fix)


def _taken(plain: Plain) -> list[str]:
    """The inputs of a graph as it declares them."""
    values = [value for value in plain.model.graph.inputs if value.const_value is None]
    return [f"{value.name} {[n if isinstance(n, int) else str(n) for n in value.shape or ()]}" for value in values]


def _large(plain: Plain) -> dict[ir.Node, list[Fingerprint]]:
    """The nodes with large weights, and their fingerprints."""
    found = {
        node: [plain.fingerprint(value) for value in plain.weights(node) if is_weight(value)] for node in plain.nodes
    }
    large = {node: [each for each in prints if each[0] >= _LARGE] for node, prints in found.items()}
    return {node: prints for node, prints in large.items() if prints}


def _unrelated(text: str) -> Cause:
    return Cause("unrelated", text, "name two graphs of one model, and inputs that fit both")


def _at_node(change: Changed) -> str:
    return change.text + (f" (node {change.node.name})" if change.node.name else "")


def _weights(parting: Parting) -> Weights:
    """What became of the weights that both compute with."""
    one, other = parting.one, parting.other
    equal = {node for each in parting.displaced.values() for node in each.nodes}
    exact = one.precision == other.precision
    found = changed_weights(parting.matching, exact=exact, layers=parting.layers, equal=equal)
    if exact or "int" not in one.precision + other.precision:
        return found
    stored = changed_quantised(parting)
    taken = {each.node for each in stored}
    in_float = [each for each in found.changed if each.node not in taken]  # such as LSTM, which no 8 bits are kept for
    place = one.plain.place
    return Weights(sorted([*stored, *in_float], key=lambda each: place[each.node]), 0)


def _cause_of_whole(parting: Parting, limit: float, unlike: Cause | None) -> Cause | None:
    """Why no verdict, or a bad one, although no node stands out; None where the runs agree."""
    differ = [name for name, error in parting.outputs.items() if error > limit]
    if parting.outputs and not differ and not parting.nan and not parting.unlike:
        return None
    if parting.nan and not differ:
        name, share = next(iter(parting.nan.items()))
        first = next((value for value, found in parting.measures.items() if found.nan), None)
        maker = first.producer() if first is not None else None
        begin = f", from {maker.op_type} {maker.name} on" if maker is not None else ""
        return Cause(
            "nan",
            f"output {name} is NaN in both runs in {100 * share:.3g} % of its numbers{begin}: nothing can be compared "
            "there",
            "give inputs that the model has an answer for, or look for what is NaN in its weights",
        )
    if unlike is not None:
        return unlike
    if not differ:
        name, why = next(iter(parting.unlike.items()), ("", "no output of one has a partner in the other"))
        return Cause(
            "unknown",
            f"output {name} could not be compared: {why}" if name else why,
            "compare graphs whose outputs are numbers of one shape"
            if name
            else "give the outputs that are to be compared one name in both",
        )
    compared, paired = len(parting.measures), len(parting.matching.pairs)
    if compared < paired / 2:
        return Cause(
            "unknown",
            f"the outputs differ ({', '.join(differ)}), and what makes them could not be compared: {paired} nodes "
            f"are paired and {compared} values could be compared",
            "give both runs inputs of the same shapes, and name the ragged axes",
        )
    apart = [name for name in differ if parting.alone.get(name, math.inf) > limit]
    if apart:
        return Cause(
            "unknown",
            f"the outputs differ ({', '.join(apart)}), and no node was seen to part them: what lies in front of them "
            "could not be compared",
            "give both runs inputs of the same shapes, and judge a converted model with paddable verify",
        )
    return Cause(
        "optimiser",
        "the outputs differ, and no value does when each node runs alone: the runtime's optimiser makes the difference",
        "run with the graph optimisation level at ORT_DISABLE_ALL, then raise it level by level",
    )


def _record(
    parting: Parting, fork: Fork, values: Mapping[ir.Value, ir.Value], findings: Sequence[Finding]
) -> ForkRecord:
    partner = parting.partner(fork.value)
    compared = {values[value] for value in parting.measures}
    others: tuple[ir.Node, ...] = ()
    if partner is not None:
        others, _ = region(parting.other.plain, partner, lambda value: value in compared)
    (cause, node), only = cause_of(parting, fork, others, findings), unpaired(parting, fork, others)
    other = partner.producer() if partner is not None else None
    if node is not fork.nodes[-1]:
        other = parting.matching.pairs.get(node)
    if cause.place == "another":
        other = only.missing[0] if only.missing else None
    both = [side for side in (node, other) if side is not None]
    measured = parting.measures.get(fork.value) if values.get(fork.value) is partner else None
    alone = parting.alone.get(partner.name or "", 0.0) if partner is not None else 0.0
    return ForkRecord(
        node=node.name or "",
        other=(other.name or "") if other is not None else "",
        op=node.op_type,
        module=next((path for path in map(module_path, both) if path), None),
        source=next((str(line) for line in map(source, both) if line), None),
        value=fork.value.name or "",
        error=max(measured.error, alone) if measured is not None else max(parting.outputs.values(), default=0.0),
        inputs=max((parting.measures[v].error for v in fork.inputs if v in parting.measures), default=0.0),
        nodes=[n.name or "" for n in fork.nodes],
        others=[n.name or "" for n in others],
        missing=[n.name or "" for n in only.missing],
        cause=cause,
    )


def _layers(parting: Parting) -> list[Layer]:
    partners = parting.matching.values()
    layers = []
    for node in parting.one.plain.nodes:
        for value in node.outputs:
            found = parting.measures.get(value)
            if found is not None:
                partner = partners[value].producer()
                module = module_path(node) or (module_path(partner) if partner is not None else None)
                layers.append(
                    Layer(
                        node.name or "",
                        node.op_type,
                        module,
                        value.name or "",
                        found.error,
                        found.profile,
                        found.reach,
                        found.largest,
                    )
                )
    return layers
