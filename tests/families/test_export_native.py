"""The export refuses a length that the exporter froze."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from paddable.errors import RefusedError
from paddable.families.tracing.native import export_native


class Frozen(nn.Module):
    """Turns a shape into a tensor, which the exporter answers with a constant."""

    def forward(self, x_BT: Tensor) -> Tensor:
        return x_BT + torch.as_tensor(x_BT.shape[1] - 1)


class Summed(nn.Module):
    """Its output has a fixed length."""

    def forward(self, x_BT: Tensor) -> Tensor:
        return x_BT.sum(dim=1, keepdim=True)


@pytest.mark.parametrize(("module", "place"), [(Frozen(), "x"), (Summed(), "y")])
def test_a_frozen_length_is_refused(module: nn.Module, place: str) -> None:
    with pytest.raises(RefusedError, match=f"axis 1 of {place} came out as"):
        export_native(module, {"x": torch.zeros(1, 9)}, ["y"], ragged_inputs={"x": (1, "T")}, ragged_outputs={"y": 1})
