"""Rows of unequal length share a graph of several rows where a measurement says that it is faster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import paddable
from paddable.bundle import Bundle, Graph, Symbol, new_directory, read_metadata, write_bundle
from paddable.errors import MisuseError, PaddableError
from paddable.runtime import Model
from paddable.runtime.session.graph import GraphSession
from paddable.runtime.session.rows import Paces

from .conftest import build

GAIN = np.array([3], np.float32)
ROWS = 3


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Containers of 8 and 32 steps, each of one row and of three."""
    with new_directory(tmp_path / "out") as beside:
        graphs = []
        for size in (8, 32):
            for rows in (1, ROWS):
                onnx.save(build(size, rows, symbol=Symbol("x", 1, min=4, step=2)), beside / f"{size}-{rows}.onnx")
                graphs.append(Graph(f"{size}-{rows}.onnx", {"T": size}, rows=rows if rows > 1 else None))
        metadata = replace(read_metadata(beside / "8-1.onnx"), container={})
        write_bundle(Bundle(metadata, tuple(graphs)), beside)
    return tmp_path / "out"


class Runs:
    """What ran, by rows and steps, and a clock that only runs move on."""

    def __init__(self, model: Model, monkeypatch: pytest.MonkeyPatch, together: float) -> None:
        self.seen: list[tuple[int, int]] = []
        self.now = 0.0
        answer = GraphSession.answer

        def seeing(graph: GraphSession, *work: Any) -> Any:
            rows, steps = graph.shapes["x"]
            self.seen.append((int(str(rows)), int(str(steps))))
            self.now += together if rows == ROWS else 1.0
            return answer(graph, *work)

        model.warm_up()
        monkeypatch.setattr(GraphSession, "answer", seeing)
        model._paces = Paces(lambda: self.now)

    def of(self, work: Any) -> list[tuple[int, int]]:
        """The runs of one call."""
        self.seen.clear()
        work()
        return list(self.seen)


def clips(*lengths: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(n).astype(np.float32) for n in lengths]


def of_rows(model: Model) -> list[Mapping[str, Any]]:
    return [row for row in model.describe().containers if "rows" in row]


def test_where_rows_are_faster_a_group_shares_a_run(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = paddable.load(bundle, "cpu")
    runs = Runs(model, monkeypatch, together=1.5)
    short = clips(6, 8, 4)
    first = runs.of(lambda: model.run({"x": short, "gain": GAIN}))
    assert first.count((3, 8)) == 4 and first.count((1, 8)) == 4  # one of each warms up
    told = {"alone": 3.0, "together": 1.5}
    assert of_rows(model)[0] | told == of_rows(model)[0] and of_rows(model)[1]["alone"] is None
    assert runs.of(lambda: model.run({"x": short, "gain": GAIN})) == [(3, 8)]
    assert runs.of(lambda: model.run({"x": short[:2], "gain": GAIN})) == [(3, 8)]  # 1.5 is less than 2
    assert runs.of(lambda: model.run({"x": short[:1], "gain": GAIN})) == [(1, 8)]
    assert runs.of(lambda: model.run({"x": short[0][None], "gain": GAIN})) == [(1, 8)]
    assert runs.of(lambda: model.run({"x": [*short, short[0]], "gain": GAIN})) == [(3, 8), (1, 8)]
    mixed = [short[0], *clips(30, 12), *short[1:]]
    assert runs.of(lambda: model.run({"x": mixed, "gain": GAIN})) == [(3, 8), (1, 32), (1, 32)]
    assert str(model.describe()) == "cpu, container, containers T=8, T=32, also of 3 rows"


def test_where_they_are_slower_every_row_runs_alone(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = paddable.load(bundle, "cpu")
    runs = Runs(model, monkeypatch, together=3.5)
    short = clips(6, 8, 4)
    assert (3, 8) in runs.of(lambda: model.run({"x": short, "gain": GAIN}))
    assert of_rows(model)[0]["together"] == 3.5
    assert of_rows(model)[0]["opened"] is None  # its weights take no memory any more
    assert runs.of(lambda: model.run({"x": short * 2, "gain": GAIN})) == [(1, 8)] * 6


def test_no_graph_is_opened_for_a_few_clips(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = paddable.load(bundle, "cpu")
    runs = Runs(model, monkeypatch, together=1.5)
    model.close()
    model._first.opened = 5.0  # as long as five runs take
    short = clips(6, 8, 4)
    assert runs.of(lambda: model.run({"x": short * 2, "gain": GAIN})) == [(1, 8)] * 6
    assert (3, 8) in runs.of(lambda: model.run({"x": short, "gain": GAIN}))


def test_rows_that_do_not_run_are_answered_one_by_one(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, answer = paddable.load(bundle, "cpu"), GraphSession.answer
    model.warm_up()

    def failing(graph: GraphSession, *work: Any) -> Any:
        if graph.shapes["x"][0] == ROWS:
            raise PaddableError("no memory")
        return answer(graph, *work)

    monkeypatch.setattr(GraphSession, "answer", failing)
    for _ in range(2):
        assert len(model.run({"x": clips(6, 8, 4), "gain": GAIN})["y"]) == 3
    assert of_rows(model)[0]["alone"] is not None and of_rows(model)[0]["together"] is None


def test_what_is_left_fills_the_run_of_a_longer_one(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = paddable.load(bundle, "cpu")
    runs = Runs(model, monkeypatch, together=1.5)
    long, mixed = clips(30, 12, 20), clips(30, 6, 8)
    model.run({"x": long, "gain": GAIN})
    # three of 32 steps take 3 s, so one and two of 8 steps take 1.5 s: no faster together
    assert runs.of(lambda: model.run({"x": mixed, "gain": GAIN})) == [(1, 8), (1, 8), (1, 32)]
    model._paces.found[1] = replace(model._paces.found[1], together=1.4)
    assert runs.of(lambda: model.run({"x": mixed, "gain": GAIN})) == [(3, 32)]
    # a container is not measured by rows that are much shorter
    model._paces.found.clear()
    assert runs.of(lambda: model.run({"x": mixed, "gain": GAIN})) == [(1, 8), (1, 8), (1, 32)]


@pytest.mark.parametrize("together", [0.5, 9.0])
def test_answers_are_those_of_one_by_one(bundle: Path, monkeypatch: pytest.MonkeyPatch, together: float) -> None:
    model, rows = paddable.load(bundle, "cpu"), clips(6, 30, 8, 4, 12, 8, 6, 32, 4, 4, 10, 8)
    Runs(model, monkeypatch, together)
    alone = [model.run({"x": row[None], "gain": GAIN}) for row in rows]
    for _ in range(2):  # measured, and known
        listed = model.run({"x": rows, "gain": GAIN})
        for number, one in enumerate(alone):
            for name, value in one.items():
                np.testing.assert_allclose(np.reshape(listed[name][number], value[0].shape), value[0], rtol=1e-6)
    array = np.stack([row[:4] for row in rows])
    lengths = [4, 0] * 6
    for name, value in model.run({"x": array, "ilens": lengths, "gain": GAIN}).items():
        for number, one in enumerate(value):
            expected = model.run({"x": array[number][None], "ilens": [lengths[number]], "gain": GAIN})[name][0]
            np.testing.assert_allclose(np.resize(one, np.shape(expected)), expected, rtol=1e-6)


def test_another_gain_is_no_row_of_the_group(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = paddable.load(bundle, "cpu")
    Runs(model, monkeypatch, together=0.5)
    rows = [model.prepare({"x": row[None], "gain": GAIN * k}) for k, row in enumerate(clips(6, 6, 6))]
    found = model.answer_prepared(rows)
    assert not found[0]["y"].any()
    np.testing.assert_allclose(found[2]["mean"] * 3, 6 * clips(6, 6, 6)[2].sum(keepdims=True), rtol=1e-5)


def test_one_that_is_too_long_is_told_before_it_waits(bundle: Path) -> None:
    model = paddable.load(bundle, "cpu")
    with pytest.raises(MisuseError, match="34 steps do not fit the largest container, 32 steps"):
        model.prepare({"x": clips(34)[0][None], "gain": GAIN})
    with pytest.raises(MisuseError, match="too short"):
        model.prepare({"x": clips(2)[0][None], "gain": GAIN})


def test_who_does_not_know_rows_finds_a_bundle_of_one_row(bundle: Path) -> None:
    said = json.loads((bundle / "bundle.json").read_text())
    assert [graph["file"] for graph in said["graphs"]] == ["8-1.onnx", "32-1.onnx"]
    assert [graph["rows"] for graph in said["row_graphs"]] == [ROWS, ROWS]
    del said["row_graphs"]  # as it was before there were any
    (bundle / "bundle.json").write_text(json.dumps(said))
    model = paddable.load(bundle, "cpu")
    assert not model.takes_rows and str(model.describe()) == "cpu, container, containers T=8, T=32"
    assert len(model.run({"x": clips(6, 30, 8), "gain": GAIN})["y"]) == 3


def test_graphs_of_rows_alone_are_no_graphs(bundle: Path) -> None:
    said = json.loads((bundle / "bundle.json").read_text())
    (bundle / "bundle.json").write_text(json.dumps(said | {"graphs": []}))
    with pytest.raises(MisuseError, match="the bundle has no graph for 'cpu'"):
        paddable.load(bundle, "cpu")


def test_all_are_warmed_up(bundle: Path) -> None:
    model = paddable.load(bundle, "cpu")
    model.warm_up()
    assert all(row["warmed"] is not None for row in model.describe().containers)
