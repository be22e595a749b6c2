"""LSTM and GRU cells, which torch-directml lacks on the device and on its way to the CPU."""

from __future__ import annotations

from typing import Any

import torch

from paddable.torch_backends.calls import Call
from paddable.torch_backends.faults import Fault

__all__ = ["CELLS", "FAULTS"]


def _gates(call: Call, name: str) -> torch.Tensor:
    gates: torch.Tensor = call[f"{name}_gates"]
    bias = call[f"{name}_bias"]
    return gates if bias is None else gates + bias


def lstm_cell(call: Call) -> Any:
    """One step by sigmoid, tanh and products, as ``aten::_thnn_fused_lstm_cell`` defines it: h, c and its workspace."""
    gates = _gates(call, "input") + _gates(call, "hidden")
    keep_in, forget, new, out = gates.chunk(4, 1)
    keep_in, forget, new, out = keep_in.sigmoid(), forget.sigmoid(), new.tanh(), out.sigmoid()
    cell = forget * call["cx"] + keep_in * new
    return out * cell.tanh(), cell, torch.cat([keep_in, forget, new, out], 1)


def gru_cell(call: Call) -> Any:
    """One step by sigmoid, tanh and products, as ``aten::_thnn_fused_gru_cell`` defines it: h and its workspace."""
    reset_in, update_in, new_in = _gates(call, "input").chunk(3, 1)
    reset_of, update_of, new_of = _gates(call, "hidden").chunk(3, 1)
    reset, update = (reset_in + reset_of).sigmoid(), (update_in + update_of).sigmoid()
    new, state = (new_in + reset * new_of).tanh(), call["hx"]
    return new + update * (state - new), torch.cat([reset, update, new, state, new_of], 1)


CELLS = {"_thnn_fused_lstm_cell": lstm_cell, "_thnn_fused_gru_cell": gru_cell}
"""The cells by the operator that they stand for."""


def _missing(name: str) -> str:
    return f"Could not run 'aten::{name}' with arguments from the 'CPU' backend."


FAULTS = (
    Fault(
        "lstm",
        "raises",
        ("_thnn_fused_lstm_cell",),
        "nn.LSTM and LSTMCell cannot run in any form (nn.RNN can)",
        "run the module and its input on the CPU, or write the cell with linear, sigmoid and tanh",
        message=_missing("_thnn_fused_lstm_cell"),
        exception=NotImplementedError,
        repair=lstm_cell,
    ),
    Fault(
        "gru",
        "raises",
        ("_thnn_fused_gru_cell",),
        "nn.GRU and GRUCell cannot run in any form",
        "run the module and its input on the CPU",
        message=_missing("_thnn_fused_gru_cell"),
        exception=NotImplementedError,
        repair=gru_cell,
    ),
)
