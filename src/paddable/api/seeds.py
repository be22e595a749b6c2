"""The seed of what is drawn."""

from __future__ import annotations

from paddable.errors import MisuseError

__all__ = ["refuse_negative"]


def refuse_negative(seed: int) -> None:
    """Refuse a seed that NumPy's generator does not take.

    Args:
        seed: as a user gives it.

    Raises:
        MisuseError: it is negative.
    """
    if seed < 0:
        raise MisuseError(
            f"{seed} is no seed",
            where="`seed`",
            why="random numbers are drawn from one of 0 or more",
            fix="give a whole number of 0 or more",
        )
