"""Products of bytes that saturate on some processors, and the session entry that is asked for on those alone."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
from onnx import checker, load_from_string, parser, printer

from paddable.runtime.session import saturation

ENTRY = "session.x64quantprecision"


@pytest.fixture
def fresh():
    saturation.saturates.cache_clear()
    yield
    saturation.saturates.cache_clear()


def test_the_bytes_are_the_model_that_they_are_said_to_be() -> None:
    model = load_from_string(saturation._PRODUCT)
    checker.check_model(model)
    wanted = parser.parse_graph("g (uint8[4, 4] a) => (int32[4, 4] y) { y = MatMulInteger(a, b) }")
    wanted.initializer.extend(model.graph.initializer)
    assert printer.to_text(model.graph) == printer.to_text(wanted)
    weights = np.frombuffer(model.graph.initializer[0].raw_data, np.int8)
    assert (model.graph.initializer[0].name, list(model.graph.initializer[0].dims)) == ("b", [4, 4])
    assert (weights == 127).all()


def test_the_answer_is_this_processor_s(fresh: None) -> None:
    options = ort.SessionOptions()
    options.add_session_config_entry(ENTRY, "1")
    exact = ort.InferenceSession(saturation._PRODUCT, options)
    plain = ort.InferenceSession(saturation._PRODUCT)
    feeds = {"a": np.full((4, 4), 255, np.uint8)}
    assert (exact.run(None, feeds)[0] == 4 * 255 * 127).all()
    assert saturation.saturates() == (plain.run(None, feeds)[0] != exact.run(None, feeds)[0]).any()


@pytest.mark.parametrize(("product", "wanted"), [(65_534, True), (129_540, False)])
def test_a_product_that_is_wrong_saturates(fresh: None, monkeypatch, product: int, wanted: bool) -> None:
    class Session:
        def __init__(self, *_: object, **__: object) -> None: ...

        def run(self, *_: object) -> list[np.ndarray]:
            return [np.full((4, 4), product, np.int32)]

    monkeypatch.setattr("onnxruntime.InferenceSession", Session)
    assert saturation.saturates() is wanted


@pytest.mark.parametrize(("saturates", "wanted"), [(True, {ENTRY: "1", "a": "b"}), (False, {"a": "b"})])
def test_only_a_processor_that_saturates_is_asked(monkeypatch, saturates: bool, wanted: dict[str, str]) -> None:
    monkeypatch.setattr(saturation, "saturates", lambda: saturates)
    assert saturation.asked_here({ENTRY: "1", "a": "b"}) == wanted


def test_a_session_that_asks_for_nothing_does_not_try_the_processor(monkeypatch) -> None:
    monkeypatch.setattr(saturation, "saturates", lambda: pytest.fail("it was tried"))
    assert saturation.asked_here({"a": "b"}) == {"a": "b"}
