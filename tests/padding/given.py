"""A node with facts of its operands, without a model around it, and what a rule makes of them, in a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from paddable.lengths import Span, parse
from paddable.padding.deduce.context import NoProof, RuleContext
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.axes import Axes, Factor
from paddable.padding.facts.facts import Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, Kind

__all__ = ["SPANS", "axes_of", "context_of", "reason", "tensor", "told"]

SPANS = {"T": Span(1, None), "U": Span(4, 100), "V": Span(8, None, 4)}


def context_of(
    op_type: str,
    *operands: Facts | None,
    rows: int | None = 1,
    constants: dict[int, np.ndarray] | None = None,
    outputs: int = 1,
    **attributes: Any,
) -> RuleContext:
    """One node; the domain has the lengths above."""
    inputs = [None if value is None else ir.Value(name=f"x{k}") for k, value in enumerate(operands)]
    node = ir.node(op_type, inputs, attributes=attributes, num_outputs=outputs)
    return RuleContext(node, 18, list(operands), Scope(SPANS, rows=rows), constants or {})


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
