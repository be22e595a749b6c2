"""Audio side of Fun-ASR-Nano: a checkpoint folder to native ONNX and what its bundle says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddable.families.checkpoints.sound import KINDS, about_sound, steps_a_second
from paddable.families.family import Described, Family, Loaded
from paddable.families.fun_asr_nano.spec import FUN_ASR_NANO
from paddable.families.fun_asr_nano.weights import fun_asr_nano_from_folder
from paddable.families.tracing.example import example_sound
from paddable.families.tracing.native import export_native

if TYPE_CHECKING:
    import onnx

    from paddable.families.fun_asr_nano.model import FunAsrNano

__all__ = ["FAMILY", "export_fun_asr_nano"]


def export_fun_asr_nano(model: FunAsrNano, *, rows: bool = False) -> onnx.ModelProto:
    """Exports the entry that the model has.

    Input: ``audio`` f32[1, S] in [-1, 1] at 16 kHz, or ``speech`` f32[1, T, 560] where it has no front end. Outputs:
    ``enc_output`` f32[1, T, C], ``adaptor_output`` f32[1, T, L] and, where the model has a CTC branch, ``ctc_logits``
    f32[1, T, V].

    Args:
        model: with or without its front end.
        rows: whether the graph takes any number of rows, in place of one.

    Raises:
        RefusedError: a length did not stay symbolic.
    """
    name, sound, symbol = example_sound(model.front_end, model.audio_encoder.input_size)
    outputs = _outputs(model)
    return export_native(
        model,
        {name: sound},
        outputs,
        ragged_inputs={name: (1, symbol)},
        ragged_outputs=dict.fromkeys(outputs, 1),
        rows=(name, *outputs) if rows else (),
    )


def _load(folder: Path, choices: Mapping[str, Any]) -> Loaded:
    front_end = choices["front_end"]
    model = fun_asr_nano_from_folder(folder, KINDS[front_end])
    about = about_sound(folder, front_end, _outputs(model), stack=model.config.stack, stride=model.config.stride)
    loaded = Loaded(
        partial(export_fun_asr_nano, model),
        steps_a_second(front_end, model.config.stride),
        about,
        export_rows=partial(export_fun_asr_nano, model, rows=True),
    )
    if model.ctc is None:  # MLT-Nano and the transformers port: embeddings, not text
        return loaded
    settings = {"ctc": {"blank": -1, "lead": 0.0}}
    return replace(loaded, about=about | {"settings": settings}, classes=model.ctc.ctc_lo.out_features)


def _outputs(model: FunAsrNano) -> list[str]:
    return ["enc_output", "adaptor_output", *(["ctc_logits"] if model.ctc else [])]


def _describe(folder: Path) -> Described:
    return Described(asdict(fun_asr_nano_from_folder(folder, "none").config))


FAMILY = Family(FUN_ASR_NANO, _load, _describe)
