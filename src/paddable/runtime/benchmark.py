"""``paddable bench``: what a bundle costs on this machine, in its containers and native, in one process."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from paddable._version import __version__
from paddable.errors import MisuseError
from paddable.lengths.accepted import nearest_accepted
from paddable.runtime.loading import AUTO, load
from paddable.runtime.model import Model
from paddable.runtime.probing import why_not
from paddable.runtime.resident import resident
from paddable.runtime.session.flavours import runtime_version

__all__ = ["BenchReport", "bench"]

MOST_SECONDS = 10.0
"""What one measurement may take; the largest container of a large model is not run as often as the smallest."""

Steps = Mapping[str, int]


@dataclass(frozen=True)
class BenchReport:
    """What was measured. Times are wall clock, in milliseconds; the runs of a ratio took turns.

    Attributes:
        summary: provider, form, ``cold_start`` (seconds from a new process to the first answer of the smallest graph),
            and ``mixed``: containers over native on a stream of log-uniform lengths.
        steady: a row for each container and form, at the container's length: ``ratio`` to native, percentiles, and
            ``speed`` (seconds of signal a second) where the rate is known. A form such as ``8 rows`` is one run of so
            many: its ratio is to as many runs of native.
        first: a row for each graph: opening it with its first run, the first run at a length that is new to it, the
            next one at that length, and bytes of memory that it took.
        versions: of what ran.
    """

    summary: Mapping[str, Any]
    steady: Sequence[Mapping[str, Any]]
    first: Sequence[Mapping[str, Any]]
    versions: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def bench(
    path: str | os.PathLike[str],
    provider: str = AUTO,
    *,
    runs: int = 20,
    progress: Callable[[str, int, int], None] | None = None,
    **choices: Any,
) -> BenchReport:
    """Measure a bundle.

    Args:
        path: the bundle, or a converted file.
        provider: as of ``load``.
        runs: how often each thing is run at most; the largest containers less often.
        progress: told ``containers``, how many are measured and how many there are.
        choices: others of ``load``.

    Raises:
        MisuseError: a file that Paddable did not make, whose lengths are not known; others as of ``load``.
    """
    place = os.fspath(path)
    start = time.perf_counter()
    chosen = load(place, provider, **choices).describe()
    choices = {"native": False, **choices}
    cold, failed = _timed(lambda: why_not(place, chosen.provider, {**choices, "native": chosen.form == "native"}))
    padded = load(place, chosen.provider, **choices)
    if padded.metadata is None:
        raise MisuseError(
            "its lengths are not known", where=place, why="Paddable did not make it", fix="convert it first"
        )
    native = _native(place, chosen.provider, choices)
    forms = {"container": padded} if native is None else {"container": padded, "native": native}
    sizes = [dict(row["steps"]) for row in padded.describe().containers if "rows" not in row]
    sizes = [steps for steps in sizes if steps] or [
        {name: symbol.min for name, symbol in padded.metadata.symbols.items()}
    ]
    first = [row for form, model in forms.items() for row in _first_runs(form, model, sizes)]
    steady = []
    for done, steps in enumerate(sizes):
        if progress is not None:
            progress("containers", done, len(sizes))
        steady += [*_steady(forms, longest(padded, steps), runs), *_of_rows(forms, longest(padded, steps), runs)]
    mixed = _in_turn(forms, _mixed(padded, sizes[-1], runs))
    if progress is not None:
        progress("containers", len(sizes), len(sizes))
    summary = {
        "model": Path(place).name,
        "provider": chosen.provider,
        "form": chosen.form,
        "auto": provider == AUTO,
        "mixed": _ratio(mixed, np.sum),
        "cold_start": None if failed else cold,
        "seconds": time.perf_counter() - start,
    }
    return BenchReport(summary, steady, first, {"paddable": __version__, "onnxruntime": runtime_version()})


def longest(model: Model, steps: Steps) -> dict[str, int]:
    """The longest accepted lengths in a container."""
    return _accepted(model, steps, 1.0)


def _accepted(model: Model, steps: Steps, share: float) -> dict[str, int]:
    assert model.metadata is not None
    found = {}
    for name, size in steps.items():
        symbol = model.metadata.symbols[name]
        wanted = max(symbol.min, int(size * share))
        found[name] = nearest_accepted(wanted, symbol.min, min(size, symbol.max or size), symbol.step)[0]
    return found


def _native(place: str, provider: str, choices: Mapping[str, Any]) -> Model | None:
    model = load(place, provider, **{**choices, "native": True})
    return model if model.describe().form == "native" else None


def _first_runs(form: str, model: Model, sizes: Sequence[Steps]) -> list[dict[str, Any]]:
    """Opening each graph, its first run, and its first run at another length."""
    rows = []
    for steps in sizes if form == "container" else sizes[-1:]:
        before = resident()
        again = _accepted(model, steps, 0.9)
        lengths = (longest(model, steps), again, again)
        first, new, same = (1000 * _timed(partial(_from_nothing, model, at))[0] for at in lengths)
        held = resident()
        rows.append(
            {"form": form, "container": dict(steps) if form == "container" else {}, "first": first}
            | {"new_length": new, "same_length": same}
            | {"memory": None if before is None or held is None else held - before}
        )
    return rows


def _from_nothing(model: Model, steps: Steps) -> None:
    """A run with everything that it may still need: the graph itself, which knows its inputs, is opened for it."""
    model.answer(model.example(steps))


def _steady(forms: Mapping[str, Model], steps: Steps, runs: int) -> list[dict[str, Any]]:
    spent = _in_turn(forms, [steps] * runs)
    ratio, seconds = _ratio(spent), _seconds(forms["container"], steps)
    rows = []
    for form, times in spent.items():
        p50, p90, p99 = (float(value) for value in 1000 * np.percentile(times, [50, 90, 99]))
        speed = None if seconds is None else seconds * 1000 / p50
        told = ratio if form == "container" else None if ratio is None else 1.0
        rows.append(
            {"ratio": told, "form": form, "steps": dict(steps), "seconds": seconds}
            | {"p50": p50, "p90": p90, "p99": p99, "speed": speed, "runs": len(times)}
        )
    return rows


def _of_rows(forms: Mapping[str, Model], steps: Steps, runs: int) -> list[dict[str, Any]]:
    """A container's graph of several rows, beside as many runs of native, or of the container where there is none."""
    padded, one = forms["container"], forms.get("native", forms["container"])
    count = padded.rows_at(steps)
    if count == 1:
        return []
    together, alone, begin = list[float](), list[float](), time.perf_counter()
    for number in range(runs):
        inputs = [padded.example(steps, seed=number + row) for row in range(count)]
        rows = [padded.prepare(each) for each in inputs]
        for form in ("together", "alone")[:: 1 if number % 2 else -1]:
            if form == "together":
                together.append(_timed(partial(padded.answer_prepared, rows, together=True))[0])
            else:
                alone.append(sum(_timed(partial(one.answer, each))[0] for each in inputs))
        if number >= 2 and time.perf_counter() - begin > MOST_SECONDS * len(forms):
            break
    p50, p90, p99 = (float(value) for value in 1000 * np.percentile(together, [50, 90, 99]))
    seconds = _seconds(padded, steps)
    return [
        {"ratio": float(np.median(together) / np.median(alone)), "form": f"{count} rows", "steps": dict(steps)}
        | {"seconds": seconds, "p50": p50, "p90": p90, "p99": p99}
        | {"speed": None if seconds is None else count * seconds * 1000 / p50, "runs": len(together)}
    ]


def _in_turn(forms: Mapping[str, Model], lengths: Sequence[Steps]) -> dict[str, list[float]]:
    """Seconds of each form at each length, the forms in turn so that a busy moment meets all of them."""
    spent: dict[str, list[float]] = {form: [] for form in forms}
    begin = time.perf_counter()
    for number, steps in enumerate(lengths):
        for form in list(forms)[:: 1 if number % 2 else -1]:
            inputs = forms[form].example(steps, seed=number)
            spent[form].append(_timed(partial(forms[form].answer, inputs))[0])
        if number >= 2 and time.perf_counter() - begin > MOST_SECONDS * len(forms):
            break
    return spent


def _ratio(spent: Mapping[str, Sequence[float]], reduced: Callable[..., Any] = np.median) -> float | None:
    """Containers over native."""
    return float(reduced(spent["container"]) / reduced(spent["native"])) if "native" in spent else None


def _mixed(model: Model, largest: Steps, runs: int) -> list[dict[str, int]]:
    """Log-uniform lengths, from a twentieth of the largest container on: clips of 1.5 to 30 s."""
    shares = np.exp(np.random.default_rng(0).uniform(math.log(0.05), 0, 2 * runs))
    return [_accepted(model, largest, float(share)) for share in shares]


def _seconds(model: Model, steps: Steps) -> float | None:
    assert model.metadata is not None
    rates = {name: symbol.rate for name, symbol in model.metadata.symbols.items()}
    return next((size / rate for name, size in steps.items() if (rate := rates[name])), None)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
