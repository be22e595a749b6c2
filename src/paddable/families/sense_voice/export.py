"""SenseVoice: a checkpoint folder to native ONNX and what its bundle says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from paddable.families.checkpoints.sound import KINDS, about_sound, steps_a_second
from paddable.families.family import Described, Family, Loaded
from paddable.families.sense_voice.config import LANGUAGES, TEXT_NORMS
from paddable.families.sense_voice.spec import SENSE_VOICE
from paddable.families.sense_voice.weights import sense_voice_from_folder
from paddable.families.tracing.example import example_sound
from paddable.families.tracing.native import export_native

if TYPE_CHECKING:
    import onnx

    from paddable.families.sense_voice.model import SenseVoice

__all__ = ["FAMILY", "export_sense_voice"]

_OUTPUTS = ("enc_output", "ctc_logits")


def export_sense_voice(model: SenseVoice, *, rows: bool = False) -> onnx.ModelProto:
    """Exports the entry that the model has.

    Inputs: ``audio`` f32[1, S] in [-1, 1] at 16 kHz, or ``speech`` f32[1, T, 560] where it has no front end;
    ``language`` i64[1]; ``textnorm`` i64[1]. Outputs: ``enc_output`` f32[1, T+4, C], ``ctc_logits`` f32[1, T+4, V].

    Args:
        model: with or without its front end.
        rows: whether the graph takes any number of rows, in place of one.

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
        _OUTPUTS,
        ragged_inputs={name: (1, symbol)},
        ragged_outputs=dict.fromkeys(_OUTPUTS, 1),
        rows=(name, "language", "textnorm", *_OUTPUTS) if rows else (),
    )


def _load(folder: Path, choices: Mapping[str, Any]) -> Loaded:
    front_end = choices["front_end"]
    model = sense_voice_from_folder(folder, KINDS[front_end])
    about = about_sound(folder, front_end, _OUTPUTS, stack=model.config.stack, stride=model.config.stride)
    ctc = {"blank": 0, "tag_rows": 4, "languages": dict(LANGUAGES), "text_norms": dict(TEXT_NORMS)}
    return Loaded(
        partial(export_sense_voice, model),
        steps_a_second(front_end, model.config.stride),
        about | {"settings": {"ctc": ctc}},
        classes=model.ctc.ctc_lo.out_features,
        export_rows=partial(export_sense_voice, model, rows=True),
    )


def _describe(folder: Path) -> Described:
    return Described(asdict(sense_voice_from_folder(folder, "none").config))


FAMILY = Family(SENSE_VOICE, _load, _describe)
