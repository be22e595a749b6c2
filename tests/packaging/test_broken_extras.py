"""An extra that is installed and does not import is not called absent: what it lacks is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from paddable.audio.read import read_audio
from paddable.errors import MissingExtraError
from paddable.extras import import_extra
from paddable.runtime.speech.text import read_vocabulary


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in front of all others, for modules that break."""
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("soundfile", "sentencepiece"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_dependency_of_an_extra(broken: Path) -> None:
    (broken / "soundfile.py").write_text("import no_such_extensions")
    with pytest.raises(MissingExtraError) as error:
        read_audio("a.wav")
    assert str(error.value) == (
        "soundfile is installed and needs no_such_extensions, which is not; pip install no_such_extensions"
    )


def test_a_library_that_does_not_load(broken: Path) -> None:
    (broken / "soundfile.py").write_text("raise OSError('sndfile library not found')")
    with pytest.raises(MissingExtraError, match="installed and cannot be imported; sndfile library not found"):
        read_audio("a.wav")


def test_the_file_that_needs_it_is_named(broken: Path) -> None:
    (broken / "sentencepiece.py").write_text("raise ImportError('DLL load failed while importing _sentencepiece')")
    (broken / "spm.model").touch()
    with pytest.raises(
        MissingExtraError, match=r"spm\.model: sentencepiece is installed and cannot .* DLL load failed"
    ):
        read_vocabulary(broken / "spm.model")


def test_one_that_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soxr", None)
    with pytest.raises(MissingExtraError, match=r'^soxr is not installed; install Paddable with its extra "audio" '):
        import_extra("soxr")
