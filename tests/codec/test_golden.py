"""Against the original's recorded audio: within three times the original's own difference between shapes."""

from __future__ import annotations

from collections.abc import Callable

import codec_synthetic as synthetic
import numpy as np
import pytest
import torch
from codec_chunks import run_chunks

from paddable.families.layers.streaming import StepForm
from paddable.families.qwen3_tts_codec.model import Decoder

Golden = Callable[[str], dict[str, np.ndarray]]
SCALE_GATE = 1e-5  # of scale, for Snake parameters up to 0.3


def gate(recorded: dict[str, np.ndarray], longest: int) -> float:
    scale = float(np.abs(recorded[f"wav_{longest}"]).max())
    return min(3 * float(recorded["noise"]), SCALE_GATE * scale)


@torch.no_grad()
@pytest.mark.parametrize("frames", [1, 2, 3, 80, 400])
def test_whole_is_the_original(make_decoder: Callable[..., Decoder], golden: Golden, frames: int) -> None:
    recorded = golden("small")
    wav = make_decoder(synthetic.SMALL)(torch.from_numpy(synthetic.codes(synthetic.SMALL, 400))[:, :frames]).numpy()
    assert wav.shape == (1, 1920 * frames)
    assert np.abs(wav[:, :: int(recorded["stride"])] - recorded[f"wav_{frames}"]).max() <= gate(recorded, 400)


@torch.no_grad()
@pytest.mark.parametrize("size", [7, 12, 25])
def test_streamed_is_the_original(make_decoder: Callable[..., Decoder], golden: Golden, size: int) -> None:
    recorded, codes = golden("small"), torch.from_numpy(synthetic.codes(synthetic.SMALL, 400))
    sizes = [size] * (400 // size) + [400 % size] * bool(400 % size)
    wav = run_chunks(StepForm(make_decoder(synthetic.SMALL), 1920, axis=1), codes, sizes, size).numpy()
    error = np.abs(wav[:, :: int(recorded["stride"])] - recorded["wav_400"])[0]
    assert error.max() <= gate(recorded, 400)
    first, *_, last = np.array_split(error, 4)
    assert last.max() <= 2 * first.max()  # no growth over five windows
