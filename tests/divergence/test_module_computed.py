"""A PyTorch module against its ONNX: what is computed of a parameter is none, and two exchanged are no block."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddable

from .built import exported

torch = pytest.importorskip("torch")

MODEL = """
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.tensor(0.1))

    def forward(self, x):
        return x * (x.pow(2).mean(-1, keepdim=True) + 0.25).rsqrt() * self.gain.exp()


class Res(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()
        self.one, self.two = nn.Conv1d(8, 8, 3, padding=1), nn.Conv1d(8, 8, 3, padding=1)

    def forward(self, x):
        return x + self.two(torch.relu(self.one(self.norm(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.comb, self.blocks = nn.Parameter(torch.rand(8, 1)), nn.ModuleList([Res() for _ in range(3)])

    def forward(self, x):
        y = x
        for block in self.blocks:
            y = block(y)
        return x * (1 - self.comb) + y * self.comb


def build():
    torch.manual_seed(0)
    return Net().eval(), torch.randn(1, 8, 9)


def comb():
    model, sample = build()
    model.comb.data = 1 - model.comb.data
    return model, sample


def gain():
    model, sample = build()
    model.blocks[1].norm.gain.data += 0.05
    return model, sample


def exchanged():
    model, sample = build()
    one, two = model.blocks[0].one.weight, model.blocks[1].two.weight
    one.data, two.data = two.data, one.data
    return model, sample
"""
EXPORTERS = ["dynamo", "script", "unfolded"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(tmp_path_factory.mktemp("computed"), MODEL)


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_a_parameter_beside_what_is_computed_of_it_is_equal(folder: Path, exporter: str) -> None:
    report = paddable.probe(f"{folder}/model.py:build", folder / f"{exporter}.onnx")
    assert report.ok and not report.changed, report.verdict


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("comb", "parameter comb differs in 8 of 8 numbers"),
        ("gain", "parameter blocks.1.norm.gain, as it is read, differs"),
        ("exchanged", "it is exchanged with blocks.1.two.weight"),
    ],
)
def test_the_parameter_that_differs_is_told(folder: Path, exporter: str, fault: str, told: str) -> None:
    report = paddable.probe(f"{folder}/model.py:{fault}", folder / f"{exporter}.onnx")
    assert not report.ok and told.lower() in report.verdict.lower(), report.verdict
