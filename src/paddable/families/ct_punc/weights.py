"""CT-Transformer from a FunASR folder: model.pt, config.yaml, configuration.json. Keys are used as they are."""

from __future__ import annotations

from pathlib import Path

from paddable.errors import UnreadableError
from paddable.families.checkpoints.folder import CheckpointFolder
from paddable.families.checkpoints.weights import load_weights
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
    table = tensors.get("embed.weight")
    if table is None:
        raise UnreadableError(
            "no embed.weight among the weights", where=str(folder), why="this is no CT-Transformer checkpoint"
        )
    config = CtPuncConfig.from_funasr(checkpoint.config, vocabulary=len(table), where=str(checkpoint.config_file))
    return load_weights(lambda: CtPunc(config), tensors, where=str(folder))
