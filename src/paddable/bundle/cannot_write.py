"""What the system says when it refuses a file, told of the place that the user named."""

from __future__ import annotations

import errno
import os

from paddable.errors import MisuseError

__all__ = ["CannotWrite"]

_HELD = (5, 32, 1224)
"""What Windows answers for a file that is open (access denied, sharing violation) or mapped."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class CannotWrite(MisuseError):
    """The system refuses a file: no folder, no right, no space."""

    @classmethod
    def because(cls, error: OSError, where: str | os.PathLike[str]) -> CannotWrite:
        """The system's refusal, told of ``where``."""
        if getattr(error, "winerror", None) in _HELD:
            return cls(
                f"it cannot be replaced: {error.strerror}",
                where=os.fspath(where),
                why="a program may have it open; it is as it was",
                fix="close what uses it, such as a model that is loaded from it, or choose another place",
            )
        elsewhere = "choose another place, or check the folder and its rights"
        if error.errno in _FULL:
            elsewhere = "free some space, or choose another place"
        elif error.errno is None:  # numpy counts what it wrote, and does not say what stopped it
            elsewhere = "look whether the disk is full"
        return cls(
            f"it cannot be written: {error.strerror or error}",
            where=os.fspath(where),
            why="nothing was written",
            fix=elsewhere,
        )
