"""The first judge: the encoder of qwen-asr 0.0.6, without the rest of that package.

Needs its own environment (``pip install torch==2.13.0 transformers==4.57.6 safetensors; pip install --no-deps
qwen-asr==0.0.6``): the package's ``__init__`` would import audio libraries, so empty packages stand in for it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import qwen3_synthetic as synthetic
import torch

PACKAGE = "qwen_asr.core.transformers_backend"


def load() -> torch.nn.Module:
    """The original encoder with the synthetic weights, fp32, eager (global attention), eval."""
    modeling = _module("modeling_qwen3_asr")
    config = _module("configuration_qwen3_asr").Qwen3ASRAudioEncoderConfig(**synthetic.HF_CONFIG)
    encoder = modeling.Qwen3ASRAudioEncoder._from_config(config, attn_implementation="eager")
    encoder.load_state_dict({name: torch.from_numpy(array) for name, array in synthetic.tensors().items()})
    return encoder.eval().requires_grad_(False)  # type: ignore[no-any-return]


def run(encoder: torch.nn.Module, mel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features [1, M, T] to hidden states [L, D] after the last norm and embeddings [L, E]."""
    seen: list[torch.Tensor] = []
    hook = encoder.ln_post.register_forward_hook(lambda module, inputs, output: seen.append(output))
    embeddings = encoder(torch.from_numpy(mel[0]), feature_lens=torch.tensor([mel.shape[2]])).last_hidden_state
    hook.remove()
    return seen[0].numpy(), embeddings.numpy()


def run_windowed(encoder: torch.nn.Module, mel: np.ndarray, window: int = 800) -> tuple[np.ndarray, np.ndarray]:
    """The same with windowed attention: each layer's attention is called once a window, on that window's tokens.

    What comes before and after attention works token by token, so this is the original's own code with the windows
    that its FlashAttention path reads from ``cu_seqlens``.
    """
    tokens = window // 100 * 13
    attentions = [layer.self_attn for layer in encoder.layers]
    plain = [attention.forward for attention in attentions]

    def windowed(forward):  # type: ignore[no-untyped-def]
        def call(hidden_states, cu_seqlens=None, attention_mask=None):  # type: ignore[no-untyped-def]
            pieces = hidden_states.split(tokens)
            return torch.cat([forward(piece, torch.tensor([0, len(piece)])) for piece in pieces])

        return call

    for attention, forward in zip(attentions, plain, strict=True):
        attention.forward = windowed(forward)
    try:
        return run(encoder, mel)
    finally:
        for attention in attentions:
            del attention.forward


def _module(name: str) -> ModuleType:
    name = f"{PACKAGE}.{name}"
    if name not in sys.modules:
        spec = importlib.util.find_spec("qwen_asr")
        assert spec is not None and spec.origin is not None
        root = Path(spec.origin).parent
        stand_ins = {"qwen_asr": root, "qwen_asr.core": root / "core", PACKAGE: root / "core/transformers_backend"}
        for package, folder in stand_ins.items():
            sys.modules[package] = ModuleType(package)
            sys.modules[package].__path__ = [str(folder)]
            sys.modules[package].__spec__ = importlib.util.spec_from_loader(package, loader=None, origin=spec.origin)
    return importlib.import_module(name)
