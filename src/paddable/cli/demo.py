"""``paddable demo``: a real model, repaired, on real speech."""

from __future__ import annotations

from pathlib import Path

import click

from paddable.cli import options, render
from paddable.cli.progress import showing

__all__ = ["demo"]


@click.command
@click.argument("audio", nargs=-1, type=click.Path(path_type=Path), metavar="[AUDIO.wav ...]")
@options.as_json
def demo(audio: tuple[Path, ...], as_json: bool) -> int:
    """Convert a published speech recogniser and show what padding did to it before, and does after.

    Uses the phoneme recogniser of the package hama (extra: demo) on the clips given, or on one that comes with
    Paddable.
    """
    from paddable.build import demo as run_demo

    with showing() as progress:
        report = run_demo(audio, progress=progress)
    render.show(report, as_json=as_json)
    return 0 if report.ok else 1
