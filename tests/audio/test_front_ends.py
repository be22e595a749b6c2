"""Front ends of other projects against transformers' and torch's own."""

from __future__ import annotations

import numpy as np
import pytest

from paddable.audio import gigaam, kaldi
from paddable.audio.front_ends import FRONT_ENDS, Features, GigaAm, Kaldi, Nemo, Waveform, Whisper

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
audio_utils = pytest.importorskip("transformers.audio_utils")

SOUND = np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32)
SOUND[4_000:6_000] = 0.0  # true silence reaches the floors

EVERY = [
    Waveform(),
    Waveform(True),
    *(Kaldi(dialect) for dialect in kaldi.DIALECTS),
    Whisper(),
    Nemo(),
    Nemo(64, False),
    GigaAm(2),
    GigaAm(3),
]


@pytest.mark.parametrize("samples", [400, 16_000, 15_999])
@pytest.mark.parametrize("mels", [80, 128])
def test_nemo_is_transformers_parakeet(mels: int, samples: int) -> None:
    extractor = transformers.ParakeetFeatureExtractor(feature_size=mels)
    wanted = extractor(SOUND[:samples], sampling_rate=16_000, return_tensors="np")
    valid = int(wanted["attention_mask"].sum())
    got = Nemo(mels)(SOUND[:samples])
    assert got.shape == (valid, mels)
    np.testing.assert_allclose(got, wanted["input_features"][0, :valid], atol=2e-3, rtol=0)  # it computes in float32


def test_one_frame_of_nemo_is_finite() -> None:
    assert np.array_equal(Nemo()(SOUND[:160]), np.zeros((1, 80), np.float32))


@pytest.mark.parametrize("high_hz, dialect", [(8_000, "wenet"), (7_600, "k2")])
def test_kaldi_is_transformers_spectrogram(high_hz: float, dialect: str) -> None:
    bank = audio_utils.mel_filter_bank(
        257, 80, 20, high_hz, 16_000, norm=None, mel_scale="kaldi", triangularize_in_mel_space=True
    )
    bank[256] = 0  # Kaldi leaves the Nyquist bin out
    sound = SOUND * 32_768 if dialect == "wenet" else np.pad(SOUND, 120, mode="symmetric")
    wanted = audio_utils.spectrogram(
        sound, audio_utils.window_function(400, "povey", periodic=False), 400, 160, 512, power=2.0, center=False,
        preemphasis=0.97, mel_filters=bank, log_mel="log", mel_floor=kaldi.LOG_FLOOR, remove_dc_offset=True,
    ).T  # fmt: skip
    got = Kaldi(dialect)(SOUND)
    assert len(got) == (100 if dialect == "k2" else 98)
    np.testing.assert_allclose(got[: len(wanted)], wanted, atol=2e-4, rtol=0)


def test_a_frame_of_k2_stands_every_10_ms() -> None:
    assert [len(Kaldi("k2")(SOUND[:n])) for n in (399, 400, 559, 560, 719, 720)] == [0, 3, 3, 4, 4, 5]


@pytest.mark.parametrize("version, fft", [(2, 400), (3, 320)])
def test_gigaam_is_torchaudios_mel_spectrogram(version: int, fft: int) -> None:
    bank = audio_utils.mel_filter_bank(fft // 2 + 1, 64, 0, 8_000, 16_000, norm=None, mel_scale="htk")
    np.testing.assert_allclose(gigaam.mel_bank(fft), bank, atol=1e-12)
    stft = torch.stft(
        torch.from_numpy(SOUND).double(), fft, 160, window=torch.hann_window(fft, dtype=torch.float64),
        center=version == 2, pad_mode="reflect", return_complex=True,
    )  # fmt: skip
    wanted = np.log(np.clip((stft.abs() ** 2).numpy().T @ bank, 1e-9, 1e9))
    np.testing.assert_allclose(GigaAm(version)(SOUND), wanted, atol=1e-5, rtol=0)


def test_a_normalised_waveform_is_transformers_wav2vec2() -> None:
    extractor = transformers.Wav2Vec2FeatureExtractor(do_normalize=True)
    wanted = extractor(SOUND + 0.3, sampling_rate=16_000, return_tensors="np")["input_values"][0]
    np.testing.assert_allclose(Waveform(True)(SOUND + np.float32(0.3)), wanted, atol=2e-6)
    assert np.array_equal(Waveform()(SOUND), SOUND)


@pytest.mark.parametrize("features", EVERY, ids=str)
def test_the_longest_sound_of_so_many_steps(features: Features) -> None:
    for steps in (60, 61):
        most = features.most_samples(steps)
        assert len(features(SOUND[:most])) == steps < len(features(SOUND[: most + 1]))


@pytest.mark.parametrize("features", [Kaldi("k2"), Nemo(80, False), GigaAm(2), GigaAm(3)], ids=str)
def test_a_long_sound_is_computed_in_blocks_that_do_not_show(features: Features) -> None:
    long = np.tile(SOUND, 42)
    got, piece = features(long), features(long[4_090 * 160 : 4_110 * 160])
    np.testing.assert_allclose(got[4_095:4_100], piece[5:10], atol=1e-4, rtol=0)


def test_every_front_end_has_a_name() -> None:
    assert {type(each) for each in EVERY} == set(FRONT_ENDS.values())
