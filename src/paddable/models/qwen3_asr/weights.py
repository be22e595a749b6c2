"""Qwen3-ASR's encoder from a checkpoint folder: config.json and safetensors, one file or shards with an index.

Two layouts hold the same encoder: the original one (``thinker.audio_tower.*``) and the ``-hf`` one of transformers
(``model.audio_tower.*`` and ``model.multi_modal_projector.*``, with or without ``model.``). Only the encoder's tensors
are read: the language model beside them is several times as large.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from paddable.errors import Unreadable
from paddable.models.checkpoint import load_weights
from paddable.models.qwen3_asr.config import Qwen3AsrConfig
from paddable.models.qwen3_asr.model import Attention, Qwen3AsrEncoder, ShortClips

__all__ = ["qwen3_asr_from_folder", "rename_key"]

_TOWERS = ("thinker.audio_tower.", "model.audio_tower.", "audio_tower.")
_PROJECTORS = ("model.multi_modal_projector.", "multi_modal_projector.")
_PROJECTIONS = {"linear_1": "proj1", "linear_2": "proj2"}
_TOKENS = ("conv2d1.", "conv2d2.", "conv2d3.", "conv_out.")


def qwen3_asr_from_folder(
    folder: str | Path,
    attention: Attention = "windowed",
    short_clips: ShortClips = "own",
    front_end: nn.Module | None = None,
) -> Qwen3AsrEncoder:
    """Builds the encoder of a checkpoint folder, float32, in eval mode.

    Args:
        folder: holds config.json, and model.safetensors or model.safetensors.index.json with its shards.
        attention: "windowed" (as trained) or "global".
        short_clips: clips under 100 frames: "own" width (qwen-asr) or "padded" (transformers).
        front_end: a ``WhisperFrontEnd`` for a model that takes a waveform.

    Raises:
        Unreadable: a file is absent or damaged, or keys are missing, unexpected or wrongly shaped.
    """
    folder = Path(folder)
    config = Qwen3AsrConfig.from_json(_read_json(folder / "config.json"), where=str(folder / "config.json"))
    tensors = {name: tensor for file in _files(folder) for name, tensor in _read_tensors(file).items()}
    model = Qwen3AsrEncoder(config, attention, short_clips, front_end)
    load_weights(model, tensors, where=str(folder))
    return model.requires_grad_(False)


def rename_key(key: str) -> str | None:
    """A checkpoint's key as this model's parameter name; None for the language model's."""
    for prefix in _TOWERS:
        if key.startswith(prefix):
            name = key.removeprefix(prefix)
            return ("tokens." if name.startswith(_TOKENS) else "transformer.") + name
    for prefix in _PROJECTORS:
        if key.startswith(prefix):
            layer, _, rest = key.removeprefix(prefix).partition(".")
            return f"transformer.{_PROJECTIONS.get(layer, layer)}.{rest}"
    return None


def _files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        places = _read_json(index).get("weight_map")
        if not isinstance(places, Mapping):
            raise Unreadable("no weight_map in it", where=str(index))
        return [folder / str(name) for name in sorted({file for key, file in places.items() if rename_key(key)})]
    return [folder / "model.safetensors"]


def _read_tensors(file: Path) -> dict[str, Tensor]:
    try:
        with safe_open(file, framework="pt") as stored:
            names = {key: rename_key(key) for key in stored.keys()}  # noqa: SIM118
            return {name: stored.get_tensor(key).float() for key, name in names.items() if name}
    except (OSError, SafetensorError) as error:
        raise Unreadable(
            "not a readable safetensors file", where=str(file), why=str(error).strip().split("\n")[0]
        ) from error


def _read_json(path: Path) -> Mapping[str, object]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable("cannot be read", where=str(path), why=str(error).replace("\n", " ")) from error
    if not isinstance(content, Mapping):
        raise Unreadable("holds no settings", where=str(path))
    return content
