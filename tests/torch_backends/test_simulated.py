"""The simulated device: it claims to be one, fails as the real one, and ends a process."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from paddable.errors import MisuseError
from paddable.torch_backends import BackendError, simulated_backend, trace_ops

ENDING = {
    "torch.fft.rfft(x)": "ComplexFloat",
    "x.to(torch.bfloat16)": "BFloat16",
    "torch.nn.PReLU(3).to(device)(x.view(1, 3, 2, 2))": "rank <= DML_TENSOR_DIMENSION_COUNT_MAX",
}


def test_tensors_and_modules_live_on_it_and_come_back() -> None:
    with simulated_backend() as device, torch.no_grad():
        layer = nn.Linear(4, 3).to(device)
        assert isinstance(layer.weight, nn.Parameter) and layer.weight.device == torch.device("privateuseone:0")
        y = layer(torch.ones(2, 4).to(device))
        assert y.device == device and y.cpu().device.type == "cpu"
        with pytest.raises(RuntimeError, match="same device"):
            y + torch.ones(2, 3)
        with pytest.raises(TypeError, match="to numpy"):
            y.numpy()
    assert not hasattr(torch, "privateuseone")


@pytest.mark.parametrize("call", ENDING)
def test_what_ends_the_process_ends_it(call: str) -> None:
    code = f"""
import torch
from paddable.torch_backends import simulated_backend
with simulated_backend() as device, torch.no_grad():
    x = torch.ones(12).to(device)
    try:
        {call}
    except BaseException:
        print("caught")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 3 and ENDING[call] in ended.stderr and "caught" not in ended.stdout


def test_the_same_error_in_two_code_pages() -> None:
    empty, full = torch.ones(0, 4), torch.ones(3, 4)
    with simulated_backend(code_page=1252) as device, pytest.raises(RuntimeError, match=r"Invalid parameter\."):
        torch.cat([empty.to(device), full.to(device)])
    with (
        simulated_backend(code_page=936) as device,
        pytest.raises(UnicodeDecodeError, match="0xce in position 0") as told,
    ):
        torch.cat([empty.to(device), full.to(device)])
    assert told.value.object == bytes.fromhex("ce de d0 a7 b2 ce ca fd a1 a3")
    with simulated_backend(code_page=936) as device, pytest.raises(RuntimeError, match="partially modified"):
        F.one_hot(torch.tensor([1, 2]).to(device))


def test_the_real_text_is_told() -> None:
    with simulated_backend(code_page=936) as device, trace_ops(), pytest.raises(BackendError, match="无效参数") as told:
        torch.cat([torch.ones(0, 4).to(device), torch.ones(3, 4).to(device)])
    assert "aten.cat.default([float32[0, 4], float32[3, 4]])" in str(told.value) and "drop empty" in told.value.fix


def test_what_the_backend_takes_to_the_cpu_warns_and_is_right() -> None:
    with simulated_backend() as device, pytest.warns(UserWarning, match="will fall back to run on the CPU"):
        assert torch.arange(3).to(device).roll(1).cpu().tolist() == [2, 0, 1]


def test_gradients_are_refused_not_fatal() -> None:
    layer = nn.Linear(4, 3)
    with simulated_backend() as device:
        there = layer.to(device)
        assert there.weight.requires_grad
        with torch.enable_grad():
            loss = there(torch.ones(2, 4, requires_grad=True).to(device)).sum()
        for ask in (
            loss.backward,
            loss.cpu().backward,
            lambda: torch.autograd.grad(loss, [there.weight]),
            lambda: torch.autograd.backward([loss]),
        ):
            with pytest.raises(MisuseError, match="no gradients"):
                ask()
    assert torch.is_grad_enabled() and there.weight.requires_grad


def test_the_warning_is_of_the_users_line() -> None:
    with simulated_backend() as device, pytest.warns(UserWarning) as warned:
        torch.arange(3).to(device).roll(1)
    assert warned[0].filename == __file__


def test_methods_need_no_guard_inside_of_functions_and_operators() -> None:
    with simulated_backend() as device, torch._C.DisableTorchFunction():
        x = torch.ones(2, 3).to(device)
        assert x.t().contiguous().shape == (3, 2) and x[0, 1:].shape == (2,) and int(x[0, 0]) == 1
        assert x.nonzero().shape == (6, 2) and (~(x > 1)).tolist() == [[True] * 3] * 2
        x[1] = 4.0
        assert x.copy_(x + 1).tolist() == [[2.0] * 3, [5.0] * 3]


def test_an_unknown_code_page_is_told() -> None:
    with pytest.raises(MisuseError, match="1252 or 936"), simulated_backend(code_page=932):
        pass
