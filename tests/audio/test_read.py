"""Any file to one mono float32 waveform, or one line that says why not."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from paddable.audio import as_waveform, read, read_audio
from paddable.errors import MisuseError, PaddableError, PaddableWarning, UnreadableError

RATE = 16_000


def tone(hertz: float, rate: int, seconds: float = 1.0, level: float = 0.3) -> np.ndarray:
    return level * np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate)


@pytest.mark.shared
def test_reported_case_22_stereo_and_rate(shared: Path) -> None:
    spec = importlib.util.spec_from_file_location("case_22", shared / "cases/case_22_stereo_averaged_over_time.py")
    assert spec and spec.loader
    case = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(case)
    right, detail = case.check(lambda path: tuple(read_audio(path)))
    assert right, detail


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
def test_sample_type_does_not_change_the_scale(tmp_path: Path, subtype: str) -> None:
    wanted = np.round(tone(200, RATE) * 32767) / 32768  # what 16 bits can hold exactly
    soundfile.write(tmp_path / "clip.wav", wanted, RATE, subtype=subtype)
    assert np.array_equal(read_audio(tmp_path / "clip.wav").samples, wanted.astype(np.float32))


def test_float_beyond_one_is_kept_and_not_scaled(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "loud.wav", tone(200, RATE, level=1.05), RATE, subtype="FLOAT")
    assert np.abs(read_audio(tmp_path / "loud.wav").samples).max() == pytest.approx(1.05, abs=1e-4)


@pytest.mark.parametrize("suffix", ["flac", "ogg", "mp3", "aiff"])
def test_other_containers(tmp_path: Path, suffix: str) -> None:
    soundfile.write(tmp_path / f"clip.{suffix}", tone(200, RATE), RATE)
    samples, rate = read_audio(tmp_path / f"clip.{suffix}")
    assert rate == RATE and abs(len(samples) - RATE) < 3000
    assert np.abs(samples).max() == pytest.approx(0.3, abs=0.03)


def test_channels_are_averaged_and_the_length_is_kept(tmp_path: Path) -> None:
    left, right = tone(200, RATE), tone(500, RATE, level=0.1)
    soundfile.write(tmp_path / "stereo.wav", np.stack([left, right], 1), RATE, subtype="DOUBLE")
    assert np.allclose(read_audio(tmp_path / "stereo.wav").samples, (left + right) / 2, atol=1e-7)


def test_rate_44100_is_resampled(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "cd.wav", tone(440, 44_100), 44_100, subtype="FLOAT")
    samples = read_audio(tmp_path / "cd.wav").samples
    assert len(samples) == RATE
    assert np.abs(samples - tone(440, RATE))[200:-200].max() < 1e-3


def test_a_tone_above_the_new_band_does_not_come_back_as_another() -> None:
    samples = as_waveform(tone(10_000, 48_000), 48_000, RATE).samples
    assert np.abs(samples[200:-200]).max() < 1e-3  # decimating without a filter gives 0.3 at 6 kHz


@pytest.mark.parametrize("count", [1, 160, 399])
def test_tiny_clips_are_read_as_they_are(tmp_path: Path, count: int) -> None:
    soundfile.write(tmp_path / "tiny.wav", np.full(count, 0.5), RATE, subtype="FLOAT")
    assert read_audio(tmp_path / "tiny.wav").samples.tolist() == [0.5] * count


def header_only(path: Path) -> None:
    soundfile.write(path, np.zeros((0, 2)), 8_000)


def stopped_recorder(path: Path) -> None:
    """The header was written with a length of 0, and never mended."""
    soundfile.write(path, tone(200, RATE), RATE)
    raw = path.read_bytes()
    start = raw.index(b"data") + 4
    path.write_bytes(raw[:start] + bytes(4) + raw[start + 4 :])


def cut_behind_the_header(path: Path) -> None:
    soundfile.write(path, tone(200, RATE), RATE)
    raw = path.read_bytes()
    path.write_bytes(raw[: raw.index(b"data") + 8])


def test_a_file_that_ends_early_gives_what_is_there_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "cut.wav"
    soundfile.write(path, tone(200, RATE), RATE)
    path.write_bytes(path.read_bytes()[: 44 + RATE])  # half of the 16-bit samples
    with pytest.warns(PaddableWarning, match=r"ends early; 0\.50 s of 1\.00 s are there"):
        assert len(read_audio(path).samples) == RATE // 2


def test_a_length_that_the_recorder_did_not_know_is_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "piped.wav"
    soundfile.write(path, tone(200, RATE), RATE)
    raw = path.read_bytes()
    start = raw.index(b"data") + 4
    path.write_bytes(raw[:start] + b"\xff" * 4 + raw[start + 4 :])
    assert len(read_audio(path).samples) == RATE


def text_file(path: Path) -> None:
    path.write_text("this is no sound\n" * 40)


def no_bytes(path: Path) -> None:
    path.write_bytes(b"")


def half_a_header(path: Path) -> None:
    soundfile.write(path, tone(200, RATE), RATE)
    path.write_bytes(path.read_bytes()[:20])


def not_a_number(path: Path) -> None:
    soundfile.write(path, np.array([0.0, np.nan, 0.1]), RATE, subtype="FLOAT")


def a_folder(path: Path) -> None:
    path.mkdir()


def nothing(path: Path) -> None:
    assert not path.exists()


@pytest.mark.parametrize(
    "make",
    [
        text_file,
        no_bytes,
        half_a_header,
        header_only,
        stopped_recorder,
        cut_behind_the_header,
        not_a_number,
        a_folder,
        nothing,
    ],
)
def test_bad_files_give_one_line_that_names_the_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "bad.wav"
    make(path)
    with pytest.raises(UnreadableError) as caught:
        read_audio(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("array", "wanted"),
    [
        (np.array([-32768, 16384], np.int16), [-1.0, 0.5]),
        (np.array([-(2**31), 2**30], np.int32), [-1.0, 0.5]),
        (np.array([0, 192], np.uint8), [-1.0, 0.5]),
        (np.array([[0.5, -0.25]]), [0.125]),
    ],
)
def test_arrays_by_type(array: np.ndarray, wanted: list[float]) -> None:
    assert as_waveform(array, RATE).samples.tolist() == wanted


@pytest.mark.parametrize("array", [np.zeros((2, 16_000)), np.zeros((2, 3, 4)), np.array(["a"]), np.zeros(4, complex)])
def test_arrays_that_are_no_waveform(array: np.ndarray) -> None:
    with pytest.raises(MisuseError):
        as_waveform(array, RATE)


@pytest.mark.parametrize("array", [np.zeros(0), [], np.zeros((0, 2), np.int16), np.zeros((4, 0))])
def test_no_sample_is_nothing_as_an_array_and_lost_sound_as_a_file(array: np.ndarray, tmp_path: Path) -> None:
    assert as_waveform(array, 8000, RATE).samples.shape == (0,)
    header_only(tmp_path / "empty.wav")
    with pytest.raises(UnreadableError, match="it is a header only"):
        read_audio(tmp_path / "empty.wav")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "a Git LFS pointer.*; fetch it with git lfs",
        ),
        (b"<!DOCTYPE html>\n<html></html>\n", "it is a web page; convert"),
        (b"\x00\x01\x02" * 50, "[^.]; convert it to wav"),
    ],
)
def test_what_is_no_sound_is_called_what_it_is(content: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(content)
    with pytest.raises(UnreadableError, match=told):
        read_audio(tmp_path / "a.wav")


def test_a_mask_is_not_dropped() -> None:
    with pytest.raises(MisuseError, match="a masked array"):
        as_waveform(np.ma.masked_array(np.zeros(4), [0, 1, 0, 0]), RATE)


@pytest.mark.parametrize("rate", [0, -1, 16_000.5, None, "16000", float("nan"), float("inf"), 1j])
def test_rates_that_are_none(rate: float) -> None:
    with pytest.raises(MisuseError, match="rate"):
        as_waveform(np.zeros(4), rate)  # type: ignore[arg-type]


def test_a_long_recording_lies_in_a_file_and_holds_the_same_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soundfile.write(tmp_path / "long.wav", np.random.default_rng(0).uniform(-1, 1, (70_000, 2)), 44_100)
    monkeypatch.setattr(read, "_BLOCK", 10_000)
    short = read_audio(tmp_path / "long.wav").samples
    monkeypatch.setattr(read, "_IN_MEMORY", 9_000)
    long = read_audio(tmp_path / "long.wav").samples
    np.testing.assert_array_equal(long, short)
    assert type(long) is np.ndarray and not long.flags.owndata
    long[:] = 0  # an array like any other

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(read.tempfile, "TemporaryFile", full)
    with pytest.raises(PaddableError, match=r"fit the temporary folder: No space left on device.*TMPDIR"):
        read_audio(tmp_path / "long.wav")
