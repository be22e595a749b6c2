"""``paddable doctor``: what can run here, what to use, what an error means, and what a PyTorch backend would do."""

from __future__ import annotations

import math
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import click

from paddable.bundle import read_bundle
from paddable.bundle.provider_errors import explain
from paddable.cli import options, render
from paddable.errors import MissingExtraError, MisuseError

__all__ = ["doctor"]


@click.command
@click.argument("subject", required=False, metavar="[BUNDLE | FILE.py:FUNCTION]")
@click.option(
    "--backend", metavar="NAME", help="A PyTorch backend, torch-directml: say which operators of the model it lacks."
)
@click.option(
    "--explain", "error", metavar="TEXT", help="Decode an error of an execution provider: a code, or any text."
)
@options.as_json
def doctor(subject: str | None, backend: str | None, error: str | None, as_json: bool) -> int:
    """Show what is installed, what is missing, and what to use on this machine; or explain an error.

    With a bundle, first compare each of its files with the SHA-256 that it was written with.

    With FILE.py:FUNCTION and a backend: run the model on the CPU, and say which operators would fail or be wrong on the
    backend, which need not be installed. FUNCTION takes no argument and returns the module and its sample inputs.

    Exits with 0 if all is well, with 1 if it is not: nothing can run, nothing is known about the error, or an operator
    would fail or be wrong. Exits with 2 if the question cannot be answered: a wrong option, a file or bundle that
    cannot be read, a function that fails, or a model that does not run with its sample.

    \b
    Examples: paddable doctor
              paddable doctor sense-voice/
              paddable doctor --explain "Non-zero status code ... 8007023E"
              paddable doctor model.py:build --backend torch-directml
    """
    if backend is not None:
        return _missing(subject, backend, as_json)
    if subject is not None:
        if ".py:" in subject:
            raise MisuseError(
                "a model is judged for a PyTorch backend", where=subject, fix="add --backend torch-directml"
            )
        read_bundle(Path(subject), check_below=math.inf)
    if error is not None:
        return _explain(error, as_json)
    from paddable.runtime.session.environment import environment
    from paddable.runtime.session.recommendation import recommend

    found = environment()
    payload = {**found.to_json(), **recommend().to_json()}
    render.show_json(payload) if as_json else render.show_sections(payload)
    return 1 if found.problem else 0


def _missing(model: str | None, backend: str, as_json: bool) -> int:
    if model is None:
        raise MisuseError("a backend is judged for a model", fix="add FILE.py:FUNCTION, as in model.py:build")
    if find_spec("torch") is None:
        raise MissingExtraError(
            "PyTorch is not installed", why="the model runs once, on the CPU", fix="pip install torch"
        )
    from paddable.torch_backends import missing_ops
    from paddable.torch_backends.loading import build_model

    with redirect_stdout(sys.stderr):  # what the model prints is no part of the answer
        module, sample = build_model(model)
        found = missing_ops(module, sample, backend)
    if as_json:
        render.show_json(found.to_json())
    else:
        print(found)
    return 0 if found.ok else 1


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
