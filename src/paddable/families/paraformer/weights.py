"""Paraformer from a FunASR folder: model.pt, config.yaml, configuration.json, am.mvn. Keys are used as they are."""

from __future__ import annotations

from pathlib import Path

from paddable.families.checkpoints.folder import CheckpointFolder
from paddable.families.checkpoints.weights import load_weights, rows_of
from paddable.families.layers.front_end import FrontEndKind, build_front_end
from paddable.families.paraformer.config import ParaformerConfig
from paddable.families.paraformer.model import Paraformer

__all__ = ["paraformer_from_folder"]

_IDLE = ("ctc.", "bias_embed.")
"""Training alone reads them."""

_SEACO = ("decoder.embed.", "bias_encoder.", "lstm_proj.", "seaco_decoder.", "hotword_output_layer.")
"""SeACo's search for hotwords; without it the embedding of tokens is for training alone."""


def paraformer_from_folder(folder: str | Path, front_end: FrontEndKind = "kaldi") -> Paraformer:
    """Builds the model that a checkpoint folder describes, in eval mode.

    Args:
        folder: holds model.pt and config.yaml; am.mvn is used where the configuration names it or it is there.
        front_end: "kaldi" (the official one) or "none" (feed features).

    Raises:
        UnreadableError: a file is absent or damaged, or keys are missing, unexpected or wrongly shaped.
    """
    checkpoint = CheckpointFolder.open(folder)
    tensors = checkpoint.tensors()
    classes = rows_of("decoder.output_layer.bias", tensors, model="Paraformer", where=str(folder))
    config = ParaformerConfig.from_funasr(checkpoint.config, vocabulary=classes, where=str(checkpoint.config_file))
    ignore = _IDLE if config.hotwords else (*_IDLE, *_SEACO)
    sound = build_front_end(front_end, config.stack, config.stride, checkpoint.cmvn(config.input_size))
    return load_weights(lambda: Paraformer(config, sound), tensors, where=str(folder), ignore=ignore)
