"""What the commands do, as functions: check, convert, export, decode, verify, probe, lint, inspect and demo.

This package is the top of the library: it alone sees the compiler, the gates and the bundle at once. A function is
imported when it is first used, so that what needs no compiler works without one.
"""

from typing import TYPE_CHECKING, Any

from paddable.extras import bring

if TYPE_CHECKING:
    from paddable.api.checking import CheckReport, check
    from paddable.api.converting import convert
    from paddable.api.defaulting import default_container
    from paddable.api.demonstrating import DemoReport, demo
    from paddable.api.diagnosing import diagnose
    from paddable.api.exporting import export
    from paddable.api.inspecting import inspect
    from paddable.api.inspecting_file import InspectReport
    from paddable.api.linting import LintReport, lint
    from paddable.api.probing import probe
    from paddable.api.verifying import verify
    from paddable.divergence import ProbeReport
    from paddable.runtime.decoding import DecodeReport, decode

__all__ = [
    "CheckReport",
    "DecodeReport",
    "DemoReport",
    "InspectReport",
    "LintReport",
    "ProbeReport",
    "check",
    "convert",
    "decode",
    "default_container",
    "demo",
    "diagnose",
    "export",
    "inspect",
    "lint",
    "probe",
    "verify",
]

_HOME = {
    "paddable.api.checking": ("CheckReport", "check"),
    "paddable.api.converting": ("convert",),
    "paddable.api.defaulting": ("default_container",),
    "paddable.api.demonstrating": ("DemoReport", "demo"),
    "paddable.api.diagnosing": ("diagnose",),
    "paddable.api.exporting": ("export",),
    "paddable.api.inspecting": ("inspect",),
    "paddable.api.inspecting_file": ("InspectReport",),
    "paddable.api.linting": ("LintReport", "lint"),
    "paddable.api.probing": ("probe",),
    "paddable.api.verifying": ("verify",),
    "paddable.divergence": ("ProbeReport",),
    "paddable.runtime.decoding": ("DecodeReport", "decode"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOME.items():
        if name in names:
            return bring(home, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
