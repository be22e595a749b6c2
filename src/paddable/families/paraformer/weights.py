"""Paraformer from a FunASR folder: model.pt, config.yaml, configuration.json, am.mvn. Keys are used as they are."""

from __future__ import annotations

from pathlib import Path

from paddable.audio.cmvn import read_am_mvn
from paddable.errors import UnreadableError
from paddable.families.checkpoints.folder import CheckpointFolder
from paddable.families.checkpoints.weights import load_weights
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
    head = tensors.get("decoder.output_layer.bias")
    if head is None:
        raise UnreadableError(
            "no decoder.output_layer.bias among the weights", where=str(folder), why="this is no Paraformer checkpoint"
        )
    config = ParaformerConfig.from_funasr(checkpoint.config, vocabulary=len(head), where=str(checkpoint.config_file))
    cmvn_file = checkpoint.file("frontend_conf", "cmvn_file", default="am.mvn")
    cmvn = read_am_mvn(cmvn_file, config.input_size) if cmvn_file else None
    ignore = _IDLE if config.hotwords else (*_IDLE, *_SEACO)
    sound = build_front_end(front_end, config.stack, config.stride, cmvn)
    return load_weights(lambda: Paraformer(config, sound), tensors, where=str(folder), ignore=ignore)
