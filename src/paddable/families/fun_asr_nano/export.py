"""Audio side of Fun-ASR-Nano to native ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddable.families.tracing.example import example_sound
from paddable.families.tracing.native import export_native

if TYPE_CHECKING:
    import onnx

    from paddable.families.fun_asr_nano.model import FunAsrNano

__all__ = ["export_fun_asr_nano"]


def export_fun_asr_nano(model: FunAsrNano) -> onnx.ModelProto:
    """Exports the entry that the model has.

    Input: ``audio`` f32[1, S] in [-1, 1] at 16 kHz, or ``speech`` f32[1, T, 560] where it has no front end. Outputs:
    ``enc_output`` f32[1, T, C], ``adaptor_output`` f32[1, T, L] and, where the model has a CTC branch, ``ctc_logits``
    f32[1, T, V].

    Raises:
        RefusedError: a length did not stay symbolic.
    """
    name, sound, symbol = example_sound(model.front_end, model.audio_encoder.input_size)
    outputs = ["enc_output", "adaptor_output"] + (["ctc_logits"] if model.ctc else [])
    return export_native(
        model, {name: sound}, outputs, ragged_inputs={name: (1, symbol)}, ragged_outputs=dict.fromkeys(outputs, 1)
    )
