"""``paddable check``: where padding would leak."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from paddable.cli import options, render
from paddable.cli.flags import in_flags
from paddable.cli.progress import showing
from paddable.lengths.accepted import told_domain

__all__ = ["check"]


@click.command
@options.model
@options.declarations
@options.batch_size
@options.as_json
def check(model: Path, lengths: tuple[str, ...], as_json: bool, **declared: Any) -> int:
    """Find where padding would leak into the answer.

    Prints one line a leak: its code, your source line when the exporter recorded it, what leaks into what and the
    remedy that `paddable convert` would take. Exits with 1 if there is any, or if the model is refused.

    Example: paddable check model.onnx --length audio:2=T
    """
    from paddable.api import check as check_model

    with showing() as progress:
        report = check_model(model, lengths, progress=progress, **declared)
    if as_json:
        render.show_json(report.to_json())
    else:
        render.show_findings(report.findings)
        for line in [*report.notes, *told_domain(report.domain)]:
            print(in_flags(line))
        if report.refusal:
            print(f"refused: {in_flags(str(report.refusal))}", file=sys.stderr)
        elif report.ok:
            print("no leak found")
        else:
            count = len(report.findings)
            print(f"{count} {'leak' if count == 1 else 'leaks'}; paddable convert repairs them", file=sys.stderr)
    return 0 if report.ok else 1
