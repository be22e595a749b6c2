"""Against the original itself. Runs in the judge's environment only (see ``codec_original.py``)."""

from __future__ import annotations

from collections.abc import Callable

import codec_original as original
import codec_synthetic as synthetic
import numpy as np
import pytest
import torch
from codec_chunks import random_sizes, run_chunks

from paddable.families.layers.streaming import StepForm
from paddable.families.qwen3_tts_codec.model import Decoder

pytestmark = [pytest.mark.original, pytest.mark.skipif(not original.available(), reason="qwen-tts is not installed")]


@torch.no_grad()
@pytest.mark.parametrize("snake", [0.0, 0.3, 0.5])
def test_whole_and_streamed_are_the_original(make_decoder: Callable[..., Decoder], snake: float) -> None:
    judge = original.load(synthetic.SMALL, synthetic.checkpoint(synthetic.SMALL, snake=snake))
    ours = make_decoder(synthetic.SMALL, snake=snake)
    codes = torch.from_numpy(synthetic.codes(synthetic.SMALL, 400))

    def forward(frames: int) -> torch.Tensor:
        return judge(codes[:, :frames].transpose(1, 2)).squeeze(1)  # type: ignore[no-any-return]

    expected = forward(400)
    noise = max(float((forward(n) - expected[:, : 1920 * n]).abs().max()) for n in (1, 71, 72, 73, 150, 300))
    allowed = 3 * noise if snake > 0.3 else min(3 * noise, 1e-5 * float(expected.abs().max()))
    assert (ours(codes) - expected).abs().max() <= allowed
    sizes = random_sizes(400, 25, np.random.default_rng(1))
    assert (run_chunks(StepForm(ours, 1920, axis=1), codes, sizes, 25) - expected).abs().max() <= allowed


@torch.no_grad()
def test_its_own_decode_is_wrong_past_300_frames(record_property: Callable[[str, object], None]) -> None:
    """Why ``forward`` is the judge: ``chunked_decode`` restarts at frame 300 with 25 frames of the 580 it needs."""
    judge = original.load(synthetic.SMALL, synthetic.checkpoint(synthetic.SMALL))
    codes = torch.from_numpy(synthetic.codes(synthetic.SMALL, 340)).transpose(1, 2)
    whole, chunked = judge(codes).flatten(), judge.chunked_decode(codes).flatten()  # type: ignore[operator]
    error, rms = (chunked - whole).abs(), whole.square().mean().sqrt()
    assert error[: 300 * 1920].max() <= 1e-4 * rms
    record_property("error of rms", float(error[300 * 1920 :].max() / rms))
    assert error[300 * 1920 :].max() >= 0.1 * rms
