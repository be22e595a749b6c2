"""Progress of long work, on stderr: bars on a terminal, else silence, or a line a stage where a command asks for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

__all__ = ["Progress", "showing"]

Progress = Callable[[str, int, int], None]
"""``progress(stage, done, total)``: how far a stage of the work is. ``total`` 0: unknown."""


@contextmanager
def showing(lines: Mapping[tuple[str, int], str] | None = None) -> Iterator[Progress | None]:
    """A progress callable that draws one bar per stage, or None when stderr is not a terminal.

    Args:
        lines: of a command that takes minutes: what a log is told when a stage has come so far, by stage and how much
            of it is done.
    """
    if not sys.stderr.isatty():
        yield _telling(lines) if lines else None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield progress


def _telling(lines: Mapping[tuple[str, int], str]) -> Progress:
    left = dict(lines)  # each is told once: a stage may stay where it is for a while

    def progress(stage: str, done: int, total: int) -> None:
        if left.pop((stage, done), None) is not None:
            told = [at for name, at in lines if name == stage]
            count = f" {told.index(done) + 1}/{len(told)}" if len(told) > 1 else ""
            print(f"{stage}{count}: {lines[stage, done]}", file=sys.stderr, flush=True)

    return progress
