"""``paddable check``: where padding would leak."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from paddable.cli import options, render
from paddable.cli.progress import showing

__all__ = ["check"]


@click.command
@options.model
@options.declarations
@options.batch_size
@options.as_json
def check(
    model: Path,
    lengths: tuple[str, ...],
    length_inputs: tuple[str, ...],
    mask_inputs: tuple[str, ...],
    shortest: tuple[str, ...],
    batch: str | None,
    batch_size: int | None,
    rate: float | None,
    as_json: bool,
) -> int:
    """Find where padding would leak into the answer.

    Prints one line a leak: its code, your source line when the exporter recorded it, what leaks into what and the
    remedy that `paddable convert` would take. Exits with 1 if there is any, or if the model is refused.

    Example: paddable check model.onnx --length audio:2=T
    """
    from paddable.api import check as check_model

    with showing() as progress:
        report = check_model(
            model,
            lengths,
            length_inputs=length_inputs,
            mask_inputs=mask_inputs,
            shortest=shortest,
            batch=batch,
            batch_size=batch_size,
            rate=rate,
            progress=progress,
        )
    if as_json:
        render.show_json(report.to_json())
    else:
        render.show_findings(report.findings)
        if report.refusal:
            print(f"refused: {report.refusal}", file=sys.stderr)
        elif report.ok:
            print("no leak found")
        else:
            count = len(report.findings)
            print(f"{count} {'leak' if count == 1 else 'leaks'}; paddable convert repairs them", file=sys.stderr)
    return 0 if report.ok else 1
