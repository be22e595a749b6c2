"""Loads a ``speech_tokenizer/`` folder: every decoder tensor is used or known to be idle, none is left over.

The checkpoint holds codebooks as running sums; an entry is ``embedding_sum / clamp(cluster_usage, 1e-5)``. The
quantisers' input projections belong to encoding and stay idle.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from paddable.errors import Unreadable
from paddable.models.qwen3_tts_codec.config import CodecConfig
from paddable.models.qwen3_tts_codec.model import Decoder

__all__ = ["decoder_from_arrays", "decoder_from_checkpoint"]

PREFIX = "decoder."
USAGE_FLOOR = 1e-5
IDLE = {"quantizer.rvq_first.input_proj.weight", "quantizer.rvq_rest.input_proj.weight"}
RENAMED = {
    "quantizer.rvq_first.output_proj.weight": "quantizer.semantic.weight",
    "quantizer.rvq_rest.output_proj.weight": "quantizer.acoustic.weight",
}


def decoder_from_checkpoint(directory: Path | str) -> Decoder:
    """The decoder of a ``speech_tokenizer/`` folder (``config.json`` and ``model.safetensors``), fp32, in eval mode.

    Raises:
        Unreadable: a file is absent or damaged, or a tensor is missing, left over or of another shape.
        Refused: the configuration asks for something that this decoder does not have.
    """
    directory = Path(directory)
    config = CodecConfig.from_file(directory / "config.json")
    path = directory / "model.safetensors"
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys() if name.startswith(PREFIX)}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise Unreadable(f"cannot read the weights ({error})", where=str(path)) from None
    return decoder_from_arrays(config, tensors, where=str(path))


def decoder_from_arrays(config: CodecConfig, tensors: Mapping[str, Tensor], *, where: str = "weights") -> Decoder:
    """The decoder with the given weights, named as in the checkpoint (``decoder.`` prefix included)."""
    given = {name.removeprefix(PREFIX): tensor for name, tensor in tensors.items() if name.startswith(PREFIX)}
    books = [_codebook_path(q) for q in range(config.num_quantizers)]
    book_names = {f"{book}.{part}" for book in books for part in ("embedding_sum", "cluster_usage")}
    if missing := sorted(book_names - given.keys()):
        raise _mismatch([f"missing {name}" for name in missing], where)

    ready = {RENAMED.get(name, name): tensor for name, tensor in given.items() if name not in book_names | IDLE}
    ready["quantizer.table"] = torch.cat([_entries(given, book) for book in books])

    with torch.device("meta"):
        decoder = Decoder(config)
    expected = {name: tensor.shape for name, tensor in decoder.state_dict().items()}
    faults = [f"missing {name}" for name in expected.keys() - ready.keys()]
    faults += [f"left over {name}" for name in ready.keys() - expected.keys()]
    faults += [
        f"{name} is {list(ready[name].shape)}, the configuration says {list(shape)}"
        for name, shape in expected.items()
        if name in ready and ready[name].shape != shape
    ]
    if faults:
        raise _mismatch(sorted(faults), where)
    decoder = Decoder(config)
    decoder.load_state_dict({name: tensor.float() for name, tensor in ready.items()})
    return decoder.eval().requires_grad_(False)


def _codebook_path(quantizer: int) -> str:
    group, layer = ("rvq_first", 0) if quantizer == 0 else ("rvq_rest", quantizer - 1)
    return f"quantizer.{group}.vq.layers.{layer}._codebook"


def _entries(tensors: Mapping[str, Tensor], book: str) -> Tensor:
    usage = tensors[f"{book}.cluster_usage"].float().clamp(min=USAGE_FLOOR)
    return tensors[f"{book}.embedding_sum"].float() / usage[:, None]


def _mismatch(faults: list[str], where: str) -> Unreadable:
    shown = "; ".join(faults[:5]) + (f"; and {len(faults) - 5} more" if len(faults) > 5 else "")
    return Unreadable(
        f"weights do not fit the decoder: {shown}",
        where=where,
        why="a tensor that is not loaded leaves random numbers in its place",
        fix="check that config.json and model.safetensors come from the same release",
    )
