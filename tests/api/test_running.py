"""Sample inputs: what a fix is compared on."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from paddable.api.running import Sampled, opened, sample_feeds
from paddable.gates.engine import EngineError


def _feeds(signature: str, body: str, **more: Any) -> list[dict[str, np.ndarray]]:
    text = f'<ir_version: 10, opset_import: ["" : 18]> a {signature} {{ {body} }}'
    with opened(ir.from_proto(onnx.parser.parse_model(text))) as engine:
        return sample_feeds(engine, **more)


def test_a_waveform_is_tried_at_two_lengths_and_two_scales() -> None:
    large, small = _feeds("(float[T] x) => (float[T] y)", "y = Neg(x)")
    assert large["x"].size > small["x"].size > 1
    assert np.abs(small["x"]).max() > 10 * np.abs(large["x"]).mean()


def test_a_batch_is_one_and_more() -> None:
    shapes = [feed["x"].shape for feed in _feeds("(float[B, 4, T] x) => (float[B, 4, T] y)", "y = Neg(x)")]
    assert [shape[0] for shape in shapes] == [1, 2] and shapes[0][2] != shapes[1][2]


def test_free_axes_have_sizes_of_their_own_where_the_model_lets_them() -> None:
    for feed in _feeds("(float[1, T] x, float[1, U] z) => (float[1, M] y)", "y = Concat<axis: int = 1>(x, z)"):
        assert feed["x"].size != feed["z"].size
    for feed in _feeds("(float[1, T] x, float[1, U] z) => (float[1, T] y)", "y = Add(x, z)"):
        assert feed["x"].size == feed["z"].size


def test_integers_and_booleans_vary() -> None:
    feeds = _feeds("(int64[1, T] i, bool[1, T] b) => (int64[1, T] y, bool[1, T] z)", "y = Neg(i) z = Not(b)")
    assert any((feed["i"] < 0).any() for feed in feeds)
    assert any(len(np.unique(feed["b"])) == 2 and len(np.unique(feed["i"])) > 2 for feed in feeds)


def test_indices_stay_in_a_small_table() -> None:
    table = "(int64[1, T] i, float[2, 3] t) => (float[1, T, 3] y)"
    assert all(feed["i"].max() < 2 for feed in _feeds(table, "y = Gather(t, i)"))


def test_length_inputs_of_a_container_say_full_and_less() -> None:
    signature = "(float[1, 12] x, int64[1] ilens) => (float[1, 12] y, int64[1] n)"
    full, part = _feeds(signature, "y = Neg(x) n = Neg(ilens)", container={"T": 12})
    assert full["ilens"].tolist() == [12] and 6 <= part["ilens"][0] <= 12


def test_an_answer_without_a_number_is_none() -> None:
    body = "z = Constant<value = int64[1] {0}>() y = Slice(x, z, z)"
    assert _feeds("(float[T] x) => (float[M] y)", body) == []


def test_what_does_not_load_is_told_without_a_path() -> None:
    model = ir.from_proto(
        onnx.parser.parse_model(
            '<ir_version: 10, opset_import: ["" : 18]> a (float[4] x) => (float[4] y) { y = Unsqueeze(x) }'
        )
    )
    with pytest.raises(EngineError) as told:
        Sampled()(model)
    assert "onnx.py" not in str(told.value) and "model.onnx" not in str(told.value)


def test_time_may_lead_without_a_batch() -> None:
    """Ten frames at least, as in front of a subsampling."""
    body = "a = Constant<value = int64[2] {0, 1}>() u = Unsqueeze(x, a) y = MaxPool<kernel_shape = [10, 1]>(u)"
    large, small = _feeds("(float[T, 8] x) => (float[1, 1, M, 8] y)", body)
    assert large["x"].shape[0] > small["x"].shape[0] >= 10


def test_inputs_are_drawn_once_and_only_when_a_fix_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '<ir_version: 10, opset_import: ["" : 18]> a (float[T] x) => (float[T] y) { y = Neg(x) }'
    model = ir.from_proto(onnx.parser.parse_model(text))
    drawn: list[None] = []
    monkeypatch.setattr("paddable.api.running.sample_feeds", lambda *a: drawn.append(None) or sample_feeds(*a))
    runner = Sampled()
    assert not drawn
    first, second = runner(model), runner(model)
    assert len(drawn) == 1 and all((a == b).all() for a, b in zip(first[0], second[0], strict=True))
