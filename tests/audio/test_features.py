"""Kaldi features in numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paddable.audio import Cmvn, FrontEnd, read_am_mvn
from paddable.audio.features import stack_frames
from paddable.audio.kaldi import LOG_FLOOR, log_mel
from paddable.errors import UnreadableError


@pytest.mark.parametrize(
    ("samples", "frames"), [(0, 0), (399, 0), (400, 1), (559, 1), (560, 2), (16_000, 98), (48_000, 298)]
)
def test_number_of_frames(samples: int, frames: int) -> None:
    features = FrontEnd()(np.zeros(samples, np.float32))
    assert log_mel(np.zeros(samples, np.float32)).shape == (frames, 80)
    assert features.shape == (-(-frames // 6), 560) and FrontEnd().length(samples) == len(features)


def test_a_constant_is_silence_whatever_its_value() -> None:
    for value in (0.0, 0.1, 0.5, 1.0):
        assert np.allclose(log_mel(np.full(4_000, value, np.float32)), np.log(LOG_FLOOR), atol=1e-6)


def test_a_tone_peaks_in_its_band() -> None:
    tone = np.sin(2 * np.pi * 1_000 * np.arange(8_000) / 16_000).astype(np.float32)
    # 1 kHz is mel 1000 of 31.7 to 2840: band (1000 - 31.7) / (2840 - 31.7) * 81 - 1 = 26.9
    assert set(log_mel(tone).argmax(axis=1)) == {27}


def test_blocks_of_a_long_recording_join_without_a_seam() -> None:
    noise = np.random.default_rng(0).standard_normal(160 * 4_200).astype(np.float32)
    assert np.array_equal(log_mel(noise)[4_090:4_110], log_mel(noise[4_090 * 160 : 4_109 * 160 + 400]))


@pytest.mark.parametrize(("stack", "stride"), [(7, 6), (5, 1), (1, 1)])
def test_stacking_repeats_the_first_and_the_last_frame(stack: int, stride: int) -> None:
    for count in range(1, 40):
        frames = np.arange(count, dtype=np.float32)[:, None]
        wanted = [
            [min(max(i + j - (stack - 1) // 2, 0), count - 1) for j in range(stack)] for i in range(0, count, stride)
        ]
        assert stack_frames(frames, stack, stride).tolist() == wanted


def test_cmvn_is_applied_after_stacking() -> None:
    noise = np.random.default_rng(1).standard_normal(4_000).astype(np.float32)
    cmvn = Cmvn(np.arange(560, dtype=np.float32), np.full(560, 0.5, np.float32))
    assert np.array_equal(FrontEnd(cmvn=cmvn)(noise), (FrontEnd()(noise) + cmvn.shift) * cmvn.scale)


AM_MVN = "<Nnet>\n<Splice> 3 3\n[ 0 ]\n<AddShift> 3 3\n<LearnRateCoef> 0 [ -8.5 -9 -10 ]\n<Rescale> 3 3\n"


def test_am_mvn(tmp_path: Path) -> None:
    path = tmp_path / "am.mvn"
    path.write_text(f"{AM_MVN}<LearnRateCoef> 0 [ 0.1 0.2 0.3 ]\n</Nnet>\n")
    shift, scale = read_am_mvn(path)
    assert shift.tolist() == [-8.5, -9.0, -10.0] and scale.tolist() == [np.float32(x) for x in (0.1, 0.2, 0.3)]


@pytest.mark.parametrize("end", ["", "<LearnRateCoef> 0 [ 0.1 0.2 ]", "<LearnRateCoef> 0 [ 0.1 x 0.3 ]", "[ 1 2 3"])
def test_am_mvn_with_a_fault(tmp_path: Path, end: str) -> None:
    path = tmp_path / "am.mvn"
    path.write_text(AM_MVN + end)
    with pytest.raises(UnreadableError, match=r"am\.mvn"):
        read_am_mvn(path)


@pytest.mark.parametrize(
    ("shift", "scale", "told"),
    [
        ("-8.5 nan -10", "0.1 0.2 0.3", "number 2 after <AddShift> is nan, expected a finite number"),
        ("-8.5 -9 1e39", "0.1 0.2 0.3", "number 3 after <AddShift> is inf"),
        ("-8.5 -9 -10", "inf 0.2 0.3", "number 1 after <Rescale> is inf, expected a finite number above 0"),
        ("-8.5 -9 -10", "0.1 0.0 0.3", r"number 2 after <Rescale> is 0\.0"),
        ("-8.5 -9", "0.1 0.2", "2 numbers, expected 3"),
    ],
)
def test_am_mvn_that_would_lose_a_feature(tmp_path: Path, shift: str, scale: str, told: str) -> None:
    path = tmp_path / "am.mvn"
    path.write_text(f"<AddShift> 3 3\n<LearnRateCoef> 0 [ {shift} ]\n<Rescale> 3 3\n<LearnRateCoef> 0 [ {scale} ]\n")
    with pytest.raises(UnreadableError, match=rf"am\.mvn: {told}") as caught:
        read_am_mvn(path, 3)
    assert "\n" not in str(caught.value)
