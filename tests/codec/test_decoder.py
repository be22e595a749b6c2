"""The native decoder: streamed equals whole, strictly causal, and junk never shows."""

from __future__ import annotations

from collections.abc import Callable

import codec_synthetic as synthetic
import numpy as np
import pytest
import torch
from codec_chunks import random_sizes, run_chunks

from paddable.families.layers.streaming import StepForm
from paddable.families.qwen3_tts_codec.model import Decoder

STRICT = 1e-12  # of a scale of about 0.6, in fp64
FRAMES = 400  # 32 s, more than five windows


@pytest.fixture(scope="module")
def codes() -> torch.Tensor:
    return torch.from_numpy(synthetic.codes(synthetic.SMALL, FRAMES))


@pytest.fixture(scope="module")
def whole(small: Decoder, codes: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return small(codes)


@torch.no_grad()
@pytest.mark.parametrize("size", [1, 3, 7, 12, 25])
def test_streamed_is_whole(small: Decoder, codes: torch.Tensor, whole: torch.Tensor, size: int) -> None:
    full, rest = divmod(FRAMES, size)
    sizes = [size] * full + [rest] * bool(rest)
    streamed = run_chunks(StepForm(small, 1920, axis=1), codes, sizes, size)
    assert streamed.shape == whole.shape == (1, 1920 * FRAMES)
    assert (streamed - whole).abs().max() <= STRICT


@torch.no_grad()
@pytest.mark.parametrize(("frames", "total"), [(4, 160), (12, FRAMES), (100, FRAMES)])
def test_random_mixtures_are_whole(
    small: Decoder, codes: torch.Tensor, whole: torch.Tensor, frames: int, total: int
) -> None:
    """Chunks smaller than most histories, the usual ones, and ones longer than the window."""
    sizes = random_sizes(total, frames, np.random.default_rng(frames))
    assert 0 in sizes or frames == 100
    streamed = run_chunks(StepForm(small, 1920, axis=1), codes, sizes, frames)
    assert (streamed - whole[:, : 1920 * total]).abs().max() <= STRICT


def test_scale_is_audible_and_not_clipped(whole: torch.Tensor) -> None:
    assert 0.1 < whole.abs().max() < 1


@torch.no_grad()
def test_later_codes_change_no_earlier_sample(small: Decoder, codes: torch.Tensor) -> None:
    short = codes[:, :40]
    for frame in (1, 5, 20, 39):
        other = short.clone()
        other[:, frame:] = (other[:, frame:] + 1) % 64
        differs = (small(short) != small(other))[0]
        assert not differs[: 1920 * frame].any()
        assert differs[1920 * frame]


def test_how_far_back_a_sample_reaches(make_decoder: Callable[..., Decoder]) -> None:
    """71 frames a layer, 2 of the pre-convolution, 10 of the convolutions: 580 with the released 8 layers."""
    decoder = make_decoder(synthetic.SMALL | {"num_hidden_layers": 2}).double()
    latent: list[torch.Tensor] = []

    def keep(module: torch.nn.Module, inputs: object, output: torch.Tensor) -> torch.Tensor:
        latent.append(output.detach().requires_grad_())
        return latent[0]

    decoder.quantizer.register_forward_hook(keep)
    decoder(torch.from_numpy(synthetic.codes(synthetic.SMALL, 160)))[0, -1920:].square().sum().backward()
    assert latent[0].grad is not None
    reached = latent[0].grad.abs().amax((0, 1)).nonzero()
    assert 159 - int(reached.min()) == 2 * 71 + 2 + 10


@torch.no_grad()
@pytest.mark.parametrize("valid", [0, 1, 5, 11])
def test_junk_beyond_the_valid_frames_is_bit_equal(make_decoder: Callable[..., Decoder], valid: int) -> None:
    form = StepForm(make_decoder(synthetic.SMALL), 1920, axis=1)
    codes = torch.from_numpy(synthetic.codes(synthetic.SMALL, 36))
    _, _, *states = form(codes[:, :24], torch.tensor([24]), *form.initial())
    results = []
    for junk in (0, -1, 63, 2**63 - 1, -(2**63)):
        chunk = codes[:, 24:].clone()
        chunk[:, valid:] = junk
        results.append(form(chunk, torch.tensor([valid]), *states))
    wav, length, *after = results[0]
    assert int(length) == 1920 * valid and not wav[:, int(length) :].any()
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))
    if valid == 0:
        assert all(torch.equal(a, b) for a, b in zip(states, after, strict=True))


@torch.no_grad()
def test_a_window_of_one_step_keeps_no_keys(make_decoder: Callable[..., Decoder]) -> None:
    decoder = make_decoder(synthetic.TINY | {"sliding_window": 1}).double()
    form, codes = StepForm(decoder, 24, axis=1), torch.from_numpy(synthetic.codes(synthetic.TINY, 12))
    assert not [spec.name for spec in form.states if "key" in spec.name or spec.name == "count"]
    assert (run_chunks(form, codes, [3, 0, 5, 4], 5) - decoder(codes)).abs().max() < 1e-12
