"""The Fourier transform of each frame."""

from __future__ import annotations

import pytest

from ..example import Example

EXAMPLES = {
    "of each frame": Example(
        "y = DFT <axis = 2, onesided = 1> (x)", "float[1, T, 5, 2] y", "float[1, T, 8, 1] x", claims="T finite; finite"
    ),
    "along time": Example(
        "y = DFT <axis = 1> (x)",
        "float[1, T, 8, 2] y",
        "float[1, T, 8, 1] x",
        refused="a Fourier transform over an axis that varies with the length",
    ),
    "across rows": Example(
        "y = DFT <axis = 0> (x)", "float[batch, T, 2] y", "float[batch, T, 1] x", refused="mixes rows", rows=0
    ),
    "of axis 1, where none is named": Example(
        "y = DFT (x)", "float[1, 8, T, 2] y", "float[1, 8, T, 1] x", claims="T finite; finite"
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()
