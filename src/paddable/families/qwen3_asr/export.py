"""Qwen3-ASR's audio encoder: a checkpoint folder to native ONNX, whole or cut behind the convolutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from paddable.audio.kaldi import SAMPLE_RATE
from paddable.families.checkpoints.settings import read_json
from paddable.families.family import Described, Family, Loaded
from paddable.families.qwen3_asr.config import Qwen3AsrConfig
from paddable.families.qwen3_asr.front_end import WhisperFrontEnd
from paddable.families.qwen3_asr.spec import QWEN3_ASR
from paddable.families.qwen3_asr.weights import qwen3_asr_from_folder
from paddable.families.tracing.native import export_native

if TYPE_CHECKING:
    import onnx

    from paddable.families.qwen3_asr.model import Qwen3AsrEncoder

__all__ = ["FAMILY", "export_qwen3_asr", "export_qwen3_asr_parts"]

_FRAMES = 923  # of the example: two windows, the last chunk neither whole nor empty
_OUTPUTS = ["last_hidden", "embeddings"]


def export_qwen3_asr(model: Qwen3AsrEncoder) -> onnx.ModelProto:
    """Exports the entry that the model has.

    Input: ``mel`` f32[1, 128, T], or ``audio`` f32[1, S] in [-1, 1] at 16 kHz where the model has a front end. Outputs:
    ``last_hidden`` f32[1, L, D] after the last norm, ``embeddings`` f32[1, L, E] for the language model.

    Raises:
        RefusedError: a length did not stay symbolic.
    """
    if isinstance(model.front_end, nn.Identity):
        name, example, axis, symbol = "mel", torch.zeros(1, model.config.mels, _FRAMES), 2, "T"
    else:
        name, example, axis, symbol = "audio", torch.zeros(1, _FRAMES * 160 + 77), 1, "S"
    return export_native(
        model,
        {name: example},
        _OUTPUTS,
        ragged_inputs={name: (axis, symbol)},
        ragged_outputs=dict.fromkeys(_OUTPUTS, 1),
    )


def export_qwen3_asr_parts(model: Qwen3AsrEncoder) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Exports two graphs that follow each other.

    The first: ``mel`` f32[1, 128, T] to ``tokens`` f32[1, L, D]. The second: ``tokens`` f32[1, L, D] to ``last_hidden``
    and ``embeddings`` as in ``export_qwen3_asr``. Its length is counted in tokens.

    Raises:
        RefusedError: a length did not stay symbolic.
    """
    mel = torch.zeros(1, model.config.mels, _FRAMES)
    with torch.no_grad():
        tokens = model.tokens(mel)
    first = export_native(
        model.tokens, {"mel": mel}, ["tokens"], ragged_inputs={"mel": (2, "T")}, ragged_outputs={"tokens": 1}
    )
    second = export_native(
        model.transformer,
        {"tokens": tokens},
        _OUTPUTS,
        ragged_inputs={"tokens": (1, "L")},
        ragged_outputs=dict.fromkeys(_OUTPUTS, 1),
    )
    return first, second


def _load(folder: Path, choices: Mapping[str, Any]) -> Loaded:
    in_graph = choices["front_end"] == "in-graph"
    model = qwen3_asr_from_folder(
        folder, choices["attention"], choices["short_clips"], WhisperFrontEnd() if in_graph else None
    )
    sound = {"S": f"samples at {SAMPLE_RATE} Hz"} if in_graph else {"T": "log-mel frames of 10 ms"}
    beside = {"input": "mel", "axes": "BCT", "options": {"mels": model.config.mels}}
    about = {
        "sample_rate": SAMPLE_RATE,
        "front_end": {"kind": "whisper", "in_graph": in_graph, **({} if in_graph else beside)},
        "units": {f"{name}_length": "tokens, 13 a second" for name in _OUTPUTS} | sound,
    }
    return Loaded(partial(export_qwen3_asr, model), SAMPLE_RATE if in_graph else 100, about)


def _describe(folder: Path) -> Described:
    file = folder / "config.json"
    config = Qwen3AsrConfig.from_json(read_json(file), where=str(file))
    more = {"head_dim": config.size // config.heads, "window_tokens": config.window_tokens}
    return Described({**asdict(config), **more})


FAMILY = Family(QWEN3_ASR, _load, _describe)
