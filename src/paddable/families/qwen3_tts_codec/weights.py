"""Loads a ``speech_tokenizer/`` folder: every decoder tensor is used or known to be idle, none is left over.

The checkpoint holds codebooks as running sums; an entry is ``embedding_sum / clamp(cluster_usage, 1e-5)``. The
quantisers' input projections belong to encoding and stay idle.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from paddable.families.checkpoints.safetensors_files import read_folder
from paddable.families.checkpoints.weights import check_weights
from paddable.families.qwen3_tts_codec.config import CodecConfig
from paddable.families.qwen3_tts_codec.model import Decoder

__all__ = ["codec_folder", "decoder_from_arrays", "decoder_from_checkpoint"]

PREFIX = "decoder."
USAGE_FLOOR = 1e-5
TABLE = "quantizer.table"
IDLE = {f"{PREFIX}quantizer.{group}.input_proj.weight" for group in ("rvq_first", "rvq_rest")}
RENAMED = {
    "quantizer.semantic.weight": "quantizer.rvq_first.output_proj.weight",
    "quantizer.acoustic.weight": "quantizer.rvq_rest.output_proj.weight",
}
"""The checkpoint's name of a parameter, where it has another."""


def decoder_from_checkpoint(directory: Path | str) -> Decoder:
    """The decoder of a ``speech_tokenizer/`` folder (config.json, model.safetensors or shards), fp32, in eval mode.

    The folder above it, of a whole Qwen3-TTS model, is taken too.

    Raises:
        UnreadableError: a file is absent or damaged, a setting is not a size, or as :func:`decoder_from_arrays`.
        RefusedError: the configuration asks for something that this decoder does not have.
    """
    directory = codec_folder(Path(directory))
    config = CodecConfig.from_file(directory / "config.json")
    tensors = read_folder(directory, lambda key: key.startswith(PREFIX))
    return decoder_from_arrays(config, tensors, where=str(directory))


def codec_folder(folder: Path) -> Path:
    """The folder of the codec: the one given, or ``speech_tokenizer/`` in a folder of the whole model."""
    inner = folder / "speech_tokenizer"
    return inner if inner.is_dir() else folder


def decoder_from_arrays(config: CodecConfig, tensors: Mapping[str, Tensor], *, where: str = "weights") -> Decoder:
    """The decoder with the given weights, named as in the checkpoint (``decoder.`` prefix included).

    Raises:
        UnreadableError: a tensor is missing, left over, of another shape, not of floats or not finite.
    """
    with torch.device("meta"):
        parameters = Decoder(config).state_dict()
    names = {_key_of(name): name for name in parameters if name != TABLE}
    shapes = {key: parameters[name].shape for key, name in names.items()}
    books = [f"{PREFIX}{_codebook_path(q)}" for q in range(config.num_quantizers)]
    for book in books:  # each by itself: in one table, two wrong sizes could make up for each other
        shapes[f"{book}.embedding_sum"] = torch.Size([config.codebook_size, config.codebook_dim // 2])
        shapes[f"{book}.cluster_usage"] = torch.Size([config.codebook_size])
    used = {key: tensor for key, tensor in tensors.items() if key.startswith(PREFIX) and key not in IDLE}
    check_weights(shapes, used, where=where)

    decoder = Decoder(config)
    table = torch.cat([_entries(used, book) for book in books])
    decoder.load_state_dict({name: used[key] for key, name in names.items()} | {TABLE: table})
    return decoder.eval().requires_grad_(False)


def _key_of(name: str) -> str:
    return PREFIX + RENAMED.get(name, name)


def _codebook_path(quantizer: int) -> str:
    group, layer = ("rvq_first", 0) if quantizer == 0 else ("rvq_rest", quantizer - 1)
    return f"quantizer.{group}.vq.layers.{layer}._codebook"


def _entries(tensors: Mapping[str, Tensor], book: str) -> Tensor:
    usage = tensors[f"{book}.cluster_usage"].float().clamp(min=USAGE_FLOOR)
    return tensors[f"{book}.embedding_sum"].float() / usage[:, None]
