"""Continuous integrate-and-fire (CIF) without a loop: weights of steps to rows of tokens.

Each step holds a weight of 0 to 1. Weights are added up from the left, and whenever the sum passes a whole number, a
token ends: its row is the sum of the steps since the last token, a step on the border divided between two. Dong and
Xu, "CIF: Continuous integrate-and-fire for end-to-end speech recognition" (2020).

The sums are of whole numbers, 2^30 to a token: they are exact, and so in any order of adding. In float32 a runtime's
CumSum is off by 1e-3 after 2000 steps, which moves every fourth utterance's borders.

Legend: B batch, T steps (features of 60 ms), U tokens, C channels.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Fired", "integrate_and_fire"]

_ONE = 1 << 30
"""A whole token. A float32 weight above 2^-7 has no digit beyond, and smaller ones are rounded to 5e-10."""


class Fired(NamedTuple):
    """What the weights say.

    Attributes:
        shares_BUT: how much of each step belongs to each token, float32; U = T rows, more than the weights can fill.
        count_B: tokens, int64.
        fires_BT: FunASR's ``cif_peak``: the sum's fraction after each step, and 1 more where a token ends.
    """

    shares_BUT: Tensor
    count_B: Tensor
    fires_BT: Tensor


def integrate_and_fire(weights_BT: Tensor, tail: float) -> Fired:
    """Divide steps among tokens.

    Args:
        weights_BT: float32, each from 0 to 1, so that T steps hold at most T tokens.
        tail: what is added to the whole sum before the tokens are counted. It decides whether the rest at the end is a
            token, and belongs to no step.
    """
    units_BT = torch.round(weights_BT * _ONE).to(torch.int64)
    after_BT = torch.cumsum(units_BT, dim=1)
    whole_BT, part_BT = _split(after_BT)
    whole_before_BT, part_before_BT = _split(after_BT - units_BT)
    row_U1 = torch.arange(weights_BT.shape[1])[:, None].to(torch.float32)
    filled_after_BUT = torch.clamp(whole_BT[:, None] - row_U1 + part_BT[:, None], 0, 1)
    filled_before_BUT = torch.clamp(whole_before_BT[:, None] - row_U1 + part_before_BT[:, None], 0, 1)
    # the sum in float32, as FunASR adds the tail: 0.45 is not a whole number of units
    total_B = units_BT.sum(dim=1) + round(float(torch.tensor(tail, dtype=torch.float32)) * _ONE)
    return Fired(
        filled_after_BUT - filled_before_BUT, _split(total_B)[0].to(torch.int64), whole_BT - whole_before_BT + part_BT
    )


def _split(units: Tensor) -> tuple[Tensor, Tensor]:
    """Whole tokens and the rest, float32: exact below 2^24 tokens, and to 24 digits."""
    rest = torch.bitwise_and(units, _ONE - 1)
    return (units - rest).to(torch.float32) / _ONE, rest.to(torch.float32) / _ONE
