"""Which node of one graph is which node of the other.

Both graphs are sequences of nodes in topological order. What is unmistakable is paired first (*anchors*): the same
output name, the same weights, the same source line, each unique in its segment and in the same order on both sides.
What is left between two anchors is aligned as sequences are (Needleman and Wunsch, 1970), where nodes of one operator
score by attributes, weights and names; and what the order hid is found along the edges. No step needs the names: they
are used where both graphs share most of them and, where two weights lie under one name, most of those are equal.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from paddable.divergence.plain import Plain
from paddable.graph.trace import module_path, source

__all__ = ["Matching", "match"]

_TRUSTED = 0.5
"""Share of the smaller graph's outputs that must have their name in the other, for names to count."""

_TELLING = 16
"""Elements from which a weight is unlikely to be like another by chance."""

_WIDEST = 1 << 21
"""Cells of the table in which a segment is aligned; a larger one is cut along its operators first."""


@dataclass
class Matching:
    """Pairs of nodes.

    Attributes:
        one: the first graph, in the order that was compared.
        other: the second.
        pairs: by node of the first, the node of the second.
        by: of each node of the first, what paired it: ``name``, ``weights``, ``source``, ``structure`` or ``edges``.
        ends: by value of the first, what it is compared with instead of what its node's partner makes, if anything.
    """

    one: Plain
    other: Plain
    pairs: dict[ir.Node, ir.Node] = field(default_factory=dict)
    by: dict[ir.Node, str] = field(default_factory=dict)
    ends: dict[ir.Value, ir.Value | None] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """Paired nodes of the smaller graph."""
        return len(self.pairs) / max(1, min(len(self.one.nodes), len(self.other.nodes)))

    def values(self) -> dict[ir.Value, ir.Value]:
        """Outputs of paired nodes, by value of the first graph; ``ends`` comes before what its node's partner makes."""
        paired = {
            mine: theirs
            for node, partner in self.pairs.items()
            for mine, theirs in zip(node.outputs, partner.outputs, strict=False)
        }
        return {mine: theirs for mine, theirs in {**paired, **self.ends}.items() if theirs is not None}


def match(one: Plain, other: Plain) -> Matching:
    """Pair the nodes of two graphs.

    The files' order is tried first, since exporters follow the program; where it leaves much unpaired, the order of a
    walk from the outputs.
    """
    best = _match(one, other)
    if best.share < 0.9:
        again = _match(one.canonical(), other.canonical())
        best = again if again.share > best.share else best
    return best


def _match(one: Plain, other: Plain) -> Matching:
    found = Matching(one, other)
    mine, theirs = _Tokens(one), _Tokens(other)
    named = _names_count(mine, theirs)
    rounds: list[tuple[str, Callable[[_Tokens], list[Hashable]]]] = [
        ("weights", lambda tokens: tokens.weights),
        ("source", lambda tokens: tokens.places),
    ]
    if named:
        rounds.insert(0, ("name", lambda tokens: tokens.names))
    segments = [(0, len(one.nodes), 0, len(other.nodes))]
    for by, of in rounds:
        left, right = of(mine), of(theirs)
        cut: list[tuple[int, int, int, int]] = []
        for start, end, begin, stop in segments:
            i0, j0 = start, begin
            for i, j in _anchors(left[start:end], right[begin:stop]):
                _pair(found, start + i, begin + j, by)
                cut.append((i0, start + i, j0, begin + j))
                i0, j0 = start + i + 1, begin + j + 1
            cut.append((i0, end, j0, stop))
        segments = [segment for segment in cut if segment[0] < segment[1] and segment[2] < segment[3]]
    for start, end, begin, stop in segments:
        for i, j in _align(mine, theirs, range(start, end), range(begin, stop), named):
            _pair(found, i, j, "structure")
    _crossed(found, mine, theirs)
    _along_edges(found)
    return found


def _crossed(found: Matching, mine: _Tokens, theirs: _Tokens) -> None:
    """Pair what lies in another order but has weights that occur once on both sides: exchanged, they are still one."""
    here, there = Counter(mine.weights), Counter(theirs.weights)
    place = {token: j for j, token in enumerate(theirs.weights)}
    taken = set(found.pairs.values())
    for i, token in enumerate(mine.weights):
        if token is None or not here[token] == there[token] == 1 or found.one.nodes[i] in found.pairs:
            continue
        if found.other.nodes[place[token]] not in taken:
            _pair(found, i, place[token], "weights")


def _pair(found: Matching, i: int, j: int, by: str) -> None:
    node = found.one.nodes[i]
    found.pairs[node] = found.other.nodes[j]
    found.by[node] = by


class _Tokens:
    """What tells the nodes of one graph apart, index by index; None where it tells nothing."""

    def __init__(self, plain: Plain) -> None:
        self.operators = [(node.domain, node.op_type) for node in plain.nodes]
        self.outputs = [node.outputs[0].name for node in plain.nodes]
        self.names: list[Hashable] = [
            (*operator, name) if name else None for operator, name in zip(self.operators, self.outputs, strict=True)
        ]
        self.prints = [tuple(sorted(plain.fingerprint(value) for value in plain.weights(node))) for node in plain.nodes]
        self.weights: list[Hashable] = [
            (*operator, prints) if any(size >= _TELLING for size, _ in prints) else None
            for operator, prints in zip(self.operators, self.prints, strict=True)
        ]
        self.places: list[Hashable] = [
            (*operator, module_path(node), source(node)) if source(node) else None
            for operator, node in zip(self.operators, plain.nodes, strict=True)
        ]
        self.attributes = [_attributes(node) for node in plain.nodes]


def _attributes(node: ir.Node) -> tuple[Hashable, ...]:
    plain = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS, ir.AttributeType.TENSOR, ir.AttributeType.TENSORS)
    return tuple(
        (name, str(attribute.value))
        for name, attribute in sorted(node.attributes.items())
        if not attribute.is_ref() and attribute.type not in plain
    )


def _names_count(mine: _Tokens, theirs: _Tokens) -> bool:
    """Whether names mean the same on both sides: a counter's numbers, shifted by one, would too often fit."""
    right = {name: index for index, name in enumerate(theirs.names) if name is not None}
    shared = [(i, right[name]) for i, name in enumerate(mine.names) if name in right]
    if len(shared) < _TRUSTED * max(1, min(len(mine.names), len(theirs.names))):
        return False
    weighty = [(i, j) for i, j in shared if mine.weights[i] is not None and theirs.weights[j] is not None]
    equal = sum(mine.weights[i] == theirs.weights[j] for i, j in weighty)
    either = set(mine.weights) & set(theirs.weights) - {None}
    return not either or 2 * equal >= len(weighty)


def _anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of tokens that occur once on both sides, the longest run of them in one order."""
    here, there = Counter(left), Counter(right)
    place = {token: j for j, token in enumerate(right)}
    pairs = [
        (i, place[token])
        for i, token in enumerate(left)
        if token is not None and here[token] == 1 and there.get(token) == 1
    ]
    return _rising(pairs)


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence that rises on both sides, of pairs that rise on the first."""
    ends: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        k = bisect_left(ends, j)
        before.append(at[k - 1] if k else -1)
        if k == len(ends):
            ends.append(j)
            at.append(index)
        else:
            ends[k], at[k] = j, index
    chain: list[tuple[int, int]] = []
    index = at[-1] if at else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _align(mine: _Tokens, theirs: _Tokens, left: range, right: range, named: bool) -> list[tuple[int, int]]:
    """The alignment of two segments with the greatest score; gaps cost nothing."""
    if len(left) * len(right) > _WIDEST:
        return _cut_and_align(mine, theirs, left, right, named)
    scores = np.array([[_score(mine, theirs, i, j, named) for j in right] for i in left])
    best = np.zeros((len(left) + 1, len(right) + 1))
    for a in range(len(left)):
        row = np.maximum(best[a, 1:], np.where(scores[a] > 0, best[a, :-1] + scores[a], 0))
        best[a + 1, 1:] = np.maximum.accumulate(row)
    a, b = len(left), len(right)
    found: list[tuple[int, int]] = []
    while a and b:
        if best[a, b] == best[a, b - 1]:
            b -= 1
        elif best[a, b] == best[a - 1, b]:
            a -= 1
        else:
            a, b = a - 1, b - 1
            found.append((left[a], right[b]))
    return found[::-1]


def _cut_and_align(mine: _Tokens, theirs: _Tokens, left: range, right: range, named: bool) -> list[tuple[int, int]]:
    """Halve both segments at the same share of their length, until each piece fits the table."""
    a, b = len(left) // 2, len(right) // 2
    return _align(mine, theirs, left[:a], right[:b], named) + _align(mine, theirs, left[a:], right[b:], named)


def _score(mine: _Tokens, theirs: _Tokens, i: int, j: int, named: bool) -> float:
    if mine.operators[i] != theirs.operators[j]:
        return 0.0
    score = 2.0 + (mine.attributes[i] == theirs.attributes[j])
    here, there = mine.prints[i], theirs.prints[j]
    if here and here == there:
        score += 3
    elif [size for size, _ in here] == [size for size, _ in there]:
        score += 1
    if named and mine.outputs[i] == theirs.outputs[j]:
        score += 4
    return score


def _along_edges(found: Matching) -> None:
    """Pair what the order hid: producers of the same operator at one place of a pair's inputs, and lone consumers."""
    taken = set(found.pairs.values())
    queue = list(found.pairs)
    while queue:
        node = queue.pop()
        partner = found.pairs[node]
        candidates = [
            (a.producer(), b.producer()) for a, b in zip(node.inputs, partner.inputs, strict=False) if a and b
        ]
        for mine, theirs in zip(node.outputs, partner.outputs, strict=False):
            after = [use.node for use in mine.uses()]
            behind = [use.node for use in theirs.uses()]
            kinds = Counter(n.op_type for n in after), Counter(n.op_type for n in behind)
            candidates += [
                (a, b)
                for a in after
                for b in behind
                if a.op_type == b.op_type and kinds[0][a.op_type] == kinds[1][a.op_type] == 1
            ]
        for a, b in candidates:
            if a is None or b is None or a in found.pairs or b in taken or a.op_type != b.op_type:
                continue
            if a in found.one.place and b in found.other.place:
                found.pairs[a], found.by[a] = b, "edges"
                taken.add(b)
                queue.append(a)
