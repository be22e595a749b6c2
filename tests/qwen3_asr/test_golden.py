"""The model against what qwen-asr 0.0.6 said, at every recorded length."""

from __future__ import annotations

import numpy as np
import pytest
import qwen3_synthetic as synthetic

from paddable.families.qwen3_asr.config import token_count


@pytest.mark.parametrize("attention", ["windowed", "global"])
@pytest.mark.parametrize("frames", synthetic.JUDGED)
def test_equals_the_original(make_encoder, run_model, golden, error, attention, frames):
    outputs = run_model(make_encoder(attention), synthetic.mel(frames))
    for name, got in zip(("last_hidden", "embeddings"), outputs, strict=True):
        assert len(got) == token_count(frames)
        assert error(got[:, :: int(golden["every"])], golden[f"{attention}_{frames}_{name}"]) < 1e-5


@pytest.mark.parametrize("frames", [801, 1500, 3000])
def test_the_judge_tells_the_two_attentions_apart(golden, error, frames):
    assert error(golden[f"global_{frames}_embeddings"], golden[f"windowed_{frames}_embeddings"]) > 0.1


def test_short_clips_differ_where_the_originals_do(make_encoder, run_model, error):
    own, padded = make_encoder(short_clips="own"), make_encoder(short_clips="padded")
    apart = {
        n: error(run_model(own, synthetic.mel(n))[1], run_model(padded, synthetic.mel(n))[1]) for n in range(1, 102)
    }
    equal = {n for n, difference in apart.items() if difference < 1e-5}
    # the last token's receptive field ends inside the clip, or the chunk is (almost) whole
    assert {n for n in range(1, 102) if n % 8 in (0, 7)} | {99, 100, 101} == equal
    assert max(apart.values()) > 0.01


def test_token_count_is_three_halvings():
    def halved(frames):
        for _ in range(3):
            frames = (frames - 1) // 2 + 1
        return frames

    for frames in range(1, 1000):
        rest = frames % 100
        assert token_count(frames) == frames // 100 * halved(100) + (halved(rest) if rest else 0)
    assert [token_count(n) for n in (99, 100, 101, 800, 3000, 4000)] == [13, 13, 14, 104, 390, 520]


def test_windows_do_not_see_each_other(make_encoder, run_model):
    mel = synthetic.mel(1500)
    changed = np.concatenate([mel[:, :, :800], -mel[:, :, 800:]], axis=2)
    model = make_encoder()
    first, other = run_model(model, mel)[1][:104], run_model(model, changed)[1][:104]
    assert np.array_equal(first, other)
