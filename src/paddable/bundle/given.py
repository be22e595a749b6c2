"""What a user gives where a path is taken."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from paddable.errors import MisuseError

__all__ = ["path_given"]


def path_given(given: Any, name: str, *, wanted: str = "a path", fix: str = "") -> Path:
    """The path that an argument holds.

    Args:
        given: the argument.
        name: of the argument.
        wanted: what it takes, for the message.
        fix: what to do, where a path alone does not say it.

    Raises:
        MisuseError: it is no path, such as a model in memory.
    """
    if isinstance(given, (str, os.PathLike)):
        return Path(given)
    what = "nothing" if given is None else f"a {type(given).__name__}"
    raise MisuseError(f"it is {what}, and takes {wanted}", where=f"`{name}`", fix=fix or f"give {wanted}")
