"""Real weights on recorded speech: each precision keeps hama's answers, loud and quiet."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import pytest


@pytest.mark.shared
@pytest.mark.weights
def test_hama_is_finite_and_near_in_each_precision(shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Seconds of sound here; ``bash .ci/judges precision`` takes a minute, two more models and every recording."""
    spec = importlib.util.spec_from_file_location(
        "measure_real_weights", Path(__file__).with_name("measure_real_weights.py")
    )
    figures = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = figures  # its dataclasses look it up
    spec.loader.exec_module(figures)
    packages = Path(distribution("hama").locate_file(""))
    clips = figures.recordings(shared / "audio" / "en")
    short = {name: clips[name] for name in ("cards_001", "ps_goforward")}
    subject = replace(figures.hama(packages, tmp_path), seconds=2)
    assert figures.measure("hama", subject, short, tmp_path, ("fp16", "int8", "int8-dynamic")) == 0
    assert "5 of 54 products and convolutions stay in fp32" in capsys.readouterr().out
