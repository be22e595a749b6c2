"""``paddable doctor``: what is here, and what an error means."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from paddable.errors import MissingExtraError
from paddable.runtime.session import environment
from paddable.runtime.session.recommendation import recommend


def test_the_cpu_is_here(paddable: Any) -> None:
    done = paddable("doctor", "--json")
    told = json.loads(done.out)
    rows = {row["provider"]: row for row in told["providers"]}
    assert done.code == 0 and told["ok"] and rows["cpu"]["here"]
    assert rows["directml"]["onnxruntime"] == "DmlExecutionProvider" and rows["directml"]["shapes"] == "static"
    assert {row["extra"] for row in told["extras"]} == {"convert", "export", "audio", "demo", "hub"}
    assert "CPUExecutionProvider" in paddable("doctor").out


def test_no_runtime_is_a_problem_with_a_remedy(paddable: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise MissingExtraError("no onnxruntime can be imported", fix='pip install ".[cpu]"')

    monkeypatch.setattr(environment, "import_onnxruntime", absent)
    done = paddable("doctor", "--json")
    told = json.loads(done.out)
    assert done.code == 1 and not told["ok"] and 'pip install ".[cpu]"' in told["problem"]
    assert not any(row["here"] for row in told["providers"])


@pytest.mark.parametrize("text", ["8007023E", "-2147024809", "Non-zero status code: 80070057 in Reshape"])
def test_errors_are_explained(paddable: Any, text: str) -> None:
    done = paddable("doctor", "--explain", text)
    assert done.code == 0 and "Usual cause" in done.out and "Next:" in done.out


def test_an_unknown_error_is_not_explained(paddable: Any) -> None:
    done = paddable("doctor", "--explain", "all is well")
    assert (done.code, done.out) == (1, "") and "nothing is known" in done.err
    assert json.loads(paddable("doctor", "--explain", "all is well", "--json").out) == {"ok": False, "explanations": []}


def test_a_model_is_judged_for_a_pytorch_backend(tmp_path: Path, paddable: Any) -> None:
    pytest.importorskip("torch")
    model = tmp_path / "model.py"
    model.write_text(
        "import torch\ndef build():\n    return torch.nn.GRU(4, 4), torch.ones(3, 1, 4)\ndef nothing():\n    pass\n"
    )
    done = paddable("doctor", f"{model}:build", "--backend", "torch-directml")
    assert done.code == 1 and "nn.GRU" in done.out and "instead:" in done.out
    assert paddable("doctor", f"{model}:build", "--backend", "torch-directml", "--json").code == 1
    for words, told in (
        ((f"{model}:build",), "--backend"),
        ((f"{model}:nothing", "--backend", "torch-directml"), "return (module, sample)"),
        ((f"{model}:absent", "--backend", "torch-directml"), "absent"),
        ((f"{tmp_path}/no.py:build", "--backend", "torch-directml"), "no such file"),
        ((f"{model}:build", "--backend", "dml"), "torch-directml"),
    ):
        done = paddable("doctor", *words)
        assert done.code == 2 and told in done.err and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("import sys\nsys.exit(0)\n", "model.py:2"),
        ("import sys\ndef build():\n    sys.exit(0)\n", "model.py:3"),
        ("def build():\n    raise ValueError('no weights')\n", "model.py:2"),
        ("import torch\ndef build():\n    return torch.nn.Linear(4, 4), torch.ones(2, 5)\n", "Linear"),
    ],
)
def test_a_model_that_cannot_be_examined_is_no_finding(tmp_path: Path, paddable: Any, text: str, where: str) -> None:
    pytest.importorskip("torch")
    model = tmp_path / "model.py"
    model.write_text(text)
    done = paddable("doctor", f"{model}:build", "--backend", "torch-directml")
    assert (done.code, done.out) == (2, "") and where in done.err and "Traceback" not in done.err


def test_what_to_use_is_told_for_each_system() -> None:
    for system, devices, first in (
        ("Windows", ["GPU"], "Windows ML"),
        ("Windows", ["NVIDIA GPU"], "CUDA"),
        ("Darwin", ["Apple GPU"], "CoreML"),
        ("Linux", ["NVIDIA GPU"], "CUDA"),
        ("Linux", ["AMD GPU"], "MIGraphX"),
        ("Linux", ["Intel GPU"], "OpenVINO"),
        ("Linux", [], "CPU"),
    ):
        found = recommend(system, devices)
        assert found.use.startswith(first), (system, devices)
        assert all(row["state"] and row["why"] for row in found.routes)
    rows = {row["route"]: row for row in recommend("Windows", ["GPU"]).routes}
    assert rows["DirectML"]["state"] == "sustained engineering" and rows["DirectML"]["successor"] == "Windows ML"
    assert not rows["torch-directml"]["fits"] and rows["torch-directml"]["state"] == "no longer released"


def test_the_recommendation_is_shown(paddable: Any) -> None:
    told = json.loads(paddable("doctor", "--json").out)
    assert told["use"] and {row["route"] for row in told["routes"]} >= {"CPU"} and "devices" in told


def test_a_model_file_is_imported_as_python_would_and_may_print(
    tmp_path: Path, paddable: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "beside_the_model.py").write_text("import torch\nLayer = torch.nn.Linear\n")
    model = tmp_path / "a_model_that_prints.py"
    model.write_text(
        "from __future__ import annotations\nimport dataclasses, torch\n@dataclasses.dataclass\nclass Config:\n"
        "    width: int = 4\ndef build():\n    from beside_the_model import Layer\n    print('building')\n"
        "    return Layer(Config().width, 4), torch.ones(2, 4)\n"
    )
    done = paddable("doctor", f"{model}:build", "--backend", "torch-directml", "--json")
    assert done.code == 0 and json.loads(done.out)["ok"]


def test_a_model_without_pytorch_is_told(paddable: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddable.cli.doctor.find_spec", lambda name: None)
    done = paddable("doctor", "model.py:build", "--backend", "torch-directml")
    assert done.code == 2 and "pip install torch" in done.err and "Traceback" not in done.err
