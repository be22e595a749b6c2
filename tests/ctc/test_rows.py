"""A stranger's recogniser with containers of several rows: clips of unequal length in one run, each as alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

import paddable
from paddable.bundle import read_bundle
from paddable.errors import MisuseError, PaddableError
from paddable.gates import GateReport
from paddable.runtime import Model
from paddable.runtime.session.rows import Pace

from .ctc_models import recogniser, tokens

SOUND = np.random.default_rng(1).normal(0, 0.3, 16_000).astype(np.float32)
ROWS = 3


def export(folder: Path, *, rows: int = ROWS, form: dict[str, str] | None = None, **choices: object) -> Path:
    model = recogniser(folder / "model.onnx", **(form or {}))
    labels = tokens(folder / "tokens.txt")
    asked = {"labels": labels, "containers": ["0.5s", "1s"], "sample_rate": 16_000, "gate_lengths": 3} | choices
    return paddable.export("ctc", model, folder / "bundle", rows=rows, **asked)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, GateReport]:
    reports: list[GateReport] = []
    form = {"output_axes": "TBV", "lengths": "wav_lengths"}
    return export(tmp_path_factory.mktemp("rows"), form=form, on_report=reports.append), reports[0]


def together(model: Model) -> Model:
    """The model, as if rows had been measured to be faster."""
    model._paces.found.update(dict.fromkeys(range(2), Pace(9.0, 0.1, 3.0)))
    return model


def test_the_bundle_holds_both_and_the_gates_judged_them(made: tuple[Path, GateReport]) -> None:
    folder, report = made
    graphs = read_bundle(folder).graphs
    assert [(graph.file, graph.rows) for graph in graphs] == [
        ("cpu-fp32-8000.onnx", None),
        ("cpu-fp32-16000.onnx", None),
        ("cpu-fp32-8000-3rows.onnx", ROWS),
        ("cpu-fp32-16000-3rows.onnx", ROWS),
    ]
    judged = {row.model for row in report.rows}
    assert judged == {"symbolic", "S=8000", "S=16000", "S=8000 of 3 rows", "S=16000 of 3 rows"}
    assert report.ok and len(list(folder.glob("*.data"))) == 1
    again = paddable.verify(folder, limit=2)
    assert again.ok and {row.model for row in again.rows} == {graph.file for graph in graphs}
    assert [graph.get("rows") for graph in paddable.inspect(folder).graphs] == [None, None, ROWS, ROWS]


@pytest.mark.parametrize("provider", ["cpu", "auto"])
def test_rows_are_answered_as_alone(made: tuple[Path, GateReport], provider: str) -> None:
    model = paddable.load(made[0], provider)
    sounds = [SOUND[:length] for length in (500, 15_999, 8_000, 4_321, 16_000, 7_000, 401)]
    alone = [model.run({"audio": sound[None]})["scores"][:, 0] for sound in sounds]
    found = together(model).run({"audio": sounds})["scores"]
    for one, row in zip(alone, found, strict=True):
        assert row.shape == one.shape and np.abs(row - one).max() <= 2e-6 * np.abs(one).max()


@pytest.mark.parametrize("provider", ["cpu", "auto"])
def test_many_files_are_heard_as_one_by_one(made: tuple[Path, GateReport], tmp_path: Path, provider: str) -> None:
    lengths = {"a": 7_000, "b": 15_000, "c": 300, "d": 0, "f": 8_000, "g": 17_000, "h": 6_543, "i": 5_000, "j": 16_000}
    for name, length in lengths.items():
        soundfile.write(tmp_path / f"{name}.wav", np.resize(SOUND, length), 16_000, subtype="FLOAT")
    (tmp_path / "e.wav").write_text("no sound")
    files = sorted(tmp_path.glob("*.wav"))
    one = paddable.load(made[0], provider)
    expected: list[object] = []
    for file in files:
        try:
            expected.append(one.transcribe(file, timestamps=True))
        except PaddableError as error:
            expected.append(str(error))
    found = list(together(one).transcribe_many(files, timestamps=True))
    assert [file for file, _ in found] == files
    for (_, got), want in zip(found, expected, strict=True):
        assert (str(got) if isinstance(want, str) else got) == want
    assert [row["opened"] is not None for row in one.describe().containers if "rows" in row] == [True, True]


def test_bench_tells_what_rows_cost(made: tuple[Path, GateReport]) -> None:
    from paddable.runtime.benchmark import bench

    forms = [(row["form"], row["steps"]["S"], row["ratio"] > 0) for row in bench(made[0], "cpu", runs=3).steady]
    assert [form[:2] for form in forms if "rows" in form[0]] == [("3 rows", 8_000), ("3 rows", 16_000)]
    assert all(form[2] for form in forms)


@pytest.mark.parametrize("form", [{"input_axes": "S", "output_axes": "TV"}, {"input_axes": "BS", "declared": {"B": 1}}])
def test_a_graph_of_one_row_is_refused(form: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=r"takes one row a call.*no batch axis of open size"):
        export(tmp_path, form=form)


@pytest.mark.parametrize(
    ("family", "why"), [("fsmn-vad", "window by window"), ("qwen3-tts-codec", "the state of one stream")]
)
def test_a_family_of_one_row_is_refused_before_it_is_loaded(family: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=f"{family} takes one row a call.*{why}"):
        paddable.export(family, tmp_path / "nothing", tmp_path / "out", rows=4)
    with pytest.raises(MisuseError, match="no number of rows"):
        paddable.export(family, tmp_path / "nothing", tmp_path / "out", rows=0)
