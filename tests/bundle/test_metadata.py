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
