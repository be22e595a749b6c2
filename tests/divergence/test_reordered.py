"""Faults at nodes that many look alike, without names and in another order: what a node reads tells which it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable

from . import planted
from .conftest import Find
from .test_verdicts import HEAD, save

Model = onnx.ModelProto
PLACES = [0, 1, 4, 9, 14, 19]


def stranger(model: Model, seed: int) -> tuple[Model, dict[str, str]]:
    """The model as another exporter might write it, and its new names."""
    return planted.scrambled(planted.reordered(model, seed))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("place", PLACES)
def test_a_missing_key_mask(place: int, seed: int, padded: Model, probed: Find) -> None:
    model, new = stranger(planted.unmasked(padded, f"block.{place}/softmax"), seed)
    found = probed(model).fork
    assert found is not None
    assert (found.node, found.other) == (new[f"block.{place}/softmax"], f"block.{place}/softmax")
    assert found.cause.code == "PAD103"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("place", PLACES)
def test_a_missing_softmax(place: int, seed: int, native: Model, probed: Find) -> None:
    model, _ = stranger(planted.without(native, f"block.{place}/softmax"), seed)
    found = probed(model).fork
    assert found is not None
    assert list(found.missing) == [f"block.{place}/softmax"]
    assert found.cause.kind == "structure"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("place", PLACES)
def test_a_softmax_along_another_axis(place: int, seed: int, native: Model, probed: Find) -> None:
    model, _ = stranger(planted.along(native, f"block.{place}/softmax", 2), seed)
    found = probed(model).fork
    assert found is not None
    assert found.other == f"block.{place}/softmax"
    assert found.cause.kind == "attributes"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_right_model_is_paired_whole(seed: int, native: Model, probed: Find) -> None:
    report = probed(stranger(native, seed)[0])
    assert report.ok, report.verdict
    assert report.matched["paired"] == report.matched["nodes of the other"]


HALVES = """(float[1, T, 8] x) => (float[1, T, 8] y) <int64[2] sizes = {4, 4}, int64 first = {0}, int64 second = {1}> {
    a = MatMul (x, w) s = SplitToSequence <axis = 2> (a, sizes)
    p = SequenceAt (s, first) q = SequenceAt (s, second) b = Relu (p)
    c = SequenceConstruct (SWAPPED) y = ConcatFromSequence <axis = 2> (c) }"""


def halves(place: Path, order: str) -> tuple[Path, Model]:
    weight = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
    file = save(place, HALVES.replace("SWAPPED", order), w=weight)
    return file, onnx.load(file)


@pytest.mark.parametrize("first", range(1, 7))
@pytest.mark.parametrize("seed", [1, 2])
def test_sequences_are_looked_through(tmp_path: Path, seed: int, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the first piece may end."""
    monkeypatch.setattr("paddable.divergence.parting._FIRST", first)
    right, model = halves(tmp_path / "right.onnx", "b, q")
    onnx.save(stranger(model, seed)[0], tmp_path / "other.onnx")
    report = paddable.probe(tmp_path / "other.onnx", right, ["x:1=T"])
    assert report.ok, report.verdict
    assert report.matched["paired"] == 7


@pytest.mark.parametrize("seed", [1, 2])
def test_a_sequence_in_another_order_is_wiring(tmp_path: Path, seed: int) -> None:
    right, _ = halves(tmp_path / "right.onnx", "b, q")
    _, model = halves(tmp_path / "wrong.onnx", "q, b")
    onnx.save(stranger(model, seed)[0], tmp_path / "wrong.onnx")
    found = paddable.probe(tmp_path / "wrong.onnx", right, ["x:1=T"]).fork
    assert found is not None and found.cause.kind == "wiring"
    assert "input 0 of SequenceConstruct is what the second graph reads as input 1" in found.cause.text


def test_an_output_that_is_a_sequence(tmp_path: Path) -> None:
    files = []
    for name, order in (("right", "a, b"), ("wrong", "b, a")):
        body = f"a = Tanh (x) b = Relu (x) y = SequenceConstruct ({order})"
        model = onnx.parser.parse_model(f"{HEAD}(float[1, T, 8] x) => (seq(float[1, T, 8]) y) {{ {body} }}")
        onnx.save(model, tmp_path / f"{name}.onnx")
        files.append(tmp_path / f"{name}.onnx")
    assert paddable.probe(files[0], files[0], ["x:1=T"]).ok
    found = paddable.probe(files[1], files[0], ["x:1=T"]).fork
    assert found is not None and found.op == "SequenceConstruct" and found.cause.kind == "wiring"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("place", PLACES)
def test_exchanged_weights(place: int, seed: int, native: Model, probed: Find) -> None:
    """Paired by their weights, they stand in each other's place; what reads them is named."""
    model = onnx.ModelProto()
    model.CopyFrom(native)
    q, k = (planted.node_of(model, f"block.{place}/{part}") for part in "qk")
    q.input[1], k.input[1] = k.input[1], q.input[1]
    found = probed(stranger(model, seed)[0]).fork
    assert found is not None and found.cause.kind == "wiring"
    assert found.other in {f"block.{place}/split_q", f"block.{place}/split_k"}
