"""A PyTorch module against its ONNX: the module whose code differs is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddable
from paddable.errors import MisuseError

from .built import built

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


def narrow():
    return build()[0], torch.randn(1, 9, 5)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("module")
    model, sample = built(folder, MODEL)
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
    assert (report.fork.module, report.fork.cause.kind) == ("4.norm", "attributes")
    assert "4.norm has eps 0.5 in PyTorch, and its LayerNormalization has 1e-05" in report.fork.cause.text


def test_a_padded_graph_is_misuse(place: Path, folder: Path) -> None:
    with pytest.raises(MisuseError, match="compared with its native graph"):
        paddable.probe(f"{place}/model.py:build", folder / "padded.onnx")


def test_a_module_that_raises_on_its_sample(place: Path) -> None:
    told = r"^0.norm \(LayerNorm\): the module raises on its sample; RuntimeError: Given .*; return a sample"
    with pytest.raises(MisuseError, match=told):
        paddable.probe(f"{place}/model.py:narrow", place / "model.onnx")


def test_a_python_file_without_its_function(place: Path) -> None:
    with pytest.raises(
        MisuseError, match=r"name the function that returns the module and its sample, such as .*:build"
    ):
        paddable.probe(place / "model.py", place / "model.onnx")


WIRED = """
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(16, 16) for _ in range(4))
        self.swap, self.masked, self.rest = False, False, 1.0

    def forward(self, x, keep):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if self.swap:
            q, k = k, q
        scores = q @ k.transpose(-1, -2) / 4
        scores = scores.masked_fill(keep[:, None] if self.masked else ~keep[:, None], -1e4)
        return x * self.rest + self.out(torch.softmax(scores, -1) @ v)


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16)
        self.activation, self.late = torch.relu, False

    def forward(self, x):
        read = x if self.late else self.norm(x)
        made = self.down(self.activation(self.up(read)))
        return x + (self.norm(made) if self.late else made)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.att, self.ff = Attention(), Feed()

    def forward(self, x, keep):
        return self.ff(self.att(x, keep))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.gain = nn.ModuleList(Block() for _ in range(3)), 1.0

    def forward(self, x):
        made, keep = x, x[..., 0] < 9
        for block in self.blocks:
            made = block(made, keep)
        return made * self.gain + x


def build(change=lambda model: None):
    torch.manual_seed(0)
    model = Net().eval()
    change(model)
    return model, torch.randn(1, 9, 16)


def swapped():
    return build(lambda model: setattr(model.blocks[1].att, "swap", True))


def masked():
    return build(lambda model: setattr(model.blocks[1].att, "masked", True))


def activated():
    return build(lambda model: setattr(model.blocks[1].ff, "activation", torch.nn.functional.silu))


def late():
    return build(lambda model: setattr(model.blocks[1].ff, "late", True))


def residual():
    return build(lambda model: setattr(model.blocks[1].att, "rest", 0.8))


def epsilon():
    return build(lambda model: setattr(model.blocks[1].ff.norm, "eps", 0.5))


def louder():
    return build(lambda model: setattr(model, "gain", 1.5))
"""
IN_FRONT = {
    "swapped": ("blocks.1.att", "between {0}.q, {0}.k, {0}.v and {0}.out, in the forward of {0}"),
    "masked": ("blocks.1.att", "between {0}.q, {0}.k, {0}.v and {0}.out, in the forward of {0}"),
    "activated": ("blocks.1.ff", "between {0}.up and {0}.down, in the forward of {0}"),
    "late": ("blocks.1.ff", "between blocks.1.att and {0}.up, in the forward of {0}"),
}


@pytest.fixture(scope="module")
def wired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wired")
    model, sample = built(folder, WIRED)
    torch.onnx.export(model, (sample,), folder / "dynamo.onnx", dynamo=True, verbose=False)
    torch.onnx.export(model, (sample,), folder / "script.onnx", dynamo=False)
    return folder


@pytest.mark.parametrize("exporter", ["dynamo", "script"])
@pytest.mark.filterwarnings("ignore")
def test_a_module_that_reads_other_values_is_not_blamed(wired: Path, exporter: str) -> None:
    for name, (forward, told) in IN_FRONT.items():
        report = paddable.probe(f"{wired}/model.py:{name}", wired / f"{exporter}.onnx")
        assert report.fork is not None and report.fork.module == forward, report.verdict
        assert told.format(forward) in report.fork.cause.text, report.verdict
        assert report.fork.inputs < 1e-5 < report.fork.error


@pytest.mark.parametrize("exporter", ["dynamo", "script"])
@pytest.mark.filterwarnings("ignore")
def test_code_is_looked_for_where_it_is(wired: Path, exporter: str) -> None:
    told = "blocks.1.att gives another result in PyTorch", "blocks.1.ff.norm has eps 0.5 in PyTorch"
    for name, module, text in zip(("residual", "epsilon"), ("blocks.1.att", "blocks.1.ff.norm"), told, strict=True):
        report = paddable.probe(f"{wired}/model.py:{name}", wired / f"{exporter}.onnx")
        assert report.fork is not None and report.fork.module == module, report.verdict
        assert text in report.fork.cause.text
    report = paddable.probe(f"{wired}/model.py:louder", wired / f"{exporter}.onnx")
    assert report.fork is None and "look in the root's forward" in report.verdict, report.verdict


FOLDED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, skipped=None):
        super().__init__()
        self.skipped = skipped
        self.convs = nn.ModuleList(nn.Conv1d(8, 8, 3, padding=1) for _ in range(4))
        self.norms = nn.ModuleList(nn.BatchNorm1d(8) for _ in range(4))

    def forward(self, x):
        for k, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            x = norm(conv(x))
            if k != self.skipped:
                x = torch.relu(x)
        return x


def build(skipped=None):
    torch.manual_seed(0)
    model = Net(skipped).eval()
    for norm in model.norms:
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
    return model, torch.randn(1, 8, 9)


def skipped():
    return build(1)
"""


@pytest.mark.parametrize("exporter", ["dynamo", "script"])
@pytest.mark.filterwarnings("ignore")
def test_a_fault_between_two_norms_that_are_folded_in(tmp_path: Path, exporter: str) -> None:
    model, sample = built(tmp_path, FOLDED)
    torch.onnx.export(model, (sample,), tmp_path / "m.onnx", dynamo=exporter == "dynamo")
    assert paddable.probe(f"{tmp_path}/model.py:build", tmp_path / "m.onnx").ok
    report = paddable.probe(f"{tmp_path}/model.py:skipped", tmp_path / "m.onnx")
    assert report.fork is not None and report.fork.op == "Relu", report.verdict
    assert "between norms.1 and convs.2, in the root's forward" in report.fork.cause.text
