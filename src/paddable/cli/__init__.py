"""The command line. A command parses, calls one function of the library and shows what came back.

Importing this package costs click and nothing else: a command imports what it needs when it runs.
"""

from paddable.cli.main import main

__all__ = ["main"]
