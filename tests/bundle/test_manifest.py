"""bundle.json: what is written is read, and files are those that were written."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paddable.bundle import (
    CHEAP,
    Bundle,
    Graph,
    Metadata,
    Symbol,
    new_directory,
    read_bundle,
    read_metadata,
    write_bundle,
)
from paddable.errors import UnreadableError

BUNDLE = Bundle(
    metadata=Metadata(symbols={"T": Symbol("audio", 1, rate=16000)}, lengths={"y": {1: "T//160"}}),
    graphs=(
        Graph("cpu-fp32-16000.onnx", {"T": 16000}),
        Graph("cpu-fp32-80000.onnx", {"T": 80000}),
        Graph("directml-fp16-16000.onnx", {"T": 16000}, "directml", "fp16"),
        Graph("cpu-fp32-16000-8rows.onnx", {"T": 16000}, rows=8),
    ),
    native="native.onnx",
    sample_rate=16000,
    front_end={"kind": "in-graph"},
    labels="tokens.json",
    units={"y_length": "frames of 10 ms"},
)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    with new_directory(tmp_path / "out") as beside:
        for name in (*(graph.file for graph in BUNDLE.graphs), "native.onnx", "tokens.json"):
            (beside / name).write_text(name)
        write_bundle(BUNDLE, beside)
    return tmp_path / "out"


def test_what_is_written_is_read(written: Path) -> None:
    bundle = read_bundle(written, check_below=math.inf)
    assert replace(bundle, files={}) == BUNDLE
    assert set(bundle.files) == {path.name for path in written.iterdir()} - {"bundle.json"}
    assert read_metadata(written) == BUNDLE.metadata


def test_the_order_of_graphs_does_not_matter(tmp_path: Path) -> None:
    texts = []
    for graphs in (BUNDLE.graphs, BUNDLE.graphs[::-1]):
        write_bundle(replace(BUNDLE, graphs=graphs), tmp_path)
        texts.append((tmp_path / "bundle.json").read_bytes())
    assert texts[0] == texts[1]
    data = json.loads(texts[0])
    assert data["format"] == 1
    assert data["targets"] == ["cpu", "directml"]
    assert data["precisions"] == ["fp16", "fp32"]


def test_a_changed_file_is_found_on_request(written: Path) -> None:
    (written / "cpu-fp32-16000.onnx").write_text("cpu-fp32-16000.onnX")
    read_bundle(written)
    with pytest.raises(UnreadableError, match=r"cpu-fp32-16000\.onnx"):
        read_bundle(written, check_below=math.inf)


def test_a_missing_file_is_found_on_request(written: Path) -> None:
    (written / "tokens.json").unlink()
    with pytest.raises(UnreadableError, match="missing"):
        read_bundle(written, check_below=math.inf)


def test_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"bundle\.json"):
        read_bundle(tmp_path)
    for text in ("{", "[" * 100_000):
        (tmp_path / "bundle.json").write_text(text)
        with pytest.raises(UnreadableError, match="no JSON"):
            read_bundle(tmp_path)


@pytest.mark.parametrize("name", ["../x.onnx", "/etc/passwd", "a/../../x", "C:\\x.onnx", "..\\x.onnx", ""])
def test_a_bundle_never_names_a_file_outside_of_it(written: Path, name: str) -> None:
    data: dict[str, Any] = json.loads((written / "bundle.json").read_text())
    data["graphs"][0]["file"] = name
    (written / "bundle.json").write_text(json.dumps(data))
    with pytest.raises(UnreadableError, match="outside the bundle"):
        read_bundle(written)


def test_a_damaged_bundle(written: Path) -> None:
    data: dict[str, Any] = json.loads((written / "bundle.json").read_text())
    del data["graphs"][0]["container"]
    (written / "bundle.json").write_text(json.dumps(data))
    with pytest.raises(UnreadableError, match="damaged"):
        read_bundle(written)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("step_graphs", 3, "step_graphs is 3, expected a list, each item a text"),
        ("step_graphs", [3], "expected a list, each item a text"),
        ("graphs", {"a": 1}, "graphs is {'a': 1}, expected a list, each item a mapping"),
        ("labels", ["a"], "labels is ['a'], expected a text or null"),
        ("native", 1, "native is 1, expected a text or null"),
        ("family", {}, "family is {}, expected a text or null"),
        ("sample_rate", "16k", "sample_rate is '16k', expected a whole number or null"),
        ("sample_rate", True, "sample_rate is True"),
        ("front_end", [], "front_end is [], expected a mapping or null"),
        ("settings", None, "settings is None, expected a mapping"),
        ("units", {"T": 1}, "units is {'T': 1}, expected a mapping, each value a text"),
        ("files", {"a": None}, "files is {'a': None}, expected a mapping, each value a text"),
        ("files", "x", "files is 'x'"),
    ],
)
def test_a_value_of_another_type_is_one_line(written: Path, key: str, value: object, told: str) -> None:
    data = json.loads((written / "bundle.json").read_text())
    (written / "bundle.json").write_text(json.dumps(data | {key: value}))
    with pytest.raises(UnreadableError) as caught:
        read_bundle(written)
    assert told in str(caught.value) and str(written / "bundle.json") in str(caught.value)


@pytest.mark.parametrize(
    "part", [{"file": 1}, {"container": {"T": "5"}}, {"target": None}, {"container": 5}, {"rows": "8"}, {"rows": 1}]
)
def test_a_graph_of_another_type_is_one_line(written: Path, part: dict[str, object]) -> None:
    data = json.loads((written / "bundle.json").read_text())
    data["graphs"][0] |= part
    (written / "bundle.json").write_text(json.dumps(data))
    with pytest.raises(UnreadableError, match=f"{next(iter(part))} of a graph is"):
        read_bundle(written)


def test_a_graph_of_rows_says_how_many(written: Path) -> None:
    data = json.loads((written / "bundle.json").read_text())
    del data["row_graphs"][0]["rows"]
    (written / "bundle.json").write_text(json.dumps(data))
    with pytest.raises(UnreadableError, match="rows of a graph is 0, expected 2 and more"):
        read_bundle(written)


def test_small_files_are_compared_with_their_checksums_at_once(written: Path) -> None:
    (written / "tokens.json").write_text("x" * 5)
    with pytest.raises(UnreadableError, match="not the one that the bundle was written with"):
        read_bundle(written, check_below=CHEAP)
    read_bundle(written, check_below=5)  # a larger file is not read
