"""`trace_ops`: what ran, where, and what became of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from paddable.errors import MisuseError
from paddable.torch_backends import BackendError, simulated_backend, trace_ops


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.conv = nn.Conv1d(4, 4, 3, padding=1, bias=False)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        masked = self.inner(x) * mask
        padded: Tensor = self.conv(masked.transpose(1, 2).contiguous())
        return padded


def test_every_operator_is_recorded_with_its_place() -> None:
    block = Block().eval()
    with torch.no_grad(), trace_ops(block) as trace:
        block(torch.ones(2, 5, 4), torch.ones(2, 5, 1))
    relu = next(call for call in trace.calls if call.op == "aten.relu.default")
    assert (
        relu.module == "inner.1" and relu.inputs == relu.outputs == ("float32[2, 5, 4]",) and relu.devices == ("cpu",)
    )
    assert relu.source is not None and relu.source.file.endswith("test_trace.py") and relu.seconds > 0
    assert [call.order for call in trace.calls] == list(range(len(trace.calls)))
    assert json.loads(trace.json())["operators"][0]["op"] == trace.calls[0].op
    lines = trace.table().splitlines()
    assert lines[0].startswith("operator") and len(lines) == len({(c.op, c.inputs) for c in trace.calls}) + 1
    assert "more" in trace.table(rows=1)


def test_the_slowest_is_first_and_the_failing_before_it() -> None:
    with torch.no_grad(), trace_ops() as trace:
        torch.ones(300, 300) @ torch.ones(300, 300)
        with pytest.raises(BackendError):
            torch.ones(2) @ torch.ones(3)
    failing, slowest = trace.table().splitlines()[1:3]
    assert failing.startswith("aten.dot") and "failed" in failing
    totals: dict[str, float] = {}
    for call in trace.calls:
        if not call.error:
            totals[call.op + str(call.inputs)] = totals.get(call.op + str(call.inputs), 0.0) + call.seconds
    assert slowest.startswith(max(totals, key=lambda key: totals[key]).partition("(")[0])


def test_a_bool_convolution_names_the_product_that_made_it() -> None:
    block = Block().eval()
    with simulated_backend() as device, torch.no_grad(), pytest.raises(BackendError) as raised, trace_ops() as trace:
        block.to(device)(torch.ones(2, 5, 4).to(device), torch.ones(2, 5, 1, dtype=torch.bool).to(device))
    said = raised.value
    assert "aten.convolution.default(bool[2, 4, 5]" in said.what and "Invalid parameter." in said.what
    assert "in conv" in said.where
    assert "aten.mul.Tensor(float32[2, 5, 4], bool[2, 5, 1])" in said.why and "test_trace.py:" in said.why
    assert "mask.to(x.dtype)" in said.fix
    assert trace.calls[-1].error and isinstance(said, RuntimeError)


def test_so_does_the_check_that_pytorch_makes_of_a_biased_convolution() -> None:
    block = Block().eval()
    block.conv = nn.Conv1d(4, 4, 3)
    with simulated_backend() as device, torch.no_grad(), pytest.raises(BackendError) as raised, trace_ops():
        block.to(device)(torch.ones(2, 5, 4).to(device), torch.ones(2, 5, 1, dtype=torch.bool).to(device))
    assert "should be the same" in raised.value.what and "aten.mul.Tensor(float32[2, 5, 4]" in raised.value.why


def test_what_is_no_module_is_told() -> None:
    with pytest.raises(MisuseError, match=r"no torch\.nn\.Module"):
        trace_ops(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("file", [f"{Path(torch.__file__).parent}audio/model.py", "<stdin>"])
def test_a_line_beside_torch_and_one_that_was_typed_are_the_users(file: str) -> None:
    with trace_ops() as trace:
        exec(compile("\nimport torch\ntorch.ones(2)", file, "exec"), {})
    assert trace.calls[0].source is not None and trace.calls[0].source.line == 3
