"""Why two runs part at a fork: what differs between the nodes there, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from paddable.divergence.attributes import attributes_apart, factors_apart, setting_of
from paddable.divergence.cause import Cause
from paddable.divergence.changed import changed_between, is_weight
from paddable.divergence.flow import fed, in_one_order
from paddable.divergence.fork import Fork
from paddable.divergence.leading import is_padded, leads
from paddable.divergence.moving import MOVING
from paddable.divergence.norms import trains
from paddable.divergence.origins import made_of_lengths, misnamed, origin, reads_alike, through_mask
from paddable.divergence.padding import Trial, try_padding
from paddable.divergence.parting import ABRUPT, Parting
from paddable.divergence.plain import Plain
from paddable.divergence.quantised import beside_rounding, changed_quantised, in_codes, products_of_both
from paddable.divergence.regions import made_of_sizes
from paddable.divergence.remedied import rounded_by_remedy
from paddable.divergence.remedies import size_makers
from paddable.divergence.repaired import Repair
from paddable.divergence.sized import changed_tables
from paddable.divergence.unpaired import Unpaired, unpaired
from paddable.findings import Finding
from paddable.graph.trace import module_path
from paddable.padding.deduce.pointwise import POINTWISE

__all__ = ["Cause", "cause_of"]

_HALF_MAX = 65504.0


def cause_of(
    parting: Parting, fork: Fork, others: Sequence[ir.Node], findings: Sequence[Finding]
) -> tuple[Cause, ir.Node]:
    """The likeliest cause, and the node that it lies at: the one that reads the weight that differs, else the last.

    What can be read off the graphs comes before what remains.

    Args:
        parting: both runs.
        fork: where they part.
        others: the nodes of the second graph that make the partner of the fork's value.
        findings: of native, where one of the runs is padded.
    """
    partners = parting.matching.pairs
    pairs = [(node, partners[node]) for node in fork.nodes if node in partners]
    pairs += _leftovers(parting, fork, others)
    held = [side.metadata.length_inputs for side in (parting.one, parting.other) if side.metadata is not None]
    beside = [size_makers(side, {name for each in held for name in each}) for side in (parting.one, parting.other)]
    pairs = [
        (node, partner)
        for node, partner in pairs
        if (node in beside[0]) == (partner in beside[1]) and not (node in beside[0] and _lays_out((node, partner)))
        if not misnamed(parting, node, partner)
    ]
    fitting = [pair for pair in pairs if reads_alike(parting, *pair)]
    here = {node.name for node in (*fork.nodes, *others)}
    finding = next((found for found in findings if found.node in here), None)
    crossed = _crossed(parting, fork)
    if crossed is not None:
        return crossed, fork.nodes[-1]
    overflow = _overflow(parting, fork, others)
    if overflow is not None:
        return overflow, fork.nodes[-1]
    moved = _displaced(parting, fork)
    if moved is not None:
        return moved, fork.nodes[-1]
    training = _training(fork, others)
    if training is not None:
        return training, fork.nodes[-1]
    numbers, shapes = _weights(parting, fitting)
    lacking = unpaired(parting, fork, others)
    if numbers is not None:
        return numbers
    table = next(changed_tables(parting, fitting), None)
    if table is not None:
        fix = "load both graphs from one checkpoint, and compare where they begin to read this table"
        return Cause("weights", table.text, fix), table.node
    alone = [pair for pair in fitting if pair[0] not in parting.layers]
    alike = _moves_alone(lacking)
    moving = [pair for pair in alone if _only_moves(pair[0])]
    found = (
        next(attributes_apart([pair for pair in alone if pair not in moving]), None)
        or next(factors_apart(parting, fitting), None)
        or next(_wiring(parting, pairs if alike else [pair for pair in pairs if not _only_moves(pair[0])]), None)
        or (next(_made_of(parting, pairs), None) if next(attributes_apart(moving), None) else None)
        or (next(attributes_apart(moving), None) if alike else None)
        or next(_bodies(fitting), None)
        or (_structure(parting, lacking) if leads(parting, fork, others, lacking) else None)
    )
    trial = Trial(False)
    if found is None and is_padded(parting):
        trial = try_padding(parting, fork, others)
        if any(trial.replaced):
            return _masked(trial, fork)
        if trial.repair is not None:
            return _repaired(trial.repair, finding, fork)
        found = _padding(parting, finding) if trial.felt is not False else None
        lacking = unpaired(parting, fork, others, remedied=trial.felt is False)
        if trial.felt is False:
            lacking = lacking.but_for({(finding.node, finding.op) for finding in findings})
    stored = _stored(parting, fork, others) if found is None else None
    if stored is not None:
        return stored
    found = (
        found
        or _quantised(parting, fork, others, lacking)
        or (next(_made_of(parting, pairs), None) if _moves_alone(lacking) else None)
        or _structure(parting, lacking)
        or next(attributes_apart(moving), None)
        or (shapes[0] if shapes is not None else None)
        or _moved(fork)
        or _run(parting, fork, trial)
        or _structure(parting, unpaired(parting, fork, others, sizes=True))
        or Cause("unknown", "operator, weights, attributes and inputs agree", "look at the case that `isolate` writes")
    )
    if found.kind == "structure":
        found = rounded_by_remedy(parting, fork, others) or found
    reader = _reducer(parting, fork) if found.kind == "padding" else None
    if reader is not None:
        return found, reader
    return found, lacking.extra[0] if found.place == "another" and lacking.extra else fork.nodes[-1]


def _crossed(parting: Parting, fork: Fork) -> Cause | None:
    """An output that the second graph has under the name of another."""
    wanted, made = parting.ends.get(fork.value), parting.matching.values().get(fork.value)
    measured = parting.measures.get(fork.value)
    if measured is None or made is None or wanted in (None, made) or measured.error > parting.tolerance:
        return None
    if made not in parting.ends.values():
        return None
    told = f"output {fork.value.name} of the first graph has the numbers of output {made.name} of the second"
    return Cause("wiring", told, "look at the names of the outputs: two of them may have been exchanged")


def _displaced(parting: Parting, fork: Fork) -> Cause | None:
    """Scales of one weight on different sides of an activation."""
    for node, each in parting.displaced.items():
        if each.nodes.isdisjoint(fork.nodes):
            continue
        far, near = ("first", "second") if each.first else ("second", "first")
        activation = _listed([each.activation])
        told = (
            f"the {far} graph has {_listed(each.scales)} behind {activation}, and the {near} has it in front, in or "
            f"behind {node.op_type}: the weights are equal, and their order is not"
        )
        return Cause("structure", told, "compare the two models' code for this module")
    return None


def _overflow(parting: Parting, fork: Fork, others: Sequence[ir.Node]) -> Cause | None:
    """One run is not finite where the other is, and it computes in half there."""
    measured = parting.measures.get(fork.value)
    if measured is None or measured.finite[0] == measured.finite[1]:
        return None
    lost = 0 if not measured.finite[0] else 1
    names = ("first", "second") if lost == 0 else ("second", "first")
    read = (parting.measures[value] for value in fork.inputs if value in parting.measures)
    if not any(each.half[lost] for each in (measured, *read)) and not any(map(_in_half, (fork.nodes, others)[lost])):
        return None
    reached = measured.largest[1 - lost]
    if reached >= _HALF_MAX / 2:
        told = (
            f"the {names[1]} run reaches {reached:.3g} where half precision ends at {_HALF_MAX:g}: the {names[0]} run "
            "is infinite or NaN there"
        )
    else:
        told = (
            f"the {names[0]} run, in half, is infinite or NaN where the {names[1]} reaches {reached:.3g}: a number on "
            f"the way there passed {_HALF_MAX:g}, where half precision ends"
        )
    return Cause("precision", told, "keep this node in fp32, or scale its input down")


def _in_half(node: ir.Node) -> bool:
    """Whether a node makes or reads numbers in half, as far as its types are known."""
    to = node.attributes.get("to")
    return (to is not None and to.value == ir.DataType.FLOAT16) or any(
        value is not None and value.dtype == ir.DataType.FLOAT16 for value in (*node.inputs, *node.outputs)
    )


def _lays_out(pair: tuple[ir.Node, ir.Node]) -> bool:
    """Whether a node only gives what it reads another shape, or takes a part of it, so that its constants are axes and
    places; not of a table."""
    weighty = any(value is not None and is_weight(value) for node in pair for value in node.inputs)
    return not weighty and (_only_moves(pair[0]) or pair[0].op_type == "Shape")


def _leftovers(parting: Parting, fork: Fork, others: Sequence[ir.Node]) -> list[tuple[ir.Node, ir.Node]]:
    """Nodes at the fork that found no partner, one of an operator on either side, with weights of one size: the weight
    that differs is what would have paired them."""
    taken = set(parting.matching.pairs.values())
    left = [node for node in fork.nodes if node not in parting.matching.pairs]
    right = [node for node in others if node not in taken]

    def sizes(nodes: Sequence[ir.Node]) -> dict[tuple[str, ...], list[ir.Node]]:
        found: dict[tuple[str, ...], list[ir.Node]] = {}
        for node in nodes:
            weights = [str(v.const_value.size) for v in node.inputs if v is not None and v.const_value is not None]
            if weights:
                found.setdefault((node.op_type, *weights), []).append(node)
        return found

    there = sizes(right)
    return [
        (nodes[0], there[kind][0])
        for kind, nodes in sizes(left).items()
        if len(nodes) == 1 and len(there.get(kind, ())) == 1
    ]


def _weights(
    parting: Parting, pairs: Sequence[tuple[ir.Node, ir.Node]]
) -> tuple[tuple[Cause, ir.Node] | None, tuple[Cause, ir.Node] | None]:
    """The first weight whose numbers differ, and the first whose shape does: where nodes are missing, that is another
    node's."""
    found: dict[bool, tuple[Cause, ir.Node]] = {}
    exact = parting.one.precision == parting.other.precision
    both = parting.one.plain, parting.other.plain
    for change in changed_between(*both, pairs, exact=exact, layers=parting.layers):
        kind, fix = "weights", "load both graphs from one checkpoint"
        text = change.text + change.moved
        setting = setting_of(change.node, change.size)
        if change.moved:
            fix = _MOVED
        elif setting is not None:
            kind, fix = "attributes", setting
        elif change.numbers:
            fix += ", or look at what changed this constant: a prompt, a token or a setting"
        found.setdefault(change.numbers > 0, (Cause(kind, text, fix), change.node))
    return found.get(True), found.get(False)


_MOVED = "look at what exchanged or moved it: a loader's names, or the order of the modules"


def _training(fork: Fork, others: Sequence[ir.Node]) -> Cause | None:
    """A batch norm that takes its input's own mean in one graph alone."""
    mine, theirs = ([node for node in nodes if trains(node)] for nodes in (fork.nodes, others))
    if bool(mine) == bool(theirs):
        return None
    which = "first" if mine else "second"
    told = f"{_listed([*mine, *theirs])} of the {which} graph is in training mode: it takes its input's own mean"
    return Cause("training", told, "call `.eval()` on the module before it is exported")


def _wiring(parting: Parting, pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    """Nodes that are one and read other values: another input of the same node, or the value of another node."""
    inputs = fed(parting.one.plain, parting.other.plain)
    values = {**inputs, **parting.matching.values()}
    mine_of = {theirs: mine for mine, theirs in values.items()}
    known = parting.measures.keys() | inputs.keys()
    masks = [made_of_lengths(side) for side in (parting.one, parting.other)]
    for node, partner in pairs:
        both = in_one_order(node, partner)
        read = [through_mask(value, values, masks[0]) for value, _ in both]
        theirs = [through_mask(value, mine_of, masks[1]) for _, value in both]
        mine = [values.get(value) if value is not None else None for value in read]
        if len(node.inputs) != len(partner.inputs) or (node.op_type in ("Add", "Mul") and set(mine) == set(theirs)):
            continue
        renumbered = _renumbered(parting, node, partner)
        for index, (value, wanted) in enumerate(zip(mine, theirs, strict=True)):
            if value is None or wanted is None or value is wanted:
                continue
            if renumbered is not None:
                yield renumbered
                continue
            if value in theirs and node.op_type in ("Add", "Mul"):
                continue  # it commutes: what differs is its other input
            if value in theirs:
                told = f"input {index} of {node.op_type} is what the second graph reads as input {theirs.index(value)}"
                yield Cause("wiring", told, "put the inputs in the order of the original")
            elif wanted in mine_of and read[index] in known and mine_of[wanted] in known:
                told = (
                    f"input {index} of {node.op_type} is {_made_by(read[index])} where the second graph reads "
                    f"{_made_by(wanted)}"
                )
                if _made_by(mine_of[wanted]) != _made_by(wanted):
                    told += f", which is {_made_by(mine_of[wanted])} of the first"
                yield Cause("wiring", told, _EXCHANGED)


def _renumbered(parting: Parting, node: ir.Node, partner: ir.Node) -> Cause | None:
    """Nodes of one name of which one graph has fewer in this module: an exporter counts on, so that those behind the
    one that is missing bear another's name."""
    module = module_path(node)
    if not module or module != module_path(partner) or node.outputs[0].name != partner.outputs[0].name:
        return None
    counts = []
    for side in (parting.one, parting.other):
        sizes = made_of_sizes(side.plain, constants=True)
        alike = [each for each in side.plain.nodes if each.op_type == node.op_type and module_path(each) == module]
        computed = [each for each in alike if not list(side.plain.weights(each))]  # a bias may lie in a product
        counts.append(sum(sizes.isdisjoint(each.outputs) for each in computed))
    if counts[0] == counts[1]:
        return None
    which = "first" if counts[0] < counts[1] else "second"
    told = (
        f"the first graph has {counts[0]} {node.op_type} in {module} and the second {counts[1]}: the {which} lacks one "
        f"here, and those behind it bear the names of others"
    )
    return Cause("structure", told, "compare the two models' code for this module")


_EXCHANGED = "look at what this node is to read: two values, or the weights of two nodes, may have been exchanged"


def _made_of(parting: Parting, pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    """Nodes that are one and read other values, moved on the way: a mask and the same inverted."""
    values = {**fed(parting.one.plain, parting.other.plain), **parting.matching.values()}
    theirs = set(values.values())
    for node, partner in pairs:
        for index, (value, wanted) in enumerate(in_one_order(node, partner)):
            if value is None or wanted is None or (value in values and wanted in theirs):
                continue
            mine, other = origin(value, values), origin(wanted, theirs)
            if mine in values and other in theirs and values[mine] is not other:
                told = (
                    f"input {index} of {node.op_type} is made of {_made_by(mine)} in the first graph and of "
                    f"{_made_by(other)} in the second"
                )
                yield Cause("wiring", told, "look at what this node is to read: it may be inverted, or another one's")


def _made_by(value: ir.Value | None) -> str:
    node = value.producer() if value is not None else None
    if node is None:
        return f"the input {value.name}" if value is not None else "nothing"
    module = module_path(node)
    return f"the result of {node.op_type} {node.name}" + (f" ({module})" if module else "")


def _moved(fork: Fork) -> Cause | None:
    """What computes nothing makes no difference: one above it was not seen."""
    if not all(map(_only_moves, fork.nodes)):
        return None
    return Cause(
        "unknown",
        f"{_listed(fork.nodes)} only moves numbers, so what it reads differs already: no value in front of it could be "
        "compared",
        "look at what makes its inputs, in both graphs",
    )


def _bodies(pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    """Branches and loop bodies of paired nodes that hold other nodes or other attributes."""
    for node, partner in pairs:
        for name, attribute in node.attributes.items():
            twin = partner.attributes.get(name)
            if attribute.type != ir.AttributeType.GRAPH or twin is None or twin.type != ir.AttributeType.GRAPH:
                continue
            mine, theirs = list(attribute.as_graph()), list(twin.as_graph())
            kinds = [[each.op_type for each in nodes] for nodes in (mine, theirs)]
            place = f"{name} of {node.op_type} {node.name}".rstrip()
            if kinds[0] != kinds[1]:
                extra, missing = (Counter(kinds[i]) - Counter(kinds[1 - i]) for i in (0, 1))
                told = f"{place} has {', '.join(extra) or 'the same operators in another order'} in the first graph" + (
                    f" and {', '.join(missing)} in the second" if missing else ""
                )
                yield Cause("structure", told, "compare the two models' code for this part")
                continue
            inner = list(zip(mine, theirs, strict=True))
            for cause in (*attributes_apart(inner), *_inner_constants(inner), *_bodies(inner)):
                yield replace(cause, text=f"in {place}: {cause.text}")


def _inner_constants(pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    for node, partner in pairs:
        for index, (a, b) in enumerate(zip(node.inputs, partner.inputs, strict=False)):
            if a is None or b is None or a.const_value is None or b.const_value is None:
                continue
            x, y = a.const_value.numpy(), b.const_value.numpy()
            if x.shape != y.shape or not np.array_equal(x, y):
                told = f"input {index} ({a.name}) of {node.op_type} is another constant than in the second graph"
                yield Cause("weights", told, "load both graphs from one checkpoint")


def _padding(parting: Parting, finding: Finding | None) -> Cause | None:
    if finding is None:
        return None
    if parting.one.metadata is None:
        fix = f"convert it: paddable convert puts the remedy in, {finding.remedy}"
    else:
        fix = f"the remedy is missing or wrong there: {finding.remedy}; convert the model again"
    return Cause("padding", finding.leak, fix, finding.code)


def _reducer(parting: Parting, fork: Fork) -> ir.Node | None:
    """The sum or mean in front of a fork's node that stands for one that the other graph reduces otherwise, and so is
    what reads the padding."""
    left = (node for node in fork.nodes if node not in parting.matching.pairs)
    return next((node for node in left if node.op_type.startswith("Reduce")), None)


def _masked(trial: Trial, fork: Fork) -> tuple[Cause, ir.Node]:
    """A mask that is put on valid steps."""
    fix = "its condition or the order of its inputs is wrong: convert the model again"
    for number, found in zip(("first", "second"), trial.replaced, strict=True):
        if found is not None:
            node, share = found
            told = f"{_listed([node])} of the {number} graph replaces {100 * share:.3g} % of the numbers of valid steps"
            return Cause("padding", told, fix), node if number == "first" else fork.nodes[-1]
    raise AssertionError("none of the masks replaces anything")


def _repaired(repair: Repair, finding: Finding | None, fork: Fork) -> tuple[Cause, ir.Node]:
    """A node of a remedy that is wrong."""
    which = "first" if repair.first else "second"
    told = f"{repair.text}, in a remedy of the {which} graph"
    fix = f"{repair.fix}: convert the model again"
    code = finding.code if finding is not None else ""
    return Cause("padding", told, fix, code), repair.node if repair.first else fork.nodes[-1]


def _structure(parting: Parting, only: Unpaired) -> Cause | None:
    """Nodes that only one graph has here."""
    elsewhere = _elsewhere(parting, only)
    if elsewhere is not None:
        return elsewhere
    extra, missing = _listed(only.extra), _listed(only.missing)
    if not extra and not missing:
        return None
    told = f"the first graph has {extra}, which the second lacks"
    if missing:
        told = (
            f"the first graph has {extra} where the second has {missing}"
            if extra
            else f"the first graph lacks {missing}"
        )
    place = "another" if extra else "behind" if only.last else "in front of"
    return Cause("structure", told, "compare the two models' code for this module", place=place)


def _moves_alone(only: Unpaired) -> bool:
    """Whether what only one graph has computes nothing."""
    return all(map(_only_moves, (*only.extra, *only.missing)))


def _only_moves(node: ir.Node) -> bool:
    return node.op_type in MOVING and not node.domain


def _elsewhere(parting: Parting, only: Unpaired) -> Cause | None:
    """Where only one graph has nodes here, and the other has as many of each kind: they stand somewhere else in it."""
    if bool(only.extra) == bool(only.missing):
        return None
    here, there = parting.one.plain, parting.other.plain
    nodes, names, place = only.extra, ("first", "second"), "another"
    if only.missing:
        here, there, nodes, names = there, here, only.missing, ("second", "first")
        place = "behind" if only.last else "in front of"
    weighty = [node for node in nodes if any(map(is_weight, here.weights(node))) and node.op_type not in _SCALES]
    alike = Counter(_kind(there, node) for node in _without(parting, there))
    if Counter(_kind(here, node) for node in weighty or nodes) - alike:
        return None
    told = f"the {names[0]} graph has {_listed(nodes)} here, and the {names[1]} somewhere else"
    for node in weighty:
        wanted = {here.fingerprint(value) for value in here.weights(node) if is_weight(value)}
        twin = next((n for n in there.nodes if wanted & {there.fingerprint(v) for v in there.weights(n)}), None)
        if twin is not None:
            told += f": the weights of {_listed([node])} are those of {_listed([twin])} there"
            break
    return Cause("structure", told, "compare the order of these nodes, and which weights each has", place=place)


def _kind(plain: Plain, node: ir.Node) -> tuple[object, ...]:
    """What a node is without its place: its operator, how much that is computed it reads, its constants, and the size
    of its largest weight."""
    held = sorted(plain.fingerprint(value) for value in plain.weights(node) if not is_weight(value))
    largest = max((plain.fingerprint(value)[0] for value in plain.weights(node) if is_weight(value)), default=0)
    return plain.kinds[node], len(list(plain.inputs(node))), tuple(held), largest


def _without(parting: Parting, plain: Plain) -> list[ir.Node]:
    """The nodes of a graph that have no partner and are part of no layer that has one."""
    both = [layer for each in parting.layers.values() for layer in (each.one, each.other)]
    taken = {node for layer in both for node in (layer.node, *layer.front, *layer.behind)}
    taken |= {*parting.matching.pairs, *parting.matching.pairs.values()}
    return [node for node in plain.nodes if node not in taken]


_SCALES = frozenset({"Add", "Div", "Mul", "Sub"})
"""One exporter has them as nodes, another in the product in front of them."""


def _stored(parting: Parting, fork: Fork, others: Sequence[ir.Node]) -> tuple[Cause, ir.Node] | None:
    """A weight in 8 bits that is another one in float, and the node that reads it."""
    if parting.one.precision == parting.other.precision or not any(map(in_codes, (*fork.nodes, *others))):
        return None
    change = next((each for each in changed_quantised(parting) if each.node in fork.nodes), None)
    if change is None:
        return None
    fix = "quantise the same checkpoint again, and look at the scale and zero point"
    return Cause("weights", change.text + change.moved, _MOVED if change.moved else fix), change.node


def _quantised(parting: Parting, fork: Fork, others: Sequence[ir.Node], lacking: Unpaired) -> Cause | None:
    """One graph computes in 8 bits here and the other does not: operators differ by design, their attributes do not."""
    here = [node for node in (*fork.nodes, *others) if in_codes(node)]
    if parting.one.precision == parting.other.precision or not here:
        return None
    setting = next(attributes_apart(list(products_of_both(parting, fork.nodes, others))), None)
    if setting is not None:
        return setting
    beside = beside_rounding(lacking, (*fork.nodes, *others))
    if beside.extra or beside.missing:
        return _structure(parting, beside)
    told = f"{parting.one.precision} rounds away what {parting.other.precision} keeps"
    if here[0] in others:
        told = f"{parting.other.precision} rounds away what {parting.one.precision} keeps"
    return Cause("precision", f"{told}, at {_listed(here)}", "keep this product in fp32, or calibrate it anew")


def _listed(nodes: Sequence[ir.Node]) -> str:
    modules = [module_path(node) for node in nodes]
    names = [f"{node.op_type} {node.name}".rstrip() for node in nodes]
    names = [name + (f" ({module})" if module else "") for name, module in zip(names, modules, strict=True)]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _run(parting: Parting, fork: Fork, trial: Trial) -> Cause | None:
    one, other = parting.one, parting.other
    measured = parting.measures.get(fork.value)
    if (
        measured is not None
        and measured.error <= parting.tolerance
        and fork.value in parting.ends
        and is_padded(parting)
    ):
        return Cause(
            "unknown",
            "the output differs in steps that were compared in no inner value: sizes alone do not tell how many of its "
            "steps are valid",
            "compare with the native model, whose lengths tell it",
        )
    if parting.gradual:
        above = max((parting.measures[value].error for value in fork.inputs if value in parting.measures), default=0.0)
        told = "no node makes the error much greater than that of its inputs: rounding grows along the graph"
        if measured is not None and measured.error > ABRUPT * above:
            told = "no error on the way is larger than what rounding makes: it begins here, and grows along the graph"
        return Cause(
            "rounding", told, "compare in fp32 on the CPU; where the error matters, keep the widest layers in fp32"
        )
    if one.provider != other.provider:
        return Cause(
            "provider",
            f"{one.provider} and {other.provider} give different results for the same node and the same inputs",
            "attach the case, which `isolate` writes, to a report to the provider",
        )
    if one.precision != other.precision:
        coarse, fine = sorted((one.precision, other.precision), key=_DIGITS.index)
        return Cause("precision", f"{coarse} rounds away what {fine} keeps", "keep this node in fp32")
    if trial.felt is not False and not all(node.op_type in _STEPWISE and not node.domain for node in fork.nodes):
        padded = one.metadata is not None or other.metadata is not None
        return Cause(
            "padding",
            "the node reads the padding: its result on the valid part depends on the container",
            "judge the converted model with paddable verify, and convert it again"
            if padded
            else "convert the model with paddable convert",
        )
    return None


_STEPWISE = frozenset({*POINTWISE, "Identity", "Squeeze", "Transpose", "Unsqueeze"})
"""Operators that give each step from itself alone: none of them can read padding."""

_DIGITS = ("int4", "int8-static", "int8-dynamic", "int8", "fp16", "fp32")
"""Precisions, the coarsest first."""
