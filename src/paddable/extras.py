"""Packages of an extra, imported when they are needed; what stands in the way is told as what it is."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddable.errors import EXTRAS, MissingExtraError, with_extra

__all__ = ["bring", "extra_of", "import_extra", "why_not_imported"]


def import_extra(name: str, *, where: str = "") -> Any:
    """The module ``name``, which an extra brings.

    Args:
        name: a top-level module.
        where: the file that needs it, for the error.

    Raises:
        MissingExtraError: it is not installed; or it is, and something that it needs cannot be imported or loaded.
    """
    try:
        return import_module(name)
    except (ImportError, OSError) as error:
        raise why_not_imported(name, error, where=where) from error


def bring(module: str, name: str) -> Any:
    """``name`` of a module of our own, which an app that ships the runtime alone may not be able to import.

    Raises:
        MissingExtraError: a package that it needs is not installed.
    """
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if not extra_of(absent := (error.name or "").partition(".")[0]):
            raise
        raise why_not_imported(absent, error) from error


def why_not_imported(name: str, error: Exception, *, where: str = "", extra: str = "") -> MissingExtraError:
    """The error that ended the import of ``name`` in our words.

    Args:
        name: the module that was asked for.
        error: what its import raised: it is absent, or a module or library that it needs is.
        where: the file that needs it.
        extra: of Paddable that installs it; by default looked up in ``EXTRAS``.
    """
    missing = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if missing == name:
        return MissingExtraError(f"{name} is not installed", where=where, fix=with_extra(extra or extra_of(name)))
    if missing:
        return MissingExtraError(
            f"{name} is installed and needs {missing}, which is not", where=where, fix=f"pip install {missing}"
        )
    reason = " ".join(str(error).split()) or type(error).__name__
    return MissingExtraError(
        f"{name} is installed and cannot be imported",
        where=where,
        why=reason,
        fix=f"pip install --force-reinstall {name}",
    )


def extra_of(module: str) -> str:
    """The extra that brings a module, empty where none does."""
    return next((extra for extra, modules in EXTRAS.items() if module in modules), "")
