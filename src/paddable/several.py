"""An argument that takes several: one alone is one, and never the letters that it is made of."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from paddable.errors import MisuseError, arguments

__all__ = ["several"]


def several(name: str, given: Any, kinds: type | tuple[type, ...] = str) -> tuple[Any, ...]:
    """What an argument holds, as a tuple.

    Args:
        name: of the argument.
        given: one text or number, several of them, or None for none.
        kinds: what each has to be; ``Integral`` takes the integers of numpy too, and no bool.

    Raises:
        MisuseError: something else, or something else among them.
    """
    if given is None:
        return ()
    if isinstance(given, (str, bytes, Integral)):
        found: tuple[Any, ...] = (given,)
    else:
        try:
            found = tuple(given)
        except TypeError:
            found = (given,)
    for each in found:
        if not isinstance(each, kinds) or isinstance(each, bool):
            texts, numbers = (issubclass(kind, kinds) for kind in (str, int))
            wanted = " or ".join(word for word, taken in (("texts", texts), ("whole numbers", numbers)) if taken)
            raise MisuseError(f"{arguments(**{name: given})} holds a {type(each).__name__}", fix=f"give {wanted}")
    return found
