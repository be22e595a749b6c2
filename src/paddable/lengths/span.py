"""The allowed values of one symbol."""

from __future__ import annotations

from dataclasses import dataclass

from paddable.errors import MisuseError

__all__ = ["Span"]


@dataclass(frozen=True)
class Span:
    """The integers ``v`` with ``low <= v <= high`` and ``v % step == residue``.

    ``high`` None means unbounded. A span without any value raises ``MisuseError``.
    """

    low: int
    high: int | None
    step: int = 1
    residue: int = 0

    def __post_init__(self) -> None:
        if self.step < 1:
            raise MisuseError(f"the step of a length must be at least 1, got {self.step}")
        object.__setattr__(self, "residue", self.residue % self.step)
        if self.high is not None and self.first > self.high:
            raise MisuseError(
                f"no length lies between {self.low} and {self.high}"
                + (f" with remainder {self.residue} modulo {self.step}" if self.step > 1 else ""),
                why="every statement would be true of an empty domain",
                fix="widen the range",
            )

    @property
    def first(self) -> int:
        """The smallest value."""
        return self.low + (self.residue - self.low) % self.step

    @property
    def last(self) -> int | None:
        """The greatest value, None if there is none."""
        return None if self.high is None else self.high - (self.high - self.residue) % self.step

    @property
    def count(self) -> int | None:
        """How many values there are, None if unbounded."""
        return None if self.last is None else (self.last - self.first) // self.step + 1

    def __contains__(self, value: int) -> bool:
        return self.low <= value and (self.high is None or value <= self.high) and value % self.step == self.residue

    def within(self, first: int, last: int | None) -> range | None:
        """The values in ``first .. last`` as a range; None if they never end."""
        start = max(self.first, first + (self.residue - first) % self.step)
        ends = [end for end in (self.last, last) if end is not None]
        return range(start, min(ends) + 1, self.step) if ends else None
