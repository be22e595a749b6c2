"""The rules that lint asks: those of `rules`, those of installed packages, those that a program registers."""

from __future__ import annotations

from importlib.metadata import entry_points

from paddable.errors import MisuseError
from paddable.lint.rule import Rule
from paddable.lint.rules import BUILT_IN

__all__ = ["ENTRY_POINTS", "register", "rules"]

ENTRY_POINTS = "paddable.lint"
"""Entry point group; each entry names a `Rule` class."""

_registered: dict[str, type[Rule]] = {}


def register(rule: type[Rule]) -> type[Rule]:
    """Adds a rule; usable as a class decorator.

    Raises:
        MisuseError: another rule has the code. Codes are for ever: results are compared by them.
    """
    known = next((other for other in (*BUILT_IN, *_registered.values()) if other.code == rule.code), None)
    if known is not None and known is not rule:
        raise MisuseError(
            f"code {rule.code} belongs to {known.name!r} already", where=rule.name, fix="take a free code"
        )
    _registered[rule.code] = rule
    return rule


def rules() -> list[type[Rule]]:
    """Every rule, by code."""
    for entry in entry_points(group=ENTRY_POINTS):
        register(entry.load())
    return sorted({*BUILT_IN, *_registered.values()}, key=lambda rule: rule.code)
