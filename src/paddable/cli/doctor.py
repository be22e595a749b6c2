"""``paddable doctor``: what can run here, and what an error means."""

from __future__ import annotations

import sys

import click

from paddable.bundle.provider_errors import explain
from paddable.cli import options, render

__all__ = ["doctor"]


@click.command
@click.option(
    "--explain", "error", metavar="TEXT", help="Decode an error of an execution provider: a code, or any text."
)
@options.as_json
def doctor(error: str | None, as_json: bool) -> int:
    """Show the onnxruntime that is installed, its providers, and what is missing; or explain an error.

    Exits with 1 if nothing can run, or nothing is known about the error.

    \b
    Examples: paddable doctor
              paddable doctor --explain "Non-zero status code ... 8007023E"
    """
    if error is not None:
        return _explain(error, as_json)
    from paddable.runtime.session.environment import environment

    found = environment()
    render.show(found, as_json=as_json)
    return 1 if found.problem else 0


def _explain(error: str, as_json: bool) -> int:
    known = explain(error)
    if as_json:
        render.show_json({"ok": bool(known), "explanations": [explanation.to_json() for explanation in known]})
    else:
        for explanation in known:
            print(str(explanation))
        if not known:
            print("nothing is known about this error", file=sys.stderr)
    return 0 if known else 1
