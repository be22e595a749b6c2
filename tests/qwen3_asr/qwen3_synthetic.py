"""A small encoder with random weights and random features, the same wherever they are made."""

from __future__ import annotations

import numpy as np

SIZE, LAYERS, HEADS, HIDDEN, OUTPUT, CHANNELS, MELS = 64, 2, 2, 128, 48, 24, 128
JUDGED = (1, 50, 99, 100, 101, 799, 800, 801, 1500, 3000)

HF_CONFIG = {
    "d_model": SIZE,
    "encoder_layers": LAYERS,
    "encoder_attention_heads": HEADS,
    "encoder_ffn_dim": HIDDEN,
    "output_dim": OUTPUT,
    "downsample_hidden_size": CHANNELS,
    "num_mel_bins": MELS,
    "n_window": 50,
    "n_window_infer": 800,
    "activation_function": "gelu",
}


def tensors() -> dict[str, np.ndarray]:
    """Random weights by the names of the original checkpoint, without its prefix; no 1-D tensor is constant."""
    shapes: dict[str, tuple[int, ...]] = {"conv_out.weight": (SIZE, CHANNELS * MELS // 8)}
    for name, inputs in (("conv2d1", 1), ("conv2d2", CHANNELS), ("conv2d3", CHANNELS)):
        shapes |= {f"{name}.weight": (CHANNELS, inputs, 3, 3), f"{name}.bias": (CHANNELS,)}
    linears = {"ln_post": (SIZE,), "proj1": (SIZE, SIZE), "proj2": (OUTPUT, SIZE)}
    for layer in range(LAYERS):
        linears |= {f"layers.{layer}.self_attn.{part}_proj": (SIZE, SIZE) for part in ("q", "k", "v", "out")}
        linears |= {f"layers.{layer}.{part}_layer_norm": (SIZE,) for part in ("self_attn", "final")}
        linears |= {f"layers.{layer}.fc1": (HIDDEN, SIZE), f"layers.{layer}.fc2": (SIZE, HIDDEN)}
    for name, shape in linears.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    random = np.random.default_rng(5)
    made = {}
    for name, shape in sorted(shapes.items()):
        gain = len(shape) == 1 and name.endswith("weight")
        # twice the usual spread: attention far from uniform, so that a wrong window or mask is seen
        spread = 2 * np.prod(shape[1:]) ** -0.5 if len(shape) > 1 else 0.2
        made[name] = (gain + spread * random.standard_normal(shape)).astype(np.float32)
    return made


def mel(frames: int) -> np.ndarray:
    """Features float32 [1, MELS, frames]; a shorter clip is the beginning of a longer one."""
    return np.random.default_rng(6).standard_normal((max(JUDGED), MELS)).astype(np.float32)[:frames].T[None] * 0.5
