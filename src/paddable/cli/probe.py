"""``paddable probe``: where two runs part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddable.cli import options, render
from paddable.cli.flags import in_flags
from paddable.cli.pages import reporting
from paddable.cli.progress import showing

if TYPE_CHECKING:
    from paddable.api import ProbeReport

__all__ = ["probe"]

_SHOWN = 24
"""Rows of the table of errors along the graph."""


@click.command
@click.argument("one", type=click.Path(path_type=Path), metavar="A")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="B",
    help="The run to compare with, which is right where they differ. Default: the native model in A's bundle, or A on "
    "the CPU where --provider names another.",
)
@options.declarations
@click.option("--container", metavar="SIZE", help="Container of a bundle, or zero padding of a native A.")
@click.option("--at", type=click.IntRange(min=0), metavar="N", help="Valid steps. Default: those of --input.")
@click.option(
    "--input", "inputs", type=click.Path(path_type=Path), metavar="FILE", help="A sound, or an .npz of arrays by input."
)
@click.option("--provider", default="cpu", show_default=True, type=options.ProviderName(), help="Where A runs.")
@click.option("--against-provider", default="cpu", show_default=True, type=options.ProviderName(), help="Where B runs.")
@click.option(
    "--precision", metavar="NAME", help="Which of a bundle's precisions A is. Default: fp32, where it is there."
)
@click.option("--against-precision", metavar="NAME", help="Which B is; without --against, of A's own bundle.")
@click.option(
    "--tolerance",
    type=float,
    metavar="E",
    help="Error relative to scale that counts. Default: 1e-4; 0.03 where a run is in fp16, int8 or int4.",
)
@click.option(
    "--isolate",
    type=click.Path(path_type=Path),
    metavar="DIRECTORY",
    help="Write the first bad node here, with its real inputs and a run.py that needs nothing but onnxruntime.",
)
@options.force
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of random inputs.")
@options.report
@options.as_json
def probe(one: Path, report: Path | None, as_json: bool, **choices: Any) -> int:
    """Find the first node at which two runs part, and say why.

    A and B are .onnx files, native or padded, or bundles: two containers, two precisions, two providers, or another
    project's export of the same weights. One may be a PyTorch module, model.py:build, beside its native graph. Values
    are paired by name, weights, source line and structure, and compared on their valid part. Exits with 1 if the runs
    part.

    \b
    Examples: paddable probe padded.onnx --against native.onnx
              paddable probe native.onnx --against native.onnx --length x:1=T --container 30s --rate 16000
              paddable probe out/ --provider directml --isolate case/
    """
    from paddable.api import probe as probe_runs

    kept = (one, choices["against"], choices["inputs"])
    with reporting(report, "probe", one.name, kept, force=choices["force"]), showing() as progress:
        found = probe_runs(one, progress=progress, **choices)
    if report is not None:
        from paddable.api.reporting import about_probe
        from paddable.bundle.page_place import write_page

        write_page(report, in_flags(about_probe(found)), force=choices["force"])
    if as_json:
        render.show_json(in_flags(found.to_json()))
    else:
        _show(found)
        render.show_page(report)
    return 0 if found.ok else 1


def _show(report: ProbeReport) -> None:
    """The verdict first, then what it rests on."""
    print(in_flags(report.verdict))
    steps = ", ".join(f"{name}={count}" for name, count in report.steps.items())
    matched = report.matched
    print(
        f"\n{report.one} against {report.other}{', ' + steps if steps else ''}: {matched['paired']} of "
        f"{matched['nodes']} nodes paired, {matched['compared values']} values compared\n"
    )
    for note in report.notes:
        print(in_flags(f"note: {note}"))
    if report.notes:
        print()
    fork = report.fork
    if fork is not None and fork.missing:
        render.show_sections({"nodes of the second graph without a partner": [{"node": name} for name in fork.missing]})
    rows = _picked(report)
    if rows:
        render.show_sections({"error along the graph": rows})
    render.show_sections({"error of each output": {name: f"{error:.2g}" for name, error in report.outputs.items()}})
    if report.isolated:
        print(f"the case is in {report.isolated}: python {Path(report.isolated) / 'run.py'}")


def _picked(report: ProbeReport) -> list[dict[str, Any]]:
    """Some values, evenly taken, and those around the first fork."""
    layers = report.layers
    wanted = {round(i * (len(layers) - 1) / (_SHOWN - 1)) for i in range(_SHOWN)} if layers else set()
    at = next((i for i, layer in enumerate(layers) if report.fork and layer.value == report.fork.value), None)
    if at is not None:
        wanted |= {i for i in range(at - 2, at + 3) if 0 <= i < len(layers)}
    return [
        {
            "": "->" if index == at else "",
            "node": layers[index].node,
            "op": layers[index].op,
            "module": layers[index].module or "",
            "error": f"{layers[index].error:.2g}",
        }
        for index in sorted(wanted)
    ]
