"""The precisions that a graph can be written in, each one record, and a graph in one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import onnx_ir as ir

from paddable.errors import MisuseError
from paddable.precision import blocks, dynamic, int8
from paddable.precision.blocks import StoreWeightsAsInt4Pass
from paddable.precision.damage import Twins
from paddable.precision.decided import Decided
from paddable.precision.dynamic import ComputeInInt8Pass
from paddable.precision.half import ComputeInHalfPass, with_initialisers
from paddable.precision.int8 import SESSION_CONFIG, StoreWeightsAsInt8Pass
from paddable.precision.own_codes import computes_signed
from paddable.precision.static import FixedRange, FixRangesPass
from paddable.precision.widen import widened

__all__ = ["PRECISIONS", "Precision", "before", "in_precision", "least_noise", "register_precision", "session_config"]


@dataclass(frozen=True)
class Precision:
    """One precision.

    Attributes:
        name: as ``--precision`` takes it.
        change: makes the pass that changes a model in place, from the names of values that measurement keeps in fp32,
            each with its reason, and with ``fixed`` from ranges besides; None for what models are in.
        ranges: what half cannot hold is measured first, on examples.
        decides: what stays in fp32 is decided on native; ``change`` takes that as ``native`` for what is made of it.
        fast: norms and the residual go to half too.
        bits: of weights, in messages.
        twins: what so few bits do to each node that it would change is measured first, on examples.
        most: amplitude of that damage from which on a node stays. Even weights lose a hundredth in 8 bits and a twelfth
            in 4, even inputs in 8 a hundredth besides: three times that; ten where speed is what is asked for; and half
            as much again where 16 bits are the other choice.
        fixed: the ranges of what goes into products and convolutions are fixed, from examples that the user gives.
        rounds: values are computed in fewer bits than fp32. Two right forms of one sum then differ by that rounding,
            and the gates measure it and allow for it. Weights that are only stored in fewer bits round nothing.
        first: native is changed before it is padded, and the padding rules see what it then computes. Such a graph may
            keep its container symbolic, and native in this precision is part of a bundle.
        flips: the least noise of two right forms, of scale: a number that falls on the other side of .5 is a step off.
        moves: how far an answer may be from fp32's, of scale, in a graph without a ragged axis.
        session_config: session configuration entries that go into a file's advice.
    """

    name: str
    change: Callable[..., ir.passes.PassBase] | None
    ranges: bool = False
    decides: bool = False
    fast: bool = False
    fixed: bool = False
    rounds: bool = False
    bits: int = 32
    twins: Twins | None = None
    most: float = 0.1
    first: bool = False
    flips: float = 0.0
    moves: float = 1e-5
    session_config: Mapping[str, str] = field(default_factory=dict)


NO_SATURATION = {"session.x64quantprecision": "1"}
"""For processors that saturate (``paddable.runtime.session.saturation``); the runtime leaves it out on the others."""

INPUTS_AS_WRITTEN = {"session.qdq_matmulnbits_accuracy_level": "1"}
"""ONNX Runtime 1.32 makes a MatMulNBits of a product whose weight is in codes. Left alone, that rounds what goes in to
8 bits, the 16 bits of a fixed range too; at this level it computes in fp32."""

PRECISIONS: dict[str, Precision] = {}
"""By name; fp32 is what models are in."""


def register_precision(precision: Precision) -> Precision:
    """Add a precision; ``convert --precision NAME`` then takes it.

    Raises:
        MisuseError: the name is taken.
    """
    if precision.name in PRECISIONS:
        raise MisuseError(f"a precision is called {precision.name!r} already", fix="take another name")
    PRECISIONS[precision.name] = precision
    return precision


register_precision(Precision("fp32", None))
register_precision(Precision("fp16", ComputeInHalfPass, ranges=True, decides=True, rounds=True, moves=2e-2))
register_precision(
    Precision(
        "int8", StoreWeightsAsInt8Pass, bits=8, twins=int8.twins, most=0.03, moves=2e-1, session_config=SESSION_CONFIG
    )
)
register_precision(
    Precision(
        "int4", StoreWeightsAsInt4Pass, bits=4, twins=blocks.twins, most=0.25, moves=5e-1, session_config=SESSION_CONFIG
    )
)
register_precision(
    Precision(
        "int8-dynamic",
        ComputeInInt8Pass,
        bits=8,
        twins=dynamic.twins,
        rounds=True,
        first=True,
        flips=1e-3,
        moves=2e-1,
        session_config=NO_SATURATION,
    )
)
register_precision(
    Precision(
        "int8-static",
        FixRangesPass,
        fixed=True,
        most=0.02,
        rounds=True,
        flips=1e-3,
        moves=2e-1,
        session_config={**NO_SATURATION, **INPUTS_AS_WRITTEN},
    )
)
register_precision(
    Precision(
        "fp16-fast",
        partial(ComputeInHalfPass, fast=True),
        ranges=True,
        decides=True,
        fast=True,
        rounds=True,
        moves=5e-2,
    )
)


def session_config(precision: str, model: ir.Model | None = None) -> Mapping[str, str]:
    """What a session is asked for besides a provider's advice; nothing for a precision that is not known here.

    ONNX Runtime 1.32 does not load a model with ``NO_SATURATION`` that has operators for products of signed
    codes with signed weights, as ``quantize_static`` may write: of them the weights alone become unsigned.

    Args:
        precision: its name.
        model: in it; None where it is not known.
    """
    asked = PRECISIONS[precision].session_config if precision in PRECISIONS else {}
    if model is not None and any(map(computes_signed, model.graph)):
        return {key: value for key, value in asked.items() if key not in NO_SATURATION}
    return asked


def least_noise(precision: str) -> float:
    """How far two right forms may be apart at least, of scale; 0 for a precision that is not known here."""
    return PRECISIONS[precision].flips if precision in PRECISIONS else 0.0


def in_precision(
    model: ir.Model,
    precision: str,
    kept: Mapping[str, str] | None = None,
    fixed: Mapping[str, FixedRange] | None = None,
    decided: Decided | None = None,
) -> ir.Model:
    """The model in a precision. Inputs, outputs and states keep their types.

    Args:
        model: it is not changed, and the result shares the weights that stay. Where it computes in half, all but half
            precisions compute in fp32.
        precision: ``fp32``, ``fp16`` (computes and stores in half, except where half would change more than rounding),
            ``fp16-fast`` (norms and the residual too),
            ``int8`` or ``int4`` (stores weights in so many bits and computes in fp32), ``int8-dynamic`` (computes
            matrix products in 8 bits), ``int8-static`` (rounds what goes into products and convolutions to ranges of
            8 or 16 bits), or one that was registered.
        kept: names of values whose nodes stay as they are, each with its reason.
        fixed: ranges by name of value, for a precision that fixes them.
        decided: of native, where the model is made of it, what stays there in this precision.

    Raises:
        MisuseError: no such precision.
        RefusedError: an opset that it cannot be written in.
    """
    if precision not in PRECISIONS:
        raise MisuseError(f"no precision is called {precision!r}", fix=f"choose {', '.join(PRECISIONS)}")
    found = PRECISIONS[precision]
    if found.change is None:
        return model
    more = {"native": decided} if found.decides else {}
    change = found.change(kept or {}, fixed or {}) if found.fixed else found.change(kept or {}, **more)
    return change(before(model, precision).clone()).model


def before(model: ir.Model, precision: str) -> ir.Model:
    """What a precision changes: the model, its constants among its initialisers as a padded graph has them, and in fp32
    where it computes in half and the precision is not half itself."""
    if precision == "fp32":
        return model
    plain = with_initialisers(model)
    return plain if PRECISIONS[precision].ranges else widened(plain)
