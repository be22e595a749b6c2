"""SHP105."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from paddable.linter.evidence import reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.steps_read import steps_read
from paddable.linter.subject import Kind
from paddable.linter.two_lengths import run_at_two_lengths
from paddable.linter.view.graph import NodeView

__all__ = ["FrozenLength"]

_COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual")
_BROADCASTING = ("Add", "Sub", "Mul", "Div", "Where", "Max", "Min", "Pow", "And", "Or", "Equal")
_MOVES = {"Cast", "Unsqueeze", "Squeeze", "Identity", "Reshape", "Expand", "Transpose"}


class FrozenLength(Rule[Any]):
    """## What it does
    Finds a number that was the length of the exporter's example: positions compared with a constant, a sum over time
    divided by a constant, a free size that meets a fixed one, windows that end where the example ended, so that no
    later step is read. With a runner, the model is also run at two lengths.

    ## Why is this bad
    The model is right at the length of the example, and silently wrong (or stopped) at every other. Where the number
    is a mere divisor, no run can show it: the model is wrong in the same way on every machine.

    ## Example
    ``n = int(ilens[0])`` in forward, under the TorchScript exporter: ``Less(Range(0, T), 30)`` and ``Div(sum, 30.0)``

    ## Use instead
    Tensors: ``torch.arange(x.size(1)) < ilens``, ``sum / ilens``. Or the dynamo exporter, which keeps the value.

    ## Fix safety
    No fix: nothing in the file tells which length was meant.
    """

    code = "SHP105"
    name = "frozen-length"
    severity = "warning"
    evidence = (reported("https://github.com/idiap/coqui-ai-TTS/issues/315"),)
    VALID = (
        """m (float[1,T,3] x, int64[1] ilens) => (float[1,3] y) <int64 a = {0}, int64 d = {1}, int64[1] axis = {1}> {
            n = Shape<start = 1, end = 2>(x) k = Squeeze(n) r = Range(a, k, d) l = Less(r, ilens) c = Cast<to = 1>(l)
            u = Unsqueeze(c, axis) z = Mul(x, u) s = ReduceSum<keepdims = 0>(z, axis)
            f = Cast<to = 1>(ilens) y = Div(s, f)
        }""",
        "m (float[1,T,8] x) => (float[1,T] y) <int64[1] axis = {2}, float eight = {8.0}> {"
        " s = ReduceSum<keepdims = 0>(x, axis) y = Div(s, eight) }",
        "m (float[1,T,8] x) => (float[1,T,8] y) <float[8] b = {0,0,0,0,0,0,0,0}> { y = Add(x, b) }",
        "m (float[1,T,8] x) => (float[1,U,8] y) <int64[1] s = {4}, int64[1] e = {9223372036854775807}, "
        "int64[1] axis = {1}> { y = Slice(x, s, e, axis) }",
    )
    INVALID = (
        """m (float[1,T,3] x) => (float[1,3] y)
        <int64 a = {0}, int64 d = {1}, int64[1] axis = {1}, int64 n30 = {30}, float f30 = {30.0}> {
            n = Shape<start = 1, end = 2>(x) k = Squeeze(n) r = Range(a, k, d) l = Less(r, n30) c = Cast<to = 1>(l)
            u = Unsqueeze(c, axis) z = Mul(x, u) s = ReduceSum<keepdims = 0>(z, axis) y = Div(s, f30)
        }""",
        "m (float[1,T,8] x) => (float[1,8] y) <int64[1] axis = {1}, float n = {20.0}> {"
        " s = ReduceSum<keepdims = 0>(x, axis) y = Div(s, n) }",
        "m (float[1,T,2] x) => (float[1,T,2] y) <float[3,2] table = {0,1,2,3,4,5}> { y = Add(x, table) }",
        "m (float[1,T,8] x) => (float[1,20,2,4] y) <int64[4] s = {1,20,2,4}> { y = Reshape(x, s) }",
        """m (float[1,T,8] x) => (float[1,8,8] y)
        <int64[1] zero = {0}, int64[1] four = {4}, int64[1] eight = {8}, int64[1] twelve = {12}, int64[1] axis = {1}> {
            a = Slice(x, zero, eight, axis) b = Slice(x, four, twelve, axis) y = Add(a, b)
        }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each frozen number that the structure shows, then what running at two lengths shows; a node once."""
        if not site.is_main:
            return
        run = list(run_at_two_lengths(site))
        proven = {match.node for match in run}
        looks = (_compared_positions, _divided_sums, _fixed_targets, _fixed_operands)
        places = [place for look in looks for part in site.everywhere() for place in look(part)]
        told = {node: (length, what) for node, length, what in places if node not in proven}
        agreeing = Counter(length for length, _ in told.values())
        for node, (length, what) in told.items():
            many = agreeing[length] > 1
            yield Match(
                what + (f"; {agreeing[length]} places agree on {length}" if many else ""),
                f"if the example had {length} steps, that is frozen: use tensors instead of Python numbers in forward "
                "(no int(), no .item()), or the dynamo exporter",
                node,
                severity="error" if many else None,
            )
        yield from _unread_ends(site)
        yield from run


def _unread_ends(site: Site[Any]) -> Iterator[Match]:
    for ragged in site.subject.ragged:
        end = steps_read(site, ragged)
        if end is not None:
            yield Match(
                f"no step of {ragged} from {end} on is read: the end of a longer input is ignored",
                f"if the example had about {end} steps, a Python loop over its windows was frozen: use unfold or a "
                "strided convolution instead of the loop, or the dynamo exporter",
                value=ragged.name,
                axis=ragged.axis,
            )


Place = tuple[NodeView, int, str]
"""A node, the length that seems frozen there, and what shows it."""


def _compared_positions(site: Site[Any]) -> Iterator[Place]:
    for node in site.nodes(*_COMPARISONS):
        for positions, bound in (node.inputs[:2], node.inputs[1::-1]):
            length = _whole(site, bound)
            if length is not None and _is_positions(site, positions):
                yield node, length, f"{node.op} compares positions in time with the constant {length}"


def _divided_sums(site: Site[Any]) -> Iterator[Place]:
    symbols = _symbols(site)
    for node in site.nodes("Div"):
        length = _whole(site, node.inputs[1])
        producer = site.producer(node.inputs[0])
        if length is None or producer is None or producer.op != "ReduceSum":
            continue
        axes = site.constant(producer.input(1))
        listed = producer.attribute("axes", ()) if axes is None else axes.reshape(-1)  # an attribute until opset 12
        if any(_is_time(site, producer.inputs[0], int(axis), symbols) for axis in listed):
            yield node, length, f"a sum over time is divided by the constant {length}"


def _fixed_targets(site: Site[Any]) -> Iterator[Place]:
    symbols = _symbols(site)
    for node in site.nodes("Reshape"):
        dims, target = site.shape(node.inputs[0]), site.constant(node.inputs[1])
        if dims is None or target is None or (target <= 0).any() or not symbols.intersection(dims):
            continue
        rest = int(np.prod([dim for dim in dims if isinstance(dim, int)]))
        if sum(not isinstance(dim, int) for dim in dims) == 1 and rest and int(target.prod()) % rest == 0:
            length = int(target.prod()) // rest
            yield node, length, f"Reshape to the fixed {target.tolist()} works at one length only, {length}"


def _fixed_operands(site: Site[Any]) -> Iterator[Place]:
    symbols = _symbols(site)
    for node in site.nodes(*_BROADCASTING):
        shapes = [site.shape(name) for name in node.inputs]
        for name, fixed in zip(node.inputs, shapes, strict=True):
            if fixed is None or site.kind(name) is not Kind.CONSTANT:
                continue
            others = [dims for dims in shapes if dims is not None and dims is not fixed]
            for back in range(1, len(fixed) + 1):
                length = fixed[-back]
                free = next((dims[-back] for dims in others if len(dims) >= back and dims[-back] in symbols), None)
                if isinstance(length, int) and length > 1 and free is not None:
                    yield node, length, f"{node.op} meets the free size {free!r} with a constant of size {length}"


def _is_time(site: Site[Any], name: str, axis: int, symbols: set[object]) -> bool:
    """Whether the axis is a free axis of the inputs; also behind a mask, where inference gives the symbol up."""
    dims = site.shape(name)
    if dims is None:
        return False
    back = axis - len(dims) if axis >= 0 else axis  # broadcasting aligns the last axes
    waiting, seen = [name], {name}
    while waiting:
        name = waiting.pop()
        dims = site.shape(name)
        if dims is None or len(dims) < -back or isinstance(dims[back], int):
            continue
        if dims[back] in symbols:
            return True
        producer = site.producer(name)
        if producer is not None and producer.op in (*_BROADCASTING, "Cast"):
            waiting.extend(read for read in producer.inputs if read not in seen)
            seen.update(producer.inputs)
    return False


def _symbols(site: Site[Any]) -> set[object]:
    """Names of free axes, as inference carries them from the inputs."""
    return {ragged.symbol for ragged in site.subject.ragged if ragged.symbol}


def _whole(site: Site[Any], name: str) -> int | None:
    """A constant that is one whole number above 1: what a length looks like."""
    number = site.constant(name)
    if number is None or number.size != 1 or number.dtype == np.bool_:
        return None
    one = float(number.reshape(-1)[0])
    return int(one) if one > 1 and one.is_integer() else None


def _is_positions(site: Site[Any], name: str) -> bool:
    """Whether the value counts steps: a Range or CumSum that depends on sizes only, moved but not computed with."""
    producer = site.producer(name)
    while producer is not None and producer.op in _MOVES:
        producer = site.producer(producer.inputs[0])
    if producer is None or producer.op not in ("Range", "CumSum"):
        return False
    return site.kind(producer.outputs[0]) is Kind.SHAPES
