"""Plain data compared with type hints: what was read from a file is what the code believes it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

__all__ = ["conforms", "type_name"]


def conforms(value: Any, hint: Any) -> bool:
    """Whether a value of parsed JSON is of a type.

    Args:
        value: the value. Whole numbers are floats too, booleans are no numbers, NaN and infinity no floats.
        hint: ``str``, ``int``, ``float``, ``bool``, ``None``, ``Any``, a union of those, or ``Mapping``, ``Sequence``
            and ``tuple[X, ...]`` of them.
    """
    if hint is Any:
        return True
    if hint in (None, NoneType):
        return value is None
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(conforms(value, part) for part in inner)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            conforms(key, inner[0]) and conforms(part, inner[1]) for key, part in value.items()
        )
    if origin is not None and issubclass(origin, Sequence):
        return isinstance(value, (list, tuple)) and all(conforms(part, inner[0]) for part in value)
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)
    return type(value) is hint


def type_name(hint: Any) -> str:
    """A type in words, for the error that names what was expected."""
    names = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(map(type_name, inner))
    if origin is not None and issubclass(origin, Mapping):
        return "a mapping" if inner[1] is Any else f"a mapping, each value {type_name(inner[1])}"
    if origin is not None and issubclass(origin, Sequence):
        return f"a list, each item {type_name(inner[0])}"
    return names.get(hint, "a value")
