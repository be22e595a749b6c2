"""``paddable export`` at the released sizes with random weights: time and peak memory.

``PYTHONPATH=src:tests/codec python tests/qwen3_asr/measure_sizes.py FOLDER 0.6b``, and ``1.7b``,
``codec`` or ``tiny`` (a codec that only shows that this script works).
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import codec_synthetic
import torch
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import save_file

from paddable.families.qwen3_asr.config import PRESETS
from paddable.families.qwen3_asr.model import Qwen3AsrEncoder

CODECS = {"codec": (codec_synthetic.RELEASED, "5s,30s"), "tiny": (codec_synthetic.TINY, "12,25")}
"""Configuration and containers: a frame of the tiny one is a millisecond, so seconds would be thousands of them."""


def write_codec(folder: Path, config: dict[str, object], containers: str) -> list[str]:
    """A ``speech_tokenizer/`` folder; gives the words of the command."""
    (folder / "config.json").write_text(json.dumps(codec_synthetic.outer_config(config)))
    save_arrays(codec_synthetic.checkpoint(config), folder / "model.safetensors")
    return ["qwen3-tts-codec", "--containers", containers, "--chunks", "4,12,25"]


def write_encoder(folder: Path, name: str) -> list[str]:
    """A Qwen3-ASR folder in bf16, the encoder alone; gives the words of the command."""
    config = PRESETS[name]
    torch.manual_seed(0)
    audio = {"d_model": config.size, "encoder_layers": config.layers, "encoder_attention_heads": config.heads}
    audio |= {"encoder_ffn_dim": config.hidden_size, "output_dim": config.output_size, "num_mel_bins": config.mels}
    audio |= {"downsample_hidden_size": config.conv_channels, "n_window": 50, "n_window_infer": config.window_frames}
    (folder / "config.json").write_text(json.dumps({"thinker_config": {"audio_config": audio}}))
    weights = Qwen3AsrEncoder(config).state_dict()
    named = {f"thinker.audio_tower.{key.split('.', 1)[1]}": value.bfloat16() for key, value in weights.items()}
    save_file(named, folder / "model.safetensors")
    return ["qwen3-asr", "--containers", "8s,30s,60s"]


def main() -> None:
    """Write the checkpoint, export it in a process of its own and print what that took."""
    folder, name = Path(sys.argv[1]), sys.argv[2]
    checkpoint = folder / name
    checkpoint.mkdir(parents=True)
    words = write_codec(checkpoint, *CODECS[name]) if name in CODECS else write_encoder(checkpoint, name)
    start = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "paddable",
        "export",
        words[0],
        str(checkpoint),
        "-o",
        str(folder / f"{name}-bundle"),
    ]
    subprocess.run([*command, *words[1:], "--no-verify"], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = sum(path.stat().st_size for path in (folder / f"{name}-bundle").iterdir())
    print(
        f"{name}: {time.perf_counter() - start:.0f} s wall, {used.ru_utime:.0f} s CPU, "
        f"{used.ru_maxrss / 2**20:.1f} GiB at most, bundle of {size / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
