"""The export refuses a length that the exporter froze."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from paddable.errors import RefusedError
from paddable.families.fsmn_vad.config import FsmnVadConfig
from paddable.families.fsmn_vad.export import export_fsmn_vad
from paddable.families.fsmn_vad.model import FsmnVad
from paddable.families.layers.front_end import KaldiFrontEnd
from paddable.families.tracing.native import export_native


def test_a_model_with_a_front_end_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporter finds the shortest sound out by failing, unless it is told."""
    traced = []
    trace = torch.export.export

    def counting(*args: Any, **more: Any) -> Any:
        traced.append(more)
        return trace(*args, **more)

    monkeypatch.setattr(torch.export, "export", counting)
    config = FsmnVadConfig(affine_size=20, size=24, memory_size=16, blocks=1, order=5, classes=12)
    graph = export_fsmn_vad(FsmnVad(config, KaldiFrontEnd(config.stack, config.stride)).eval())
    assert len(traced) == 1
    assert graph.graph.input[0].type.tensor_type.shape.dim[1].dim_param == "S"


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
