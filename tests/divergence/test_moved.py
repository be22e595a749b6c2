"""Numbers that lie somewhere else in the other graph: told where they are, and only where the numbers tell it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddable
from paddable.gates import engine
from paddable.graph.io import read

from .test_exchanged import FEED, two_products
from .test_stored import HEAD, WIDTH, Weights, drawn, encoder
from .test_verdicts import save

Change = tuple[str, np.ndarray]


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("moved") / "right.onnx", encoder(FEED), **plain())


def plain() -> Weights:
    """Blocks whose norms are as they are made, but for one."""
    held = two_products()
    for k in range(6):
        if k != 2:
            held[f"g{k}"], held[f"s{k}"] = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    return held


def halves(weight: np.ndarray) -> np.ndarray:
    return np.roll(weight, WIDTH // 2, 1)


W1, G2 = plain()["w1"], plain()["g2"]
MOVES: dict[str, tuple[Weights, str]] = {
    "rows": ({"w1": W1[::-1].copy()}, "they are the same numbers in another order;"),
    "halves": ({"w1": halves(W1)}, "they are the same numbers in another order: parts 1 and 2 of 2 along axis 1"),
    "turned": ({"w1": W1.T.copy()}, "it is transposed;"),
    "gain and shift": ({"g1": plain()["s1"], "s1": plain()["g1"]}, "(g1) of LayerNormalization differs"),
    "gain and shift, told": ({"g1": plain()["s1"], "s1": plain()["g1"]}, "it is exchanged with s1, another input"),
    "another's": ({"w1": plain()["u3"], "u3": W1}, "these numbers are those of MatMul"),
}


@pytest.mark.parametrize("case", MOVES)
def test_where_the_numbers_lie_is_told(tmp_path: Path, right: Path, case: str) -> None:
    held, told = MOVES[case]
    report = paddable.probe(save(tmp_path / "a.onnx", encoder(FEED), **{**plain(), **held}), right, ["x:1=T"])
    assert report.fork is not None and told in report.fork.cause.text + ";", report.verdict


def test_numbers_that_many_weights_have_tell_nothing(tmp_path: Path, right: Path) -> None:
    held = {**plain(), "g2": np.ones(WIDTH, np.float32)}
    report = paddable.probe(save(tmp_path / "a.onnx", encoder(FEED), **held), right, ["x:1=T"])
    assert report.fork is not None and "(g2) of LayerNormalization differs" in report.fork.cause.text, report.verdict
    assert "those of" not in report.verdict and "checkpoint" in report.fork.cause.fix


def test_directions_that_changed_places_are_no_other_weights(tmp_path: Path) -> None:
    text = (
        f"{HEAD}{{ t = Transpose <perm = [1, 0, 2]> (x) "
        'r = GRU <hidden_size = 8, direction = "bidirectional"> (t, w, h, b) '
        "s = Transpose <perm = [2, 0, 1, 3]> (r) y = Reshape (s, shape) }"
    )
    held = {"w": drawn(2, 24, WIDTH), "h": drawn(2, 24, 8), "b": drawn(2, 48), "shape": np.array([0, -1, WIDTH])}
    right = save(tmp_path / "right.onnx", text, **held)
    turned = {name: array if name == "shape" else array[::-1].copy() for name, array in held.items()}
    report = paddable.probe(save(tmp_path / "a.onnx", text, **turned), right, ["x:1=T"])
    assert report.fork is not None and not report.differences, report.verdict
    assert "the same numbers in another order: parts 1 and 2 of 2 along axis 0" in report.fork.cause.text


def test_three_weights_that_are_all_others(tmp_path: Path) -> None:
    text = HEAD + "{ a = MatMul (x, w) b = Relu (a) c = MatMul (b, v) d = Relu (c) y = MatMul (d, u) }"
    held, others = ({name: drawn(WIDTH, WIDTH, seed=k + n) for k, name in enumerate("wvu")} for n in (0, 9))
    right, wrong = save(tmp_path / "b.onnx", text, **held), save(tmp_path / "a.onnx", text, **others)
    assert "The weights differ: 0 of 3 are in both" in paddable.probe(wrong, right, ["x:1=T"]).verdict
    for name, array in held.items():
        others[name] = array.copy()
        others[name][2, 3] += 1
    assert not paddable.probe(save(tmp_path / "a.onnx", text, **others), right, ["x:1=T"]).differences


def test_an_attribute_that_one_graph_leaves_out_is_compared_by_what_that_means(tmp_path: Path) -> None:
    text = HEAD + "{{ a = MatMul (x, w) b = LeakyRelu{} (a) y = MatMul (b, v) }}"
    held = {"w": W1, "v": G2 * drawn(WIDTH, WIDTH)}
    right = save(tmp_path / "b.onnx", text.format(""), **held)
    report = paddable.probe(save(tmp_path / "a.onnx", text.format(" <alpha = 0.5>"), **held), right, ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "attributes", report.verdict
    assert "LeakyRelu has alpha=0.5 in the first graph and alpha=0.01" in report.fork.cause.text


def test_no_file_is_read_twice_and_no_weight_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + "{ a = MatMul (x, w) b = Relu (a) y = MatMul (b, v) }"
    held = {"w": drawn(WIDTH, 1024), "v": drawn(1024, WIDTH)}
    both = [save(tmp_path / f"{name}.onnx", text, **held) for name in "ab"]
    seen: list[Path] = []
    pieces: list[int] = []
    mapped, begin = read._map_file, engine.Engine.__init__

    def opened(self: engine.Engine, model: Path | bytes, **options: Any) -> None:
        pieces.extend([len(model)] if isinstance(model, bytes) else [])
        begin(self, model, **options)

    monkeypatch.setattr(read, "_map_file", lambda path: seen.append(path) or mapped(path))
    monkeypatch.setattr(engine.Engine, "__init__", opened)
    assert paddable.probe(*both, ["x:1=T"]).ok
    assert sorted(seen) == both
    assert pieces and max(pieces) < 4096
