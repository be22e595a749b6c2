"""``paddable convert``: the padded model, or a refusal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddable.bundle import read_metadata
from paddable.cli import options, render
from paddable.cli.flags import in_flags
from paddable.cli.pages import reporting
from paddable.cli.progress import showing
from paddable.lengths.declare import split_containers
from paddable.outcome import told_passed

if TYPE_CHECKING:
    from paddable.gates import GateReport

__all__ = ["convert"]


@click.command
@options.model
@options.out
@options.declarations
@click.option(
    "--container",
    "single",
    multiple=True,
    metavar="SIZE",
    help="A container: steps (24000), seconds (30s, with --rate), or T=24000,U=512. Repeatable.",
)
@click.option(
    "--containers",
    "several",
    metavar="A,B,C",
    help="Several containers, written as a bundle; 2s..30s/8 is eight of them, each longer by the same factor.",
)
@options.batch_size
@click.option("--keep-dynamic", is_flag=True, help="Keep batch and container symbolic.")
@click.option("--keep-traces", is_flag=True, help="Keep absolute source paths in the file.")
@click.option(
    "--external-data/--no-external-data", default=None, help="Weights beside the file. Default: above 1.5 GB."
)
@click.option("--force", is_flag=True, help="Replace what is already there.")
@options.result
@click.option("--verify/--no-verify", default=True, help="Judge the result against the native model before writing it.")
@options.gate_lengths
@options.report
@options.as_json
def convert(
    model: Path,
    out: Path | None,
    single: tuple[str, ...],
    several: str | None,
    report: Path | None,
    as_json: bool,
    **choices: Any,
) -> int:
    """Write a fixed-shape model that gives the same answer at every length.

    The result is judged against the native model before it is written; a model that cannot be proven is refused, with
    the node, the source line and the reason.

    \b
    Examples: paddable convert in.onnx -o out.onnx --length x:1=T --container 24000
              paddable convert in.onnx -o out/ --length x:1=T --containers 2s,10s,30s --rate 16000
    """
    from paddable.api import convert as convert_model

    if out is None:
        raise click.UsageError("nowhere to write: give -o FILE.onnx (one container) or -o DIRECTORY/ (a bundle)")
    containers = (*single, *split_containers(several or ""))
    told: list[str] = []
    judged: list[GateReport] = []
    if report is not None:
        choices["on_report"] = judged.append
    kept = (model, out, choices["examples"])
    with reporting(report, "convert", model.name, kept, force=choices["force"]), showing() as progress:
        written = convert_model(
            model, containers=containers, out=out, progress=progress, on_message=told.append, **choices
        )
    for line in told:
        print(in_flags(line), file=sys.stderr)
    metadata = read_metadata(written)
    shown: dict[str, Any] = {}
    if report is not None:
        from paddable.api.reporting import about_result
        from paddable.bundle.page_place import write_page

        shown["report"] = about_result("convert", written, model, next(iter(judged), None))
        write_page(report, shown["report"], force=choices["force"])
    if as_json:
        remedies = [remedy.to_json() for remedy in metadata.remedies]
        lengths = metadata.to_json()["lengths"]
        payload = {"ok": True, "out": str(written), "findings": remedies, "lengths": lengths}
        render.show_json({**payload, "versions": metadata.versions, **shown})
    else:
        count = len(metadata.remedies)
        print(f"{written}: {count} {'remedy' if count == 1 else 'remedies'}")
        render.show_page(report)
        print(told_passed(metadata.verified) or "not judged against native")
    return 0
