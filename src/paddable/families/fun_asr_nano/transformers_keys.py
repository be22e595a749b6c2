"""Weights of the transformers port (Fun-ASR-Nano-2512-hf) under the names of the original.

The port numbers all encoder blocks in one list, splits q, k, v, and hangs the two middle and final norms on the last
block before them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from paddable.families.fun_asr_nano.config import FunAsrNanoConfig

__all__ = ["funasr_names"]

_ENCODER = re.compile(r"audio_tower\.layers\.(\d+)\.(.+)")
_BLOCK = {
    "input_layernorm": "norm1",
    "post_attention_layernorm": "norm2",
    "mlp.fc1": "feed_forward.w_1",
    "mlp.fc2": "feed_forward.w_2",
    "self_attn.o_proj": "self_attn.linear_out",
    "self_attn.q_proj": "self_attn.linear_q",
    "self_attn.k_proj": "self_attn.linear_k",
    "self_attn.v_proj": "self_attn.linear_v",
    "self_attn.fsmn.conv": "self_attn.fsmn_block",
}
_ADAPTOR = {
    "multi_modal_projector.linear_1.": "audio_adaptor.linear1.",
    "multi_modal_projector.linear_2.": "audio_adaptor.linear2.",
    "multi_modal_projector.layers.": "audio_adaptor.blocks.",
}


def funasr_names(tensors: Mapping[str, Tensor], config: FunAsrNanoConfig) -> dict[str, Tensor]:
    """Renames and joins; a key that fits no row of the tables keeps its name, so that loading reports it."""
    renamed = {_rename(key.removeprefix("model."), config): value for key, value in tensors.items()}
    for query in [key for key in renamed if key.startswith("audio_encoder.") and ".linear_q." in key]:
        parts = [query.replace(".linear_q.", f".linear_{part}.") for part in "qkv"]
        if all(part in renamed for part in parts):
            joined = torch.cat([renamed.pop(part) for part in parts])
            renamed[query.replace(".linear_q.", ".linear_q_k_v.")] = joined
    return renamed


def _rename(key: str, config: FunAsrNanoConfig) -> str:
    match = _ENCODER.fullmatch(key)
    if match:
        number, rest = int(match.group(1)), match.group(2)
        if rest.startswith("final_layernorm."):
            norms = {config.blocks - 1: "after_norm", config.blocks + config.tp_blocks - 1: "tp_norm"}
            return f"audio_encoder.{norms.get(number, f'encoders.{number}.final_layernorm')}.{rest.rsplit('.', 1)[1]}"
        return f"audio_encoder.{_block(number, config)}.{_layer(rest)}"
    for theirs, ours in _ADAPTOR.items():
        if key.startswith(theirs):
            return ours + _layer(key.removeprefix(theirs))
    return key


def _block(number: int, config: FunAsrNanoConfig) -> str:
    if number == 0:
        return "encoders0.0"
    return f"encoders.{number - 1}" if number < config.blocks else f"tp_encoders.{number - config.blocks}"


def _layer(rest: str) -> str:
    for theirs, ours in _BLOCK.items():
        rest = re.sub(rf"(^|\.){re.escape(theirs)}\.", rf"\g<1>{ours}.", rest)
    return rest
