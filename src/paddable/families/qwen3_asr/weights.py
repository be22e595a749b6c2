"""Qwen3-ASR's encoder from a checkpoint folder: config.json and safetensors, one file or shards with an index.

Two layouts hold the same encoder: the original one (``thinker.audio_tower.*``) and the ``-hf`` one of transformers
(``model.audio_tower.*`` and ``model.multi_modal_projector.*``, with or without ``model.``). Only the encoder's tensors
are read: the language model beside them is several times as large.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from torch import nn

from paddable.families.checkpoints.safetensors_files import read_folder
from paddable.families.checkpoints.settings import read_json
from paddable.families.checkpoints.weights import by_parameter, load_weights
from paddable.families.qwen3_asr.config import Qwen3AsrConfig
from paddable.families.qwen3_asr.model import Attention, Qwen3AsrEncoder, ShortClips

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
        UnreadableError: a file is absent or damaged, a setting is not a size, or a weight is missing, unexpected, of
            another shape or type, or not finite.
    """
    folder, where = Path(folder), str(folder)
    file = folder / "config.json"
    config = Qwen3AsrConfig.from_json(read_json(file), where=str(file))
    stored = read_folder(folder, lambda key: rename_key(key) is not None)
    keys = by_parameter(stored, rename_key, where=where)
    tensors = {name: stored[key] for name, key in keys.items()}
    model = load_weights(
        lambda: Qwen3AsrEncoder(config, attention, short_clips, front_end),
        tensors,
        where=where,
        spell=lambda name: keys.get(name) or _spell(name, stored),
    )
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


def _spell(name: str, keys: Iterable[str]) -> str:
    """The key of a parameter that the checkpoint lacks, in the layout of the keys that it has."""
    rest = name.partition(".")[2]
    tower = next((prefix for key in keys for prefix in _TOWERS if key.startswith(prefix)), _TOWERS[0])
    layer, _, part = rest.partition(".")
    linear = {ours: theirs for theirs, ours in _PROJECTIONS.items()}.get(layer)
    if tower == _TOWERS[0] or linear is None:
        return f"{tower}{rest}"
    return f"{tower.removesuffix('audio_tower.')}multi_modal_projector.{linear}.{part}"
