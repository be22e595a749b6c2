"""FSMN-VAD: a checkpoint folder to native ONNX and what its bundle says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddable.families.checkpoints.folder import CheckpointFolder
from paddable.families.checkpoints.sound import about_sound, steps_a_second
from paddable.families.family import Described, Family, Loaded
from paddable.families.fsmn_vad.spec import FSMN_VAD, VadOptions, refuse_other_classes
from paddable.families.fsmn_vad.weights import fsmn_vad_from_folder
from paddable.families.tracing.example import example_sound
from paddable.families.tracing.native import export_native

if TYPE_CHECKING:
    import onnx

    from paddable.families.fsmn_vad.model import FsmnVad

__all__ = ["FAMILY", "export_fsmn_vad"]


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


def _load(folder: Path, choices: Mapping[str, Any]) -> Loaded:
    front_end = choices["front_end"]
    model = fsmn_vad_from_folder(folder, features=front_end == "numpy")
    checkpoint = CheckpointFolder.open(folder)
    where = str(checkpoint.config_file)
    said = checkpoint.config.get("model_conf", {})
    config = model.config
    refuse_other_classes(VadOptions.from_funasr(said, where=where), config.classes, where=where)
    # what the memories look back, and the left neighbours of a stacked feature
    context = config.blocks * (config.order - 1) + (config.stack - 1) // 2
    about = about_sound(folder, front_end, ("posteriors",), stack=config.stack, stride=config.stride)
    return Loaded(
        partial(export_fsmn_vad, model),
        steps_a_second(front_end, config.stride),
        about | {"settings": {"vad": dict(said), "context": context}},
    )


def _describe(folder: Path) -> Described:
    return Described(asdict(fsmn_vad_from_folder(folder, features=True).config))


FAMILY = Family(FSMN_VAD, _load, _describe)
