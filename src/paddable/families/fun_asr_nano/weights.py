"""Fun-ASR-Nano from a FunASR folder (model.pt, config.yaml) or from a folder of the transformers port (config.json)."""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from paddable.audio.cmvn import Cmvn
from paddable.errors import UnreadableError
from paddable.families.checkpoints.folder import CheckpointFolder, read_tensors
from paddable.families.checkpoints.settings import Settings, read_json
from paddable.families.checkpoints.weights import load_weights, rows_of
from paddable.families.fun_asr_nano.config import FunAsrNanoConfig
from paddable.families.fun_asr_nano.model import FunAsrNano
from paddable.families.fun_asr_nano.transformers_keys import funasr_names
from paddable.families.layers.front_end import FrontEndKind, build_front_end

__all__ = ["fun_asr_nano_from_folder"]

_LANGUAGE_MODEL = ("llm.", "language_model.", "lm_head.")


def fun_asr_nano_from_folder(folder: str | Path, front_end: FrontEndKind = "kaldi") -> FunAsrNano:
    """Builds the audio side of the model that a checkpoint folder describes, in eval mode.

    A checkpoint without any CTC key (MLT-Nano, the transformers port) gives a model without CTC logits; one with some
    of them is refused.

    Args:
        folder: of FunASR or of the transformers port.
        front_end: "kaldi" (the official one), "early" (of the first public exports), "none" (feed features).

    Raises:
        UnreadableError: a file is absent or damaged, or keys are missing, unexpected or wrongly shaped.
    """
    folder = Path(folder)
    read = _from_transformers if (folder / "config.json").is_file() else _from_funasr
    config, tensors, cmvn = read(folder)
    sound = build_front_end(front_end, config.stack, config.stride, cmvn)
    return load_weights(lambda: FunAsrNano(config, sound), tensors, where=str(folder), ignore=_LANGUAGE_MODEL)


def _from_funasr(folder: Path) -> tuple[FunAsrNanoConfig, dict[str, Tensor], Cmvn | None]:
    checkpoint = CheckpointFolder.open(folder)
    tensors = checkpoint.tensors()
    adaptor_size = rows_of("audio_adaptor.linear2.bias", tensors, model="Fun-ASR-Nano", where=str(folder))
    head = tensors.get("ctc.ctc_lo.bias")
    some_ctc = head is not None or any(key.startswith(("ctc.", "ctc_decoder.")) for key in tensors)
    where, vocabulary = str(checkpoint.config_file), None
    if some_ctc:
        said = Settings(checkpoint.config, where)
        vocabulary = len(head) if head is not None else said.size("ctc_vocab_size", 60515)
    config = FunAsrNanoConfig.from_funasr(
        checkpoint.config, adaptor_size=adaptor_size, vocabulary=vocabulary, where=where
    )
    return config, tensors, checkpoint.cmvn(config.input_size)


def _from_transformers(folder: Path) -> tuple[FunAsrNanoConfig, dict[str, Tensor], None]:
    file = folder / "config.json"
    config = FunAsrNanoConfig.from_transformers(read_json(file), where=str(file))
    names = ("model.safetensors.index.json", "model.safetensors")
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        raise UnreadableError("no model.safetensors in it", where=str(folder))
    return config, funasr_names(read_tensors(path), config), None
