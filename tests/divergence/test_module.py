"""A PyTorch module against its ONNX: the module whose weight or code differs is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddable
from paddable.errors import MisuseError

torch = pytest.importorskip("torch")

MODEL = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def build():
    torch.manual_seed(0)
    model = nn.Sequential(*(Block() for _ in range(6))).eval()
    return model, torch.randn(1, 9, 8)


def changed():
    model, sample = build()
    model[3].up.weight.data[2, 1] += 0.5
    return model, sample


def scaled():
    model, sample = build()
    model[4].norm.eps = 0.5
    return model, sample
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("module")
    (folder / "model.py").write_text(MODEL)
    scope: dict[str, object] = {}
    exec(compile(MODEL, str(folder / "model.py"), "exec"), scope)
    model, sample = scope["build"]()  # type: ignore[operator]
    program = torch.onnx.export(model, (sample,), dynamo=True, verbose=False, input_names=["x"], output_names=["y"])
    program.save(folder / "model.onnx")
    return folder


def test_the_same_weights_agree(place: Path) -> None:
    report = paddable.probe(f"{place}/model.py:build", place / "model.onnx")
    assert report.ok, report.verdict
    assert report.matched["compared values"] >= 24


@pytest.mark.parametrize("turned", [False, True])
def test_a_changed_weight_is_found_in_its_module(place: Path, turned: bool) -> None:
    both = (f"{place}/model.py:changed", place / "model.onnx")
    report = paddable.probe(*(both[::-1] if turned else both))
    assert report.fork is not None
    assert (report.fork.module, report.fork.cause.kind) == ("3.up", "weights")
    assert "weight" in report.fork.cause.text


def test_other_code_is_found_in_its_module(place: Path) -> None:
    report = paddable.probe(f"{place}/model.py:scaled", place / "model.onnx")
    assert report.fork is not None
    assert (report.fork.module, report.fork.cause.kind) == ("4.norm", "structure")


def test_a_padded_graph_is_misuse(place: Path, folder: Path) -> None:
    with pytest.raises(MisuseError, match="compared with its native graph"):
        paddable.probe(f"{place}/model.py:build", folder / "padded.onnx")


EMBEDDED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.up = nn.Embedding(10, 8), nn.Linear(8, 16)

    def forward(self, ids):
        return torch.relu(self.up(self.embedding(ids)))


def build():
    torch.manual_seed(0)
    return Net().eval(), torch.tensor([[1, 2, 3, 4]])


def another():
    model, sample = build()
    model.embedding.weight.data[7, 2] = 3
    return model, sample
"""


def test_a_row_that_the_sample_does_not_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(EMBEDDED)
    scope: dict[str, object] = {}
    exec(compile(EMBEDDED, "model.py", "exec"), scope)
    model, sample = scope["build"]()  # type: ignore[operator]
    torch.onnx.export(model, (sample,), tmp_path / "model.onnx", dynamo=True, verbose=False)
    assert not paddable.probe(f"{tmp_path}/model.py:build", tmp_path / "model.onnx").changed
    report = paddable.probe(f"{tmp_path}/model.py:another", tmp_path / "model.onnx")
    assert report.ok
    assert "but 1 weight differs: embedding.weight in 1 of 80 numbers, most at [7, 2]: 3 and " in report.verdict


def test_a_python_file_without_its_function(place: Path) -> None:
    with pytest.raises(
        MisuseError, match=r"name the function that returns the module and its sample, such as .*:build"
    ):
        paddable.probe(place / "model.py", place / "model.onnx")
