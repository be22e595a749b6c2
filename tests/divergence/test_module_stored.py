"""A PyTorch module whose weights each exporter stores otherwise: what differs is told by the parameter's name."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddable

from .built import built, exported
from .test_module import MODEL

torch = pytest.importorskip("torch")

EXPORTERS = ["dynamo", "script", "unfolded"]

STORED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.norm, self.down = nn.Conv1d(8, 16, 3, padding=1), nn.BatchNorm1d(16), nn.Conv1d(16, 8, 1)
        self.lstm, self.gru = nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True), nn.GRU(12, 5, batch_first=True)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        x = self.down(torch.relu(self.norm(self.up(x.transpose(1, 2))))).transpose(1, 2)
        return self.gru(self.lstm(self.drop(x))[0])[0]


def build(name=None, *at):
    torch.manual_seed(0)
    model = Net().eval()
    with torch.no_grad():
        model.norm.running_mean.normal_(), model.norm.running_var.uniform_(0.5, 2), model.norm.weight.uniform_(0.5, 2)
        if name is not None:
            model.state_dict()[name][at] += 0.7
    return model, torch.randn(1, 9, 8)


def training():
    model, sample = build()
    model.lstm.weight_hh_l1_reverse.data[3, 2] += 0.5
    return model.train(), sample


def epsilon():
    model, sample = build()
    model.norm.eps = 0.3
    return model, sample


def dilated():
    model, sample = build()
    model.up.dilation, model.up.padding = (2,), (2,)
    return model, sample


def directions():
    model, sample = build()
    for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
        one, other = (getattr(model.lstm, name + each).data for each in ("", "_reverse"))
        kept = one.clone()
        one.copy_(other), other.copy_(kept)
    return model, sample


def balanced():
    model, sample = build()
    model.lstm.bias_ih_l1.data += 0.5
    model.lstm.bias_hh_l1.data -= 0.5
    model.gru.bias_ih_l0.data[:10] += 0.5
    model.gru.bias_hh_l0.data[:10] -= 0.5
    return model, sample


def partly():
    model, sample = build()
    model.drop.train()
    return model, sample


def harmless():
    model, sample = build()
    model.gru.train()
    return model, sample


"""
CHANGES = {
    "up.weight": ("up", (3, 2, 1), "1 of 384"),
    "up.bias": ("up", (3,), "1 of 16"),
    "down.weight": ("down", (3, 2, 0), "1 of 128"),
    "lstm.weight_ih_l0": ("lstm", (1, 2), "1 of 192"),
    "lstm.weight_hh_l0_reverse": ("lstm", (7, 2), "1 of 144"),
    "lstm.weight_hh_l1": ("lstm", (13, 2), "1 of 144"),
    "lstm.bias_ih_l1_reverse": ("lstm", (19,), "1 of 24"),
    "gru.weight_ih_l0": ("gru", (1, 2), "1 of 180"),
    "gru.weight_hh_l0": ("gru", (6, 2), "1 of 75"),
    "gru.bias_hh_l0": ("gru", (12,), "1 of 15"),
}
STORED += "\n".join(
    f"def {name.replace('.', '_')}():\n    return build({name!r}, *{at})\n" for name, (_, at, _) in CHANGES.items()
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose weights every exporter stores in another form, by three of them."""
    return exported(tmp_path_factory.mktemp("stored"), STORED)


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.filterwarnings("ignore")
def test_weights_that_are_only_stored_otherwise_do_not_differ(stored: Path, exporter: str) -> None:
    report = paddable.probe(f"{stored}/model.py:build", stored / f"{exporter}.onnx")
    assert report.ok and not report.changed, report.verdict


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("turned", [False, True])
def test_the_parameter_that_differs_is_told_whatever_its_form(
    stored: Path, exporter: str, name: str, turned: bool
) -> None:
    owner, _, share = CHANGES[name]
    both = (f"{stored}/model.py:{name.replace('.', '_')}", stored / f"{exporter}.onnx")
    report = paddable.probe(*(both[::-1] if turned else both))
    assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict
    assert report.fork.module in (owner, "norm" if owner == "up" else owner)
    assert report.fork.cause.text.startswith(f"parameter {name}"), report.verdict
    assert f"differs in {share} numbers" in report.fork.cause.text
    assert report.changed.startswith("1 weight differs")


@pytest.mark.parametrize(("build", "which"), [("training", "the module"), ("partly", "drop of the module")])
def test_training_mode_is_told_before_weights(stored: Path, build: str, which: str) -> None:
    report = paddable.probe(f"{stored}/model.py:{build}", stored / "script.onnx")
    assert not report.ok and report.fork is not None and report.fork.cause.kind == "training"
    assert f"{which} is in training mode" in report.verdict and "call `.eval()`" in report.verdict
    assert "weight" not in report.verdict


@pytest.mark.parametrize(
    ("build", "told"),
    [
        ("epsilon", "norm.eps is 0.3 in PyTorch, and 1e-05 in the weights of Conv"),
        ("dilated", "up has dilation 2 in PyTorch, and its Conv has 1"),
    ],
)
def test_a_setting_of_a_layer_with_its_norm_folded_in(stored: Path, build: str, told: str) -> None:
    report = paddable.probe(f"{stored}/model.py:{build}", stored / "script.onnx")
    assert report.fork is not None and report.fork.cause.kind == "attributes", report.verdict
    assert told in report.fork.cause.text and not report.changed, report.verdict


@pytest.mark.parametrize("exporter", EXPORTERS)
def test_parameters_of_a_recurrent_layer_that_changed_places(stored: Path, exporter: str) -> None:
    """And two biases of which only the sum is felt."""
    report = paddable.probe(f"{stored}/model.py:directions", stored / f"{exporter}.onnx")
    assert report.fork is not None and report.fork.cause.text.startswith("parameter lstm.weight_ih_l0 "), report.verdict
    assert "; it is exchanged with lstm.weight_ih_l0_reverse" in report.fork.cause.text
    report = paddable.probe(f"{stored}/model.py:balanced", stored / f"{exporter}.onnx")
    assert report.ok and not report.changed, report.verdict


def test_training_mode_that_changes_nothing_is_not_told(stored: Path) -> None:
    assert paddable.probe(f"{stored}/model.py:harmless", stored / "script.onnx").ok


def test_outputs_of_other_shapes_are_no_agreement(tmp_path: Path, stored: Path) -> None:
    built(tmp_path, MODEL)
    report = paddable.probe(f"{tmp_path}/model.py:build", stored / "script.onnx")
    assert not report.ok and report.cause is not None
    assert "is [1, 9, 8] in PyTorch and [1, 9, 5] in the graph" in report.verdict
