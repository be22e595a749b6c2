"""Which mask says no more than how many keys each row has, and that number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from paddable.forms.form import Unfit, array_of, made_by, scalar_of, sizes

__all__ = ["KeyMask", "key_mask"]

_LOWEST = -1.7e38
"""A fill at most so large is what a softmax turns into exactly 0, beside any score that is not itself near the end."""


@dataclass(frozen=True)
class KeyMask:
    """Scores under a mask over the keys.

    Attributes:
        scores: before the mask.
        lengths: the number of keys, one for each row of the batch or one for all.
    """

    scores: ir.Value
    lengths: ir.Value


def key_mask(value: ir.Value, rows: int, keys: int) -> KeyMask | None:
    """What a select by key length is made of; None for scores that no mask is on.

    Args:
        value: scores, [rows, heads, queries, keys] or [heads, queries, keys].
        rows: of the batch.
        keys: size of the last axis.

    Raises:
        Unfit: something else is selected by, or added.
    """
    if made_by(value, "Add", "Sub") is not None:
        raise Unfit("something is added to the scores")
    node = made_by(value, "Where")
    if node is None:
        return None
    condition, scores, fill = node.inputs
    lowest = scalar_of(fill)
    if condition is None or scores is None or sizes(scores) != sizes(value) or lowest is None or lowest > _LOWEST:
        raise Unfit("its mask does not select scores or the lowest number")
    shape = sizes(condition)
    outer = (1,) * (len(sizes(value)) - len(shape)) + shape
    if outer[-1] != keys or any(size != 1 for size in outer[1:-1]) or outer[0] not in (1, rows):
        raise Unfit("its mask is not over the keys alone")
    made: ir.Value | None = condition
    while (step := made_by(made, "Unsqueeze", "Reshape", "Squeeze", "Identity")) is not None:
        made = step.inputs[0]
    less = made_by(made, "Less")
    places = array_of(less.inputs[0]) if less is not None else None
    if less is None or places is None or places.shape[-1:] != (keys,) or places.size != keys:
        raise Unfit("its mask is not the length of the keys")
    lengths = less.inputs[1]
    if not np.array_equal(places.reshape(-1), np.arange(keys)) or lengths is None:
        raise Unfit("its mask is not the length of the keys")
    one_a_row = sizes(lengths) == (outer[0],) + (1,) * (len(sizes(lengths)) - 1)
    if not one_a_row:
        raise Unfit("its mask is not one length for each row")
    return KeyMask(scores, lengths)
