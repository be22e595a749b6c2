"""The metadata object: whole in both directions, same bytes, and clear about what it cannot read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import parser

from paddable.bundle import KEY, Batch, Metadata, Remedy, Symbol, read_entries, read_metadata
from paddable.errors import MisuseError, UnreadableError

METADATA = Metadata(
    symbols={"T": Symbol("audio", 1, min=400, max=None, step=2, rate=16000.0)},
    container={"T": 24000},
    inputs={"audio": {1: "T"}},
    length_inputs={"ilens": "T"},
    lengths={"y": {10: "T", 2: "(T-80)//320+1"}},
    batch=Batch(None, {"audio": 0, "ilens": 0}, {"y": 0}),
    remedies=(Remedy("PAD102", "/conv/Conv", "zero first"),),
    verified={"C": {"worst": 1e-7}},
    versions={"paddable": "0.1.0", "onnx": "1.23"},
)


def test_what_is_written_is_read() -> None:
    assert Metadata.loads(METADATA.dumps(), where="x") == METADATA
    assert Metadata.loads(Metadata(symbols={}).dumps(), where="x") == Metadata(symbols={})


def test_the_object_has_the_keys_of_the_format() -> None:
    data = json.loads(METADATA.dumps())
    assert data["format"] == 1
    assert data["symbols"]["T"] == {"input": "audio", "axis": 1, "min": 400, "max": None, "step": 2, "rate": 16000.0}
    assert data["container"] == {"T": 24000}
    assert data["lengths"] == {"y": {"2": "(T-80)//320+1", "10": "T"}}
    assert data["remedies"] == [{"code": "PAD102", "node": "/conv/Conv", "remedy": "zero first"}]


def test_same_metadata_same_bytes() -> None:
    other = Metadata(
        **{
            **vars(METADATA),
            "lengths": {"y": {2: "(T-80)//320+1", 10: "T"}},
            "versions": {"onnx": "1.23", "paddable": "0.1.0"},
        }
    )
    assert other.dumps() == METADATA.dumps()


def test_a_newer_writer_may_add_keys() -> None:
    data = json.loads(METADATA.dumps())
    data["colour"] = "blue"
    data["symbols"]["T"]["colour"] = "blue"
    assert Metadata.from_json(data, where="x") == METADATA


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"format": 2}, "format 2"),
        ({}, "format None"),
        ([], "damaged"),
        ({"format": 1}, "damaged"),
        ({"format": 1, "symbols": {"T": {"axis": 1}}}, "damaged"),
        ({"format": 1, "symbols": {}, "lengths": {"y": {"first": "T"}}}, "damaged"),
    ],
)
def test_what_cannot_be_read_is_told(data: Any, told: str) -> None:
    with pytest.raises(UnreadableError) as error:
        Metadata.from_json(data, where="out.onnx")
    assert told in str(error.value)
    assert str(error.value).startswith("out.onnx: ")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("symbols", {}, "inputs.audio.1 is T, which is not among the symbols"),
        ("symbols", [], "symbols is [], expected a mapping"),
        ("symbols", {"T": {"input": None, "axis": 1}}, "symbols.T.input is None, expected a text"),
        ("symbols", {"T": {"input": "x", "axis": 1}}, "symbols.T is axis 1 of x, which is not among the inputs"),
        ("symbols", {"T": {"input": "audio", "axis": 5}}, "symbols.T is axis 5 of audio"),
        ("symbols", {"T": {"input": "audio", "axis": "1"}}, "symbols.T.axis is '1', expected a whole number"),
        ("symbols", {"T": {"input": "audio", "axis": 1, "min": "x"}}, "symbols.T.min is 'x', expected a whole number"),
        ("container", {"T": None}, "container is {'T': None}, expected a mapping, each value a whole number"),
        ("inputs", {"audio": {"1": 5}}, "inputs is {'audio': {'1': 5}}"),
        ("lengths", {"y": None}, "lengths is {'y': None}"),
        ("length_inputs", {"ilens": 5}, "length_inputs is {'ilens': 5}"),
        ("length_inputs", {"ilens": "X"}, "length_inputs.ilens is X, which is not among the symbols"),
        ("lengths", {"y": {}}, "lengths.y is {}, expected the length of an axis"),
        ("symbols", {"T": {"input": "audio", "axis": 1, "step": 0}}, "symbols.T.step is 0, expected 1 and more"),
        ("batch", {"size": 0, "inputs": {}, "outputs": {}}, "batch.size is 0, expected 1 and more"),
        ("batch", "x", "batch is 'x', expected a mapping or null"),
        ("batch", {"size": "x", "inputs": {}, "outputs": {}}, "batch.size is 'x', expected a whole number or null"),
        ("advice", {"cpu": 5}, "advice is {'cpu': 5}"),
        ("precision", 16, "precision is 16, expected a text"),
    ],
)
def test_a_value_of_another_type_is_named(key: str, value: Any, told: str) -> None:
    data = json.loads(METADATA.dumps()) | {key: value}
    with pytest.raises(UnreadableError) as error:
        Metadata.from_json(data, where="out.onnx")
    assert told in str(error.value)


def test_text_that_nests_too_deeply_is_told() -> None:
    with pytest.raises(UnreadableError, match="no JSON"):
        Metadata.loads("[" * 100_000, where="out.onnx")


def model(text: str | None) -> onnx.ModelProto:
    result = parser.parse_model('<ir_version: 9, opset_import: ["" : 17]> g (float[1] x) => (float[1] y) {y = Neg(x)}')
    result.doc_string = "é" * 200
    onnx.helper.set_model_props(result, {"other": "1"} if text is None else {"other": "1", KEY: text})
    return result


def test_metadata_of_a_file_without_onnx(tmp_path: Path) -> None:
    path = tmp_path / "модель.onnx"
    onnx.save(model(METADATA.dumps()), path)
    assert read_entries(path) == {"other": "1", KEY: METADATA.dumps()}
    assert read_metadata(path) == METADATA


def test_a_file_that_paddable_did_not_make(tmp_path: Path) -> None:
    onnx.save(model(None), tmp_path / "a.onnx")
    with pytest.raises(MisuseError, match="paddable convert"):
        read_metadata(tmp_path / "a.onnx")


def test_every_truncation_is_noticed_or_leaves_the_metadata_out(tmp_path: Path) -> None:
    whole = model(METADATA.dumps()).SerializeToString()
    path = tmp_path / "cut.onnx"
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        try:
            assert KEY not in read_entries(path) or read_entries(path)[KEY] == METADATA.dumps()
        except UnreadableError as error:
            assert "cut.onnx" in str(error)


@pytest.mark.parametrize(
    "content", [b"hello, this is a text file\n", b"\xff" * 50, b"PK\x03\x04" + bytes(30), b"RIFF$\0\0\0WAVE"]
)
def test_other_files_are_no_models(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.onnx").write_bytes(content)
    with pytest.raises(UnreadableError, match="not an ONNX model"):
        read_entries(tmp_path / "a.onnx")


def test_absent_files(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        read_entries(tmp_path / "a.onnx")
