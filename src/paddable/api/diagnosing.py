"""What a failing verification is followed by: the first fork, and a page about it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from paddable.api.probing import probe
from paddable.api.reporting import about_result
from paddable.bundle.page_place import write_page
from paddable.errors import PaddableError
from paddable.gates import GateReport

__all__ = ["diagnose"]


def diagnose(
    padded: str | os.PathLike[str],
    native: str | os.PathLike[str] | None,
    gates: GateReport,
    file: str | os.PathLike[str] | None = None,
) -> list[str]:
    """Probe at the length that fails most, and write a page.

    Args:
        padded: the judged file or bundle.
        native: the model it was made from; None takes the one in the bundle.
        gates: what failed.
        file: of the page; a new one in the system's temporary folder by default.

    Returns:
        Lines that tell where the runs part and where the page is; what cannot be found is left out.
    """
    told = []
    failing = [row for row in gates.rows if not row.ok and isinstance(row.length, int)]
    worst = max(failing, key=lambda row: row.error / row.tolerance, default=None)
    at = worst.length if worst is not None and isinstance(worst.length, int) else None
    try:
        report = probe(padded, native, at=at)
        if report.ok and worst is not None and worst.error > worst.tolerance:  # a gate allows less than a probe
            report = probe(padded, native, at=at, tolerance=worst.tolerance)
        if report.fork is not None:
            told.append(str(report.fork))
        elif report.cause is not None:
            told.append(report.verdict)
    except PaddableError as error:
        told.append(f"the probe could not run: {error}")
    place = Path(file) if file is not None else Path(tempfile.mkdtemp(prefix="paddable-"), "report.html")
    try:
        told.append(f"the report is {write_page(place, about_result('verify', padded, native, gates))}")
    except PaddableError as error:
        told.append(f"no report was written: {error}")
    return told
