"""Voice activity rules on made-up posteriors; FunASR's own segments are compared in tests/families."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from paddable.errors import UnreadableError
from paddable.families.fsmn_vad.spec import VadOptions
from paddable.runtime.families import detector_of
from paddable.runtime.speech.vad import frame_decibels, silence_share, speech_segments

FIXED = VadOptions(schedule=None)


def segments(*runs: tuple[str, int], options: VadOptions = FIXED, level: float = 0.0) -> list[tuple[int, int]]:
    """Runs of speech ("s") and silence ("-"), in frames of 10 ms."""
    silence = np.concatenate([np.full(frames, 0.0 if kind == "s" else 1.0) for kind, frames in runs])
    return speech_segments(silence, np.full(len(silence), level), options)


def test_silence_is_the_sum_of_its_classes() -> None:
    posteriors = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], np.float32)
    assert silence_share(posteriors, replace(FIXED, silence_classes=(0, 2))).tolist() == [0.75, 0.0]


def test_silence_and_clicks() -> None:
    assert segments(("-", 500)) == []
    assert segments(("-", 100), ("s", 14), ("-", 100)) == []


def test_speech_gets_its_margins() -> None:
    # opens at the 15th frame of speech, less 200 ms of window and 200 ms of look-back: 114 - 40 = 74
    # silence begins 5 frames into it; 10 frames of it are kept after the 650 ms that ended the segment
    (segment,) = segments(("-", 100), ("s", 100), ("-", 200))
    assert segment[0] == 740
    assert 2_000 < segment[1] <= 2_250


def test_speech_to_the_end() -> None:
    assert segments(("-", 100), ("s", 100)) == [(740, 2_000)]


def test_a_short_pause_does_not_cut() -> None:
    assert len(segments(("s", 100), ("-", 50), ("s", 100))) == 1
    assert len(segments(("s", 100), ("-", 120), ("s", 100))) == 2


def test_long_speech_is_cut() -> None:
    cut = segments(("s", 700), options=replace(FIXED, max_segment=2_000))
    assert len(cut) > 2 and all(end - begin <= 2_010 for begin, end in cut)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(cut))


def test_schedule_waits_longer_at_first() -> None:
    pause = (("-", 50), ("s", 100), ("-", 150), ("s", 100), ("-", 50))
    assert len(segments(*pause)) == 2
    assert len(segments(*pause, options=VadOptions())) == 1


def test_too_quiet_to_be_speech() -> None:
    loud_enough = replace(FIXED, least_decibel=-30.0)
    assert segments(("s", 100), options=loud_enough, level=-20.0)
    assert segments(("s", 100), options=loud_enough, level=-40.0) == []


def test_too_near_to_the_noise() -> None:
    strict = replace(FIXED, least_snr=10.0)
    assert segments(("-", 100), ("s", 100), options=strict) == []


def test_no_frames() -> None:
    assert speech_segments(np.zeros(0), [], FIXED) == []


@pytest.mark.parametrize(("samples", "frames"), [(0, 0), (399, 0), (400, 1), (560, 2)])
def test_decibels(samples: int, frames: int) -> None:
    decibels = frame_decibels(np.full(samples, 0.5, np.float32))
    assert len(decibels) == frames and np.allclose(decibels, 20.0)  # 10 log10(400 / 4)


def test_decibels_of_many_frames_are_those_of_each() -> None:
    audio = np.random.default_rng(0).uniform(-1, 1, 5_000 * 160).astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(audio.astype(np.float64), 400)[::160]
    assert np.allclose(frame_decibels(audio), 10 * np.log10((frames**2).sum(axis=1) + 1e-6), rtol=0, atol=1e-9)


def test_a_class_that_the_model_does_not_have() -> None:
    with pytest.raises(UnreadableError, match=r"sil_pdf_ids is \[0, 2\], expected numbers below 2"):
        silence_share(np.ones((3, 2), np.float32), replace(FIXED, silence_classes=(0, 2)))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"vad": [], "context": 78}, r"settings\.vad is \[\], expected a mapping"),
        ({"vad": {"speech_noise_thres": "x"}, "context": 78}, r"settings\.vad\.speech_noise_thres is 'x', expected"),
        ({"vad": {"lookahead_time_end_point": True}, "context": 78}, r"lookahead_time_end_point is True, expected"),
        ({"vad": {}}, r"settings\.context is None"),
        ({"vad": {}, "context": "many"}, r"settings\.context is 'many', expected a number of frames"),
    ],
)
def test_damaged_settings_of_a_bundle(settings: dict[str, Any], told: str) -> None:
    bundle = SimpleNamespace(settings=settings, front_end=None)
    with pytest.raises(UnreadableError, match=rf"^bundle\.json: {told}|^bundle\.json: settings\.vad\.{told}") as caught:
        detector_of(bundle, SimpleNamespace(largest={}))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_the_published_thresholds_are_the_defaults() -> None:
    said = {
        "sample_rate": 16_000, "detect_mode": 1, "max_end_silence_time": 800, "window_size_ms": 200,
        "sil_to_speech_time_thres": 150, "speech_to_sil_time_thres": 150, "speech_2_noise_ratio": 1.0, "do_extend": 1,
        "lookback_time_start_point": 200, "lookahead_time_end_point": 100, "max_single_segment_time": 60_000,
        "snr_thres": -100.0, "noise_frame_num_used_for_snr": 100, "decibel_thres": -100.0, "speech_noise_thres": 0.6,
        "sil_pdf_ids": [0], "frame_in_ms": 10, "frame_length_ms": 25,
    }  # fmt: skip
    assert VadOptions.from_funasr(said) == VadOptions()
