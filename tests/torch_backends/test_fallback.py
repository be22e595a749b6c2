"""`fallback`: results equal the CPU's, nothing is moved, and the report lists what was replaced and nothing else."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from paddable.errors import MisuseError
from paddable.torch_backends import BackendError, FallbackReport, fallback, simulated_backend


class Masked(nn.Module):
    """What FunASR's blocks do: a mask, a convolution, an LSTM, a padded list."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.conv = nn.Linear(6, 6), nn.Conv1d(6, 6, 3, padding=1, groups=6, bias=False)
        self.lstm = nn.LSTM(6, 4, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.conv((self.linear(x) * mask).transpose(1, 2)).transpose(1, 2)
        out = torch.zeros(len(x), 9, 8, device=x.device)
        for row, value in enumerate(self.lstm(x)[0]):
            out[row, : len(value)] = torch.cat([value, torch.zeros(0, 8, device=x.device)])
        return out


@pytest.fixture
def model() -> tuple[Masked, tuple[Tensor, Tensor]]:
    torch.manual_seed(0)
    return Masked().eval(), (torch.randn(2, 7, 6), torch.arange(7)[None, :, None] < torch.tensor([7, 4])[:, None, None])


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_a_model_runs_to_its_end_and_equals_the_cpu(model: tuple[Masked, tuple[Tensor, Tensor]], mode: type) -> None:
    module, sample = model
    with torch.no_grad():
        want = module(*sample)
    with simulated_backend() as device:
        there = copy.deepcopy(module).to(device)
        before = {name: (id(value), value.device) for name, value in there.state_dict(keep_vars=True).items()}
        with fallback(device) as report, mode():
            got = there(*[value.to(device) for value in sample])
        assert got.device == device
        assert before == {name: (id(value), value.device) for name, value in there.state_dict(keep_vars=True).items()}
        torch.testing.assert_close(got.cpu(), want)
    assert {(entry.op, entry.reason) for entry in report.replaced} == {
        ("aten.mul", "number-times-bool"),
        ("aten._thnn_fused_lstm_cell", "lstm"),
        ("aten.cat", "cat-with-empty"),
        ("aten.copy_", "write-into-view-of-view"),
    }
    assert report.copies == 0
    assert {entry.op: entry.times for entry in report.replaced}["aten._thnn_fused_lstm_cell"] == 14
    assert (report.inference_mode_left > 0) is (mode is torch.inference_mode)
    assert "lstm" in str(report) and report.to_json()["copies"] == 0


def test_without_it_the_same_model_fails(model: tuple[Masked, tuple[Tensor, Tensor]]) -> None:
    module, sample = model
    with simulated_backend() as device, torch.no_grad(), pytest.raises(RuntimeError, match="Invalid parameter"):
        copy.deepcopy(module).to(device)(*[value.to(device) for value in sample])


def test_nothing_to_replace_is_told(model: tuple[Masked, tuple[Tensor, Tensor]]) -> None:
    with simulated_backend() as device, torch.no_grad(), fallback(device) as report:
        nn.Sequential(nn.Linear(6, 6), nn.ReLU()).to(device)(model[1][0].to(device))
    assert report.replaced == [] and str(report) == "no operator was replaced"


def test_an_operator_that_is_asked_for_runs_on_the_cpu_and_its_copies_are_counted() -> None:
    with simulated_backend() as device, fallback(device, ops=["aten::roll"]) as report:
        x = torch.arange(6.0).to(device)
        assert x.roll(1).device == device and x.roll(1).cpu().tolist() == [5, 0, 1, 2, 3, 4]
    (entry,) = report.replaced
    assert (entry.op, entry.reason, entry.times, entry.copies, entry.copied_bytes) == (
        "aten.roll",
        "asked for",
        2,
        4,
        96,
    )


def test_an_operator_that_no_table_knows_goes_to_the_cpu_once_it_has_failed() -> None:
    with simulated_backend() as device, fallback(device, backend="torch-directml") as report:
        x = torch.ones(4, 8, dtype=torch.int64).to(device)
        broken = torch.ops.aten.sum.default
        assert x.sum().item() == 32 and broken(x).item() == 32
    assert report.replaced == []


def test_complex_numbers_wait_on_the_cpu_and_the_spectrum_comes_back() -> None:
    wave = torch.randn(1, 400, generator=torch.Generator().manual_seed(1))
    window = torch.hann_window(64)
    want = torch.stft(wave, 64, 16, window=window, return_complex=True).abs()
    with simulated_backend() as device, torch.no_grad(), fallback(device) as report:
        spectrum = torch.stft(wave.to(device), 64, 16, window=window.to(device), return_complex=True)
        assert spectrum.device.type == "cpu" and spectrum.abs().device == device
        torch.testing.assert_close(spectrum.abs().cpu(), want)
    assert next(entry.op for entry in report.replaced) == "aten._fft_r2c" and report.copies > 0


def test_a_failure_on_both_sides_names_operator_shapes_module_and_line() -> None:
    class Wrong(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv1d(1, 1, 3, bias=False)

        def forward(self, x: Tensor) -> Tensor:
            return self.conv(x > 0)

    with simulated_backend() as device, torch.no_grad(), pytest.raises(BackendError) as raised, fallback(device):
        Wrong().to(device)(torch.ones(1, 1, 9).to(device))
    said = str(raised.value)
    assert "aten.convolution.default(bool[1, 1, 9], float32[1, 1, 3]" in said and "in conv" in said
    assert "test_fallback.py" not in raised.value.what and "cast the input with .float()" in said


def test_what_raises_outside_of_operators_is_explained() -> None:
    with pytest.raises(BackendError, match=r"\.half\(\)"), simulated_backend() as device, fallback(device):
        raise NotImplementedError("Could not run 'aten::linear' with arguments from the 'AutocastPrivateUse1' backend.")
    with pytest.raises(BackendError, match=r"torch_directml\.device"), simulated_backend() as device, fallback(device):
        torch.zeros(2, device="dml")


def test_misuse_is_told() -> None:
    with pytest.raises(MisuseError, match="torch-directml"):
        fallback("cpu", backend="directml")
    with pytest.raises(MisuseError, match="ops="):
        fallback("cpu", ops="aten::roll")
    with pytest.raises(MisuseError, match="did you mean roll"):
        fallback("cpu", ops=["aten::rol"])
    with pytest.raises(MisuseError, match="nosuchop"):
        fallback("cpu", ops=["nosuchop"])


def test_a_composite_operator_that_is_asked_for_runs_whole_on_the_cpu() -> None:
    linear, x = nn.Linear(6, 5), torch.randn(2, 6)
    want = linear(x)
    with simulated_backend() as device, fallback(device, ops=["linear"]) as report:
        got = linear.to(device)(x.to(device))
        assert got.device == device
        torch.testing.assert_close(got.cpu(), want)
    assert [(entry.op, entry.reason, entry.copies) for entry in report.replaced] == [("aten.linear", "asked for", 4)]


def test_a_warning_of_the_backend_is_no_failure() -> None:
    with simulated_backend() as device, fallback(device) as report, pytest.warns(UserWarning, match="fall back"):
        assert torch.arange(3).to(device).roll(1).cpu().tolist() == [2, 0, 1]
    assert report.replaced == []
    with simulated_backend() as device, fallback(device) as report, warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="fall back"):
            torch.arange(3).to(device).roll(1)
    assert report.replaced == []


@pytest.mark.parametrize("bias", [False, True])
def test_a_bool_passed_straight_to_a_convolution_is_told_as_what_it_is(bias: bool) -> None:
    model = nn.Sequential(nn.Conv1d(1, 1, 3, bias=bias))
    mask = torch.ones(1, 1, 9) > 0
    with simulated_backend() as device, torch.no_grad(), pytest.raises(BackendError) as raised, fallback(device):
        model.to(device)(mask.to(device))
    said = raised.value
    assert "bool[1, 1, 9], float32[1, 1, 3]" in said.what and said.where.endswith("in 0")
    assert "cast the input with .float()" in said.fix


def test_an_istft_is_replaced_as_a_whole_and_nothing_inside_of_it_is_reported() -> None:
    window, wave = torch.hann_window(16), torch.randn(1, 64)
    spectrum = torch.stft(wave, 16, 4, window=window, return_complex=True)
    want = torch.istft(spectrum, 16, 4, window=window)
    with simulated_backend() as device, torch.no_grad(), fallback(device) as report:
        there = torch.stft(wave.to(device), 16, 4, window=window.to(device), return_complex=True)
        got = torch.istft(there, 16, 4, window=window.to(device))
        assert got.device == device
        torch.testing.assert_close(got.cpu(), want)
    assert {(entry.op, entry.reason) for entry in report.replaced} == {
        ("aten._fft_r2c", "complex"),
        ("aten.istft", "complex"),
        *((entry.op, "parked") for entry in report.replaced if entry.reason == "parked"),
    }


def on_both(function: Callable[..., Any], *inputs: Tensor, ops: tuple[str, ...] = ()) -> FallbackReport:
    """Run a function on the CPU and inside of `fallback`, and compare; it returns tensors, or raises nothing."""
    with torch.no_grad():
        want = function(*[value.clone() for value in inputs])
    with simulated_backend() as device, torch.no_grad(), fallback(device, ops=ops) as report:
        got = [value.cpu() for value in function(*[value.to(device) for value in inputs])]
    torch.testing.assert_close(got, list(want))
    return report


def test_an_operator_with_an_output_or_a_running_mean_writes_into_it_on_the_cpu_too() -> None:
    def into_output(x: Tensor) -> list[Tensor]:
        target = torch.zeros_like(x)
        return [torch.add(x, 1, out=target), target]

    def into_list(x: Tensor) -> list[Tensor]:
        torch._foreach_add_([x], 1.0)
        return [x]

    def into_mean(x: Tensor) -> list[Tensor]:
        mean, variance = torch.zeros(4, device=x.device), torch.ones(4, device=x.device)
        return [F.batch_norm(x, mean, variance, training=True), mean, variance]

    x = torch.randn(3, 4)
    assert on_both(into_output, x, ops=("add",)).copies == 3
    on_both(into_list, x, ops=("_foreach_add_",))
    on_both(into_mean, x, ops=("batch_norm",))
    on_both(into_mean, x, ops=("native_batch_norm",))


def test_a_write_on_the_cpu_into_a_view_of_a_view_is_not_lost() -> None:
    def write(y: Tensor) -> list[Tensor]:
        y[1, :3].add_(1)
        y[1, :3].scatter_add_(0, torch.zeros(2, dtype=torch.int64).to(y.device), y[0, :2])
        return [y]

    assert {entry.op for entry in on_both(write, torch.randn(3, 4), ops=("add_",)).replaced} == {
        "aten.add_",
        "aten.scatter_add_",
        "aten.copy_",
    }


def test_a_view_of_a_view_may_change_its_shape_in_place() -> None:
    def write(y: Tensor) -> list[Tensor]:
        view = y[1:, :]
        view.unsqueeze_(0)
        view.add_(1)
        turned = y[1:, :].t_().mul_(2)
        return [y, view, turned]

    on_both(write, torch.randn(3, 4))


def test_bytes_are_subtracted_in_place_and_into_an_output() -> None:
    def subtract(x: Tensor, count: Tensor) -> list[Tensor]:
        y = x.clone()
        y.sub_(count)
        return [y, torch.sub(x, count, out=torch.zeros_like(x))]

    on_both(subtract, torch.randn(3), torch.tensor([1, 2, 3], dtype=torch.uint8))


def test_a_write_into_the_real_part_of_a_complex_tensor_reaches_it() -> None:
    def write(x: Tensor) -> list[Tensor]:
        z = torch.fft.rfft(x)
        z.real.mul_(2)
        torch.view_as_real(z)[1:, 1][:2].zero_()
        return [z.abs(), z.real, z.imag]

    on_both(write, torch.randn(8))


def test_what_the_cpu_refuses_is_refused() -> None:
    for refused in (
        lambda x: torch.cat([x.new_zeros(0, 5), x]),
        lambda x: F.layer_norm(x[None], [4, 3]),
    ):
        x = torch.ones(3, 4)
        with pytest.raises(RuntimeError):
            refused(x)
        with simulated_backend() as device, fallback(device), pytest.raises(RuntimeError):
            refused(x.to(device))


def test_a_wrong_index_is_the_error_that_it_is_on_the_cpu() -> None:
    with simulated_backend() as device, fallback(device), pytest.raises(IndexError):
        torch.ones(3).to(device)[9]
    with simulated_backend() as device, fallback(device), pytest.raises(IndexError):
        torch.ones(3).to(device).sum(4)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"device": "dml"}, "torch_directml.device"),
        ({"device": None}, "no device"),
        ({"device": "cpu", "ops": None}, "no list"),
        ({"device": "cpu", "ops": [1]}, "no name of an operator"),
        ({"device": "cpu", "ops": ["select"]}, "gives a view"),
        ({"device": "cpu", "ops": ["aten::t_"]}, "gives a view"),
    ],
)
def test_wrong_arguments_are_told(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(MisuseError, match=told):
        fallback(**arguments)
