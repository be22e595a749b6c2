"""SenseVoice to native ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from paddable.families.sense_voice.config import LANGUAGES, TEXT_NORMS
from paddable.families.tracing.example import example_sound
from paddable.families.tracing.native import export_native

if TYPE_CHECKING:
    import onnx

    from paddable.families.sense_voice.model import SenseVoice

__all__ = ["export_sense_voice"]


def export_sense_voice(model: SenseVoice) -> onnx.ModelProto:
    """Exports the entry that the model has.

    Inputs: ``audio`` f32[1, S] in [-1, 1] at 16 kHz, or ``speech`` f32[1, T, 560] where it has no front end;
    ``language`` i64[1]; ``textnorm`` i64[1]. Outputs: ``enc_output`` f32[1, T+4, C], ``ctc_logits`` f32[1, T+4, V].

    Raises:
        RefusedError: a length did not stay symbolic.
    """
    name, sound, symbol = example_sound(model.front_end, model.encoder.input_size)
    return export_native(
        model,
        {
            name: sound,
            "language": torch.tensor([LANGUAGES["auto"]]),
            "textnorm": torch.tensor([TEXT_NORMS["woitn"]]),
        },
        ["enc_output", "ctc_logits"],
        ragged_inputs={name: (1, symbol)},
        ragged_outputs={"enc_output": 1, "ctc_logits": 1},
    )
