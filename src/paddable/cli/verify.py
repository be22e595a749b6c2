"""``paddable verify``: the padded model against the native one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from paddable.cli import options, render
from paddable.cli.flags import in_flags
from paddable.cli.pages import reporting
from paddable.cli.progress import showing
from paddable.outcome import told_failed, told_passed

__all__ = ["verify"]


@click.command
@click.argument("padded", type=click.Path(path_type=Path), metavar="PADDED")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="NATIVE.onnx",
    help="The native model. Default: the one in the bundle.",
)
@click.option("--exhaustive", is_flag=True, help="Every length of each container.")
@options.gate_lengths
@click.option(
    "--at", "lengths", multiple=True, type=click.IntRange(min=0), metavar="N", help="This length. Repeatable."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random inputs and lengths.")
@options.report
@options.force
@options.as_json
def verify(
    padded: Path,
    against: Path | None,
    exhaustive: bool,
    gate_lengths: int,
    lengths: tuple[int, ...],
    seed: int,
    report: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Judge a padded model or bundle: every operator alone, the whole against native, and junk in the padding.

    Prints the error relative to scale for each output and length. Exits with 1 if a gate fails.

    Example: paddable verify out.onnx --against in.onnx
    """
    from paddable.api import verify as verify_model

    told: list[str] = []
    with reporting(report, "verify", padded.name, (padded, against), force=force), showing() as progress:
        found = verify_model(
            padded,
            against,
            exhaustive=exhaustive,
            limit=gate_lengths,
            lengths=lengths,
            seed=seed,
            progress=progress,
            on_message=told.append,
        )
    if not as_json:
        for line in told:
            print(in_flags(line))
    payload = found.to_json()
    if report is not None:
        from paddable.api.reporting import about_result
        from paddable.bundle.page_place import write_page

        payload["report"] = about_result("verify", padded, against, found)
        write_page(report, payload["report"], force=force)
    if as_json:
        render.show_json(payload)
    else:
        payload.pop("report", None)
        payload["sites_not_judged"] = _alike(payload["sites_not_judged"])
        render.show_sections(payload)
        render.show_page(report)
        print(in_flags(told_passed(payload["summary"]) if found.ok else told_failed(payload)))
    return 0 if found.ok else 1


def _alike(sites: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row for the operators that could not be judged alone for one reason."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for site in sites:
        kinds.setdefault((site["op"], site["detail"]), []).append(site["node"])
    return [
        {"op": op, "nodes": len(nodes), "first": nodes[0], "detail": detail} for (op, detail), nodes in kinds.items()
    ]
