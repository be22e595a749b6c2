"""Why two runs part at a fork: what differs between the nodes there, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.divergence.fork import Fork, region
from paddable.divergence.parting import Parting
from paddable.divergence.pieces import Pieces
from paddable.findings import Finding

__all__ = ["Cause", "cause_of"]

_HALF_MAX = 65504.0


@dataclass(frozen=True)
class Cause:
    """Why two runs part.

    Attributes:
        kind: ``weights``, ``wiring``, ``attributes``, ``structure``, ``padding``, ``precision``, ``provider``,
            ``optimiser``, ``rounding`` or ``unknown``.
        text: the reason, one sentence.
        fix: what to do.
        code: of the finding that explains it, such as ``PAD102``; empty without one.
    """

    kind: str
    text: str
    fix: str
    code: str = ""


def cause_of(parting: Parting, fork: Fork, others: Sequence[ir.Node], findings: Sequence[Finding]) -> Cause:
    """The likeliest cause; what can be read off the graphs comes before what remains.

    Args:
        parting: both runs.
        fork: where they part.
        others: the nodes of the second graph that make the partner of the fork's value.
        findings: of native, where one of the runs is padded.
    """
    partners = parting.matching.pairs
    pairs = [(node, partners[node]) for node in fork.nodes if node in partners]
    pairs += _leftovers(parting, fork, others)
    measured = parting.measures.get(fork.value)
    here = {node.name for node in (*fork.nodes, *others)}
    finding = next((found for found in findings if found.node in here), None)
    lost = measured is not None and not measured.finite[0] and measured.finite[1]
    if measured is not None and lost and "fp16" in (parting.one.precision, parting.other.precision):
        return Cause(
            "precision",
            f"the second run reaches {measured.largest[1]:.3g} where half precision ends at {_HALF_MAX:g}: the first "
            "run is infinite or NaN there",
            "keep this node in fp32, or scale its input down",
        )
    return (
        next(_weights(parting, pairs), None)
        or next(_attributes(pairs), None)
        or next(_wiring(parting, pairs), None)
        or next(_constants(parting, pairs), None)
        or _padding(parting, finding)
        or _structure(parting, fork, others)
        or _run(parting)
    )


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


def _weights(parting: Parting, pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    exact = parting.one.precision == parting.other.precision
    for node, partner in pairs:
        for index, (a, b) in enumerate(zip(node.inputs, partner.inputs, strict=False)):
            if a is None or b is None or a.const_value is None or b.const_value is None:
                continue
            x, y = a.const_value.numpy(), b.const_value.numpy()
            if x.shape != y.shape:
                if x.size == y.size and parting.one.plain.fingerprint(a) == parting.other.plain.fingerprint(b):
                    continue
                yield Cause(
                    "weights",
                    f"input {index} ({a.name}) of {node.op_type} is {list(x.shape)} in the first graph and "
                    f"{list(y.shape)} in the second",
                    "load both graphs from one checkpoint",
                )
                continue
            if x.dtype.kind not in "fiub" or y.dtype.kind not in "fiub":
                continue
            wide, right = x.astype(np.float64), y.astype(np.float64)
            allowed = 0.0 if exact else 2.0**-10 * np.abs(right) + 1e-7
            gap = np.abs(wide - right)
            wrong = ~(gap <= allowed) & ~((wide == right) | (np.isnan(wide) & np.isnan(right)))
            if wrong.any():
                at = np.unravel_index(int(np.nan_to_num(np.where(wrong, gap, -1.0), nan=np.inf).argmax()), x.shape)
                yield Cause(
                    "weights",
                    f"input {index} ({a.name}) of {node.op_type} differs from the second graph's in {int(wrong.sum())} "
                    f"of {x.size} numbers, most at {[int(n) for n in at]}: {wide[at]:.4g} and {right[at]:.4g}",
                    "load both graphs from one checkpoint, or look at what changed this constant",
                )


def _attributes(pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    types = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS, ir.AttributeType.TENSOR, ir.AttributeType.TENSORS)
    for node, partner in pairs:
        for name in sorted({*node.attributes, *partner.attributes}):
            mine, theirs = node.attributes.get(name), partner.attributes.get(name)
            if any(side is not None and side.type in types for side in (mine, theirs)):
                continue
            left = None if mine is None else mine.value
            right = None if theirs is None else theirs.value
            length = len(left) if isinstance(left, tuple) else 0
            if length != (len(right) if isinstance(right, tuple) else 0):
                continue  # of another rank: two ways to lay out one value
            if left != right and None not in (left, right):
                yield Cause(
                    "attributes",
                    f"{node.op_type} has {name}={left} in the first graph and {name}={right} in the second",
                    "compare the two exports of this operator",
                )


def _wiring(parting: Parting, pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    values = parting.matching.values()
    for node, partner in pairs:
        mine = [values.get(value) if value is not None else None for value in node.inputs]
        theirs = list(partner.inputs)
        if node.op_type in ("Add", "Mul") or len(mine) != len(theirs):
            continue
        moved = [
            (i, theirs.index(value))
            for i, value in enumerate(mine)
            if value is not None and value in theirs and value is not theirs[i]
        ]
        if moved:
            i, j = moved[0]
            yield Cause(
                "wiring",
                f"input {i} of {node.op_type} is what the second graph reads as input {j}",
                "put the inputs in the order of the original",
            )


def _constants(parting: Parting, pairs: Sequence[tuple[ir.Node, ir.Node]]) -> Iterator[Cause]:
    """A constant of the first graph that the second computes from constants, as before folding."""
    other = parting.other
    for node, partner in pairs:
        for index, (a, b) in enumerate(zip(node.inputs, partner.inputs, strict=False)):
            if a is None or b is None or a.const_value is None or b.producer() is None:
                continue
            nodes, above = region(other.plain, b, lambda value: False)
            if above:
                continue
            computed = other.run(Pieces(other.plain, {}, other.run).cut(nodes, {}, [b]), {})[b.name or ""]
            held = a.const_value.numpy()
            if held.shape != computed.shape or not np.allclose(held, computed, rtol=1e-3, atol=1e-6):
                yield Cause(
                    "weights",
                    f"input {index} of {node.op_type} is the constant {a.name} in the first graph, and not what "
                    f"{_listed(nodes)} of the second gives",
                    "look at what chose this constant: a prompt, a token or a setting",
                )


def _padding(parting: Parting, finding: Finding | None) -> Cause | None:
    if finding is None:
        return None
    if parting.one.metadata is None:
        fix = f"convert it: paddable convert puts the remedy in, {finding.remedy}"
    else:
        fix = f"the remedy is missing or wrong there: {finding.remedy}; convert the model again"
    return Cause("padding", finding.leak, fix, finding.code)


def _structure(parting: Parting, fork: Fork, others: Sequence[ir.Node]) -> Cause | None:
    """Nodes that only one graph has here. In a padded graph or one with casts, those of the first alone are normal."""
    partners = set(parting.matching.pairs.values())
    missing = [node for node in others if node not in partners and node.op_type != "Cast"]
    extra = [node for node in fork.nodes if node not in parting.matching.pairs and node.op_type != "Cast"]
    if parting.one.metadata is not None:
        extra = []
    if not missing and not extra:
        return None
    told = []
    if missing:
        told.append(f"the first graph lacks {_listed(missing)} of the second")
    if extra:
        told.append(f"the first graph has {_listed(extra)}, which the second lacks")
    return Cause("structure", "; ".join(told), "compare the two models' code for this module")


def _listed(nodes: Sequence[ir.Node]) -> str:
    names = [f"{node.op_type} {node.name}" if node.name else node.op_type for node in nodes]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _run(parting: Parting) -> Cause:
    one, other = parting.one, parting.other
    if parting.gradual:
        return Cause(
            "rounding",
            "no node makes the error much greater than that of its inputs: rounding grows along the graph",
            "compare in fp32 on the CPU; where the error matters, keep the widest layers in fp32",
        )
    if one.provider != other.provider:
        return Cause(
            "provider",
            f"{one.provider} and {other.provider} give different results for the same node and the same inputs",
            "write the case with --isolate DIR and attach it to a report to the provider",
        )
    if one.precision != other.precision:
        return Cause(
            "precision",
            f"{one.precision} rounds away what {other.precision} keeps",
            "keep this node in fp32",
        )
    if one.container != one.steps:
        return Cause(
            "padding",
            "the node reads the padding: its result on the valid part depends on the container",
            "convert the model with paddable convert",
        )
    return Cause("unknown", "operator, weights, attributes and inputs agree", "write the case with --isolate DIR")
