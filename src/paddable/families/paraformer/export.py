"""Paraformer: a checkpoint folder to native ONNX and what its bundle says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from paddable.families.checkpoints.sound import KINDS, about_sound, steps_a_second
from paddable.families.family import Described, Family, Loaded
from paddable.families.layers.recurrent import as_onnx_nodes
from paddable.families.paraformer.model import Paraformer
from paddable.families.paraformer.spec import PARAFORMER
from paddable.families.paraformer.weights import paraformer_from_folder
from paddable.families.tracing.example import example_sound
from paddable.families.tracing.native import export_native

if TYPE_CHECKING:
    import onnx

__all__ = ["FAMILY", "export_paraformer"]

_OUTPUTS = ("logits", "token_count", "alphas", "fires")


def export_paraformer(model: Paraformer, *, rows: bool = False) -> onnx.ModelProto:
    """Exports the entry that the model has.

    Input: ``audio`` f32[1, S] in [-1, 1] at 16 kHz, or ``speech`` f32[1, T, 560] where it has no front end. SeACo also
    takes ``hotwords`` i64[50, 10], their tokens, and ``hotword_lengths`` i64[50], how many, 0 for none. Outputs:
    ``logits`` f32[1, T, V], of which the first ``token_count`` i64[1] rows are tokens and the others 0; ``alphas`` and
    ``fires`` f32[1, T]; of BiCIF also ``us_alphas`` f32[1, 3 T].

    Args:
        model: with or without its front end.
        rows: whether the graph takes any number of rows, in place of one.

    Raises:
        RefusedError: a length did not stay symbolic.
    """
    name, sound, symbol = example_sound(model.front_end, model.encoder.input_size)
    outputs = [*_OUTPUTS, *(["us_alphas"] if model.predictor.upsampling else [])]
    inputs = {name: sound}
    if (hotwords := model.config.hotwords) is not None:
        inputs["hotwords"] = torch.zeros(hotwords.most, hotwords.longest, dtype=torch.int64)
        inputs["hotword_lengths"] = torch.ones(hotwords.most, dtype=torch.int64)
    with as_onnx_nodes(model):
        return export_native(
            model,
            inputs,
            outputs,
            ragged_inputs={name: (1, symbol)},
            ragged_outputs={output: 1 for output in outputs if output != "token_count"},
            rows=(name, *outputs) if rows else (),
        )


def _load(folder: Path, choices: Mapping[str, Any]) -> Loaded:
    front_end = choices["front_end"]
    model = paraformer_from_folder(folder, KINDS[front_end])
    config = model.config
    about = about_sound(folder, front_end, ("logits", "alphas", "fires"), stack=config.stack, stride=config.stride)
    upsampling = config.predictor.upsampling
    cif = {
        "blank": 0,
        "ends": [1, 2],
        "upsampling": upsampling.times if upsampling else None,
        "tail": config.predictor.tail_threshold,
        "hotwords": [config.hotwords.most, config.hotwords.longest] if config.hotwords else None,
    }
    return Loaded(
        partial(export_paraformer, model),
        steps_a_second(front_end, config.stride),
        about | {"settings": {"cif": cif}},
        classes=config.vocabulary,
        export_rows=partial(export_paraformer, model, rows=True),
    )


def _describe(folder: Path) -> Described:
    return Described(asdict(paraformer_from_folder(folder, "none").config))


FAMILY = Family(PARAFORMER, _load, _describe)
