"""``paddable bench``: what a bundle costs here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddable.cli import options, render
from paddable.cli.pages import reporting
from paddable.cli.progress import showing

if TYPE_CHECKING:
    from paddable.runtime.benchmark import BenchReport

__all__ = ["bench"]


@click.command
@click.argument("bundle", type=click.Path(path_type=Path), metavar="BUNDLE")
@click.option(
    "--runs",
    type=click.IntRange(min=3),
    default=20,
    show_default=True,
    metavar="N",
    help="Runs a measurement, at most.",
)
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads inside an operator.")
@click.option("--precision", metavar="NAME", help="Which of the bundle's precisions. Default: fp32, or the only one.")
@options.session
@options.report
@options.force
@options.as_json
def bench(
    bundle: Path, runs: int, provider: str, report: Path | None, force: bool, as_json: bool, **choices: Any
) -> int:
    """Measure a bundle on this machine: every container beside the native graph, the runs of both in turn.

    Tells the cold start, the first run at a new length, the steady state with percentiles, the memory and, where the
    rate is known, how many seconds of signal are done in one. Ratios are containers over native: below 1, a
    container is faster.

    Example: paddable bench sense-voice/ --provider cpu --report bench.html
    """
    from paddable.runtime.benchmark import bench as measure

    with reporting(report, "bench", bundle.name, (bundle,), force=force), showing() as progress:
        found = measure(bundle, provider, runs=runs, progress=progress, **choices)
    if report is not None:
        from paddable.bundle.page_place import write_page

        write_page(report, _page(found), force=force)
    if as_json:
        render.show_json(found.to_json())
    else:
        render.show_sections(_sections(found))
        render.show_page(report)
    return 0


def _sections(found: BenchReport) -> dict[str, Any]:
    """Tables for people, ratios first."""
    ratio = found.summary["mixed"]
    return {
        "on": f"{found.summary['provider']}; {'auto takes ' * found.summary['auto']}{found.summary['form']}",
        "containers over native, lengths mixed": "no native graph" if ratio is None else f"{ratio:.2f}",
        "cold start": f"{found.summary['cold_start']:.2f} s" if found.summary["cold_start"] is not None else "failed",
        "steady state; ratio: over native, speed: times real time": [
            {
                "ratio": _number(row["ratio"]),
                "form": row["form"],
                "steps": _steps(row["steps"]),
                "seconds": _number(row["seconds"]),
                "p50 ms": _number(row["p50"]),
                "p90 ms": _number(row["p90"]),
                "p99 ms": _number(row["p99"]),
                "speed": _number(row["speed"]),
            }
            for row in found.steady
        ],
        "graphs: opening and first run, first run at a new length, the same length again": [
            {
                "form": row["form"],
                "container": _steps(row["container"]) or "any",
                "open + first ms": _number(row["first"]),
                "new ms": _number(row["new_length"]),
                "again ms": _number(row["same_length"]),
                "MB": "" if row["memory"] is None else f"{row['memory'] / 2**20:.0f}",
            }
            for row in found.first
        ],
    }


def _page(found: BenchReport) -> dict[str, Any]:
    sections = _sections(found)
    return {
        "title": found.summary["model"],
        "command": "bench",
        "ok": True,
        "outcome": "Measured",
        "verdict": _verdict(found.summary["mixed"]),
        "facts": {name: told for name, told in sections.items() if isinstance(told, str)},
        "tables_title": "Times",
        "tables": [{"title": name, "rows": rows} for name, rows in sections.items() if isinstance(rows, list)],
        "versions": dict(found.versions),
    }


def _verdict(ratio: float | None) -> str:
    """The ratio in a sentence."""
    if ratio is None:
        return "The containers were measured alone: the bundle has no native graph to compare them with."
    told = "in the same time as" if 0.98 <= ratio <= 1.02 else f"in {ratio:.2f} times the time of"
    return f"On mixed lengths the containers answer {told} the native graph."


def _steps(steps: Mapping[str, int]) -> str:
    return " ".join(f"{symbol}={size}" for symbol, size in steps.items())


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}" if abs(value) < 10 else f"{value:.0f}"
