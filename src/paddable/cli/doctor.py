"""``paddable doctor``: what can run here, and what an error means."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import click

from paddable.bundle import read_bundle
from paddable.bundle.provider_errors import explain
from paddable.cli import options, render

__all__ = ["doctor"]


@click.command
@click.argument("bundle", type=click.Path(path_type=Path), required=False, metavar="[BUNDLE]")
@click.option(
    "--explain", "error", metavar="TEXT", help="Decode an error of an execution provider: a code, or any text."
)
@options.as_json
def doctor(bundle: Path | None, error: str | None, as_json: bool) -> int:
    """Show the onnxruntime that is installed, its providers, and what is missing; or explain an error.

    With a bundle, first compare each of its files with the SHA-256 that it was written with. Exits with 1 if nothing
    can run, or nothing is known about the error.

    \b
    Examples: paddable doctor
              paddable doctor sense-voice/
              paddable doctor --explain "Non-zero status code ... 8007023E"
    """
    if bundle is not None:
        read_bundle(bundle, check_below=math.inf)
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
