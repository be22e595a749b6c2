"""`missing_ops`: what a module would meet, found without the backend and without touching the module."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from paddable.errors import MisuseError
from paddable.torch_backends import MissingOperators, Struck, missing_ops
from paddable.torch_backends.directml import TORCH_DIRECTML


class Many(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.register_buffer("window", torch.hann_window(8))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        spectrum = torch.stft(x[:, :, 0], 8, window=self.window, return_complex=True).abs()
        return (self.lstm(x * mask)[0].sum() + spectrum.roll(1).sum()) * (1.0 - x)


SAMPLE = (torch.ones(2, 12, 4), torch.ones(2, 12, 1) > 0)


def test_each_kind_is_found_with_its_way_round() -> None:
    module = Many().eval()
    state = {
        name: (id(value), value.device, value.clone()) for name, value in module.state_dict(keep_vars=True).items()
    }
    report = missing_ops(module, SAMPLE)
    found = {entry.fault: entry for entry in report.struck}
    assert list(found) == ["complex", "number-times-bool", "lstm", "float-minus-tensor", ""]
    assert next(entry.effect for entry in report.struck) == "ends the process"
    assert found["lstm"].ops == {"aten::_thnn_fused_lstm_cell": 12} and found["lstm"].modules == ["lstm"]
    assert found[""].ops == {"aten::roll": 1} and found[""].effect == "goes to the CPU"
    assert all(entry.way_round for entry in report.struck if entry.fault) and not report.ok
    assert "masked_fill" in str(report) and len(str(report).splitlines()) <= 30
    assert all(len(line) <= 110 for line in str(report).splitlines())
    for name, value in module.state_dict(keep_vars=True).items():
        assert (id(value), value.device) == state[name][:2] and torch.equal(value, state[name][2])


def test_a_module_without_faults_is_ok() -> None:
    report = missing_ops(nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.GELU()), torch.ones(2, 4))
    assert report.ok and [entry.fault for entry in report.struck] == ["inference-mode"]
    assert report.struck[0].ops == {"aten::linear": 1} and "Nothing fails" in str(report)


def test_misuse_is_told() -> None:
    with pytest.raises(MisuseError, match="torch-directml"):
        missing_ops(nn.Linear(4, 4), torch.ones(2, 4), backend="dml")
    with pytest.raises(MisuseError, match="does not run"):
        missing_ops(nn.Linear(4, 4), torch.ones(2, 5))


def test_it_needs_torch_alone() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['onnx', 'onnx_ir', 'onnxruntime', 'onnxscript', 'transformers', "
        "'rich', 'click']))\nimport paddable.torch_backends.loading\n"
        "print([m for m in sys.modules if m.startswith('paddable.') and m.split('.')[1] not in "
        "('torch_backends', 'errors', 'findings', '_version')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.strip() == "[]", done.stderr + done.stdout


class Attention(nn.Module):
    def __init__(self, **more: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, **more)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x)[0]


def test_attention_goes_to_the_cpu_where_pytorch_takes_its_fast_path() -> None:
    x = torch.randn(2, 5, 8)
    for module, operator in (
        (Attention(batch_first=True), "aten::_native_multi_head_attention"),
        (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), "aten::_transformer_encoder_layer_fwd"),
    ):
        report = missing_ops(module.eval(), x)
        assert report.ok and {op for entry in report.struck for op in entry.ops} >= {operator}


def test_attention_is_seen_by_its_parts_where_it_does_not() -> None:
    for module in (
        Attention(),
        Attention(batch_first=True, add_zero_attn=True),
        nn.TransformerEncoderLayer(8, 2, 16).train(),
        nn.TransformerDecoderLayer(8, 2, 16, norm_first=True),
    ):
        x = torch.randn(2, 5, 8)
        sample = (x, x) if isinstance(module, nn.TransformerDecoderLayer) else x
        report = missing_ops(module, sample)
        assert report.ok and "aten::linear" in report.struck[0].ops and report.struck[0].fault == "inference-mode"


def test_a_model_that_ends_python_is_told() -> None:
    class Leaves(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            sys.exit(0)

    with pytest.raises(MisuseError, match="SystemExit"):
        missing_ops(Leaves(), torch.ones(2))


def test_a_packed_sequence_is_one_argument() -> None:
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(2, 5, 4), torch.tensor([5, 3]), batch_first=True)
    for sample in (packed, {"input": packed}):
        report = missing_ops(nn.LSTM(4, 3, batch_first=True), sample)
        assert {entry.fault for entry in report.struck} >= {"lstm"}


@pytest.mark.parametrize("module", [5, nn.Linear, torch.jit.script(nn.Linear(3, 3))])
def test_what_is_no_module_in_python_is_told(module: Any) -> None:
    with pytest.raises(MisuseError, match=r"no torch\.nn\.Module in Python"):
        missing_ops(module, torch.ones(2, 3))


def test_a_nested_tensor_is_told_as_not_simulated() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    sample = {"src": torch.randn(2, 3, 8), "src_key_padding_mask": torch.tensor([[False] * 3, [False, False, True]])}
    with pytest.raises(MisuseError, match="enable_nested_tensor=False"):
        missing_ops(nn.TransformerEncoder(layer, 2).eval(), sample)
    missing_ops(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(), sample)


def test_an_empty_slice_is_told_but_is_no_failure() -> None:
    class Sliced(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x[:, 9:]

    report = missing_ops(Sliced(), torch.ones(2, 3))
    (entry,) = report.struck
    assert entry.fault == "empty-slice" and "disable_tiled_resources" in str(report) and report.ok


def test_no_way_round_is_cut_off() -> None:
    for fault in TORCH_DIRECTML.faults:
        found = MissingOperators(
            "b", "m", 1, (Struck(fault.effect, fault.code, "", None, fault.what, fault.way_round),)
        )
        assert fault.way_round in " ".join(str(found).split())
