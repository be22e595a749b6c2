"""``paddable export``: a checkpoint of a known family to a bundle."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from paddable.bundle import read_bundle
from paddable.cli import options, render
from paddable.cli.progress import showing
from paddable.errors import MisuseError
from paddable.lengths.declare import split_containers

__all__ = ["export"]

_STAGES = {
    ("export", 0): "load the checkpoint and export it",  # the first two stages
    ("export", 2): "judge",
    ("export", 3): "convert",
    ("export", 4): "write",
}


@click.command
@click.argument("family", metavar="FAMILY")
@click.argument("checkpoint", type=click.Path(path_type=Path), metavar="CHECKPOINT_DIR")
@options.out
@click.option(
    "--containers", metavar="A,B,C", default="5s,30s", show_default=True, help="Seconds, or steps of the input."
)
@click.option(
    "--front-end",
    metavar="WHERE",
    help="in-graph (default): the graph takes a waveform; numpy: it takes features; early: as in the first exports.",
)
@click.option("--attention", metavar="KIND", help="qwen3-asr: windowed (default, as trained) or global.")
@click.option("--short-clips", metavar="KIND", help="qwen3-asr, clips under a second: own width (default) or padded.")
@click.option("--chunks", metavar="A,B", help="qwen3-tts-codec: frames of each step graph. Default: 4,12.")
@options.target
@click.option("--precision", metavar="TYPE", help="fp32 (default), fp16 or int8 (weights).")
@click.option("--verify/--no-verify", default=True, help="Judge the result before it is written.")
@options.gate_lengths
@options.force
@options.as_json
def export(
    family: str,
    checkpoint: Path,
    out: Path | None,
    containers: str,
    chunks: str | None,
    as_json: bool,
    **choices: Any,
) -> int:
    """Make a bundle from a checkpoint: sense-voice, fun-asr-nano, fsmn-vad, qwen3-asr or qwen3-tts-codec.

    Loads the weights, exports the native graph, converts it to every container, judges the result against native and
    writes it with labels and settings. A gate that fails leaves the report and no bundle.

    Example: paddable export sense-voice SenseVoiceSmall/ -o sense-voice/ --containers 5s,30s
    """
    from paddable.api import export as export_family

    if out is None:
        raise click.UsageError("nowhere to write: give -o DIRECTORY/")
    told: list[str] = []
    with showing(_STAGES) as progress:
        written = export_family(
            family,
            checkpoint,
            out,
            containers=split_containers(containers),
            chunks=None if chunks is None else _numbers(chunks),
            progress=progress,
            on_message=told.append,
            **choices,
        )
    for line in told:
        print(line, file=sys.stderr)
    bundle = read_bundle(written)
    if as_json:
        graphs = [{"file": graph.file, "container": dict(graph.container)} for graph in bundle.graphs]
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
            }
        )
    else:
        files = ", ".join([*(graph.file for graph in bundle.graphs), *bundle.step_graphs])
        print(f"{written}: {files}")
    return 0


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise MisuseError(f"--chunks {text!r} is no list of numbers", fix="write it like --chunks 4,12") from None
