"""``paddable lint``: hazards of a graph as it is written."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from paddable.cli import options, render
from paddable.cli.flags import in_flags
from paddable.lengths.accepted import told_domain

__all__ = ["lint"]


@click.command
@options.model
@options.lengths
@options.target("Also find what breaks or slows down the graph on this execution provider.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes and write the result to --out.")
@options.out
@options.force
@click.option("--run/--no-run", default=None, help="Run the model at two lengths; by default up to 256 MB of weights.")
@options.as_json
def lint(
    model: Path,
    lengths: tuple[str, ...],
    target: str | None,
    fix: bool,
    out: Path | None,
    force: bool,
    run: bool | None,
    as_json: bool,
) -> int:
    """Find what will break, slow down or silently change a graph, in general or on one target.

    Exits with 1 if a finding of severity error is left, and with 0 if there are only warnings and notes.

    Example: paddable lint model.onnx --target directml
    """
    from paddable.api import lint as lint_model

    if fix and out is None:
        raise click.UsageError("nowhere to write the fixed model: give -o FILE.onnx")
    if out is not None and not fix:
        raise click.UsageError("-o is for the fixed model: add --fix")
    report = lint_model(model, lengths=lengths, target=target, fix=fix, out=out, force=force, run=run)
    if as_json:
        render.show_json(report.to_json())
    else:
        render.show_findings(report.findings)
        for line in told_domain(report.domain):
            print(in_flags(line))
        if report.placement:
            _show_placement(report.placement)
        for name, change in report.fixed.items():
            told = "not compared" if change is None else f"largest relative change {change:.1e}"
            print(f"fixed: {name} ({told})")
        for name, why in report.left.items():
            print(f"not fixed: {name}: {why}")
        if report.out:
            print(f"{report.out}: {len(report.fixed)} {'fix' if len(report.fixed) == 1 else 'fixes'}")
        if report.advice:
            print(f"session: {_settings(report.advice['session'])}")
        for what in report.skipped:
            print(in_flags(what), file=sys.stderr)
        count = len(report.findings)
        print(f"{count} finding{'s' * (count > 1)}" if count else "nothing found", file=sys.stderr)
    return 0 if report.ok else 1


_SHOWN = 8
"""Islands, and names of nodes, that are listed; ``--json`` has them all."""


def _show_placement(placement: Mapping[str, Any]) -> None:
    """Where the nodes run: a sentence, the fused graphs, and the nodes on the CPU by reason."""
    print("\n".join(textwrap.wrap(f"placement: {placement['summary']}", 80, subsequent_indent="  ")))
    islands = sorted(placement.get("islands", ()), key=len, reverse=True)
    if islands:
        rows = [{"nodes": len(names), "from": names[0], "to": names[-1]} for names in islands[:_SHOWN]]
        render.show_sections({"islands" + _of(len(rows), len(islands)): rows})
    reasons: dict[str, list[Mapping[str, Any]]] = {}
    for node in placement["cpu"]:
        reasons.setdefault(node.get("reason", node["why"]), []).append(node)
    if reasons:
        rows = [
            {
                "on the CPU": len(nodes),
                "operators": sorted({node["op"] for node in nodes}),
                "nodes": [node["node"] for node in nodes[:3]] + ["..."] * (len(nodes) > 3),
                "why": nodes[0]["why"],
            }
            for nodes in reasons.values()
        ]
        render.show_sections({"CPU nodes": rows})


def _of(shown: int, count: int) -> str:
    return f" (the largest {shown} of {count})" if shown < count else ""


def _settings(session: Mapping[str, Any]) -> str:
    """What the target wants of its session, in one line."""
    options = {**session["options"], **session["static_options"], **session["config"]}
    wishes = {
        "no memory pattern": not session["memory_pattern"],
        "one run at a time": session["one_run_at_a_time"],
        "inputs and outputs bound to the device": session["bind"],
    }
    told = [session["execution_provider"], *(f"{name}={value}" for name, value in options.items())]
    return ", ".join([*told, *(wish for wish, holds in wishes.items() if holds)])
