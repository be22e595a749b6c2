"""A PyTorch module against its ONNX: the parameter that differs is named, whatever its form and its place."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddable

from .built import built, exported

torch = pytest.importorskip("torch")

EXPORTERS = ["dynamo", "script", "unfolded"]

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
    model, sample = built(tmp_path, EMBEDDED)
    torch.onnx.export(model, (sample,), tmp_path / "model.onnx", dynamo=True, verbose=False)
    assert not paddable.probe(f"{tmp_path}/model.py:build", tmp_path / "model.onnx").changed
    report = paddable.probe(f"{tmp_path}/model.py:another", tmp_path / "model.onnx")
    assert report.ok
    assert "but 1 weight differs: embedding.weight in 1 of 80 numbers, most at [7, 2]: 3 and " in report.verdict


SHAPED = """
import torch
from torch import nn


class Normal(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.randn(8))
        self.register_buffer("unused", torch.randn(8))

    def forward(self, x):
        return (x - self.mean) * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cmvn, self.prompt = Normal(), nn.Parameter(torch.randn(1, 2, 8))
        self.register_buffer("positions", torch.randn(1, 50, 8))
        self.front = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
            nn.Conv2d(4, 2, 3, padding=1), nn.BatchNorm2d(2),
        )
        self.mix, self.norm = nn.Linear(8, 8, bias=False), nn.LayerNorm(8)

    def forward(self, x):
        x = self.cmvn(x)
        x = self.front(x[:, None]).sum(1)
        x = torch.cat([self.prompt, x], 1)
        x = x + self.positions[:, : x.shape[1]]
        return self.mix(self.norm(x))


def build(name=None, *at):
    torch.manual_seed(0)
    model = Net().eval()
    with torch.no_grad():
        for k in (1, 4):
            norm = model.front[k]
            norm.running_mean.normal_(), norm.running_var.uniform_(0.5, 2), norm.weight.uniform_(0.5, 2)
        if name is not None:
            model.state_dict()[name][at] += 0.7
    return model, torch.randn(1, 9, 8)


"""
PLACES = {
    "cmvn.mean": ("Sub", (3,), "cmvn.mean differs in 1 of 8"),
    "prompt": ("Concat", (0, 1, 3), "prompt differs in 1 of 16"),
    "positions": ("Slice", (0, 5, 3), "positions differs in 1 of 400"),
    "front.0.weight": ("Conv", (2, 0, 1, 1), "front.0.weight, with front.1 folded in, differs in 1 of 36"),
    "front.1.running_mean": (
        "Conv",
        (2,),
        "front.0.bias or front.1.bias or front.1.running_mean, with front.1 folded in, differs in 1 of 4",
    ),
    "front.4.weight": (
        "Conv",
        (1,),
        "front.4.weight or front.4.running_var, with front.4 folded in, differs in 36 of 72",
    ),
    "mix.weight": ("MatMul", (4, 2), "mix.weight differs in 1 of 64"),
}
SHAPED += "\n".join(
    f"def {name.replace('.', '_')}():\n    return build({name!r}, *{at})\n" for name, (_, at, _) in PLACES.items()
)


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A front end, prompts and positions in front of the layers, by two exporters."""
    folder = tmp_path_factory.mktemp("shaped")
    model, sample = built(folder, SHAPED)
    torch.onnx.export(model, (sample,), folder / "dynamo.onnx", dynamo=True, verbose=False, dynamic_shapes=({1: "T"},))
    torch.onnx.export(
        model, (sample,), folder / "script.onnx", dynamo=False, input_names=["x"], dynamic_axes={"x": {1: "T"}}
    )
    return folder


@pytest.mark.parametrize("exporter", ["dynamo", "script"])
@pytest.mark.filterwarnings("ignore")
def test_the_node_that_reads_the_parameter_or_buffer_is_named(shaped: Path, exporter: str) -> None:
    graph = shaped / f"{exporter}.onnx"
    right = paddable.probe(f"{shaped}/model.py:build", graph)
    assert right.ok and not right.changed, right.verdict
    for name, (op, _, told) in PLACES.items():
        report = paddable.probe(f"{shaped}/model.py:{name.replace('.', '_')}", graph)
        assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict
        assert report.fork.op == op, report.verdict
        assert report.fork.cause.text.startswith(f"parameter {told} numbers"), report.verdict
        assert report.changed.startswith("1 weight differs"), report.changed


PERMUTED = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.mix = nn.Parameter(torch.randn(16, 16) / 4)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x)))) @ self.mix


class Normal(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.randn(16))
        self.register_buffer("scale", torch.rand(16) + 0.5)

    def forward(self, x):
        return (x - self.mean) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cmvn, self.table = Normal(), nn.Embedding(8, 16)
        self.register_buffer("pick", torch.tensor([1, 3, 5]))
        self.positions = nn.Parameter(torch.randn(12, 16))
        self.blocks = nn.Sequential(*(Block() for _ in range(3)))

    def forward(self, x):
        return self.blocks(torch.cat([self.table(self.pick)[None], self.cmvn(x)], 1) + self.positions)


def build(change=lambda state: None):
    torch.manual_seed(0)
    model = Net().eval()
    with torch.no_grad():
        change(model.state_dict())
    return model, torch.randn(1, 9, 16)


def exchange(one, other):
    kept = one.clone()
    one.copy_(other)
    other.copy_(kept)


def in_block():
    return build(lambda state: exchange(state["blocks.1.up.weight"], state["blocks.1.down.weight"]))


def across():
    return build(lambda state: exchange(state["blocks.0.up.weight"], state["blocks.2.up.weight"]))


def transposed():
    return build(lambda state: state["blocks.1.up.weight"].copy_(state["blocks.1.up.weight"].T.clone()))


def rows():
    return build(lambda state: state["blocks.1.up.weight"].copy_(state["blocks.1.up.weight"].flip(0)))


def halves():
    return build(lambda state: state["blocks.1.up.weight"].copy_(state["blocks.1.up.weight"].roll(8, 0)))


def ones():
    return build(lambda state: state["blocks.0.norm.weight"][3].add_(0.5))


def norm():
    return build(lambda state: exchange(state["blocks.1.norm.weight"], state["blocks.1.norm.bias"]))


def mixed():
    return build(lambda state: state["blocks.1.mix"].copy_(state["blocks.1.mix"].T.clone()))


def gain():
    return build(lambda state: state["blocks.1.norm.weight"][3].add_(0.5))


def scale():
    return build(lambda state: state["cmvn.scale"].copy_(state["cmvn.scale"].flip(0)))


def two():
    return build(lambda state: exchange(state["cmvn.mean"][2], state["cmvn.mean"][5]))


def pick():
    return build(lambda state: state["pick"].copy_(torch.tensor([5, 3, 1])))


def positions():
    return build(lambda state: state["positions"].copy_(state["positions"].flip(0)))


def prompt():
    return build(lambda state: state["table.weight"][3].add_(0.5))
"""
ANOTHER_ORDER = "; they are the same numbers in another order"
MOVES = {
    "in_block": ("MatMul", "blocks.1.up.weight differs in 256", "; it is exchanged with blocks.1.down.weight"),
    "across": ("MatMul", "blocks.0.up.weight differs in 256", "; it is exchanged with blocks.2.up.weight"),
    "transposed": ("MatMul", "blocks.1.up.weight differs in 240", "; it is transposed"),
    "rows": ("MatMul", "blocks.1.up.weight differs in 256", ANOTHER_ORDER),
    "mixed": ("MatMul", "blocks.1.mix differs in 240", "; it is transposed"),
    "halves": (
        "MatMul",
        "blocks.1.up.weight differs in 256",
        f"{ANOTHER_ORDER}: parts 1 and 2 of 2 along axis 0 changed places",
    ),
    "ones": ("LayerNormalization", "blocks.0.norm.weight differs in 1", ""),
    "norm": ("LayerNormalization", "blocks.1.norm.weight differs in 16", "; it is exchanged with blocks.1.norm.bias"),
    "gain": ("LayerNormalization", "blocks.1.norm.weight differs in 1", ""),
    "scale": ("Mul", "cmvn.scale differs in 16", ANOTHER_ORDER),
    "two": ("Sub", "cmvn.mean differs in 2", ANOTHER_ORDER),
    "pick": ("Concat", "pick, read together with table.weight, differs in 32", ""),
    "positions": ("Add", "positions differs in 192", ANOTHER_ORDER),
    "prompt": ("Concat", "table.weight, read together with pick, differs in 16", ""),
}


@pytest.fixture(scope="module")
def permuted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Square weights, a norm of numbers, positions and a prompt out of a table, by three exports."""
    return exported(tmp_path_factory.mktemp("permuted"), PERMUTED)


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.filterwarnings("ignore")
def test_a_parameter_whose_numbers_only_moved_is_told(permuted: Path, exporter: str) -> None:
    right = paddable.probe(f"{permuted}/model.py:build", permuted / f"{exporter}.onnx")
    assert right.ok and not right.changed, right.verdict
    for name, (op, told, moved) in MOVES.items():
        report = paddable.probe(f"{permuted}/model.py:{name}", permuted / f"{exporter}.onnx")
        assert report.fork is not None and report.fork.op == op, report.verdict
        assert report.fork.cause.text.startswith(f"parameter {told} of "), report.verdict
        assert report.fork.cause.text.endswith(moved), report.verdict


TIED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.mid, self.out = nn.Embedding(10, 8), nn.Linear(8, 8), nn.Linear(8, 10, bias=False)
        self.out.weight = self.table.weight
        self.register_buffer("inverse", 1 / 10 ** torch.arange(4.0))

    def forward(self, ids):
        x = self.table(ids)
        angles = torch.arange(x.shape[1])[:, None] * self.inverse
        cos, sin = angles.cos(), angles.sin()
        x = torch.cat((x[..., :4] * cos - x[..., 4:] * sin, x[..., 4:] * cos + x[..., :4] * sin), -1)
        return self.out(torch.tanh(self.mid(x)))


def build(change=lambda model: None):
    torch.manual_seed(0)
    model = Net().eval()
    with torch.no_grad():
        change(model)
    return model, torch.tensor([[1, 2, 3, 4]])


def row():
    return build(lambda model: model.table.weight[7].add_(1))


def untied():
    return build(lambda model: setattr(model.out, "weight", nn.Parameter(model.table.weight.flip(0).clone())))


def turns():
    return build(lambda model: model.inverse[1].mul_(1.3))
"""


def test_a_parameter_that_is_read_twice_or_only_computed_with(tmp_path: Path) -> None:
    """A table that is also the last product, and frequencies whose cosine alone meets what is computed."""
    model, sample = built(tmp_path, TIED)
    torch.onnx.export(model, (sample,), tmp_path / "fixed.onnx", dynamo=True, verbose=False)
    axes = {"ids": {1: torch.export.Dim("T", min=2)}}
    torch.onnx.export(model, (sample,), tmp_path / "any.onnx", dynamo=True, verbose=False, dynamic_shapes=axes)
    for graph in ("fixed.onnx", "any.onnx"):
        for name, told in (
            ("row", "parameter table.weight differs in 8 of 80 numbers"),
            ("untied", "parameter out.weight differs in 80 of 80 numbers"),
            ("turns", "parameter inverse"),
        ):
            report = paddable.probe(f"{tmp_path}/model.py:{name}", tmp_path / graph)
            assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict
            assert told in report.fork.cause.text, report.verdict
        assert not paddable.probe(f"{tmp_path}/model.py:build", tmp_path / graph).changed


ONE_NUMBER = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.slope = nn.Linear(4, 4), nn.PReLU()
        self.gate, self.whole = nn.Parameter(torch.tensor([0.3])), nn.Parameter(torch.tensor(0.7))

    def forward(self, x):
        return self.whole * (x + self.gate * self.slope(self.up(x))) + 0.5


def build(name=None):
    torch.manual_seed(0)
    model = Net().eval()
    if name is not None:
        model.get_parameter(name).data += 0.3
    return model, torch.randn(1, 5, 4)


def slope():
    return build("slope.weight")


def gate():
    return build("gate")


def whole():
    return build("whole")
"""


def test_a_parameter_of_one_number_is_compared(tmp_path: Path) -> None:
    model, sample = built(tmp_path, ONE_NUMBER)
    torch.onnx.export(model, (sample,), tmp_path / "model.onnx", dynamo=False)
    for change, name in (("slope", "slope.weight"), ("gate", "gate"), ("whole", "whole")):
        report = paddable.probe(f"{tmp_path}/model.py:{change}", tmp_path / "model.onnx")
        assert f"parameter {name} differs in 1 of 1 numbers" in report.verdict.lower()
    assert not paddable.probe(f"{tmp_path}/model.py:build", tmp_path / "model.onnx").changed
