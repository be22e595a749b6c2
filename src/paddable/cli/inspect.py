"""``paddable inspect``: what is in a file."""

from __future__ import annotations

from pathlib import Path

import click

from paddable.cli import options, render

__all__ = ["inspect"]


@click.command
@options.model
@options.lengths
@options.as_json
def inspect(model: Path, lengths: tuple[str, ...], as_json: bool) -> int:
    """Print inputs, outputs, the length of every value, dimensions and operators of a file.

    Of a step graph also its states. Of a folder: the dimensions of a checkpoint, or what a bundle holds.

    Example: paddable inspect model.onnx --length audio:2=T
    """
    from paddable.api import inspect as inspect_model

    render.show(inspect_model(model, lengths=lengths), as_json=as_json)
    return 0
