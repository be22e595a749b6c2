"""What a command says when it fails: one line for a person, one object for a machine, and an exit code."""

from __future__ import annotations

import errno
import json
import sys
import traceback
from typing import Any

import click

from paddable.bundle.provider_errors import explain
from paddable.cli.flags import in_flags
from paddable.cli.grouping import lines_of
from paddable.cli.stopping import Interrupted
from paddable.cli.streams import cannot_be_written
from paddable.errors import EXTRAS, MissingExtraError, MisuseError, PaddableError, RefusedError, with_extra

__all__ = ["Interrupted", "exit_code", "report"]


_IN_USE = (5, 32)
"""Windows: access denied, which a folder gives that holds an open file; and a sharing violation."""

EXTRA_OF = {"onnxruntime": "cpu", **{module: extra for extra, modules in EXTRAS.items() for module in modules}}


def exit_code(error: Exception) -> int:
    """1 when the request was understood and its answer is no, else 2."""
    return error.exit_code if isinstance(error, PaddableError) else 2


def report(error: Exception, *, as_json: bool) -> None:
    """Say on stderr, in one line, what ended the command; with ``as_json`` also as an object on stdout."""
    error = _explained(error)
    findings = error.findings if isinstance(error, RefusedError) else ()
    if as_json:
        payload = {
            "ok": False,
            "error": in_flags(_as_json(error)),
            "findings": [in_flags(finding.to_json()) for finding in findings],
            "lengths": {},
            "versions": {},
        }
        print(json.dumps(payload, indent=2, ensure_ascii=False))
    elif len(findings) > 1:  # a single one is what the line below says
        for line in lines_of(findings):
            print(line)
    kind = "refused" if isinstance(error, RefusedError) else "error"
    if len(findings) == 1:
        kind = f"{kind}: {findings[0].code}"
    print(f"{kind}: {_one_line(in_flags(str(error)))}", file=sys.stderr)


def _explained(error: Exception) -> Exception:
    """The same failure in Paddable's words, where the library let a stranger's exception through."""
    if isinstance(error, PaddableError):
        return error
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "paddable"
        return MisuseError(error.format_message().rstrip("."), fix=f"see {command} --help")
    if isinstance(error, ModuleNotFoundError) and (name := (error.name or "").partition(".")[0]) not in (
        "",
        "paddable",
    ):
        return _absent(error, name)
    if isinstance(error, UnicodeEncodeError):
        return cannot_be_written(error)
    if isinstance(error, MemoryError):
        return PaddableError("out of memory", fix="ask for smaller containers, or use a machine with more memory")
    if isinstance(error, OSError) and error.errno is not None:
        where = str(error.filename) if error.filename is not None else ""
        fix = "free some space; nothing was written" if error.errno == errno.ENOSPC else ""
        if getattr(error, "winerror", None) in _IN_USE:
            fix = "close the program that has it open, such as a player or a running model, and try again"
        return PaddableError(error.strerror or type(error).__name__, where=where, fix=fix)
    if isinstance(error, RecursionError):
        return PaddableError("the model nests too deeply", fix="export it with fewer nested If, Loop and Scan")
    if _maker(error) in _LIBRARIES:
        known = explain(error)
        return PaddableError(
            f"{_maker(error)}: {str(error).strip().split(chr(10), 1)[0]}",
            why=f"usual cause: {known[0].cause}" if known else "it stopped at the model",
            fix=known[0].next_step
            if known
            else f"check that {_maker(error)} itself opens the model, then export it again",
        )
    return PaddableError(
        f"{type(error).__name__}: {error}",
        where="internal error",
        why="this is a fault of Paddable, not of your model",
        fix="run again with PADDABLE_DEBUG=1 and report the traceback",
    )


_LIBRARIES = ("onnx", "onnxruntime", "google")
"""What reads models for us, by the package of an exception's class: what they say is about the model."""


def _maker(error: Exception) -> str:
    return type(error).__module__.partition(".")[0]


def _absent(error: ModuleNotFoundError, name: str) -> MissingExtraError:
    """A module that is not there: of an extra of ours, or needed by a package that is."""
    if extra := EXTRA_OF.get(name):
        return MissingExtraError(f"{error.name} is not installed", fix=with_extra(extra))
    frames = [str(frame.f_globals.get("__name__", "")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    asking = next((top for top in (frame.partition(".")[0] for frame in reversed(frames)) if top != "importlib"), "")
    why = f"{asking} needs it" if asking else ""
    return MissingExtraError(f"{name} is not installed", why=why, fix=f"pip install {name}")


def _as_json(error: Exception) -> dict[str, Any]:
    if isinstance(error, PaddableError):
        parts = {"what": error.what, "where": error.where, "why": error.why, "fix": error.fix}
        return {"kind": type(error).__name__, **{name: part for name, part in parts.items() if part}}
    return {"kind": type(error).__name__, "what": str(error)}


def _one_line(text: str) -> str:
    return " ".join(text.split())
