"""Any audio file or array to one mono float32 waveform at one rate.

The contract is fixed and never guessed from the amplitude: integers are divided by their full scale, floats are kept as
they are. A float file may go beyond 1; it is neither clipped nor scaled, since the features are logarithms.
"""

from __future__ import annotations

import math
import re
import tempfile
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddable.bundle.foreign import HEAD, POINTER, foreign
from paddable.errors import MisuseError, PaddableError, PaddableWarning, UnreadableError
from paddable.extras import import_extra

__all__ = ["SOUNDS", "Waveform", "as_waveform", "file_rate", "read_audio"]

SOUNDS = {".aif", ".aiff", ".au", ".caf", ".flac", ".mp3", ".oga", ".ogg", ".opus", ".w64", ".wav"}
"""How the names of recordings end, in lower case: what is taken of a directory. A file by itself may have any name."""

_MOST_CHANNELS = 64
_BLOCK = 1 << 20  # frames read at a time
_IN_MEMORY = 10_000_000  # samples, 40 MB: ten minutes at 16 kHz


class Waveform(NamedTuple):
    """Mono audio: float32 samples [S], and how many of them make a second."""

    samples: NDArray[np.float32]
    rate: int


def read_audio(path: str | Path, rate: int = 16_000) -> Waveform:
    """Reads whatever libsndfile reads (wav, flac, ogg, mp3, aiff, ...), mixes to mono and resamples.

    Args:
        path: an audio file of any rate, sample type and number of channels.
        rate: wanted samples per second.

    Returns:
        The waveform at ``rate``, of at least one sample. A file that ends before its header says so gives what is
        there, with a :class:`PaddableWarning`.

    Raises:
        UnreadableError: no such file, not an audio file, damaged, without a sample, or NaN or infinity
            (in float32) among the samples.
        PaddableError: a long recording does not fit the temporary folder.
        MissingExtraError: soundfile, or soxr where the rate differs, is not installed.
    """
    soundfile = import_extra("soundfile")
    path = Path(path)
    if not path.is_file():
        raise UnreadableError(
            "it is a directory without recordings" if path.is_dir() else "no such file", where=str(path)
        )
    try:
        with soundfile.SoundFile(path) as file:
            _check_length(file, path)
            return Waveform(_together(_blocks(file, rate, str(path)), str(path)), rate)
    except UnreadableError:
        raise
    except (soundfile.SoundFileError, RuntimeError, ValueError) as error:
        with path.open("rb") as head:
            other = foreign(head.read(HEAD))
        said = str(error).replace("\n", " ").removeprefix(f"Error opening {str(path)!r}: ").rstrip(".")
        raise UnreadableError(
            "not a readable audio file",
            where=str(path),
            why=f"it is {other}" if other else said,
            fix="fetch it with git lfs pull" if other == POINTER else "convert it to wav, flac or mp3",
        ) from error


def file_rate(path: str | Path) -> int:
    """Samples per second of a file that ``read_audio`` reads."""
    return int(import_extra("soundfile").info(path).samplerate)


_SAID_AND_THERE = re.compile(r"\b(?:data|SSND)\s*:\s*(\d+) \(should be (\d+)\)")
"""Bytes of sound as the header says and as there are, in libsndfile's log of a wav or aiff file."""
_UNKNOWN_LENGTH = 0xFFFFFFFF  # what a recorder writes that does not know yet how long it will be


def _check_length(file: Any, path: Path) -> None:
    """A file whose sound is lost (a recorder that was stopped, a cut download) must not give an empty transcript."""
    if file.frames == 0:
        after_the_header = path.stat().st_size > 512
        raise UnreadableError(
            "its header says that it holds no sound" + (", though more follows" if after_the_header else ""),
            where=str(path),
            why="the recorder was stopped before it wrote the length" if after_the_header else "it is a header only",
            fix="repair it: `ffmpeg -i FILE -c copy REPAIRED.wav`" if after_the_header else "record or copy it again",
        )
    if found := _SAID_AND_THERE.search(file.extra_info):
        said, there = map(int, found.groups())
        if there < said != _UNKNOWN_LENGTH:
            seconds = file.frames / file.samplerate
            warnings.warn(
                f"{path}: it ends early; {seconds:.2f} s of {seconds * said / there:.2f} s are there and were read",
                PaddableWarning,
                stacklevel=3,
            )


def _blocks(file: Any, rate: int, where: str) -> Iterator[NDArray[np.float32]]:
    """Mono at ``rate``, a block at a time: an hour of stereo at 48 kHz would take 2.8 GB at once."""
    resampler = None
    if file.samplerate != rate:
        resampler = import_extra("soxr").ResampleStream(file.samplerate, rate, 1, dtype="float64", quality="HQ")
    seen, last = 0, False
    while not last:
        # float64 keeps every bit of 24- and 32-bit samples until the channels are mixed
        block = file.read(_BLOCK, dtype="float64", always_2d=True)
        mono = _mix(block, where)
        _refuse_non_finite(mono, seen, where)
        seen += len(mono)
        last = len(block) < _BLOCK
        yield (mono if resampler is None else resampler.resample_chunk(mono, last=last)).astype(np.float32)


def _together(blocks: Iterator[NDArray[np.float32]], where: str) -> NDArray[np.float32]:
    """All samples as one array. Many lie in a temporary file, so that the system may take their memory back: what cuts
    an hour into stretches reads it from the beginning to the end."""
    held = [np.zeros(0, np.float32)]
    for block in blocks:
        held.append(block)
        if sum(map(len, held)) > _IN_MEMORY:
            break
    else:
        return np.concatenate(held)
    try:
        with tempfile.TemporaryFile() as file:
            for block in chain(held, blocks):
                file.write(block.data)
            file.flush()
            return np.memmap(file, np.float32, "c").view(np.ndarray)
    except OSError as error:
        raise PaddableError(
            f"its samples do not fit the temporary folder: {error.strerror or error}",
            where=where,
            why=f"a long recording lies there while it is read, 230 MB an hour at 16 kHz, in {tempfile.gettempdir()}",
            fix="make room, or name another folder in TMPDIR",
        ) from error


def as_waveform(samples: Any, source_rate: int, rate: int = 16_000, *, where: str = "audio") -> Waveform:
    """An array as mono float32 at ``rate``.

    Args:
        samples: [S], or [S, channels] (the layout of soundfile); integers are divided by their full scale.
        source_rate: samples per second of the array.
        rate: wanted samples per second.
        where: what errors call the array.

    Raises:
        MisuseError: the array is not numeric or masked, has more than two axes, or seems to have its channels
            first; or the rate is not a positive whole number.
        UnreadableError: NaN or infinity (in float32) among the samples.
    """
    whole = (
        isinstance(source_rate, (int, float, np.integer, np.floating))
        and math.isfinite(source_rate)
        and source_rate == int(source_rate)
    )
    if not whole or source_rate <= 0:
        raise MisuseError(f"sample rate {source_rate!r} is not a positive whole number", where=where)
    if isinstance(samples, np.ma.MaskedArray):
        raise MisuseError(
            "a masked array", where=where, why="masked arrays are not supported", fix="cut or fill what is masked"
        )
    mono = _mix(_full_scale(np.asarray(samples), where), where)
    _refuse_non_finite(mono, 0, where)
    if source_rate != rate and len(mono):
        mono = import_extra("soxr").resample(mono, source_rate, rate, quality="HQ")
    return Waveform(np.ascontiguousarray(mono, np.float32), rate)


def _refuse_non_finite(samples: NDArray[Any], first: int, where: str) -> None:
    lost = ~(np.abs(samples) <= np.finfo(np.float32).max)  # float64 holds more than the float32 that is returned
    if lost.any():
        raise UnreadableError(
            f"sample {first + int(np.flatnonzero(lost)[0])} is NaN or infinite",
            where=where,
            why="every frame that holds it would be lost",
            fix="repair it",
        )


def _full_scale(array: NDArray[Any], where: str) -> NDArray[Any]:
    if array.dtype.kind == "f":
        return array
    if array.dtype.kind == "i":
        return array / -float(np.iinfo(array.dtype).min)
    if array.dtype == np.uint8:
        return (array.astype(np.float64) - 128.0) / 128.0
    raise MisuseError(f"samples of type {array.dtype}", where=where, fix="give floats in [-1, 1] or signed integers")


def _mix(array: NDArray[Any], where: str) -> NDArray[Any]:
    if array.ndim == 1:
        return array
    if array.ndim == 2 and array.shape[1] <= _MOST_CHANNELS:
        return array.mean(axis=1) if array.shape[1] else array.reshape(-1)
    fix = "give [samples] or [samples, channels]" + ("; transpose it" if array.ndim == 2 else "")
    raise MisuseError(f"an array of shape {list(array.shape)}", where=where, fix=fix)
