"""SenseVoice from a FunASR folder: model.pt, config.yaml, configuration.json, am.mvn. Keys are used as they are."""

from __future__ import annotations

from pathlib import Path

from paddable.families.checkpoints.folder import CheckpointFolder
from paddable.families.checkpoints.weights import load_weights, rows_of
from paddable.families.layers.front_end import FrontEndKind, build_front_end
from paddable.families.sense_voice.config import SenseVoiceConfig
from paddable.families.sense_voice.model import SenseVoice

__all__ = ["sense_voice_from_folder"]


def sense_voice_from_folder(folder: str | Path, front_end: FrontEndKind = "kaldi") -> SenseVoice:
    """Builds the model that a checkpoint folder describes, in eval mode.

    Args:
        folder: holds model.pt and config.yaml; am.mvn is used where the configuration names it or it is there.
        front_end: "kaldi" (the official one), "early" (of the first public exports), "none" (feed features).

    Raises:
        UnreadableError: a file is absent or damaged, or keys are missing, unexpected or wrongly shaped.
    """
    checkpoint = CheckpointFolder.open(folder)
    tensors = checkpoint.tensors()
    classes = rows_of("ctc.ctc_lo.bias", tensors, model="SenseVoice", where=str(folder))
    config = SenseVoiceConfig.from_funasr(checkpoint.config, vocabulary=classes, where=str(checkpoint.config_file))
    sound = build_front_end(front_end, config.stack, config.stride, checkpoint.cmvn(config.input_size))
    return load_weights(lambda: SenseVoice(config, sound), tensors, where=str(folder))
