"""What is known of one error."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Explanation"]


@dataclass(frozen=True)
class Explanation:
    """One thing that an error text says.

    Attributes:
        code: the HRESULT as eight hex digits, or a short name for a text without a code.
        name: the system's name for it.
        meaning: what it says.
        cause: what usually lies behind it in a speech model.
        next_step: what to do.
        evidence: ``measured: ...`` or ``reported: ...``.
    """

    code: str
    name: str
    meaning: str
    cause: str
    next_step: str
    evidence: str

    def to_json(self) -> dict[str, Any]:
        """The explanation as ``--json`` prints it."""
        return asdict(self)

    def __str__(self) -> str:
        head = f"{self.code} {self.name}: {self.meaning}. Usual cause: {self.cause}."
        return f"{head} Next: {self.next_step}. ({self.evidence})"
