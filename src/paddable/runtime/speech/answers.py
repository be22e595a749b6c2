"""A model's answer, refused where it is not a number: argmax of NaN is a class like any other, and reads as silence.

So does sound of NaN once it is written in 16 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.errors import PaddableError

__all__ = ["finite"]


_OF_SOUND = "look at the level of the sound, which belongs in [-1, 1]; try a bundle in fp32"


def finite(answer: NDArray[Any], name: str, fix: str = _OF_SOUND) -> NDArray[Any]:
    """The answer itself.

    Args:
        answer: any shape, floating.
        name: of the output, for the error.
        fix: what to do.

    Raises:
        PaddableError: NaN or infinity in it.
    """
    if not np.isfinite(answer).all():
        raise PaddableError(
            f"the model answers NaN or infinity in {name}",
            why="nothing can be read from it",
            fix=fix,
        )
    return answer
