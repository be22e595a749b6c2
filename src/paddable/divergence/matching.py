"""Which node of one graph is which node of the other.

Both graphs are sequences of nodes in topological order. What is unmistakable is paired first (*anchors*): the same
output name, the same weights, the same source line, each unique in its segment and in the same order on both sides.
From them on, what reads paired values alone is the node that reads their partners (`flow`). What is left between two
anchors is aligned as sequences are (Needleman and Wunsch, 1970), where nodes of one operator score by attributes,
weights and names, and none that read the pairs of other nodes; and what the order hid is found along the edges. No step
needs the names: they are used where both graphs share most of them and, where two weights lie under one name, most of
those are equal.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from paddable.divergence.defaults import EMPTY, default
from paddable.divergence.dependence import contradicting
from paddable.divergence.flow import Flow, exchanged, fed
from paddable.divergence.plain import Plain, is_linear
from paddable.graph.trace import module_path, source

__all__ = ["Matching", "match"]

_TRUSTED = 0.5
"""Share of the smaller graph's outputs that must have their name in the other, for names to count."""

_TELLING = 16
"""Elements from which a weight is unlikely to be like another by chance."""

_COUNTED = "paddable/"
"""How names of remedies begin. A number follows, which counts them: where a layer is missing, it is another's."""

_Kinds = Mapping[ir.Node, tuple[str, str]]

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
    for plain in (one, other):
        plain.look_ahead()
    best = _match(one, other)
    if best.share < 0.9:
        again = _match(one.canonical(), other.canonical())
        best = again if again.share > best.share else best
    return best


def _match(one: Plain, other: Plain) -> Matching:
    found = Matching(one, other)
    mine, theirs = _Tokens(one), _Tokens(other)
    named = _names_count(mine, theirs)
    if named:
        _forget_names(mine, theirs)
    _give_up(mine, theirs)
    rounds: list[tuple[str, Callable[[_Tokens], list[Hashable]]]] = [
        ("weights", lambda tokens: tokens.placed),
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
    crossed = _crossed(found, mine, theirs)
    weighty = {node: partner for node, partner in found.pairs.items() if found.by[node] == "weights"} | crossed
    swapped = exchanged(one, other, weighty, (mine.attributes, theirs.attributes))
    flow = Flow(one, other, found.pairs, swapped)
    for node in one.nodes:
        partner = crossed.get(node)
        if partner is None:
            _forward(found, flow, mine, theirs, node)
        elif not flow.taken(partner) and flow.alike(node, partner):
            _pair(found, one.place[node], other.place[partner], "weights")
            flow.pair(node, partner, swapped.get(node))
    for start, end, begin, stop in segments:
        rows = [i for i in range(start, end) if one.nodes[i] not in found.pairs]
        columns = [j for j in range(begin, stop) if not flow.taken(other.nodes[j])]
        for i, j in _align(mine, theirs, rows, columns, named, flow):
            node, partner = one.nodes[i], other.nodes[j]
            _forward(found, flow, mine, theirs, node)  # of those that read the same, the one with its constants
            if node not in found.pairs and not flow.taken(partner):
                _join(found, flow, node, partner, "structure")
    _along_edges(found, flow)
    for node in one.nodes:
        _forward(found, flow, mine, theirs, node)
    return found


def _give_up(mine: _Tokens, theirs: _Tokens) -> None:
    """Weights that occur once on both sides and cannot all be anchors, since they depend on one another the other way
    round, are none."""
    pairs = _twins(mine.weights, theirs.weights)
    nodes = [(mine.plain.nodes[i], theirs.plain.nodes[j]) for i, j in pairs]
    for index in contradicting(mine.plain, theirs.plain, nodes):
        i, j = pairs[index]
        mine.placed[i] = theirs.placed[j] = None


def _forward(found: Matching, flow: Flow, mine: _Tokens, theirs: _Tokens, node: ir.Node) -> None:
    """Pair a node that reads paired values alone: with what has its attributes and constants too, else with the only
    other reader that has its operator."""
    if node in found.pairs:
        return
    here, there = flow.readers(node, found.pairs)
    marks = [mine.mark(found.one.place[n]) for n in here], [theirs.mark(found.other.place[n]) for n in there]
    mark = mine.mark(found.one.place[node])
    same = [n for n, each in zip(there, marks[1], strict=True) if each == mark]
    if same and len(same) == marks[0].count(mark):
        _join(found, flow, node, same[0], "edges")
    elif not same and len(here) == len(there) == 1:
        _join(found, flow, node, there[0], "edges")


def _join(found: Matching, flow: Flow, node: ir.Node, partner: ir.Node, by: str) -> None:
    found.pairs[node], found.by[node] = partner, by
    flow.pair(node, partner)


def _crossed(found: Matching, mine: _Tokens, theirs: _Tokens) -> dict[ir.Node, ir.Node]:
    """What lies in another order but has weights that occur once on both sides. Where it reads the pairs of what its
    partner reads, the two are one; a norm with the weights of another block's stays in its place."""
    taken = set(found.pairs.values())
    twins = _twins(mine.placed, theirs.placed)
    pairs = {found.one.nodes[i]: found.other.nodes[j] for i, j in twins}
    return {node: partner for node, partner in pairs.items() if node not in found.pairs and partner not in taken}


def _pair(found: Matching, i: int, j: int, by: str) -> None:
    node = found.one.nodes[i]
    found.pairs[node] = found.other.nodes[j]
    found.by[node] = by


class _Tokens:
    """What tells the nodes of one graph apart, index by index; None where it tells nothing."""

    def __init__(self, plain: Plain) -> None:
        self.plain = plain
        self.operators = [plain.kinds[node] for node in plain.nodes]
        ends = {value.name for value in plain.model.graph.outputs}
        self.outputs = [_inner(node.outputs[0].name, ends) for node in plain.nodes]
        self.names: list[Hashable] = [
            (*operator, name) if name and not name.startswith(_COUNTED) else None
            for operator, name in zip(self.operators, self.outputs, strict=True)
        ]
        self.prints = [tuple(sorted(map(plain.fingerprint, _telling(plain, node)))) for node in plain.nodes]
        self.weights: list[Hashable] = [
            (*operator, prints) if any(size >= _TELLING for size, _ in prints) else None
            for operator, prints in zip(self.operators, self.prints, strict=True)
        ]
        self.placed = list(self.weights)
        self.places: list[Hashable] = [
            (*operator, module_path(node), source(node)) if source(node) else None
            for operator, node in zip(self.operators, plain.nodes, strict=True)
        ]
        self.attributes = [_attributes(node) for node in plain.nodes]

    def mark(self, index: int) -> Hashable:
        """What a node is beside what it reads."""
        return self.attributes[index], tuple(self.prints[index])


def _telling(plain: Plain, node: ir.Node) -> list[ir.Value]:
    """The weights that tell what a node is: of a product the matrix, whether or not the bias is in the node."""
    held = plain.weights(node)
    return [value for value in held if value is node.inputs[1]] if is_linear(node) else held


def _attributes(node: ir.Node) -> tuple[Hashable, ...]:
    if is_linear(node):
        return ()
    plain = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS, ir.AttributeType.TENSOR, ir.AttributeType.TENSORS)
    return tuple(
        (name, str(attribute.value))
        for name, attribute in sorted(node.attributes.items())
        if not attribute.is_ref() and attribute.type not in plain and name != EMPTY
        if attribute.value != default(node, name)
    )


def _inner(name: str | None, outputs: Collection[str | None]) -> str | None:
    """The name that a value had before a padded graph cut it, and gave its name to what it cut."""
    before = next((name.removesuffix(end) for end in _CUT if name is not None and name.endswith(end)), name)
    return before if before in outputs else name


_CUT = ("_padded", "_native")
"""What is behind the name of a value whose name an output took; see ``padding.rewrite``."""


def _names_count(mine: _Tokens, theirs: _Tokens) -> bool:
    """Whether names mean the same on both sides: a counter's numbers, shifted by one, would too often fit."""
    right = {name: index for index, name in enumerate(theirs.names) if name is not None}
    shared = [(i, right[name]) for i, name in enumerate(mine.names) if name in right]
    named = [sum(name is not None for name in names) for names in (mine.names, theirs.names)]
    if len(shared) < _TRUSTED * max(1, min(named)):
        return False
    weighty = [(i, j) for i, j in shared if mine.weights[i] is not None and theirs.weights[j] is not None]
    equal = sum(mine.weights[i] == theirs.weights[j] for i, j in weighty)
    either = set(mine.weights) & set(theirs.weights) - {None}
    if either and 2 * equal < len(weighty):
        return False
    return not (_shifted(mine, theirs) or _shifted(theirs, mine))


def _forget_names(mine: _Tokens, theirs: _Tokens) -> None:
    """Names of nodes without weights tell nothing where none of what one reads is what the other reads, and one graph
    has more of them: an exporter counts on behind an operation that only that graph has."""
    counts = [
        Counter(kind for kind, name in zip(each.operators, each.names, strict=True) if name is not None)
        for each in (mine, theirs)
    ]
    values = fed(mine.plain, theirs.plain)
    back = {theirs: mine for mine, theirs in values.items()}
    twins = _twins(mine.names, theirs.names)
    named = {mine.plain.nodes[i] for i, _ in twins}, {theirs.plain.nodes[j] for _, j in twins}
    for i, j in twins:
        node, partner = mine.plain.nodes[i], theirs.plain.nodes[j]
        kind = mine.operators[i]
        if mine.weights[i] is None and theirs.weights[j] is None and counts[0][kind] != counts[1][kind]:
            read, wanted = _read(mine.plain, node, named[0]), _read(theirs.plain, partner, named[1])
            known = {values[value] for value in read if value in values}, {back[v] for v in wanted if v in back}
            if any(known) and known[0].isdisjoint(wanted) and known[1].isdisjoint(read):
                mine.names[i] = theirs.names[j] = None
                continue
        values.update(zip(node.outputs, partner.outputs, strict=False))
        back.update(zip(partner.outputs, node.outputs, strict=False))


def _read(plain: Plain, node: ir.Node, named: Set[ir.Node]) -> set[ir.Value]:
    """What a node reads, looked for behind nodes whose name the other graph lacks, such as a remedy's."""
    found: set[ir.Value] = set()
    stack = list(plain.inputs(node))
    seen: set[ir.Value] = set()
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        maker = value.producer()
        if maker is None or maker in named or maker not in plain.place:
            found.add(value)
        else:
            stack += plain.inputs(maker)
    return found


def _shifted(mine: _Tokens, theirs: _Tokens) -> bool:
    """Whether weights bear the next one's name, and the last a name that the first graph lacks: where a block is
    missing, those behind it count on. Weights that were exchanged come round to the first again."""
    holder = dict(_twins(mine.weights, theirs.weights))
    named = {name: i for i, name in enumerate(mine.names) if name is not None}
    shared = named.keys() & set(theirs.names)
    for i, j in holder.items():
        seen = {i}
        while mine.names[i] in shared and theirs.names[j] not in (None, mine.names[i]):
            if theirs.names[j] not in named:
                return True
            i = named[theirs.names[j]]
            if i in seen or i not in holder:
                break
            seen.add(i)
            j = holder[i]
    return False


def _anchors(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of tokens that occur once on both sides, the longest run of them in one order."""
    return _rising(_twins(left, right))


def _twins(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of tokens that occur once on both sides."""
    here, there = Counter(left), Counter(right)
    place = {token: j for j, token in enumerate(right)}
    return [
        (i, place[token])
        for i, token in enumerate(left)
        if token is not None and here[token] == 1 and there.get(token) == 1
    ]


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


def _align(
    mine: _Tokens, theirs: _Tokens, left: Sequence[int], right: Sequence[int], named: bool, flow: Flow
) -> list[tuple[int, int]]:
    """The alignment of two segments with the greatest score; gaps cost nothing."""
    if len(left) * len(right) > _WIDEST:  # halved at the same share of their length, until each piece fits the table
        a, b = len(left) // 2, len(right) // 2
        first = _align(mine, theirs, left[:a], right[:b], named, flow)
        return first + _align(mine, theirs, left[a:], right[b:], named, flow)
    scores = np.array([[_score(mine, theirs, i, j, named, flow) for j in right] for i in left])
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


def _score(mine: _Tokens, theirs: _Tokens, i: int, j: int, named: bool, flow: Flow) -> float:
    if mine.operators[i] != theirs.operators[j] or not flow.agree(flow.one.nodes[i], flow.other.nodes[j]):
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


def _along_edges(found: Matching, flow: Flow) -> None:
    """Pair what the order hid: producers of the same operator at one place of a pair's inputs, and lone consumers; only
    then those that read the pair of something else."""
    for wired in (True, False):
        queue = list(found.pairs)
        while queue:
            node = queue.pop()
            for a, b in _neighbours(found.one.kinds, node, found.other.kinds, found.pairs[node]):
                if a in found.pairs or flow.taken(b) or a not in found.one.place or b not in found.other.place:
                    continue
                if not wired or flow.agree(a, b):
                    _join(found, flow, a, b, "edges")
                    queue.append(a)


def _neighbours(mine: _Kinds, node: ir.Node, theirs: _Kinds, partner: ir.Node) -> Iterator[tuple[ir.Node, ir.Node]]:
    for a, b in zip(node.inputs, partner.inputs, strict=False):
        above, over = a.producer() if a else None, b.producer() if b else None
        if above is not None and over is not None and above in mine and mine[above] == theirs.get(over):
            yield above, over
    for left, right in zip(node.outputs, partner.outputs, strict=False):
        after = [use.node for use in left.uses() if use.node in mine]
        behind = [use.node for use in right.uses() if use.node in theirs]
        counts = Counter(mine[n] for n in after), Counter(theirs[n] for n in behind)
        for reader in after:
            if counts[0][mine[reader]] == counts[1][mine[reader]] == 1:
                yield from ((reader, each) for each in behind if theirs[each] == mine[reader])
