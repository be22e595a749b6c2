"""``--report``: its place is checked before the work, and a refusal has a page too."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from paddable.cli.flags import in_flags
from paddable.errors import GateFailedError, PaddableError, RefusedError

__all__ = ["reporting"]


@contextmanager
def reporting(
    report: Path | None, command: str, title: str, kept: Iterable[Path | str | None] = (), *, force: bool = False
) -> Iterator[None]:
    """A block whose result has a page. The place is checked first; a refusal in the block is written there.

    Args:
        report: the page; None where none was asked for.
        command: its name.
        title: of the page of a refusal.
        kept: files that the page must not replace.
        force: replace a file that is no page of ours.
    """
    if report is None:
        yield
        return
    from paddable.bundle.page_place import demand_page, write_page

    demand_page(report, kept, force=force)
    try:
        yield
    except PaddableError as error:
        if error.exit_code == 1:
            findings = error.findings if isinstance(error, RefusedError) else ()
            rows = [
                {
                    "code": finding.code,
                    "node": finding.node,
                    "what": in_flags(finding.leak),
                    "what to do": in_flags(finding.remedy),
                    "source": str(finding.source or ""),
                }
                for finding in findings
            ]
            told = in_flags(str(error))
            data = {
                "command": command,
                "title": title,
                "ok": False,
                "outcome": "Refused",
                "verdict": f"{told}.",
                "tables": [{"title": "What was found", "rows": rows}] if rows else [],
                **(in_flags(error.shown) if isinstance(error, GateFailedError) else {}),
            }
            print(f"the page is {write_page(report, data, force=force)}", file=sys.stderr)
        raise
