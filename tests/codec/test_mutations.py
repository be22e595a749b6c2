"""The tests above can fail: every state matters, and so does every constant of the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import codec_synthetic as synthetic
import pytest
import torch
from codec_chunks import run_chunks

from paddable.families.layers.streaming import StepForm, StepMemory, attention, declare_states
from paddable.families.qwen3_tts_codec.config import CodecConfig
from paddable.families.qwen3_tts_codec.model import Decoder

GATE = 1e-5  # of scale, the gate of fp32
CHUNK, FRAMES = 24, 96
SIZES = [CHUNK] * (FRAMES // CHUNK)
SHORT = 12  # a state is missed in the very next chunk, so two small ones are enough

with torch.device("meta"):
    NAMES = [
        spec.name for spec in declare_states(Decoder(CodecConfig.from_dict(synthetic.SMALL | {"sample_rate": 24000})))
    ]


@pytest.fixture(scope="module")
def codes() -> torch.Tensor:
    return torch.from_numpy(synthetic.codes(synthetic.SMALL, FRAMES, seed=3))


@pytest.fixture(scope="module")
def whole(small: Decoder, codes: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return small(codes)


def test_there_are_37_states_and_a_count() -> None:
    assert len(NAMES) == 38 and NAMES[-1] == "count"


@torch.no_grad()
@pytest.mark.parametrize("name", NAMES)
def test_dropping_one_state_is_heard(
    small: Decoder,
    codes: torch.Tensor,
    whole: torch.Tensor,
    name: str,
    record_property: Callable[[str, object], None],
) -> None:
    form, index = StepForm(small, 1920, axis=1), NAMES.index(name)

    def drop(states: list[torch.Tensor]) -> list[torch.Tensor]:
        states[index] = torch.zeros_like(states[index])
        return states

    streamed = run_chunks(form, codes, [SHORT, SHORT], SHORT, drop)
    moved = (streamed - whole[:, : streamed.shape[1]]).abs().max() / whole.abs().max()
    record_property("moved", float(moved))
    assert moved >= 100 * GATE


@torch.no_grad()
@pytest.mark.parametrize("window", [71, 73])
def test_another_window_is_heard(
    small: Decoder, codes: torch.Tensor, whole: torch.Tensor, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small.pre_transformer, "config", replace(small.config, sliding_window=window))
    assert (small(codes) - whole).abs().max() >= 100 * GATE * whole.abs().max()


@torch.no_grad()
def test_keeping_junk_frames_is_heard(
    small: Decoder, codes: torch.Tensor, whole: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Updating the states by the chunk's size in place of its valid count."""
    monkeypatch.setattr(
        StepMemory, "_kept_rows", lambda self, slot: torch.arange(slot.steps) + torch.tensor([12]) * slot.rate
    )
    streamed = run_chunks(StepForm(small, 1920, axis=1), codes, [7] * 3, 12)
    assert (streamed - whole[:, : streamed.shape[1]]).abs().max() >= 100 * GATE * whole.abs().max()


@torch.no_grad()
def test_positions_that_restart_are_heard(
    small: Decoder, codes: torch.Tensor, whole: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What earlier exports do once their cache is full: every chunk is rotated from the same position on."""
    angles = attention._angles
    monkeypatch.setattr(attention, "_angles", lambda position, *rest: angles(71 + (position - 71) % CHUNK, *rest))
    streamed = run_chunks(StepForm(small, 1920, axis=1), codes, SIZES, CHUNK)
    assert (streamed - whole).abs().max() >= 100 * GATE * whole.abs().max()
