"""Paddable: a compiler for padding.

The functions below are imported when they are first used: an app that only calls ``load`` needs neither onnx nor torch.
"""

from typing import TYPE_CHECKING, Any

from paddable._version import __version__

if TYPE_CHECKING:
    from paddable.api import check, convert, export, inspect, lint, probe, verify
    from paddable.runtime import load

__all__ = ["__version__", "check", "convert", "export", "inspect", "lint", "load", "probe", "verify"]

_HOME = {
    **dict.fromkeys(("check", "convert", "export", "inspect", "lint", "probe", "verify"), "paddable.api"),
    "load": "paddable.runtime",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        from paddable.extras import bring

        return bring(_HOME[name], name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
