"""Each layer of an LSTM as one node of ONNX.

The exporter writes one copy of the cell for every step of the example. Where a length is free, the layer has to become
the operator LSTM, with the weights packed as that wants them.

Legend: B batch, T steps, C channels, H hidden channels, W directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

__all__ = ["as_onnx_nodes"]


@contextmanager
def as_onnx_nodes(model: nn.Module) -> Iterator[None]:
    """Within the block, every layer of an LSTM is traced as one node; the model does not run meanwhile."""
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
    """Layers of one or both directions, batch first, without initial states; ``weights`` are [W, 4 H, C] and so on."""

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__()
        assert lstm.batch_first and lstm.bias and not lstm.proj_size
        self.hidden_size = lstm.hidden_size
        self.ways = ("", "_reverse") if lstm.bidirectional else ("",)
        parameters = dict(lstm.named_parameters())

        def packed(kind: str, layer: int) -> Tensor:
            return torch.stack([_gates_of_onnx(parameters[f"{kind}_l{layer}{way}"].data) for way in self.ways])

        layers = range(lstm.num_layers)
        self.weights = nn.ParameterList([packed("weight_ih", layer) for layer in layers])
        self.recurrent_weights = nn.ParameterList([packed("weight_hh", layer) for layer in layers])
        self.biases = nn.ParameterList(
            [torch.cat([packed("bias_ih", layer), packed("bias_hh", layer)], dim=1) for layer in layers]
        )

    def forward(self, x_BTC: Tensor) -> tuple[Tensor, None]:
        for weights in zip(self.weights, self.recurrent_weights, self.biases, strict=True):
            x_TBC = x_BTC.transpose(0, 1)
            hidden_TWBH: Tensor = torch.onnx.ops.symbolic(
                "LSTM",
                (x_TBC, *weights),
                {
                    "direction": "bidirectional" if len(self.ways) == 2 else "forward",
                    "hidden_size": self.hidden_size,
                },
                dtype=x_TBC.dtype,
                shape=(x_TBC.shape[0], len(self.ways), x_TBC.shape[1], self.hidden_size),
            )
            x_BTC = hidden_TWBH.permute(2, 0, 1, 3).flatten(2)
        return x_BTC, None


def _gates_of_onnx(rows: Tensor) -> Tensor:
    """PyTorch stacks the gates input, forget, cell, output; ONNX wants input, output, forget, cell."""
    gate_in, forget, cell, out = rows.chunk(4)
    return torch.cat([gate_in, out, forget, cell])
