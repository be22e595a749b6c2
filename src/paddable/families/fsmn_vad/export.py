"""FSMN-VAD to native ONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddable.families.tracing.example import example_sound
from paddable.families.tracing.native import export_native

if TYPE_CHECKING:
    import onnx

    from paddable.families.fsmn_vad.model import FsmnVad

__all__ = ["export_fsmn_vad"]


def export_fsmn_vad(model: FsmnVad) -> onnx.ModelProto:
    """Exports the entry that the model has.

    Input: ``audio`` f32[1, S] in [-1, 1] at 16 kHz, or ``speech`` f32[1, T, 400] where it has no front end. Output:
    ``posteriors`` f32[1, T, K].

    Raises:
        RefusedError: a length did not stay symbolic.
    """
    name, sound, symbol = example_sound(model.front_end, model.in_linear1.in_features)
    return export_native(
        model, {name: sound}, ["posteriors"], ragged_inputs={name: (1, symbol)}, ragged_outputs={"posteriors": 1}
    )
