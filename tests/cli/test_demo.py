"""What ``paddable demo`` shows, on a terminal of 80 columns."""

from __future__ import annotations

from typing import Any

import pytest

from paddable.api.demonstrating import DemoReport
from paddable.findings import Finding

from .conftest import Library

NODES = [f"/acoustic_model/backbone/backbone.{i}/se/pool/GlobalAveragePool" for i in range(3)]
LEAK = "the mean over time counts the padding"
HEARD = {"clip alone": "ænd soʊ maɪ", "published, in 30 s": "æn fɔ m", "converted, in 30 s": "ænd soʊ maɪ"}


def test_every_site_is_whole_and_the_published_text_stands_beside(
    paddable: Any, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    findings = tuple(Finding("PAD101", node, "GlobalAveragePool", LEAK, "masked sum") for node in NODES)
    row = {"clip": "a.wav", "container": "30 s", "published %": 85.5, "converted %": 100.0}
    library.answer = DemoReport(findings, (row,), {"a.wav": HEARD})
    result = paddable("demo")
    assert result.code == 0
    lines = [line.strip() for line in result.out.splitlines()]
    assert max(len(line) for line in result.out.splitlines()) <= 80
    assert lines.count(f"PAD101 {LEAK}") == 1
    assert [line for line in lines if line in NODES] == NODES
    assert [" ".join(line.split()[-3:]) for line in lines if line.endswith(("maɪ", "fɔ m"))] == list(HEARD.values())
