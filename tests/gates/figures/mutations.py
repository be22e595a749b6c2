"""Every finding of the zoo, with its remedy left out: what moves in the answer, and what ``check`` says of the result.

python -m tests.gates.figures.mutations FOLDER [NAME ...]

A finding is needed when some valid output moves by more than 1e-4 of scale without its remedy. The padded symbolic
file, without metadata and node names, must be free of findings; with one remedy left out, check must find it alone.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from paddable.api import check
from paddable.api.opened import open_model

from ..mutation import NEEDED, Movement, mutants, padded_symbolic, without_names
from .zoo import declaration, graphs, printed


def lengths(low: int, size: int) -> list[dict[str, int]]:
    """Valid steps in a container: the shortest, the fullest but one, and some between."""
    wanted = {low, low + 1, low + (size - low) // 3, size // 2, size // 2 + 1, size - size // 7, size - 1}
    return [{"T": steps} for steps in sorted(wanted) if low <= steps < size]


def main(folder: str, *names: str) -> int:
    total, unneeded, missed, false = 0, 0, 0, 0
    for path in graphs(Path(folder), list(names)):
        start = time.process_time()
        opened = open_model(path, [declaration(path.stem)])
        span = opened.analyse().scope.spans["T"]
        size = printed(path.stem)
        movement = Movement(opened, path, {"T": size}, lengths(span.low, size))
        again = {"length_inputs": ["ilens=T"]}
        clean = check(without_names(padded_symbolic(opened)), [declaration(path.stem)], **again)
        false += not clean.ok
        moved, seen, told = [], 0, []
        for mutant in mutants(opened):
            far = movement.of(mutant.model)
            moved.append(far)
            if far <= NEEDED:
                told.append(f"  unneeded: {mutant.code} {mutant.node} ({mutant.op}) moves {far:.1e}")
            report = check(without_names(mutant.model), [declaration(path.stem)], **again)
            said = Counter((f.code, f.op) for f in report.findings)
            if report.refusal is None and said == {(mutant.code, mutant.op): 1}:
                seen += 1
            else:
                told.append(
                    f"  not found alone: {mutant.code} {mutant.node} ({mutant.op}): {dict(said)} {report.refusal}"
                )
        few = sum(far <= NEEDED for far in moved)
        total, unneeded, missed = total + len(moved), unneeded + few, missed + len(moved) - seen
        print(
            f"{path.stem}: {len(moved)} findings, {few} unneeded, least movement {min(moved, default=0):.1e}; "
            f"padded file {'clean' if clean.ok else f'NOT clean: {clean.refusal or clean.findings}'}, "
            f"{seen} of {len(moved)} holes found; {time.process_time() - start:.0f} s",
            *told,
            sep="\n",
            flush=True,
        )
    print(f"{total} findings, {unneeded} unneeded ({100 * unneeded / max(1, total):.1f}%), {missed} holes missed")
    return 1 if unneeded > 0.05 * total or missed or false else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
