"""A checkpoint's configuration file, read so that whatever is wrong in it is told by file and key."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddable.errors import UnreadableError

__all__ = ["MOST_LAYERS", "Settings", "read_json", "shown"]

MOST_LAYERS = 1_000
_MOST = 1 << 20  # of a size: no speech model comes near, and a slip of the keyboard must not fill the memory
_WHY = "the model's sizes follow from it"
_FIX = "take the file from the release that the weights are from"


class Settings:
    """A mapping of a configuration file.

    Args:
        values: what the file holds at ``path``.
        where: the file.
        path: the keys that lead here, with dots.

    Raises:
        UnreadableError: ``values`` is no mapping.
    """

    def __init__(self, values: object, where: str, path: str = "") -> None:
        self.where, self._path = where, path
        if not isinstance(values, Mapping):
            raise UnreadableError(
                f"{path or 'the file'} is {values!r}, expected a mapping of settings", where=where, fix=_FIX
            )
        self._values = values

    def __contains__(self, key: str) -> bool:
        return self._values.get(key) is not None

    def get(self, key: str, default: Any = None) -> Any:
        """Whatever is there."""
        return self._values.get(key, default)

    def section(self, key: str) -> Settings:
        """The mapping under a key; an empty one where there is none."""
        value = self._values.get(key)
        return Settings({} if value is None else value, self.where, self._full(key))

    def demand(self, keys: Sequence[str], why: str) -> None:
        """Raise ``UnreadableError`` with every one of ``keys`` that is absent."""
        if missing := [self._full(key) for key in keys if key not in self]:
            raise UnreadableError(f"missing: {', '.join(missing)}", where=self.where, why=why, fix=_FIX)

    def one_of(self, key: str, *known: str) -> str:
        """The name under a key, which has to be a known one: of a class, mostly."""
        value = self._values.get(key)
        if value not in known:
            names = ("one of " if len(known) > 1 else "") + ", ".join(known)
            raise UnreadableError(f"{self._full(key)} is {value!r}, not {names}", where=self.where)
        return str(value)

    def allow_only(self, values: Mapping[str, object]) -> None:
        """Raise ``UnreadableError`` where a setting is there and differs from the one value that is implemented."""
        for key, only in values.items():
            if self._values.get(key, only) != only:
                raise self.wrong(key, f"{only!r}: nothing else is implemented")

    def size(self, key: str, default: int | None = None, *, least: int = 1, most: int = _MOST) -> int:
        """A whole number of ``least`` .. ``most``."""
        value = self._values.get(key, default)
        if type(value) is not int or not least <= value <= most:
            raise self.wrong(key, f"a whole number from {least} to {most}", value)
        return value

    def divisor(self, key: str, default: int, *, of: int) -> int:
        """A whole number of heads that share ``of`` channels evenly."""
        value = self.size(key, default)
        if of % value:
            raise self.wrong(key, f"a divisor of the {of} channels", value)
        return value

    def sizes(self, key: str) -> tuple[int, ...]:
        """A list of positive whole numbers, not empty."""
        value = self._values.get(key)
        if not isinstance(value, list) or not value or not all(type(n) is int and 1 <= n <= _MOST for n in value):
            raise self.wrong(key, "a list of positive whole numbers", value)
        return tuple(value)

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number above 0."""
        value = self._values.get(key, default)
        if type(value) not in (int, float) or not math.isfinite(value) or value <= 0:
            raise self.wrong(key, "a number above 0", value)
        return float(value)

    def flag(self, key: str) -> bool:
        """true or false."""
        value = self._values.get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false", value)
        return value

    def wrong(self, key: str, expected: str, value: object | None = None) -> UnreadableError:
        """The error of a value that is not what was expected; ``value`` as it stands in the file by default."""
        value = self._values.get(key) if value is None else value
        told = f"{self._full(key)} is {shown(value)}, expected {expected}"
        return UnreadableError(told, where=self.where, why=_WHY, fix=_FIX)

    def _full(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key


def read_json(path: Path, *, fix: str = "give the folder as it was published") -> Mapping[str, Any]:
    """The mapping that a JSON file holds.

    Args:
        path: the file.
        fix: what to do where there is none.

    Raises:
        UnreadableError: no such file, not JSON, or another value than a mapping.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnreadableError("no such file", where=str(path), fix=fix) from None
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or str(error).replace("\n", " ")
        raise UnreadableError("cannot be read", where=str(path), why=why) from error
    if not isinstance(content, Mapping):
        raise UnreadableError("holds no settings", where=str(path))
    return content


def shown(value: object) -> str:
    """A value of a file, cut to what fits a line of an error."""
    text = "missing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
