"""What ``encode`` hands to the session, and what it refuses."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from paddable.audio import whisper
from paddable.errors import MisuseError, PaddableError
from paddable.runtime.speech.qwen3_asr import Qwen3AsrEncoding


class RecordingSession:
    """Stands in for a session: remembers its inputs."""

    def __init__(self, name):
        self.metadata = SimpleNamespace(symbols={"T": SimpleNamespace(input=name)})

    def run(self, feeds):
        self.feeds = feeds
        return {"embeddings": np.ones((1, 2, 3), np.float32)}


AUDIO = (0.1 * np.random.default_rng(0).standard_normal(9_000)).astype(np.float32)


@pytest.mark.parametrize("name, want", [("mel", whisper.log_mel(AUDIO)[None]), ("audio", AUDIO[None])])
def test_feeds_what_the_graph_takes(name, want):
    session = RecordingSession(name)
    assert Qwen3AsrEncoding(session).encode(AUDIO).shape == (2, 3)
    assert list(session.feeds) == [name]
    assert np.array_equal(session.feeds[name], want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_peak_above_1_is_scaled_as_qwen_asr_does(dtype):
    session = RecordingSession("audio")
    Qwen3AsrEncoding(session).encode((32_768 * AUDIO).astype(dtype))
    heard = session.feeds["audio"]
    assert heard.dtype == np.float32 and np.allclose(heard, AUDIO[None] / np.abs(AUDIO).max(), atol=1e-6)


@pytest.mark.parametrize("audio", [AUDIO[:0], AUDIO[None], np.array([1, 2]), np.array([0.0, np.nan])])
def test_refuses_what_is_no_clip(audio):
    with pytest.raises(MisuseError, match="one row of finite samples"):
        Qwen3AsrEncoding(RecordingSession("mel")).encode(audio)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_embeddings_that_are_no_numbers_are_refused(monkeypatch, value):
    session = RecordingSession("audio")
    monkeypatch.setattr(session, "run", lambda feeds: {"embeddings": np.full((1, 2, 3), value, np.float32)})
    with pytest.raises(PaddableError, match=r"NaN or infinity in embeddings.*level of the sound"):
        Qwen3AsrEncoding(session).encode(np.full(9_000, 1e30, np.float32))
