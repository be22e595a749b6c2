"""What the commands do, as functions: check, convert, export, decode, verify, lint, inspect and demo.

This package is the top of the library: it alone sees the compiler, the gates and the bundle at once.
"""

from paddable.build.checking import CheckReport, check
from paddable.build.converting import convert
from paddable.build.decoding import DecodeReport, decode
from paddable.build.demonstrating import DemoReport, demo
from paddable.build.exporting import export
from paddable.build.inspecting import InspectReport, inspect
from paddable.build.linting import LintReport, lint
from paddable.build.verifying import verify

__all__ = [
    "CheckReport",
    "DecodeReport",
    "DemoReport",
    "InspectReport",
    "LintReport",
    "check",
    "convert",
    "decode",
    "demo",
    "export",
    "inspect",
    "lint",
    "verify",
]
