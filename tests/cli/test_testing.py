"""paddable.testing is thin: it hands over to verify and convert, and tells what failed."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import onnx
import pytest

import paddable.testing

from .conftest import Library

MODEL = onnx.parser.parse_model('<ir_version: 9, opset_import: ["" : 17]> g (float[1] x) => (float[1] y) {y = Neg(x)}')


@pytest.fixture
def testing(library: Library, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(paddable.testing, "api", library)
    return paddable.testing


def verdict(*rows: dict[str, Any]) -> SimpleNamespace:
    return SimpleNamespace(ok=all(row["ok"] for row in rows), to_json=lambda: {"rows": list(rows)})


def test_models_in_memory_are_judged_as_files(testing: ModuleType, library: Library) -> None:
    seen = []

    def verify(padded: Path, against: Path | None, **_: Any) -> SimpleNamespace:
        seen.extend([onnx.load(padded), against])
        return verdict({"output": "y", "length": 7, "ok": True})

    library.verify = verify
    testing.assert_padding_invariant(MODEL)
    assert seen == [MODEL, None]


def test_a_failure_names_outputs_and_lengths(testing: ModuleType, library: Library) -> None:
    library.answer = verdict(
        {"output": "y", "length": 7, "error": 0.25, "ok": False}, {"output": "z", "length": 8, "error": 0.0, "ok": True}
    )
    library.diagnose = lambda *_: ["the runs part at Conv conv_3", "the report is r.html"]
    with pytest.raises(AssertionError) as error:
        testing.assert_padding_invariant("padded.onnx", "native.onnx", lengths=[7], seed=3)
    assert "the runs part at Conv conv_3\n  the report is r.html" in str(error.value)
    assert "output y, length 7, error 0.25" in str(error.value)
    assert "output z" not in str(error.value)
    assert library.calls == [
        ("verify", (Path("padded.onnx"), Path("native.onnx")), {"lengths": [7], "exhaustive": False, "seed": 3})
    ]


def test_a_failing_row_is_told_in_words(testing: ModuleType, library: Library) -> None:
    row = {"output": "y", "length": 7, "container": 20, "error": 0.25, "tolerance": 1e-05, "noise": 1e-7, "cosine": 0.9}
    library.answer = verdict({**row, "length_right": True, "zero_behind": False, "junk": None, "note": "", "ok": False})
    library.diagnose = lambda *_: []
    with pytest.raises(AssertionError) as error:
        testing.assert_padding_invariant("padded.onnx", "native.onnx")
    wanted = "output y, length 7, container 20, error 0.25, 1e-05 is allowed, it is not 0 past its length"
    assert str(error.value).splitlines()[-1].strip() == wanted


def test_convertible_converts_then_judges(testing: ModuleType, library: Library) -> None:
    library.answer = verdict({"output": "y", "length": 7, "ok": True})
    library.convert = lambda *args, out, **kwargs: library.calls.append(("convert", args, kwargs)) or out
    testing.assert_convertible("native.onnx", ["x:1=T"], containers=["8"], length_inputs=["n=T"])
    (_, args, kwargs), (_, judged, _) = library.calls
    assert args == (Path("native.onnx"), ["x:1=T"])
    assert kwargs == {"containers": ("8",), "verify": False, "length_inputs": ["n=T"]}
    assert judged[1] == Path("native.onnx")
