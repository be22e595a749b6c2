"""A container for who asks whether a model can be padded, and not for a size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from paddable.api.judging import largest
from paddable.api.opened import Declared, Model, open_model

__all__ = ["default_container"]


def default_container(model: Model, lengths: Sequence[str], **declared: Unpack[Declared]) -> str:
    """One in which every ragged axis has some dozens of steps, as text such as ``T=64,U=32``.

    Raises:
        UnreadableError: not a model.
        MisuseError: a declaration that does not fit it.
        RefusedError: no proof was found.
    """
    sizes = largest(open_model(model, lengths, **declared).analyse(), ())
    return ",".join(f"{symbol}={steps}" for symbol, steps in sizes.items())
