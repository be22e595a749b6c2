"""The example a model is traced with: any content, and a length that the model does not treat specially."""

from __future__ import annotations

import torch
from torch import nn
from torch.export import Dim

__all__ = ["example_sound"]

_SECONDS = 2


def example_sound(front_end: nn.Module, input_size: int) -> tuple[str, torch.Tensor, Dim]:
    """Graph name, example and length of the first input: a waveform, or features where there is no front end.

    Where the front end says its ``shortest`` waveform, so does the length: the exporter would find it out by failing,
    and trace the model a second time.
    """
    if isinstance(front_end, nn.Identity):
        return "speech", torch.zeros(1, 17 * _SECONDS, input_size), Dim("T")
    return "audio", torch.zeros(1, 16_000 * _SECONDS), Dim("S", min=getattr(front_end, "shortest", None))
