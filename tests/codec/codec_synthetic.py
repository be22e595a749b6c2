"""Random checkpoints for the codec, from numpy alone, so that the original and our decoder read the same numbers.

Library initialisation would hide every state (codebooks of zeros, branch scales of 1e-6), so each convolution keeps
unit variance, branch scales are N(0, 0.3) and biases N(0, 0.1). The last convolution is scaled so that samples stay
inside the final clamp, which would hide errors.
"""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

RELEASED = {  # decoder_config of the released speech_tokenizer/config.json
    "attention_bias": False,
    "latent_dim": 1024,
    "codebook_dim": 512,
    "codebook_size": 2048,
    "decoder_dim": 1536,
    "hidden_act": "silu",
    "hidden_size": 512,
    "intermediate_size": 1024,
    "layer_scale_initial_scale": 0.01,
    "max_position_embeddings": 8000,
    "head_dim": 64,
    "num_attention_heads": 16,
    "num_hidden_layers": 8,
    "num_key_value_heads": 16,
    "num_quantizers": 16,
    "num_semantic_quantizers": 1,
    "rms_norm_eps": 1e-05,
    "rope_theta": 10000,
    "semantic_codebook_size": 4096,
    "sliding_window": 72,
    "upsample_rates": [8, 5, 4, 3],
    "upsampling_ratios": [2, 2],
    "vector_quantization_hidden_dimension": 512,
}
# Every rate, kernel, window and the number of layers (so all 37 states) as released; narrow.
SMALL = RELEASED | {
    "latent_dim": 32,
    "codebook_dim": 32,
    "codebook_size": 64,
    "decoder_dim": 64,
    "hidden_size": 32,
    "intermediate_size": 64,
    "head_dim": 16,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
}
# For thousands of runs: also few samples a frame, and a window that a short stream leaves behind.
TINY = SMALL | {
    "latent_dim": 16,
    "codebook_dim": 16,
    "decoder_dim": 16,
    "hidden_size": 16,
    "intermediate_size": 16,
    "head_dim": 8,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "sliding_window": 6,
    "upsample_rates": [3, 2],
}


def outer_config(decoder: dict[str, object]) -> dict[str, object]:
    """A whole ``config.json`` around ``decoder``."""
    rate = int(np.prod(decoder["upsample_rates"]) * np.prod(decoder["upsampling_ratios"]))  # type: ignore[arg-type]
    return {"output_sample_rate": 24000, "decode_upsample_rate": rate, "decoder_config": decoder}


def shapes(c: dict[str, object]) -> dict[str, tuple[int, ...]]:
    """Name to shape of every decoder tensor of a checkpoint."""
    get = lambda name: int(c[name])  # type: ignore[call-overload]  # noqa: E731
    dim, latent, hidden, inner = get("codebook_dim"), get("latent_dim"), get("hidden_size"), get("intermediate_size")
    heads = get("num_attention_heads") * get("head_dim")
    out: dict[str, tuple[int, ...]] = {}

    def bias(name: str, *shape: int, channels: int) -> None:
        out[f"{name}.weight"], out[f"{name}.bias"] = shape, (channels,)

    for q in range(get("num_quantizers")):
        book = f"quantizer.rvq_first.vq.layers.{q}" if q == 0 else f"quantizer.rvq_rest.vq.layers.{q - 1}"
        out[f"{book}._codebook.cluster_usage"] = (get("codebook_size"),)
        out[f"{book}._codebook.embedding_sum"] = (get("codebook_size"), dim // 2)
    for group in ("rvq_first", "rvq_rest"):
        out[f"quantizer.{group}.input_proj.weight"] = (dim // 2, dim, 1)
        out[f"quantizer.{group}.output_proj.weight"] = (dim, dim // 2, 1)
    bias("pre_conv.conv", latent, dim, 3, channels=latent)
    bias("pre_transformer.input_proj", hidden, latent, channels=hidden)
    bias("pre_transformer.output_proj", latent, hidden, channels=latent)
    out["pre_transformer.norm.weight"] = (hidden,)
    for i in range(get("num_hidden_layers")):
        layer = f"pre_transformer.layers.{i}"
        out |= {f"{layer}.self_attn.{p}_proj.weight": (heads, hidden) for p in "qkv"}
        out[f"{layer}.self_attn.o_proj.weight"] = (hidden, heads)
        out |= {f"{layer}.mlp.{p}_proj.weight": (inner, hidden) for p in ("gate", "up")}
        out[f"{layer}.mlp.down_proj.weight"] = (hidden, inner)
        out |= {f"{layer}.{p}_layernorm.weight": (hidden,) for p in ("input", "post_attention")}
        out |= {f"{layer}.{p}_layer_scale.scale": (hidden,) for p in ("self_attn", "mlp")}
    for i, ratio in enumerate(c["upsampling_ratios"]):  # type: ignore[arg-type]
        bias(f"upsample.{i}.0.conv", latent, latent, ratio, channels=latent)
        bias(f"upsample.{i}.1.dwconv.conv", latent, 1, 7, channels=latent)
        bias(f"upsample.{i}.1.norm", latent, channels=latent)
        bias(f"upsample.{i}.1.pwconv1", 4 * latent, latent, channels=4 * latent)
        bias(f"upsample.{i}.1.pwconv2", latent, 4 * latent, channels=latent)
        out[f"upsample.{i}.1.gamma"] = (latent,)
    channels = get("decoder_dim")
    bias("decoder.0.conv", channels, latent, 7, channels=channels)
    rates: list[int] = list(c["upsample_rates"])  # type: ignore[call-overload]
    for i, rate in enumerate(rates, start=1):
        half = channels // 2
        out |= {f"decoder.{i}.block.0.{p}": (channels,) for p in ("alpha", "beta")}
        bias(f"decoder.{i}.block.1.conv", channels, half, 2 * rate, channels=half)
        for unit in (2, 3, 4):
            for act in ("act1", "act2"):
                out |= {f"decoder.{i}.block.{unit}.{act}.{p}": (half,) for p in ("alpha", "beta")}
            bias(f"decoder.{i}.block.{unit}.conv1.conv", half, half, 7, channels=half)
            bias(f"decoder.{i}.block.{unit}.conv2.conv", half, half, 1, channels=half)
        channels = half
    out |= {f"decoder.{len(rates) + 1}.{p}": (channels,) for p in ("alpha", "beta")}
    bias(f"decoder.{len(rates) + 2}.conv", 1, channels, 7, channels=1)
    return {f"decoder.{name}": shape for name, shape in out.items()}


def checkpoint(c: dict[str, object], *, seed: int = 0, snake: float = 0.3) -> dict[str, NDArray[np.float32]]:
    """Random decoder tensors; ``snake`` is the standard deviation of the (logarithmic) Snake parameters."""
    last = f"decoder.decoder.{len(c['upsample_rates']) + 2}.conv.weight"  # type: ignore[arg-type]
    return {
        name: _draw(name, shape, snake, 0.25 if name == last else 1.0, seed).astype(np.float32)
        for name, shape in shapes(c).items()
    }


def codes(c: dict[str, object], frames: int, *, seed: int = 0) -> NDArray[np.int64]:
    """Random codes, int64 [1, frames, quantizers]."""
    size = (1, frames, c["num_quantizers"])
    return np.random.default_rng(seed).integers(0, c["codebook_size"], size, dtype=np.int64)  # type: ignore[call-overload,no-any-return]


def _draw(name: str, shape: tuple[int, ...], snake: float, gain: float, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    if name.endswith("cluster_usage"):  # some entries below the floor of 1e-5
        return np.where(rng.random(shape) < 0.1, 1e-7, rng.uniform(0.5, 3.0, shape))
    if name.endswith("embedding_sum"):
        usage = _draw(name.replace("embedding_sum", "cluster_usage"), shape[:1], snake, 1, seed)
        return 0.25 * rng.standard_normal(shape) * np.maximum(usage, 1e-5)[:, None]  # 16 are summed
    if name.endswith((".alpha", ".beta")):
        return snake * rng.standard_normal(shape)
    if name.endswith((".scale", ".gamma")):
        return 0.3 * rng.standard_normal(shape)
    if "norm.weight" in name:
        return 1 + 0.1 * rng.standard_normal(shape)
    if name.endswith(".bias"):
        return 0.1 * rng.standard_normal(shape)
    fan_in = int(np.prod(shape[1:]))
    if ".block.1.conv" in name:  # transposed, [in, out, kernel]: an output reads kernel / stride = 2 taps
        fan_in = 2 * shape[0]
    elif name.startswith("decoder.upsample") and ".0.conv" in name:  # and here one
        fan_in = shape[0]
    if name.startswith("decoder.decoder."):  # Snake raises the second moment, residual units add up
        gain *= 0.3 if ".conv2." in name else 0.7
    return gain * rng.standard_normal(shape) / np.sqrt(fan_in)
