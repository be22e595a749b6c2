"""A bidirectional LSTM as one node of ONNX.

The exporter writes one copy of the cell for every step of the example. Where a length is free, the layer has to become
the operator LSTM, with the weights packed as that wants them.

Legend: B batch, T steps, C channels, H hidden channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

__all__ = ["as_onnx_nodes"]


@contextmanager
def as_onnx_nodes(model: nn.Module) -> Iterator[None]:
    """Within the block, every LSTM of a model is traced as one node; the model does not run meanwhile."""
    owners = [
        (owner, name, layer)
        for owner in model.modules()
        for name, layer in owner.named_children()
        if isinstance(layer, nn.LSTM)
    ]
    for owner, name, layer in owners:
        setattr(owner, name, _LstmNode(layer))
    try:
        yield
    finally:
        for owner, name, layer in owners:
            setattr(owner, name, layer)


class _LstmNode(nn.Module):
    """One layer, both directions, batch first, without initial states; ``weights`` are [2, 4 H, C] and so on."""

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__()
        assert lstm.num_layers == 1 and lstm.bidirectional and lstm.batch_first and lstm.bias
        self.hidden_size = lstm.hidden_size
        parameters = dict(lstm.named_parameters())

        def both(kind: str) -> Tensor:
            return torch.stack([_gates_of_onnx(parameters[f"{kind}_l0{way}"].data) for way in ("", "_reverse")])

        self.weights = nn.Parameter(both("weight_ih"))
        self.recurrent_weights = nn.Parameter(both("weight_hh"))
        self.biases = nn.Parameter(torch.cat([both("bias_ih"), both("bias_hh")], dim=1))

    def forward(self, x_BTC: Tensor) -> tuple[Tensor, None]:
        x_TBC = x_BTC.transpose(0, 1)
        hidden_T2BH: Tensor = torch.onnx.ops.symbolic(
            "LSTM",
            (x_TBC, self.weights, self.recurrent_weights, self.biases),
            {"direction": "bidirectional", "hidden_size": self.hidden_size},
            dtype=x_TBC.dtype,
            shape=(x_TBC.shape[0], 2, x_TBC.shape[1], self.hidden_size),
        )
        return hidden_T2BH.permute(2, 0, 1, 3).flatten(2), None


def _gates_of_onnx(rows: Tensor) -> Tensor:
    """PyTorch stacks the gates input, forget, cell, output; ONNX wants input, output, forget, cell."""
    gate_in, forget, cell, out = rows.chunk(4)
    return torch.cat([gate_in, out, forget, cell])
