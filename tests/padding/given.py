"""A node with facts of its operands, without a model around it, and what a rule makes of them, in a line."""

from __future__ import annotations

import ast
import dataclasses
import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from paddable.lengths import Span, parse
from paddable.padding.deduce.context import NoProof, RuleContext
from paddable.padding.deduce.registry import find_rule
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.axes import Axes, Factor
from paddable.padding.facts.facts import Affine, Bounded, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, BELOW, FINITE, ZERO, Kind, constant
from paddable.padding.facts.numbers import Face, Number, number
from paddable.padding.remedies import Segment

__all__ = ["SPANS", "answer", "answer_to", "axes_of", "context_of", "given", "reason", "table", "tensor", "told"]

KINDS = {"any": ANY, "finite": FINITE, "below": BELOW, "0": ZERO, "5": constant(5)}
SPANS = {"T": Span(1, None), "U": Span(4, 100), "V": Span(8, None, 4)}


def context_of(
    op_type: str,
    *operands: Facts | None,
    rows: int | None = 1,
    constants: dict[int, np.ndarray] | None = None,
    outputs: int = 1,
    opset: int = 18,
    **attributes: Any,
) -> RuleContext:
    """One node; the domain has the lengths above."""
    inputs = [None if value is None else ir.Value(name=f"x{k}") for k, value in enumerate(operands)]
    node = ir.node(op_type, inputs, attributes=attributes, num_outputs=outputs)
    return RuleContext(node, opset, list(operands), Scope(SPANS, rows=rows), constants or {})


def _factor(text: str) -> Factor:
    size, _, shift = text.partition(" from ")
    (factor,) = Scope(SPANS, rows=None).axis(parse(size), shift=parse(shift) if shift else None)
    return factor


def axes_of(*axes: str) -> Axes:
    """Of each axis the factors, as ``T``, ``3 x T``, ``batch``, ``1``, or from a shift on, as ``T from 2*T``."""
    return tuple(tuple(_factor(part) for part in axis.split(" x ") if part != "1") for axis in axes)


def tensor(*axes: str, pad: Kind = ANY, dtype: ir.DataType = ir.DataType.FLOAT, **more: Any) -> Facts:
    """Facts of a tensor, its padding of one kind along every axis."""
    made = axes_of(*axes)
    return Facts(dtype, made, tuple(PaddingFact.of(pad) for axis in made for _ in axis), **more)


def given(text: str) -> Facts | None:
    """Facts in words, as ``T, 3 x U; 0; 0..1; masked``; ``-`` is no operand.

    ``= 3 T`` are integers that are known, and ``~ T, 3; 2 1 0`` are 2 + i. All is finite and nothing masked unless it
    is said so; the padding is of one kind along every axis that varies, or of one for each.
    """
    if text == "-":
        return None
    if text.startswith("="):
        known = np.array([_known(part) for part in text[1:].split()], dtype=object)
        return _integers(Elements(known), axes_of(str(len(known))))
    axes, *said = (part.strip() for part in text.split(";"))
    if axes.startswith("~"):
        base, *steps = said[0].split()
        content = Affine(_known(base), tuple((k, Fraction(c)) for k, c in enumerate(steps) if c != "0"))
        return _integers(content, axes_of(*axes[1:].strip().split(", ")))
    more: dict[str, Any] = {"masked": False, "finite": True}
    pads = []
    for word in " ".join(said).split():
        low, dots, high = word.partition("..")
        if dots:
            more |= {"low": float(low), "high": float(high)}
        elif word in KINDS:
            pads.append(KINDS[word])
        elif word in ("masked", "image", "rows_in_front", "from_sizes"):
            more[word] = True
        elif word == "infinite":
            more["finite"] = False
        else:
            more["dtype"] = ir.DataType[word.upper()]
    made = tensor(*filter(None, axes.split(", ")), pad=pads[0] if pads else FINITE, **more)
    own = dict(zip(made.ragged, pads[: len(made.ragged)], strict=False)) if len(pads) > 1 else {}
    return replace(made, pads=tuple(PaddingFact.of(own[k]) if k in own else pad for k, pad in enumerate(made.pads)))


def _integers(content: Elements | Affine, axes: Axes) -> Facts:
    return Facts.known(ir.DataType.INT64, axes, content, *context_of("Identity").bounds(content, axes))


def _known(text: str) -> Number:
    size = parse(text)
    return number(size, Face.CONSTANT if size.is_constant else Face.SIZE)


def answer_to(question: str) -> str:
    """What a rule says of ``Type(operand | operand) attribute=value outputs=2``; see :func:`given`, :func:`answer`."""
    op_type, operands, words = re.fullmatch(r"(\w+)\((.*)\) *(.*)", question).groups()  # type: ignore[union-attr]
    attributes = {name: ast.literal_eval(value) for name, _, value in (w.partition("=") for w in words.split())}
    rows = attributes.pop("rows", None if "batch" in operands else 1)
    held = [given(text.strip()) for text in operands.split("|")]
    return answer(context_of(op_type, *held, rows=rows, **attributes))


def table(text: str) -> list[tuple[str, str]]:
    """Lines ``question => answer``; a line that is indented goes on from the one before."""
    lines = re.sub(r"\n +", " ", text.strip()).splitlines()
    return [(question.strip(), told.strip()) for question, _, told in (line.partition("=>") for line in lines)]


def answer(context: RuleContext) -> str:
    """Of each output: axes; padding; bounds; what is known | remedies | lengths that native refuses. Or why not."""
    rule = find_rule("", context.type) or find_rule("com.microsoft", context.type)
    assert rule is not None
    try:
        found = rule(context)
    except NoProof as error:
        return " | ".join(filter(None, [f"refused: {error.reason}", _needed(context.scope)]))
    asked = ", ".join(
        f"{type(remedy).__name__}({'; '.join(_said(getattr(remedy, name)) for name in _fields(remedy))})"
        for remedy in context.remedies
    )
    return " | ".join(filter(None, [" & ".join(map(_claim, found)), asked, _needed(context.scope)]))


def _needed(scope: Scope) -> str:
    now = scope.spans
    return " ".join(f"{k} in {_domain(now[k])}: {scope.reasons.get(k)}" for k, span in SPANS.items() if now[k] != span)


def _domain(span: Span) -> str:
    last = "" if span.last is None else str(span.last)
    return f"{span.first}..{last}{f' by {span.step}' if span.step > 1 else ''}"


def _fields(remedy: object) -> list[str]:
    fields = dataclasses.fields(remedy)  # type: ignore[arg-type]
    kept = [f for f in fields if f.name not in ("leak", "axes", "index") and getattr(remedy, f.name) != f.default]
    return [f.name for f in kept]


def _said(part: object) -> str:
    if isinstance(part, tuple):
        return " ".join(map(_said, part)) or "none"
    if isinstance(part, Segment):
        return f"from {part.start}: {part.native} + {part.physical} + {part.step}k"
    if isinstance(part, Elements):
        return " ".join(map(str, part.array.flat))
    if isinstance(part, Affine):
        return " + ".join([str(part.base), *(f"{c}*i{k}" for k, c in part.coefficients)])
    return f"axis {part.axis}: {part.count}{' equal' * part.equal}" if isinstance(part, Bounded) else str(part)


def _claim(value: Facts | None) -> str:
    if value is None:
        return "none"
    words = [name for name in ("finite", "masked", "image", "rows_in_front") if getattr(value, name)]
    bounds = "" if (value.low, value.high) == (-math.inf, math.inf) else f"{value.low:g}..{value.high:g}"
    known = "" if value.content is None else f"= {_said(value.content)}"
    bounded = "" if value.bounded is None else _said(value.bounded)
    pending = "" if value.pending is None else f"before {value.pending.clean} of atom {value.pending.atom}"
    return "; ".join(filter(None, [told(value), known, bounds, bounded, pending, " ".join(words)]))


def told(value: Facts | None) -> str:
    """The factors of each axis, and the padding of those that have some."""
    if value is None:
        return "none"
    axes = ", ".join(" x ".join(map(str, axis)) or "1" for axis in value.axes)
    return f"{axes}; {' '.join(str(value.pads[i].weak) for i in value.ragged)}".rstrip("; ")


def reason(ask: Callable[[], object]) -> str:
    """Why a rule refuses."""
    with pytest.raises(NoProof) as caught:
        ask()
    return caught.value.reason
