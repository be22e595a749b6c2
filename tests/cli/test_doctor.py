"""``paddable doctor``: what is here, and what an error means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paddable.errors import MissingExtraError
from paddable.runtime.session import environment


def test_the_cpu_is_here(paddable: Any) -> None:
    done = paddable("doctor", "--json")
    told = json.loads(done.out)
    rows = {row["provider"]: row for row in told["providers"]}
    assert done.code == 0 and told["ok"] and rows["cpu"]["here"]
    assert rows["directml"]["onnxruntime"] == "DmlExecutionProvider" and rows["directml"]["shapes"] == "static"
    assert {row["extra"] for row in told["extras"]} == {"convert", "export", "audio", "demo"}
    assert "CPUExecutionProvider" in paddable("doctor").out


def test_no_runtime_is_a_problem_with_a_remedy(paddable: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise MissingExtraError("no onnxruntime can be imported", fix='pip install "paddable[cpu]"')

    monkeypatch.setattr(environment, "import_onnxruntime", absent)
    done = paddable("doctor", "--json")
    told = json.loads(done.out)
    assert done.code == 1 and not told["ok"] and 'pip install "paddable[cpu]"' in told["problem"]
    assert not any(row["here"] for row in told["providers"])


@pytest.mark.parametrize("text", ["8007023E", "-2147024809", "Non-zero status code: 80070057 in Reshape"])
def test_errors_are_explained(paddable: Any, text: str) -> None:
    done = paddable("doctor", "--explain", text)
    assert done.code == 0 and "Usual cause" in done.out and "Next:" in done.out


def test_an_unknown_error_is_not_explained(paddable: Any) -> None:
    done = paddable("doctor", "--explain", "all is well")
    assert (done.code, done.out) == (1, "") and "nothing is known" in done.err
    assert json.loads(paddable("doctor", "--explain", "all is well", "--json").out) == {"ok": False, "explanations": []}
