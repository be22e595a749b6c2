"""``decode``: a file of codes to a file of sound."""

from __future__ import annotations

import io
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle import demand_folder, refuse_inside_a_bundle
from paddable.bundle.new_file import new_file
from paddable.errors import MisuseError, UnreadableError, exists_already
from paddable.extras import import_extra
from paddable.runtime.loading import load
from paddable.runtime.speech.answers import finite
from paddable.runtime.streaming.stream import decode as decode_stream

__all__ = ["DecodeReport", "decode"]

_NPY, _ZIP = b"\x93NUMPY", b"PK"


@dataclass(frozen=True)
class DecodeReport:
    """What was decoded, and how fast.

    Attributes:
        out: the sound file.
        sample_rate: hertz.
        seconds: of sound.
        first_seconds: from the first codes to their sound, warmed up; None where the whole was decoded at once.
        elapsed: seconds for everything: streamed, warmed up; at once, with the opening of the graph.
    """

    out: str
    sample_rate: int
    seconds: float
    first_seconds: float | None
    elapsed: float

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        factor = self.elapsed / self.seconds if self.seconds else None
        return {"ok": True, **asdict(self), "real_time_factor": factor}


def decode(
    bundle: str | os.PathLike[str],
    codes: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    stream: bool = False,
    chunk: int | None = None,
    provider: str = "cpu",
    device_id: int = 0,
    allow_tf32: bool = False,
    channels_last: bool = False,
    allow_mixed: bool = False,
    target: str | None = None,
    force: bool = False,
) -> DecodeReport:
    """Decode codes with a bundle of qwen3-tts-codec.

    Args:
        bundle: the bundle.
        codes: a ``.npy`` file of integers [F, Q] or [1, F, Q]. Frames of -1 at the end, with which qwen-tts fills the
            rows of a batch, are left out.
        out: the sound file; its ending says the format (wav, flac, ogg).
        stream: step by step, which takes any length; otherwise at once, in the smallest container that holds it.
        chunk: frames a step; the smallest step graph's by default.
        provider: where to run.
        device_id: which of several devices.
        allow_tf32: as of ``paddable.load``.
        channels_last: likewise.
        allow_mixed: likewise.
        target: likewise.
        force: replace ``out``.

    Raises:
        MisuseError: no codec bundle, no frame, codes of another layout or range, or longer than every container;
            ``out`` cannot be written.
        UnreadableError: the codes cannot be read.
        MissingExtraError: soundfile or onnxruntime is not installed.
        PaddableError: the sound would hold NaN or infinity.
    """
    place = Path(out)
    soundfile = import_extra("soundfile")
    kind = place.suffix[1:].upper()
    if not soundfile.check_format(kind):  # raw is one that it knows, but such a file says neither rate nor type
        raise MisuseError(f"a sound file of kind {place.suffix or place.name!r}", where=str(place), fix="name it .wav")
    _refuse_place(place, force)
    if chunk is not None and not stream:
        raise MisuseError("`chunk` belongs to `stream=True`", fix="add that, or leave it out")
    steps = _without_filling(_read_codes(Path(codes)))
    choices: dict[str, Any] = {"allow_tf32": allow_tf32, "channels_last": channels_last, "allow_mixed": allow_mixed}
    model = load(bundle, provider, target=target, device_id=device_id, **choices)
    streaming = model.stream()
    rate = streaming.spec.sample_rate or 24_000
    first: float | None = None
    spec, whole = streaming.spec, streaming.checked(steps)
    if not whole.shape[spec.axis]:
        raise MisuseError("no frame in it", where=str(codes), why="there is nothing to decode")
    if stream:
        streaming.warm_up()
        decoded = decode_stream(streaming, whole, chunk)
        samples, first, elapsed = decoded.output, decoded.first_seconds, decoded.seconds
    else:
        start = time.perf_counter()
        samples = finite(model.answer({spec.input: whole})[spec.output], spec.output, "look at the weights; try fp32")
        elapsed = time.perf_counter() - start
    _write(soundfile, place, samples.reshape(-1), rate, kind)
    return DecodeReport(str(place), rate, samples.size / rate, first, elapsed)


def _refuse_place(place: Path, force: bool) -> None:
    refuse_inside_a_bundle(place)
    if place.is_dir():
        raise MisuseError("it is a directory", where=str(place), fix="name a file")
    if place.exists() and not force:
        raise exists_already(place)
    demand_folder(place)


def _read_codes(path: Path) -> NDArray[Any]:
    try:
        with path.open("rb") as file:
            if (head := file.read(6)) not in (_NPY, b"") and not head.startswith(_ZIP):
                raise ValueError("it does not begin as one; numpy.save writes it")
        array = np.load(path, allow_pickle=False)
    except Exception as error:  # numpy parses the header as Python: what a damaged one raises has no common class
        told = isinstance(error, (OSError, ValueError, EOFError))  # of the system and of numpy; others are the parser's
        why = getattr(error, "strerror", None) or str(error).split("\n")[0] if told else "its header is damaged"
        raise UnreadableError("not a readable .npy file", where=str(path), why=why) from error
    if not isinstance(array, np.ndarray):
        raise UnreadableError(
            "several arrays, where one of codes is wanted", where=str(path), fix="save it with numpy.save"
        )
    return array


def _without_filling(codes: NDArray[Any]) -> NDArray[Any]:
    """The frames up to the last one that is not -1 throughout."""
    if codes.ndim not in (2, 3) or codes.dtype.kind != "i":
        return codes  # refused later, with what is expected
    frames = codes.shape[-2]
    real = np.flatnonzero((codes != -1).any(axis=tuple(axis for axis in range(codes.ndim) if axis != codes.ndim - 2)))
    return codes[..., : real[-1] + 1 if len(real) else 0, :] if frames else codes


def _write(soundfile: Any, place: Path, samples: NDArray[Any], rate: int, kind: str) -> None:
    """Writes 16 bits. libsndfile cuts floats down to the next step below; the nearest is meant."""
    rounded = np.clip(np.round(samples * 32_768), -32_768, 32_767).astype(np.int16)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        sound = io.BytesIO()  # libsndfile does not say why the system refuses a file
        soundfile.write(sound, rounded, rate, format=kind)
        with new_file(place) as beside:
            beside.write_bytes(sound.getbuffer())
    except (OSError, RuntimeError, ValueError) as error:  # of the system, or libsndfile's own, which name our own file
        why = getattr(error, "strerror", None) or getattr(error, "error_string", None) or str(error)
        raise MisuseError(
            "it cannot be written", where=str(place), why=why.replace("\n", " "), fix="choose another place or kind"
        ) from error
