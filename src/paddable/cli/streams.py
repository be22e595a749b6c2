"""What stdout and stderr write: every character, or an error that says which one could not be written.

On Windows, Python gives a pipe or a file the code page of the system, in which a Chinese transcript does not fit.
Whatever is no terminal gets UTF-8 instead, unless PYTHONIOENCODING asks for something else.
"""

from __future__ import annotations

import io
import os
import sys

from paddable.errors import PaddableError

__all__ = ["cannot_be_written", "prepare_streams"]


def prepare_streams() -> None:
    """Set the encodings of stdout and stderr.

    A terminal keeps its encoding, and shows what that lacks as escapes. So does stderr, which only people read.
    """
    asked = os.environ.get("PYTHONIOENCODING", "")
    encoding, _, handler = asked.partition(":")
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        redirected = not stream.isatty()
        if redirected and not encoding:
            stream.reconfigure(encoding="utf-8")
        if stream is sys.stderr or not redirected:
            stream.reconfigure(errors="backslashreplace")
        elif not handler:
            stream.reconfigure(errors=_errors(stream.encoding))


def _errors(encoding: str) -> str:
    """Names of files may be bytes that are not text; UTF-8 gives them back as they came."""
    if encoding.lower().replace("-", "").replace("_", "") != "utf8":
        return "strict"
    return "surrogatepass" if os.name == "nt" else "surrogateescape"


def cannot_be_written(error: UnicodeEncodeError) -> PaddableError:
    """What ended a command whose text does not fit the encoding of stdout."""
    lost = error.object[error.start : error.end][:10]
    return PaddableError(
        f"stdout cannot hold {lost!a} in the encoding {sys.stdout.encoding}",
        why="a text without it would not be the text",
        fix="leave PYTHONIOENCODING unset or set it to utf-8, or write files with -o",
    )
