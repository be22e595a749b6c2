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
    assert (report.fork.module, report.fork.cause.kind) == ("4.norm", "attributes")
    assert "4.norm has eps 0.5 in PyTorch, and its LayerNormalization has 1e-05" in report.fork.cause.text


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
    folder = tmp_path_factory.mktemp("stored")
    (folder / "model.py").write_text(STORED)
    scope: dict[str, object] = {}
    exec(compile(STORED, "model.py", "exec"), scope)
    model, sample = scope["build"]()  # type: ignore[operator]
    torch.onnx.export(model, (sample,), folder / "dynamo.onnx", dynamo=True, verbose=False)
    torch.onnx.export(model, (sample,), folder / "script.onnx", dynamo=False)
    torch.onnx.export(model, (sample,), folder / "unfolded.onnx", dynamo=False, do_constant_folding=False)
    return folder


EXPORTERS = ["dynamo", "script", "unfolded"]


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


def test_outputs_of_other_shapes_are_no_agreement(place: Path, stored: Path) -> None:
    report = paddable.probe(f"{place}/model.py:build", stored / "script.onnx")
    assert not report.ok and report.cause is not None
    assert "is [1, 9, 8] in PyTorch and [1, 9, 5] in the graph" in report.verdict


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
    (folder / "model.py").write_text(SHAPED)
    scope: dict[str, object] = {}
    exec(compile(SHAPED, "model.py", "exec"), scope)
    model, sample = scope["build"]()  # type: ignore[operator]
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
    folder = tmp_path_factory.mktemp("permuted")
    (folder / "model.py").write_text(PERMUTED)
    scope: dict[str, object] = {}
    exec(compile(PERMUTED, str(folder / "model.py"), "exec"), scope)
    model, sample = scope["build"]()  # type: ignore[operator]
    torch.onnx.export(model, (sample,), folder / "dynamo.onnx", dynamo=True, verbose=False)
    torch.onnx.export(model, (sample,), folder / "script.onnx", dynamo=False)
    torch.onnx.export(model, (sample,), folder / "unfolded.onnx", dynamo=False, do_constant_folding=False)
    return folder


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
    (folder / "model.py").write_text(WIRED)
    scope: dict[str, object] = {}
    exec(compile(WIRED, str(folder / "model.py"), "exec"), scope)
    model, sample = scope["build"]()  # type: ignore[operator]
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
    (tmp_path / "model.py").write_text(TIED)
    scope: dict[str, object] = {}
    exec(compile(TIED, "model.py", "exec"), scope)
    model, sample = scope["build"]()  # type: ignore[operator]
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
    (tmp_path / "model.py").write_text(ONE_NUMBER)
    scope: dict[str, object] = {}
    exec(compile(ONE_NUMBER, "model.py", "exec"), scope)
    model, sample = scope["build"]()  # type: ignore[operator]
    torch.onnx.export(model, (sample,), tmp_path / "model.onnx", dynamo=False)
    for change, name in (("slope", "slope.weight"), ("gate", "gate"), ("whole", "whole")):
        report = paddable.probe(f"{tmp_path}/model.py:{change}", tmp_path / "model.onnx")
        assert f"parameter {name} differs in 1 of 1 numbers" in report.verdict.lower()
    assert not paddable.probe(f"{tmp_path}/model.py:build", tmp_path / "model.onnx").changed
