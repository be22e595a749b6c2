"""Why two runs part, as data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cause"]


@dataclass(frozen=True)
class Cause:
    """Why two runs part.

    Attributes:
        kind: ``weights``, ``wiring``, ``attributes``, ``structure``, ``padding``, ``precision``, ``provider``,
            ``optimiser``, ``rounding``, ``training``, ``unrelated``, ``nan`` or ``unknown``.
        text: the reason, one sentence.
        fix: what to do.
        code: of the finding that explains it, such as ``PAD102``; empty without one.
        place: ``at`` the fork's node; ``in front of`` or ``behind`` it, where nodes are missing; or at ``another`` that
            only the first graph has.
    """

    kind: str
    text: str
    fix: str
    code: str = ""
    place: str = "at"
