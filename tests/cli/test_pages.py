"""``--report``: what it may replace, what it says of a refusal, and where it does not go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest

HEAD = '<ir_version: 9, opset_import: ["" : 18]> g '
GOOD = HEAD + "(float[1, T, 4] x) => (float[1, T, 4] y) { y = Relu (x) }"
REFUSED = '<ir_version: 9, opset_import: ["" : 18, "strange" : 1]> g (float[1, T, 4] x) => (float[1, T, 4] y) '
REFUSED += "{ y = strange.What (x) }"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``good.onnx``, ``refused.onnx`` and ``padded.onnx``."""
    import paddable

    for name, text in (("good", GOOD), ("refused", REFUSED)):
        onnx.save(onnx.parser.parse_model(text), tmp_path / f"{name}.onnx")
    good = tmp_path / "good.onnx"
    paddable.convert(good, ["x:1=T"], containers=[20], out=tmp_path / "padded.onnx", verify=False)
    return tmp_path


def _words(command: str, folder: Path) -> list[str]:
    good, padded = str(folder / "good.onnx"), str(folder / "padded.onnx")
    return {
        "probe": ["probe", padded, "--against", good],
        "verify": ["verify", padded, "--against", good, "--gate-lengths", "2"],
        "convert": ["convert", good, "-o", str(folder / "new.onnx"), "--length", "x:1=T", "--container", "20"],
    }[command]


@pytest.mark.parametrize("command", ["probe", "verify", "convert"])
@pytest.mark.parametrize("name", ["good.onnx", "./good.onnx"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_input_is_never_replaced(paddable: Any, folder: Path, command: str, name: str, force: list[str]) -> None:
    before = (folder / "good.onnx").read_bytes()
    done = paddable(*_words(command, folder), "--report", f"{folder}/{name}", *force)
    assert done.code == 2 and "the page would replace what the command reads or writes" in done.err
    assert (folder / "good.onnx").read_bytes() == before
    assert not (folder / "new.onnx").exists()


@pytest.mark.parametrize("command", ["probe", "verify"])
def test_what_is_no_page_stays(paddable: Any, folder: Path, command: str) -> None:
    for force in ([], ["--force"]):
        labels = folder / "labels.txt"
        labels.write_text("mine")
        done = paddable(*_words(command, folder), "--report", str(labels), *force)
        assert done.code == 2 and "no page of ours; name another file\n" in done.err and labels.read_text() == "mine"
    notes = folder / "notes.html"
    notes.write_text("mine")
    done = paddable(*_words(command, folder), "--report", str(notes))
    assert done.code == 2 and "no page of ours" in done.err and "--force" in done.err
    assert notes.read_text() == "mine"
    assert paddable(*_words(command, folder), "--report", str(notes), "--force").code == 0
    assert notes.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert paddable(*_words(command, folder), "--report", str(notes)).code == 0  # a page replaces a page


@pytest.mark.parametrize(
    ("place", "told"),
    [("", "it names no file"), (".", ""), ("none/x.html", "no such folder"), ("r.txt", "name it r.html")],
)
def test_a_place_that_is_none(paddable: Any, folder: Path, place: str, told: str) -> None:
    done = paddable(*_words("probe", folder), "--report", place and f"{folder}/{place}")
    assert done.code == 2 and told in done.err
    assert "internal error" not in done.err
    assert not (folder / "none").exists() and not (folder / "r.txt").exists()


def test_a_bundle_keeps_its_files(paddable: Any, folder: Path) -> None:
    words = ["convert", str(folder / "good.onnx"), "-o", f"{folder}/out/", "--length", "x:1=T", "--containers", "20,40"]
    assert paddable(*words, "--gate-lengths", "2").code == 0
    done = paddable("probe", f"{folder}/out", "--report", f"{folder}/out/page.html")
    assert done.code == 2 and "it would lie inside a bundle" in done.err


def test_a_refusal_has_its_page(paddable: Any, folder: Path) -> None:
    page = folder / "page.html"
    words = ["convert", str(folder / "refused.onnx"), "-o", str(folder / "new.onnx"), "--length", "x:1=T"]
    done = paddable(*words, "--container", "20", "--report", str(page))
    assert done.code == 1 and f"the page is {page}" in done.err
    told = page.read_text(encoding="utf-8")
    assert f"<strong>Refused</strong> {folder}/refused.onnx: " in told and "strange" in told
    assert not (folder / "new.onnx").exists()


def test_the_data_of_a_page_beside_it(paddable: Any, folder: Path) -> None:
    words = [*_words("verify", folder), "--json"]
    done = paddable(*words, "--report", str(folder / "page.html"))
    assert "verdict" in json.loads(done.out)["report"]
    assert "report" not in json.loads(paddable(*words).out)


def test_a_case_is_replaced_only_on_demand(paddable: Any, folder: Path) -> None:
    wrong = onnx.load(folder / "good.onnx")
    wrong.graph.node[0].op_type = "Abs"
    onnx.save(wrong, folder / "wrong.onnx")
    case = folder / "case"
    case.mkdir()
    (case / "mine.txt").write_text("mine")
    words = ["probe", str(folder / "wrong.onnx"), "--against", str(folder / "good.onnx"), "--length", "x:1=T"]
    done = paddable(*words, "--isolate", str(case))
    assert done.code == 2 and "it exists already" in done.err and (case / "mine.txt").exists()


def test_a_page_names_source_files_without_their_folders(paddable: Any, folder: Path) -> None:
    """A page is passed on, like the files that are written; the line says where to look."""
    model = onnx.parser.parse_model(
        HEAD + "(float[1, T, 4] x) => (float[1, 1, 4] y) { y = ReduceMean <axes = [1]> (x) }"
    )
    model.opset_import[0].version = 17
    trace = f'File "{folder}/secret/models.py", line 18, in forward'
    model.graph.node[0].metadata_props.add(key="pkg.torch.onnx.stack_trace", value=trace)
    onnx.save(model, folder / "traced.onnx")
    words = ["convert", str(folder / "traced.onnx"), "-o", str(folder / "new.onnx"), "--length", "x:1=T"]
    done = paddable(*words, "--container", "20", "--gate-lengths", "2", "--report", str(folder / "page.html"))
    assert done.code == 0, done.err
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "models.py:18" in page and "secret" not in page
