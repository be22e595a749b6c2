"""The front ends that live in a graph, against float64 and against Kaldi."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from paddable.audio import Cmvn, FrontEnd, read_audio
from paddable.audio.kaldi import log_mel
from paddable.errors import MisuseError
from paddable.families.layers.front_end import EarlyFrontEnd, KaldiFrontEnd, build_front_end


def in_graph(audio: np.ndarray, module: torch.nn.Module | None = None) -> np.ndarray:
    module = module or KaldiFrontEnd(stack=1, stride=1)
    return module(torch.from_numpy(audio)[None])[0].numpy()


def kaldi(audio: np.ndarray) -> np.ndarray:
    knf = pytest.importorskip("kaldi_native_fbank")
    options = knf.FbankOptions()
    options.frame_opts.dither, options.frame_opts.window_type = 0.0, "hamming"
    options.mel_opts.num_bins, options.energy_floor = 80, 0.0
    bank = knf.OnlineFbank(options)
    bank.accept_waveform(16_000, audio * np.float32(32_768))
    bank.input_finished()
    return np.stack([bank.get_frame(i) for i in range(bank.num_frames_ready)])


def test_in_graph_equals_float64(signals: dict[str, np.ndarray]) -> None:
    for name, audio in signals.items():
        error = np.abs(in_graph(audio) - log_mel(audio))
        assert error.max() <= 5e-4 and np.quantile(error, 0.999) <= 1e-4, name


@pytest.mark.original
def test_error_to_float64_is_no_worse_than_kaldis(signals: dict[str, np.ndarray]) -> None:
    for name, audio in signals.items():
        truth = log_mel(audio)
        ours, theirs = (np.quantile(np.abs(x - truth), 0.999) for x in (in_graph(audio), kaldi(audio)))
        assert ours <= theirs + 1e-6, name  # 1e-6 is one unit in the last place of -15.9, the floor


@pytest.mark.shared
@pytest.mark.original
def test_speech_against_kaldi(shared: Path) -> None:
    clips = sorted((shared / "audio").glob("*/*.wav"))
    assert len(clips) > 5
    for clip in clips:
        audio = read_audio(clip).samples
        wanted, truth = kaldi(audio), log_mel(audio)
        for features in (in_graph(audio), truth):
            error = np.abs(features - wanted)
            assert error.max() <= 5e-4 and np.quantile(error, 0.999) <= 1e-4, clip.name
        assert np.quantile(np.abs(in_graph(audio) - truth), 0.999) <= np.quantile(np.abs(wanted - truth), 0.999)


@pytest.mark.parametrize("samples", [400, 401, 559, 560, 1_359, 1_360, 1_361, 5_000])
def test_stacking_and_normalisation_as_in_numpy(samples: int) -> None:
    random = np.random.default_rng(samples)
    audio = (0.1 * random.standard_normal(samples)).astype(np.float32)
    cmvn = Cmvn(random.standard_normal(560).astype(np.float32), random.random(560).astype(np.float32))
    wanted = FrontEnd(cmvn=cmvn)(audio)
    assert np.abs(in_graph(audio, KaldiFrontEnd(7, 6, cmvn)) - wanted).max() <= 5e-4


def early(audio: np.ndarray) -> np.ndarray:
    """The early export's features frame by frame in float64."""
    signal = audio.astype(np.float64) - audio.astype(np.float64).mean()
    signal = np.append(signal[0], signal[1:] - 0.97 * signal[:-1])
    signal = np.pad(signal, 200)
    taper = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(400) / 400)
    edges = 700 * (10 ** (np.linspace(*(2595 * np.log10(1 + f / 700) for f in (20, 8000)), 82) / 2595) - 1)
    rows = []
    for start in range(0, len(signal) - 399, 160):
        power = np.abs(np.fft.rfft(signal[start : start + 400] * taper)) ** 2
        rows.append(
            [
                np.log(
                    sum(p * max(0, min((40 * k - a) / (b - a), (c - 40 * k) / (c - b))) for k, p in enumerate(power))
                    + 1e-7
                )
                for a, b, c in zip(edges, edges[1:], edges[2:], strict=False)
            ]
        )
    padded = [rows[0]] * 3 + rows + [rows[-1]] * 6
    return np.array([np.concatenate(padded[i : i + 7]) for i in range(0, len(rows), 6)])


@pytest.mark.parametrize("samples", [400, 1_600, 4_321])
def test_early_front_end(samples: int) -> None:
    audio = (0.1 * np.random.default_rng(2).standard_normal(samples) + 0.05).astype(np.float32)
    features = in_graph(audio, EarlyFrontEnd())
    assert features.shape == ((samples // 160 + 6) // 6, 560)
    assert np.abs(features - early(audio)).max() <= 5e-4


def test_the_scale_of_the_file_does_not_matter(tmp_path: Path) -> None:
    audio = 0.6 * np.sin(np.arange(8_000) / 7) + 0.05 * np.random.default_rng(3).standard_normal(8_000)
    features = {}
    for subtype in ("PCM_16", "PCM_24", "FLOAT"):
        soundfile.write(tmp_path / "clip.wav", audio, 16_000, subtype=subtype)
        features[subtype] = FrontEnd()(read_audio(tmp_path / "clip.wav").samples)
    assert np.abs(features["PCM_24"] - features["FLOAT"]).max() < 1e-3
    assert np.abs(features["PCM_16"] - features["FLOAT"]).max() < 0.05  # 16 bits add noise of their own


def test_unknown_front_end() -> None:
    with pytest.raises(MisuseError, match="early"):
        build_front_end("whisper", 7, 6, None)  # type: ignore[arg-type]
