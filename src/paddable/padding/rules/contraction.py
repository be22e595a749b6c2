"""Sums of products over a shared axis: MatMul, Gemm, Einsum (PAD108).

Passes: a product over an axis of fixed size, and one over time of which one side is zero in the padding.
Needs: over a ragged axis, zeros in the padding of one side and finite numbers in that of the other, since 0 * NaN is
NaN. Where the facts do not say so, the side that costs least is filled, or both.
Refuses: a sum over the batch, sides whose lengths do not agree, a bias that varies, and Einsum with an ellipsis, a
repeated letter or more than two operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from paddable.padding.deduce.broadcast import pads_of, same_axis
from paddable.padding.deduce.context import RuleContext, merge_axis
from paddable.padding.deduce.registry import rule
from paddable.padding.deduce.zero_point import Zero, zero_point
from paddable.padding.facts.axes import Axes, Axis, subsets
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import ANY, FINITE, ZERO, Kind

__all__ = ["Term", "contract", "gemm_terms", "matmul_terms", "on_codes"]

_LEAK = "the sum over time reads the padding"


@dataclass(frozen=True)
class Term:
    """An operand of a contraction: input position, and per axis the letter that names it.

    ``zero`` is what stands for 0 in an operand of codes, from which the product takes its zero point first.
    """

    index: int
    letters: tuple[str, ...]
    zero: Zero | None = None

    def stands_for(self, kind: Kind) -> Kind:
        return kind if self.zero is None else self.zero.stands_for(kind)

    def clear(self, context: RuleContext, atom: int, leak: str) -> None:
        (self.zero or Zero()).fill(context, self.index, [atom], "PAD108", leak)


def contract(context: RuleContext, terms: Sequence[Term], result: Sequence[str]) -> Facts:
    """Facts of an einsum over one or two terms; letters not in ``result`` are summed.

    Broadcast axes of size 1 may carry a letter that is wider elsewhere.
    """
    for term in terms:
        context.data(term.index, shifted=True)
    axes = _letters(context, terms)
    values = [context.peek(term.index) for term in terms]
    summed = [letter for letter in axes if letter not in result]
    for letter in summed:
        context.keep_rows_apart(axes[letter], "a sum over")  # and equally shifted parts are summed where they stand
    for letter in summed:
        for k, atom in enumerate(axes[letter]):
            if atom.ragged:
                _clear(context, terms, letter, k)
    values = [context.peek(term.index) for term in terms]
    out_axes: Axes = tuple(axes[letter] for letter in result)
    labels = [(letter, k) for letter in result for k in range(len(axes[letter]))]
    hidden = [(letter, k) for letter in summed for k, atom in enumerate(axes[letter]) if atom.ragged]

    def kind_at(region: tuple[int, ...]) -> Kind:
        padded = {labels[i] for i in region}
        kinds = [
            _product([_kind(context.peek(term.index), term, padded | set(extra)) for term in terms])
            for extra in subsets(hidden)
        ]
        if all(kind.is_zero for kind in kinds):
            return ZERO
        return FINITE if all(kind.finite for kind in kinds) else ANY

    valid = kind_at(())
    positive = all(v.low >= 0 for v in values)
    return Facts(
        values[0].dtype,
        out_axes,
        pads_of(out_axes, kind_at),
        None,
        0.0 if positive else float("-inf"),
        finite=valid.finite,
        masked=any(v.masked for v in values),
    )


def _product(kinds: Sequence[Kind]) -> Kind:
    if any(kind.is_zero for kind in kinds) and all(kind.finite for kind in kinds):
        return ZERO
    return FINITE if all(kind.finite for kind in kinds) else ANY


def _kind(value: Facts, term: Term, padded: set[tuple[str, int]]) -> Kind:
    region = []
    for axis, letter in enumerate(term.letters):
        for k, i in enumerate(value.span(axis)):
            if (letter, k) in padded:
                region.append(i)
    return term.stands_for(value.kind(region))


def _letters(context: RuleContext, terms: Sequence[Term]) -> dict[str, Axis]:
    """The axis behind each letter, operands brought to the same factors."""
    axes: dict[str, Axis] = {}
    for term in terms:
        value = context.peek(term.index)
        for position, letter in enumerate(term.letters):
            axis = value.axes[position]
            known = axes.get(letter)
            if known is None or not known:
                axes[letter] = axis
            elif axis and not same_axis(context.scope, known, axis):
                axes[letter] = _reconcile(context, terms, letter)
    return axes


def _reconcile(context: RuleContext, terms: Sequence[Term], letter: str) -> Axis:
    """Merge a letter's axis to one atom in every operand and make the sizes agree."""
    found: list[Axis] = []
    for term in terms:
        if letter not in term.letters:
            continue
        position = term.letters.index(letter)
        value = context.peek(term.index)
        if any(not a.prefix for a in value.axes[position]):
            value = context.align(term.index, value)
        merged = merge_axis(context.scope, value, position)
        if merged is None:
            context.refuse("the operands factor the summed axis differently")
        context.replace(term.index, merged)
        if merged.axes[position]:
            found.append(merged.axes[position])
    chosen, *others = found
    first = context.length_of(chosen)
    for other in others:
        size = context.length_of(other)
        if context.scope.same(first, size):
            continue
        if (
            first.is_constant
            or size.is_constant
            or not context.scope.need_equal(first, size, f"{first} must equal {size}")
        ):
            context.refuse(f"sizes {first} and {size} do not agree", "a constant frozen by tracing?")
    return chosen


def _clear(context: RuleContext, terms: Sequence[Term], letter: str, k: int) -> None:
    """Make the product over one ragged summed atom zero in the padding."""
    sides: list[tuple[Term, int]] = []
    for term in terms:
        if letter in term.letters:
            value = context.peek(term.index)
            span = value.span(term.letters.index(letter))
            if len(span):
                sides.append((term, span[k]))

    def found() -> list[Kind]:
        return [term.stands_for(context.peek(term.index).pads[i].weak) for term, i in sides]

    facts = found()
    if len(sides) == 1:
        term, i = sides[0]
        if not facts[0].is_zero:
            term.clear(context, i, _LEAK)
        return
    zero = [fact.is_zero for fact in facts]
    if not any(zero):
        term, i = min(
            sides,
            key=lambda side: (
                context.peek(side[0].index).pads[side[1]].weak.finite,
                len(context.peek(side[0].index).ragged),
                side[0].index,
            ),
        )
        term.clear(context, i, _LEAK)
        facts = found()
        zero = [fact.is_zero for fact in facts]
    for (term, i), fact, is_zero in zip(sides, facts, zero, strict=True):
        if not is_zero and not fact.finite:
            term.clear(context, i, "zero times a value that may be NaN or infinite is not zero")


@rule("MatMul")
def matmul(context: RuleContext) -> Sequence[Facts | None]:
    terms, result = matmul_terms(context, 0, 1)
    return [contract(context, terms, result)]


@rule("MatMulInteger")
def matmul_integer(context: RuleContext) -> Sequence[Facts | None]:
    terms, result = matmul_terms(context, 0, 1)
    product = contract(context, on_codes(context, terms, (2, 3)), result)
    return [replace(product, dtype=ir.DataType.INT32, low=float("-inf"))]


def matmul_terms(context: RuleContext, a: int, b: int) -> tuple[list[Term], tuple[str, ...]]:
    """The terms and the result's letters of a matrix product of two inputs."""
    left_rank, right_rank = context.peek(a).rank, context.peek(b).rank
    left = _matmul_letters(left_rank, "m")
    right = _matmul_letters(right_rank, "n")
    if right_rank == 1:
        right = ("k",)
    elif right_rank >= 2:
        right = (*right[:-2], "k", "n")
    if left_rank == 1:
        left = ("k",)
    batch = max(left_rank, right_rank, 2) - 2
    result = tuple(f"b{i}" for i in reversed(range(batch)))
    result = (*result, *(("m",) if left_rank > 1 else ()), *(("n",) if right_rank > 1 else ()))
    return [Term(a, left), Term(b, right)], result


def on_codes(context: RuleContext, terms: Iterable[Term], zero_points: Iterable[int]) -> list[Term]:
    """The terms of a product that subtracts a zero point from each operand first."""
    result = []
    for term, index in zip(terms, zero_points, strict=True):
        zero = zero_point(context, index)
        if zero is None:
            if any(atom.ragged for atom in context.peek(term.index).atoms):
                context.refuse("codes that vary with the length have several zero points", "use one for the tensor")
            zero = Zero(FINITE)  # nothing is known to stand for 0
        result.append(replace(term, zero=zero))
    return result


def _matmul_letters(rank: int, last: str) -> tuple[str, ...]:
    leading = tuple(f"b{i}" for i in reversed(range(max(0, rank - 2))))
    return (*leading, last, "k")


@rule("FusedMatMul", domain="com.microsoft")
def fused_matmul(context: RuleContext) -> Sequence[Facts | None]:
    if context.attribute("transBatchA", 0) or context.attribute("transBatchB", 0):
        context.refuse("FusedMatMul with transposed batch axes")
    a, b = context.peek(0), context.peek(1)
    left, right = _matmul_letters(a.rank, "m"), _matmul_letters(b.rank, "n")
    right = (*right[:-2], "k", "n")
    if context.attribute("transA", 0):
        left = (*left[:-2], "k", "m")
    if context.attribute("transB", 0):
        right = (*right[:-2], "n", "k")
    batch = tuple(f"b{i}" for i in reversed(range(max(a.rank, b.rank) - 2)))
    return [contract(context, [Term(0, left), Term(1, right)], (*batch, "m", "n"))]


@rule("Gemm")
def gemm(context: RuleContext) -> Sequence[Facts | None]:
    product = contract(context, gemm_terms(context, 0, 1), ("m", "n"))
    if not context.present(2) or context.attribute("beta", 1.0) == 0:
        return [product]
    bias = context.data(2)
    if bias.ragged:
        context.refuse("Gemm with a ragged bias", "use MatMul and Add")
    pads = pads_of(product.axes, lambda region: FINITE if product.kind(region).finite and bias.finite else ANY)
    finite, masked = product.finite and bias.finite, product.masked or bias.masked
    return [replace(product, pads=pads, low=float("-inf"), high=float("inf"), finite=finite, masked=masked)]


@rule("FusedGemm", domain="com.microsoft")
def fused_gemm(context: RuleContext) -> Sequence[Facts | None]:
    """activation(product + bias)."""
    (result,) = gemm(context)
    assert result is not None
    pads = pads_of(result.axes, lambda region: FINITE if result.kind(region).finite else ANY)
    return [replace(result, pads=pads, low=float("-inf"), high=float("inf"))]


def gemm_terms(context: RuleContext, a: int, b: int) -> list[Term]:
    """The terms of Gemm's product, its result being ``("m", "n")``."""
    left = ("k", "m") if context.attribute("transA", 0) else ("m", "k")
    right = ("n", "k") if context.attribute("transB", 0) else ("k", "n")
    return [Term(a, left), Term(b, right)]


@rule("Einsum")
def einsum(context: RuleContext) -> Sequence[Facts | None]:
    equation = str(context.attribute("equation")).replace(" ", "")
    if "." in equation or len(context.operands) > 2:
        context.refuse("Einsum with an ellipsis or more than two operands", "write it as MatMul")
    inputs, arrow, output = equation.partition("->")
    parts = inputs.split(",")
    if any(len(set(part)) != len(part) for part in parts):
        context.refuse(
            "Einsum with a repeated letter (a diagonal)", "use torch.diagonal, or multiply by an EyeLike and sum"
        )
    if not arrow:
        letters = "".join(parts)
        output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    terms = [Term(i, tuple(part)) for i, part in enumerate(parts)]
    return [contract(context, terms, tuple(output))]
