"""The families that ``export`` knows, found by name; torch is imported for the one that is asked for."""

from __future__ import annotations

from importlib import import_module

from paddable.families.family import Family
from paddable.families.registry import spec_of

__all__ = ["family_of"]


def family_of(name: str) -> Family:
    """A family, with what loads and exports its checkpoints.

    Raises:
        MisuseError: no family of that name.
        ModuleNotFoundError: torch is not installed.
    """
    family: Family = import_module(f"{spec_of(name).package}.export").FAMILY
    return family
