"""``paddable export``: a checkpoint of a known family to a bundle."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddable.bundle import read_bundle
from paddable.cli import options, render
from paddable.cli.flags import in_flags
from paddable.cli.pages import reporting
from paddable.cli.progress import showing
from paddable.families.registry import FAMILIES
from paddable.families.spec import HUBS, Option
from paddable.lengths.declare import split_containers
from paddable.outcome import told_passed

if TYPE_CHECKING:
    from paddable.gates import GateReport

__all__ = ["export"]

_STAGES = {
    ("download (MB)", 0): "fetch the checkpoint",
    ("export", 0): "load the checkpoint and export it",  # the first two stages
    ("export", 2): "convert",
    ("export", 3): "judge",
    ("export", 4): "write",
}


class _Numbers(click.ParamType[list[int]]):
    """Whole numbers between commas."""

    name = "A,B"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        try:
            return [int(part) for part in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a list of whole numbers such as 4,12", param, ctx)


def _options_of_families(command: Callable[..., Any]) -> Callable[..., Any]:
    """Every option that some family offers, once, with the families that have it."""
    named: dict[str, list[tuple[str, Option]]] = {}
    for spec in FAMILIES.values():
        for option in spec.options:
            named.setdefault(option.name, []).append((spec.name, option))
    for name, offers in reversed(named.items()):
        words = list(dict.fromkeys(word for _, option in offers for word in option.words))
        alike: dict[Option, list[str]] = {}
        for family, option in offers:
            alike.setdefault(option, []).append(family)
        first = offers[0][1]
        command = click.option(
            first.flag,
            name,
            type=click.Choice(words) if words else str if first.text else _Numbers(),
            metavar=first.text or None,
            help=" ".join(f"{', '.join(families)}: {_told(option)}." for option, families in alike.items()),
        )(command)
    return command


def _told(option: Option) -> str:
    """What an option decides, and its default."""
    default = option.words[0] if option.words else ",".join(map(str, option.numbers))
    return f"{option.help} (default {default})" if default else option.help


def _default_containers() -> str:
    """What the families have in common, and which differ."""
    (usual, _), *others = Counter(spec.containers for spec in FAMILIES.values()).most_common()
    told = [",".join(usual)]
    for sizes, _ in others:
        names = ", ".join(spec.name for spec in FAMILIES.values() if spec.containers == sizes)
        told.append(f"{','.join(sizes)} ({names})")
    return "; ".join(told)


@click.command(epilog="\b\nFamilies:\n" + "\n".join(f"  {spec.name:16} {spec.summary}" for spec in FAMILIES.values()))
@click.argument("family", type=click.Choice(list(FAMILIES)), metavar="FAMILY")
@click.argument("checkpoint", metavar="CHECKPOINT")
@options.out
@click.option(
    "--containers",
    metavar="A,B,C",
    help=f"Seconds, or steps of the input; 2s..30s/8 is eight of them. Default: {_default_containers()}.",
)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Beside each container, one of N rows for short clips of unequal length: transcribe takes it where many clips"
    " are faster so. Default: 1, none.",
)
@_options_of_families
@options.result
@click.option("--verify/--no-verify", default=True, help="Judge the result before it is written.")
@options.gate_lengths
@click.option("--hub", type=click.Choice(list(HUBS)), help="Where the repository CHECKPOINT is. Default: huggingface.")
@click.option("--revision", metavar="NAME", help="A branch, tag or commit of the repository.")
@click.option("--offline", is_flag=True, help="Take what was fetched before, and ask nobody.")
@options.force
@options.report
@options.as_json
def export(
    family: str,
    checkpoint: str,
    out: Path | None,
    containers: str | None,
    report: Path | None,
    as_json: bool,
    **choices: Any,
) -> int:
    """Make a bundle from a checkpoint of a known family.

    CHECKPOINT is a folder, the .onnx of a CTC model, or OWNER/NAME on a hub (extra: hub).

    Loads the weights, exports the native graph, converts it to every container, judges the result against native and
    writes it with labels and settings. A gate that fails leaves the report and no bundle.

    Example: paddable export sense-voice FunAudioLLM/SenseVoiceSmall -o sense-voice/ --containers 5s,30s
    """
    from paddable.api import export as export_family

    if out is None:
        raise click.UsageError("nowhere to write: give -o DIRECTORY/")
    told: list[str] = []
    judged: list[GateReport] = []
    if report is not None:
        choices["on_report"] = judged.append
    try:
        kept = (checkpoint, out, choices["examples"])
        page = reporting(report, "export", f"{family} {checkpoint}", kept, force=choices["force"])
        stages = {at: told for at, told in _STAGES.items() if choices["verify"] or told != "judge"}
        with page, showing(stages) as progress:
            written = export_family(
                family,
                checkpoint,
                out,
                containers=None if containers is None else split_containers(containers),
                progress=progress,
                on_message=told.append,
                **choices,
            )
    finally:  # what was found out helps most where it ended in an error
        for line in told:
            print(in_flags(line), file=sys.stderr)
    shown: dict[str, Any] = {}
    if report is not None:
        from paddable.api.reporting import about_result
        from paddable.bundle.page_place import write_page

        shown["report"] = about_result("export", written, None, next(iter(judged), None))
        write_page(report, shown["report"], force=choices["force"])
    bundle = read_bundle(written)
    if as_json:
        graphs = [
            {"file": graph.file, "container": dict(graph.container), **({"rows": graph.rows} if graph.rows else {})}
            for graph in bundle.graphs
        ]
        render.show_json(
            {
                "ok": True,
                "out": str(written),
                "family": bundle.family,
                "graphs": graphs,
                "step_graphs": list(bundle.step_graphs),
                "findings": [remedy.to_json() for remedy in bundle.metadata.remedies],
                "lengths": bundle.metadata.to_json()["lengths"],
                "versions": dict(bundle.metadata.versions),
                **shown,
            }
        )
    else:
        files = ", ".join([*(graph.file for graph in bundle.graphs), *bundle.step_graphs])
        print(f"{written}: {files}")
        render.show_page(report)
        print(told_passed(bundle.metadata.verified) or "not judged against native")
    return 0
