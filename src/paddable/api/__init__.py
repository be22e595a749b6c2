"""What the commands do, as functions: check, convert, export, decode, verify, probe, lint, inspect and demo.

This package is the top of the library: it alone sees the compiler, the gates and the bundle at once.
"""

from paddable.api.checking import CheckReport, check
from paddable.api.converting import convert
from paddable.api.demonstrating import DemoReport, demo
from paddable.api.diagnosing import diagnose
from paddable.api.exporting import export
from paddable.api.inspecting import InspectReport, inspect
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
    "demo",
    "diagnose",
    "export",
    "inspect",
    "lint",
    "probe",
    "verify",
]
