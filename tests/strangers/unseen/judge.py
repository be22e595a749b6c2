"""Architectures and published files that no test uses, put through ``convert`` with its gates on, one row and two.

python -m tests.strangers.unseen.judge FOLDER [NAME ...]    runs what FOLDER/results.jsonl does not hold yet
python -m tests.strangers.unseen.judge FOLDER --table       prints the results

An architecture is *exact* when it converts and its file, in this judge's own comparison, gives native's answer at a
full and at a shorter length beside junk. A run that ends the process is found when the judge is started again, and is
*crashed*.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tests.strangers.unseen.export import DYNAMO, SCRIPT, NotExported, exported, session
from tests.strangers.unseen.own_models import OWN
from tests.strangers.unseen.published import PUBLISHED, fetch
from tests.strangers.unseen.transformers_models import TRANSFORMERS

from paddable.api import convert
from paddable.bundle import read_metadata
from paddable.errors import GateFailedError, PaddableError, RefusedError

ALLOWED = 1e-4
"""Of scale: between rounding (1e-6) and the smallest leak that was ever seen (0.004)."""

WANTED = {1: 54 / 60, 2: 48 / 60}
"""The part of the architectures that has to be exact, by rows."""

ARCHITECTURES = {**TRANSFORMERS, **OWN}

Answer = dict[str, Any]


def architecture(name: str, rows: int, folder: Path) -> Answer:
    """Export, convert with the gates, and compare once more without any part of the product."""
    torch.manual_seed(0)
    module, x, axis = ARCHITECTURES[name]()
    first = SCRIPT if list(ARCHITECTURES).index(name) % 3 == 2 else DYNAMO
    native, note = folder / f"{name}.onnx", folder / f"{name}.exporter"
    if not note.exists() or (f"{rows} rows" not in (how := note.read_text()) and "rows" in how):
        try:
            note.write_text(exported(module.eval(), x, axis, rows, native, first))
        except NotExported as error:
            return {"outcome": "not exported", "detail": str(error)}
    how = note.read_text()
    padded = folder / f"{name}.{rows}.padded.onnx"
    start = time.process_time()
    try:
        convert(
            native, [f"x:{axis}=T"], containers=[x.shape[axis]], out=padded, batch_size=rows, gate_lengths=4, force=True
        )
    except PaddableError as error:
        return {"outcome": _kind(error), "exporter": how, "detail": str(error)}
    worst = _compare(native, padded, x.numpy(), axis, rows)
    return {
        "outcome": "exact" if worst <= ALLOWED else "wrong",
        "exporter": how,
        "error": worst,
        "seconds": round(time.process_time() - start, 1),
    }


def published(name: str, folder: Path) -> Answer:
    """Convert as the command line does."""
    from click.testing import CliRunner

    from paddable.cli.main import paddable as command

    item = PUBLISHED[name]
    out = folder / f"{name.replace(' ', '_')}.padded.onnx"
    words = ["convert", str(fetch(item, folder)), "-o", str(out), "--force", *item.options]
    start = time.process_time()
    done = CliRunner().invoke(command, [*words, "--gate-lengths", "4"], standalone_mode=False)
    if done.exception is None:
        return {"outcome": "exact", "seconds": round(time.process_time() - start, 1)}
    if isinstance(done.exception, PaddableError):
        return {"outcome": _kind(done.exception), "detail": str(done.exception)}
    return {"outcome": "crashed", "detail": f"{type(done.exception).__name__}: {done.exception}"}


def _kind(error: PaddableError) -> str:
    if isinstance(error, GateFailedError):
        return "gate"
    return "refused" if isinstance(error, RefusedError) else "misuse"


def _compare(native: Path, padded: Path, x: np.ndarray, axis: int, rows: int) -> float:
    """The largest error of scale over rows of unequal lengths, beside junk."""
    before, after = session(native), session(padded)
    span = next(iter(read_metadata(padded).symbols.values()))
    steps = x.shape[axis]
    accepted = range(span.min, min(steps, span.max or steps) + 1, span.step)
    pair = [accepted[-1], accepted[len(accepted) * 3 // 5]]
    fixed = before.get_inputs()[0].shape[0]
    ragged = {name: int(next(iter(axes))) for name, axes in read_metadata(padded).lengths.items()}
    worst = 0.0
    for lengths in [pair, pair[::-1]] if rows == 2 else [[n] for n in pair]:
        box = np.full_like(x[:rows], 7)
        alone = []
        for row, count in enumerate(lengths):
            signal = x[row : row + 1].take(range(count), axis)
            box[row : row + 1][_front(axis, count)] = signal
            feed = np.repeat(signal, fixed, 0) if isinstance(fixed, int) else signal
            alone.append(before.run(["y"], {"x": np.ascontiguousarray(feed)})[0][:1])
        found = after.run(["y"], {"x": box, "ilens": np.array(lengths, np.int64)})[0]
        for row, want in enumerate(alone):
            got = found[row : row + 1]
            if "y" in ragged:
                got = got[_front(ragged["y"], want.shape[ragged["y"]])]
            if got.shape != want.shape:
                return float("inf")
            worst = max(worst, float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-6)))
    return worst


def _front(axis: int, count: int) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, slice(count))


def _asked(names: list[str]) -> Iterator[tuple[str, Callable[[Path], Answer]]]:
    for name in ARCHITECTURES:
        for rows in (1, 2):
            if not names or name in names:
                yield f"{name}, {rows} row{'s' * (rows > 1)}", lambda folder, n=name, r=rows: architecture(n, r, folder)
    for name in PUBLISHED:
        if not names or name in names:
            yield f"published: {name}", lambda folder, n=name: published(n, folder)


def run(folder: Path, names: list[str]) -> dict[str, Answer]:
    """Every answer, those of earlier runs included."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "results.jsonl"
    lines = [json.loads(line) for line in place.read_text().splitlines()] if place.exists() else []
    results: dict[str, Answer] = {line["case"]: line for line in lines}
    with place.open("a") as file:
        for case, ask in _asked(names):
            if case in results and results[case]["outcome"] != "started":
                continue
            if case in results:
                results[case] = {"case": case, "outcome": "crashed", "detail": "the process ended"}
            else:
                print(json.dumps({"case": case, "outcome": "started"}), file=file, flush=True)
                try:
                    answer = ask(folder)
                except Exception as error:
                    answer = {"outcome": "crashed", "detail": f"{type(error).__name__}: {error}"[:300]}
                results[case] = {"case": case, **answer}
            print(json.dumps(results[case]), file=file, flush=True)
            print(case, results[case]["outcome"], results[case].get("detail", "")[:200], flush=True)
    return results


_PLACES = re.compile(r"/\S*?/site-packages/|; the report is [^;]*|\x1b?\[\d+m")
"""What a reader elsewhere has no use for: folders of this machine, and colours."""


def show(results: dict[str, Answer]) -> bool:
    """Print the table of docs/unseen.md; whether the figures are reached."""
    reached = True
    counts: dict[str, Counter[str]] = {}
    for case, answer in results.items():
        kind = "published" if case.startswith("published") else case.rpartition(", ")[2]
        counts.setdefault(kind, Counter())[answer["outcome"]] += 1
    for kind, found in counts.items():
        asked = sum(found.values()) - found["not exported"]
        print(f"{kind}: {asked} asked; " + ", ".join(f"{count} {outcome}" for outcome, count in found.most_common()))
        reached &= not (found["wrong"] or found["crashed"] or found["gate"])
        if kind != "published":
            reached &= asked >= 60 and found["exact"] >= WANTED[int(kind[0])] * asked
    print("\n| case | outcome | exporter | error of scale, or the reason |\n|---|---|---|---|")
    for case, answer in results.items():
        told = answer.get("detail") or (f"{answer['error']:.1e}" if "error" in answer else "")
        told = _PLACES.sub("", " ".join(told.replace("|", "/").split()))
        print(f"| {case} | {answer['outcome']} | {answer.get('exporter', '')} | {told} |")
    return reached


def main(folder: str, *names: str) -> int:
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    only_table = "--table" in names
    results = run(Path(folder), [name for name in names if name != "--table"] if not only_table else ["nothing"])
    return 0 if show(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
