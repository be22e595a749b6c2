"""FSMN-VAD from a FunASR folder: model.pt, config.yaml, configuration.json, am.mvn."""

from __future__ import annotations

import re
from pathlib import Path

from paddable.families.checkpoints.folder import CheckpointFolder
from paddable.families.checkpoints.weights import by_parameter, load_weights
from paddable.families.fsmn_vad.config import FsmnVadConfig
from paddable.families.fsmn_vad.model import FsmnVad
from paddable.families.layers.front_end import KaldiFrontEnd

__all__ = ["fsmn_vad_from_folder"]

_MEMORY = ".fsmn_block.conv_left."
_WRAPPED_LINEAR = re.compile(r"\b(in_linear[12]|out_linear[12]|linear|affine)\.linear\.")


def fsmn_vad_from_folder(folder: str | Path, *, features: bool = False) -> FsmnVad:
    """Builds the detector that a checkpoint folder describes, in eval mode.

    Args:
        folder: holds model.pt and config.yaml; am.mvn is used where the configuration names it or it is there.
        features: whether the model is fed features instead of a waveform.

    Raises:
        UnreadableError: a file is absent or damaged, or keys are missing, unexpected or wrongly shaped.
    """
    checkpoint = CheckpointFolder.open(folder)
    config = FsmnVadConfig.from_funasr(checkpoint.config, where=str(checkpoint.config_file))
    sound = None if features else KaldiFrontEnd(config.stack, config.stride, checkpoint.cmvn(config.input_size))
    tensors = checkpoint.tensors()
    keys = by_parameter(tensors, _rename, where=str(folder))
    native = {name: tensors[key].squeeze(-1) if _MEMORY in key else tensors[key] for name, key in keys.items()}
    return load_weights(
        lambda: FsmnVad(config, sound), native, where=str(folder), spell=lambda name: keys.get(name) or _spell(name)
    )


def _rename(key: str) -> str:
    """FunASR wraps every linear layer in a class and convolves over [C, T, 1] in two dimensions."""
    return _WRAPPED_LINEAR.sub(r"\1.", key.removeprefix("encoder.")).replace(_MEMORY, ".memory.")


def _spell(name: str) -> str:
    """FunASR's key of a parameter that the checkpoint lacks."""
    layer, _, part = name.rpartition(".")
    if layer.endswith(".memory"):
        return f"encoder.{layer.removesuffix('.memory')}{_MEMORY}{part}"
    return f"encoder.{layer}.linear.{part}"
