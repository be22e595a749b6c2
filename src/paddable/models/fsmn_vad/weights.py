"""FSMN-VAD from a FunASR folder: model.pt, config.yaml, configuration.json, am.mvn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from paddable.audio.cmvn import read_am_mvn
from paddable.models.checkpoint import CheckpointFolder, load_weights
from paddable.models.front_end import KaldiFrontEnd
from paddable.models.fsmn_vad.config import FsmnVadConfig
from paddable.models.fsmn_vad.model import FsmnVad

__all__ = ["fsmn_vad_from_folder"]

_WRAPPED_LINEAR = re.compile(r"\b(in_linear[12]|out_linear[12]|linear|affine)\.linear\.")


def fsmn_vad_from_folder(folder: str | Path, *, features: bool = False) -> FsmnVad:
    """Builds the detector that a checkpoint folder describes, in eval mode.

    Args:
        folder: holds model.pt and config.yaml; am.mvn is used where the configuration names it or it is there.
        features: whether the model is fed features instead of a waveform.

    Raises:
        Unreadable: a file is absent or damaged, or keys are missing, unexpected or wrongly shaped.
    """
    checkpoint = CheckpointFolder.open(folder)
    config = FsmnVadConfig.from_funasr(checkpoint.config)
    cmvn_file = checkpoint.file("frontend_conf", "cmvn_file", default="am.mvn")
    cmvn = read_am_mvn(cmvn_file) if cmvn_file else None
    model = FsmnVad(config, None if features else KaldiFrontEnd(config.stack, config.stride, cmvn))
    load_weights(model, _native_names(checkpoint.tensors()), where=str(folder))
    return model


def _native_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """FunASR wraps every linear layer in a class and convolves over [C, T, 1] in two dimensions."""
    native = {}
    for key, value in tensors.items():
        key = _WRAPPED_LINEAR.sub(r"\1.", key.removeprefix("encoder."))
        if key.endswith(".fsmn_block.conv_left.weight"):
            key, value = key.replace(".fsmn_block.conv_left.", ".memory."), value.squeeze(-1)
        native[key] = value
    return native
