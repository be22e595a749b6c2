"""``paddable demo``: a real model, repaired, on real speech."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddable.cli import options, render
from paddable.cli.progress import showing

if TYPE_CHECKING:
    from paddable.api.demonstrating import DemoReport

__all__ = ["demo"]


@click.command
@click.argument("audio", nargs=-1, type=click.Path(path_type=Path), metavar="[AUDIO.wav ...]")
@options.report
@options.force
@options.as_json
def demo(audio: tuple[Path, ...], report: Path | None, force: bool, as_json: bool) -> int:
    """Convert a published speech recogniser and show what padding did to it before, and does after.

    Uses the phoneme recogniser of the package hama (extra: demo) on the clips given, or on one that comes with
    Paddable.
    """
    from paddable.api import demo as run_demo

    with showing() as progress:
        page: dict[str, Any] = {} if report is None else {"report": report, "force": force}
        found = run_demo(audio, progress=progress, **page)
    if as_json:
        render.show_json(found.to_json())
    else:
        _show(found)
        render.show_page(report)
    return 0 if found.ok else 1


def _show(report: DemoReport) -> None:
    """Leaks of one kind together, a line a site; then what they do to the frames and to the text."""
    leaks = sorted(report.findings, key=lambda finding: (finding.code, finding.leak))
    print(f"{len(leaks)} leaks in the published model\n")
    for (code, leak), group in groupby(leaks, key=lambda finding: (finding.code, finding.leak)):
        sites = list(group)
        print(f"{code} {leak}\n  -> {sites[0].remedy}")
        for finding in sites:
            print(f"     {finding.node}")
        print()
    render.show_sections({"frames that agree with the clip alone": list(report.rows)})
    for clip, heard in report.texts.items():
        render.show_sections({f"heard in {clip}": heard})
