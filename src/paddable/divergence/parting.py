"""Both runs side by side: the paired values compared as they come, and the forks between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import onnx_ir as ir

from paddable.divergence.choices import Choices, ids
from paddable.divergence.displaced import Displaced, displaced
from paddable.divergence.fills import fillable
from paddable.divergence.fork import Fork, forks
from paddable.divergence.known import Known, is_comparable, valid_blocks
from paddable.divergence.layers import Layers, layers
from paddable.divergence.matching import Matching, match
from paddable.divergence.measure import Measure, measure
from paddable.divergence.moving import MOVING
from paddable.divergence.outputs import flat, outputs_apart
from paddable.divergence.outputs import partners as partnered
from paddable.divergence.pieces import Pieces
from paddable.divergence.plain import Plain
from paddable.divergence.regions import made_of_sizes
from paddable.divergence.side import Side
from paddable.gates.engine import Array

__all__ = ["ABRUPT", "Parting", "part"]

_BUDGET = 192 << 20
"""Bytes of compared values that a piece should hold."""

_FIRST = 128
"""Nodes of the first piece; the next are as large as the budget allows."""

ABRUPT = 20.0
"""A node that makes its inputs' error so many times greater is where the runs part; less is rounding that grows."""

_FLOOR = {"fp32": 2e-6, "half": 4e-3}
"""Errors below these are rounding."""


@dataclass
class Parting:
    """What was found.

    Attributes:
        one: the first run.
        other: the second, which is right where they differ.
        matching: pairs of nodes.
        layers: by linear node of the first graph, those of which the two graphs keep something at different places.
        displaced: by linear node of the first graph, those of which the two graphs scale the result on different sides
            of an activation.
        measures: by value of the first graph, what was compared.
        errors: of each value of the first graph that was compared, outputs among them.
        outputs: by name of the second's outputs, the error of the whole run as an app sees it.
        alone: of those that both graphs made when each node ran alone, without the runtime's optimiser, the error then.
        nan: of those that are NaN in both runs, in which share of their numbers.
        ends: outputs of the first graph, each with the second's.
        unlike: of outputs that could not be compared, why.
        forks: where they part, first first; empty where the outputs agree.
        gradual: no node makes the error much greater: rounding grows along the graph.
        tolerance: the error from which a value counts as different.
        known: which part of a value is valid.
        ran: both graphs as they ran, to make values again.
        ties: of choices that fall the other way between scores that agree, a line on each.
    """

    one: Side
    other: Side
    matching: Matching
    layers: dict[ir.Node, Layers]
    displaced: dict[ir.Node, Displaced]
    measures: dict[ir.Value, Measure]
    errors: dict[ir.Value, float]
    outputs: dict[str, float]
    alone: dict[str, float]
    nan: dict[str, float]
    ends: dict[ir.Value, ir.Value]
    unlike: dict[str, str]
    forks: list[Fork]
    gradual: bool
    tolerance: float
    known: Known
    ran: tuple[Pieces, Pieces]
    ties: Sequence[str]

    def partner(self, value: ir.Value) -> ir.Value | None:
        """What a value that parts the runs differs from: of an output whose own pair agrees, such as one in front of a
        padded graph's cut, the output of the second graph."""
        made = self.matching.values().get(value)
        measured = self.measures.get(value)
        if made is not None and measured is not None and measured.error > self.tolerance:
            return made
        return self.ends.get(value) or made

    def above(self, level: float) -> list[Fork]:
        """Where they part by more than a level above the tolerance. What an output feels less of, behind sums and
        norms, is among it, in front of outputs that differ at all."""
        plain = self.one.plain
        bad = [value for value in self.ends if self.errors.get(value, 0.0) > self.tolerance]
        felt: set[ir.Value] = set(bad)
        for node in reversed(plain.nodes):
            if not felt.isdisjoint(node.outputs):
                felt.update(plain.inputs(node))
        high = [value for node in plain.nodes for value in node.outputs if self.errors.get(value, 0.0) > level]
        return forks(plain, [value for value in high if value in felt], self.errors, level)

    def carries(self, value: ir.Value, read: float = 0.0) -> bool:
        """Whether the error of a value is felt by what is computed from it at once, through what only moves it: what
        reads a wrong pair agrees as well as what that is made of.

        Args:
            value: of the first graph.
            read: the error of what it is made of.
        """
        found: list[float] = []
        stack, seen = [value], {value}
        while stack:
            for node in {use.node for use in stack.pop().uses()}:
                for made in node.outputs:
                    if made in self.errors and node.op_type not in MOVING:
                        found.append(self.errors[made])
                    elif made not in seen:
                        seen.add(made)
                        stack.append(made)
        return max(found, default=math.inf) >= 2 * max(read, self.tolerance)


def part(
    one: Side,
    other: Side,
    known: Known,
    *,
    tolerance: float,
    tick: Callable[[int, int], None] = lambda done, total: None,
) -> Parting:
    """Run both and compare every pair of values on the valid part.

    Args:
        one: the run in question.
        other: the run to compare with.
        known: which part of a value is valid.
        tolerance: error relative to scale from which a value counts as different.
        tick: called with the nodes done and their number.
    """
    matching = match(one.plain, other.plain)
    one, other = replace(one, plain=matching.one), replace(other, plain=matching.other)
    half = {one.precision, other.precision} != {"fp32"}
    held = layers(matching, half=half)
    for both in held.values():
        inner = (node.outputs[0] for node in (*both.one.front, both.one.node, *both.one.behind))
        matching.ends |= {**dict.fromkeys(inner), both.one.end: both.other.end}
    ran = _pieces(one), _pieces(other)
    choices = Choices(one, other, ran, known, tolerance)
    with ThreadPoolExecutor(2, "paddable-probe") as pool:
        measures, made_alone = _measured(one, other, matching, choices, tick, pool)
    mine, theirs = (flat(side.answer()) for side in (one, other))
    partners = partnered(mine, theirs, matching, one, other, tolerance)
    classes = {str(value.name) for value in one.plain.model.graph.outputs if value in ids(one.plain)}
    apart = outputs_apart(mine, theirs, partners, one, other, classes)
    outputs = {name: found.error for name, found in apart.items()}
    by_nodes = outputs_apart(*made_alone, partners, one, other, classes)
    alone = {name: found.error for name, found in by_nodes.items()}
    made = {value.name: value for value in one.plain.model.graph.outputs}
    for name, error in alone.items():
        differs = not outputs.get(name, math.inf) <= tolerance
        if differs and error <= tolerance and choices.decided_by_ties(made[partners[name]]):
            apart[name], outputs[name] = by_nodes[name], error
    nan = {name: found.nan for name, found in apart.items() if found.nan}
    named = {value.name: value for value in other.plain.model.graph.outputs}
    ends = {made[a]: named[b] for b, a in partners.items() if a in made and b in named}
    unlike = {
        name: f"it is {_told(mine[partner])} in the first run and {_told(theirs[name])} in the second"
        for name, partner in partners.items()
        if name not in apart
    }
    errors = {value: found.error for value, found in measures.items()}
    values = matching.values()
    compared = {values[value] for value in measures}
    padded = one.metadata is not None or other.metadata is not None
    for value, partner in ends.items():
        cut = padded and (value in measures or partner in compared)  # a padded graph cuts what it has computed
        unseen = values.get(value) is not partner and not cut  # the last node has none, or was paired with another's
        if unseen or value in one.plain.sequences:
            errors[value] = outputs.get(partner.name or "", 0.0)
        elif alone.get(partner.name or "", 0.0) > tolerance:
            errors[value] = max(errors.get(value, 0.0), alone[partner.name or ""])
    bad = [
        value
        for value, partner in ends.items()
        if max(errors.get(value, 0.0), outputs.get(partner.name or "", 0.0)) > tolerance
    ]
    found, gradual = _forks(one, other, errors, bad, tolerance)
    return Parting(
        one=one,
        other=other,
        matching=matching,
        layers=held,
        displaced=displaced(matching, half=half),
        measures=measures,
        errors=errors,
        outputs=outputs,
        alone=alone,
        nan=nan,
        ends=ends,
        unlike=unlike,
        forks=found,
        gradual=gradual,
        tolerance=tolerance,
        known=known,
        ran=ran,
        ties=list(choices.told.values()),
    )


def _pieces(side: Side) -> Pieces:
    return Pieces(side.plain, side.feeds, side.run, apart=side.provider == "cpu")


def _told(array: Array) -> str:
    return f"{array.dtype} {list(array.shape)}"


def _measured(
    one: Side,
    other: Side,
    matching: Matching,
    choices: Choices,
    tick: Callable[[int, int], None],
    pool: ThreadPoolExecutor,
) -> tuple[dict[ir.Value, Measure], tuple[dict[str, Array], dict[str, Array]]]:
    """What every pair of values measures, and the outputs that either graph made on the way, by name."""

    def compare(a: ir.Value, b: ir.Value) -> Measure | None:
        codes = [array.dtype.kind in "iu" and array.dtype.itemsize == 1 for array in (left[a], right[b])]
        if codes[0] != codes[1]:
            return None  # in 8 bits, what it says is told by a scale and a zero point further down
        blocks = valid_blocks(one, other, a, b, left[a], right[b], known)
        return measure(*blocks, fills=a in masked, classes=a in classes)

    partners = matching.values()
    masked, classes = fillable(one.plain), ids(one.plain)
    (mine, theirs), known = choices.ran, choices.known
    found: dict[ir.Value, Measure] = {}
    outputs: tuple[dict[str, Array], dict[str, Array]] = ({}, {})
    cuts = _cuts(matching)
    total = len(one.plain.nodes)
    start = begin = 0
    size = _FIRST
    fixed = made_of_sizes(one.plain) if known.native is None and one.container != other.container else set()
    lists = one.plain.sequences | {a for a, b in partners.items() if b in other.plain.sequences}
    while start < total or begin < len(other.plain.nodes):
        end, stop = next(((i, j) for i, j in cuts if i >= start + size), (total, len(other.plain.nodes)))
        pairs = {
            value: partners[value]
            for node in one.plain.nodes[start:end]
            for value in node.outputs
            if value in partners and value.name and partners[value].name
        }
        wanted = {a: b for a, b in pairs.items() if a not in fixed | lists and is_comparable(a, b, known)}
        ends = [_outputs_of(plain) for plain in (one.plain, other.plain)]
        ahead = pool.submit(mine.advance, start, end, [*wanted, *ends[0]])
        right = theirs.advance(begin, stop, [*wanted.values(), *ends[1]])
        left = ahead.result()
        while taken := choices.ties(((a, b) for a, b in wanted.items() if a in left and b in right), left, right):
            left = mine.take(taken, start, end, [*wanted, *ends[0]])
        for held_back, got, asked in zip(outputs, (left, right), ends, strict=True):
            held_back.update({str(value.name): got[value] for value in asked if value in got})
        both = [(a, b) for a, b in wanted.items() if a in left and b in right]
        compared = zip(both, pool.map(lambda pair: compare(*pair), both), strict=True)
        measured = {a: apart for (a, _), apart in compared if apart is not None}
        found |= measured
        held = sum(apart.bytes for apart in measured.values())
        left.clear()  # before the next piece makes its own
        right.clear()
        size = max(8, min(4 * size, size * _BUDGET // max(1, held)))
        start, begin = end, stop
        tick(start, total)
    return found, outputs


def _outputs_of(plain: Plain) -> list[ir.Value]:
    """The outputs that are arrays."""
    return [value for value in plain.model.graph.outputs if value.name and value not in plain.sequences]


def _cuts(matching: Matching) -> list[tuple[int, int]]:
    """Places where both orders can be cut so that no pair is cut apart, and no sequence from what reads it."""
    one, other = matching.one, matching.other
    partners: list[list[int]] = [[] for _ in one.nodes]
    for mine, theirs in matching.values().items():
        node, partner = mine.producer(), theirs.producer()
        if node is not None and partner is not None:
            partners[one.place[node]].append(other.place[partner])
    least = [len(other.nodes)] * (len(partners) + 1)
    for index in range(len(partners) - 1, -1, -1):
        least[index] = min([least[index + 1], *partners[index]])
    cuts = []
    closed = [_crossed_by_sequences(plain) for plain in (one, other)]
    most = -1
    for index, places in enumerate(partners):
        most = max([most, *places])
        if most < least[index + 1] and index not in closed[0] and most not in closed[1]:
            cuts.append((index + 1, most + 1))
    return cuts


def _crossed_by_sequences(plain: Plain) -> set[int]:
    """Places behind which a sequence is still read."""
    last = {value: index for index, node in enumerate(plain.nodes) for value in plain.inputs(node)}
    spans = [
        range(plain.place[maker], last.get(value, 0))
        for value in plain.sequences
        if (maker := value.producer()) is not None
    ]
    return {index for span in spans for index in span}


def _forks(
    one: Side, other: Side, errors: Mapping[ir.Value, float], bad: Sequence[ir.Value], tolerance: float
) -> tuple[list[Fork], bool]:
    """Where they part. A fork whose inputs differ already, by less than the tolerance, is looked for further up."""
    floor = _FLOOR["fp32" if {one.precision, other.precision} == {"fp32"} else "half"]
    first: list[Fork] = []
    level = tolerance
    while level >= min(floor, tolerance):
        found = forks(one.plain, bad, errors, level)
        first = first or found
        if found and _abrupt(found[0], errors, floor):
            return found, False
        level /= 4
    return first, bool(first)


def _abrupt(fork: Fork, errors: Mapping[ir.Value, float], floor: float) -> bool:
    above = max((errors.get(value, 0.0) for value in fork.inputs), default=0.0)
    return errors.get(fork.value, float("inf")) > ABRUPT * max(above, floor / 10)
