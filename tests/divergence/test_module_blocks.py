"""A PyTorch module against its ONNX: a block more or less is told as that, and a prompt by its table."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddable

from .built import built

torch = pytest.importorskip("torch")

MODEL = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.conv, self.scale = nn.LayerNorm(8), nn.Conv1d(8, 8, 3, padding=1), nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 8)
        self.scale.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return x + self.out(torch.relu(self.scale(self.conv(self.norm(x).transpose(1, 2)))).transpose(1, 2))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.prompt, self.token = nn.Embedding(6, 8), 2
        self.blocks = nn.ModuleList([Block() for _ in range(4)])

    def forward(self, x):
        x = torch.cat([self.prompt(torch.tensor([[self.token, 4]])), x], 1)
        for block in self.blocks:
            x = block(x)
        return x


def build():
    torch.manual_seed(0)
    return Net().eval(), torch.randn(1, 9, 8)


def twice():
    model, sample = build()
    model.blocks.insert(2, model.blocks[1])
    return model, sample


def shorter():
    model, sample = build()
    del model.blocks[1]
    return model, sample


def longer():
    model, sample = build()
    model.blocks.insert(2, Block().eval())
    return model, sample


def row():
    model, sample = build()
    model.prompt.weight.data[4, 5] += 1
    return model, sample


def token():
    model, sample = build()
    model.token = 3
    return model, sample
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("module")
    model, sample = built(folder, MODEL)
    torch.onnx.export(model, (sample,), folder / "model.onnx", dynamo=False, input_names=["x"], output_names=["y"])
    return folder


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("build", "kind", "told"),
    [
        ("twice", "structure", "blocks.2 of the module is blocks.1 once more, and the graph has it only once"),
        (
            "shorter",
            "structure",
            "graph has blocks.1, which the module lacks: the weights of the module's blocks.1 are those of blocks.2",
        ),
        ("longer", "structure", "the module has blocks.2, whose weights are nowhere in the graph"),
        ("row", "weights", "prompt.weight, as it is read, differs in 1 of 16 numbers, most at [0, 1, 5]: "),
        ("token", "weights", "prompt.weight, read at other places, differs in 8 of 16 numbers"),
    ],
)
def test_what_the_module_has_otherwise_is_named(place: Path, build: str, kind: str, told: str) -> None:
    report = paddable.probe(f"{place}/model.py:{build}", place / "model.onnx")
    assert report.fork is not None and report.fork.cause.kind == kind
    assert told in report.fork.cause.text
    assert kind == "weights" or not report.changed


def test_the_same_blocks_agree(place: Path) -> None:
    report = paddable.probe(f"{place}/model.py:build", place / "model.onnx")
    assert report.ok and not report.changed, report.verdict
