"""The guide of `families/README.md`, followed word by word: its files make a family that exports and transcribes."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

import paddable.families
from paddable import load
from paddable.api import export
from paddable.families.registry import FAMILIES

BLOCK = re.compile(r"```python\n# families/(hum/\w+\.py)\n(.*?)```", re.DOTALL)


@pytest.fixture
def family(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The guide's files, as if they lay among the families."""
    guide = (repository / "src/paddable/families/README.md").read_text(encoding="utf-8")
    files = dict(BLOCK.findall(guide))
    assert set(files) == {f"hum/{part}.py" for part in ("spec", "config", "model", "weights", "export")}
    (tmp_path / "hum").mkdir()
    for name, text in {**files, "hum/__init__.py": '"""Hum."""\n'}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(paddable.families, "__path__", [*paddable.families.__path__, str(tmp_path)])
    before = set(sys.modules)
    spec = import_module("paddable.families.hum.spec").HUM
    monkeypatch.setitem(FAMILIES, spec.name, spec)  # type: ignore[arg-type]
    yield spec.name
    for name in set(sys.modules) - before:
        if name.startswith("paddable.families.hum"):
            del sys.modules[name]


def test_the_guide_runs_to_its_end(family: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    bias = torch.tensor([-1e3, 0, 0, 0, 0])  # never the blank
    torch.save({"head.weight": torch.randn(5, 560), "head.bias": bias}, checkpoint / "model.pt")
    (checkpoint / "config.yaml").write_text(yaml.safe_dump({"model": "Hum", "input_size": 560}))
    (checkpoint / "tokens.json").write_text(json.dumps(["<blank>", "▁la", "▁li", "▁lo", "▁lu"]))
    sound = np.random.default_rng(0).standard_normal(24_000).astype(np.float32) / 10
    model = load(export(family, checkpoint, tmp_path / "bundle", containers=["2s"]), "cpu")
    text = model.transcribe(sound).text
    assert text and set(text.split()) <= {"la", "li", "lo", "lu"}
