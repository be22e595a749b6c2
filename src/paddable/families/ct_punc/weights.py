"""CT-Transformer from a FunASR folder: model.pt, config.yaml, configuration.json. Keys are used as they are."""

from __future__ import annotations

from pathlib import Path

from paddable.families.checkpoints.folder import CheckpointFolder
from paddable.families.checkpoints.weights import load_weights, rows_of
from paddable.families.ct_punc.config import CtPuncConfig
from paddable.families.ct_punc.model import CtPunc

__all__ = ["ct_punc_from_folder"]


def ct_punc_from_folder(folder: str | Path) -> CtPunc:
    """Builds the model that a checkpoint folder describes, in eval mode.

    Raises:
        UnreadableError: a file is absent or damaged, or keys are missing, unexpected or wrongly shaped.
        RefusedError: the model reads words that jieba cuts.
    """
    checkpoint = CheckpointFolder.open(folder)
    tensors = checkpoint.tensors()
    words = rows_of("embed.weight", tensors, model="CT-Transformer", where=str(folder))
    config = CtPuncConfig.from_funasr(checkpoint.config, vocabulary=words, where=str(checkpoint.config_file))
    return load_weights(lambda: CtPunc(config), tensors, where=str(folder))
