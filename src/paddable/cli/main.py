"""The entry point: finds the command, and turns whatever ends it into one line and an exit code.

What only a failure needs is imported when something fails: ``paddable --help`` has nothing to wait for.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from paddable._version import __version__
from paddable.cli.commands import Commands
from paddable.cli.stopping import Interrupted, unwinding
from paddable.cli.streams import prepare_streams
from paddable.errors import PaddableWarning

__all__ = ["help_width", "main"]


_NO_WORDS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""What click raises where no word is given, from 8.2 on; before, it printed the help itself."""


def help_width() -> int:
    """Columns of a help page, as click chooses them, without the module that it would import for that."""
    try:
        columns = int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size().columns
    except (ValueError, OSError):  # no number, no terminal
        columns = 80
    return max(min(columns or 80, 120) - 2, 50)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "terminal_width": help_width()})
@click.version_option(__version__, prog_name="paddable")
def paddable() -> None:
    """A compiler for padding: speech models to fixed-shape ONNX that gives the same answer at every length.

    Exit codes: 0 fine; 1 understood and refused, leaks found or a gate failed; 2 misuse or unreadable input.
    PADDABLE_DEBUG=1 shows the traceback behind an error.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words after ``paddable``; those of the process when None.

    Returns:
        The exit code: 0, 1 or 2, 130 after Ctrl-C and 143 after SIGTERM.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    prepare_streams()
    with unwinding() as stop, warnings.catch_warnings():
        _show_warnings_as_lines()
        try:
            code = paddable.main(words, prog_name="paddable", standalone_mode=False)
            sys.stdout.flush()
        except Interrupted as stopped:
            print(f"interrupted: {stopped}", file=sys.stderr)
            return stop.code
        except (KeyboardInterrupt, click.Abort):
            print("interrupted: nothing was written", file=sys.stderr)
            return stop.code
        except _NO_WORDS as nothing:
            print(nothing.format_message(), file=sys.stderr)
            return 2
        except BrokenPipeError:  # the reader, such as `head`, has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except Exception as error:
            if os.environ.get("PADDABLE_DEBUG"):
                raise
            from paddable.cli.failures import exit_code, report

            report(error, as_json="--json" in words)
            return exit_code(error)
    return code if isinstance(code, int) else 0


def _show_warnings_as_lines() -> None:
    """Our own warnings speak to a person: one line, each time, without the place in our source."""
    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int, *rest: Any) -> None:
        if issubclass(category, PaddableWarning):
            from paddable.cli.flags import in_flags

            print(f"warning: {in_flags(str(message))}", file=sys.stderr)
        else:
            shown(message, category, filename, lineno, *rest)

    warnings.showwarning = show  # type: ignore[assignment]  # the rest is what the standard library passes on
    warnings.simplefilter("always", PaddableWarning)
