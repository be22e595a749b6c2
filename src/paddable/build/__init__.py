"""What the commands do, as functions: check, convert, verify, lint, inspect and demo.

This package is the top of the library: it alone sees the compiler, the gates and the bundle at once.
"""

from paddable.build.checking import CheckReport, check
from paddable.build.converting import convert
from paddable.build.verifying import verify

__all__ = ["CheckReport", "check", "convert", "verify"]
