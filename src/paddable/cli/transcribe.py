"""``paddable transcribe``: recordings to text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paddable.cli import options, render
from paddable.cli.failures import Interrupted, exit_code
from paddable.cli.flags import in_flags
from paddable.cli.progress import Progress, showing
from paddable.errors import MisuseError, PaddableError, UnreadableError, exists_already

if TYPE_CHECKING:
    from paddable.runtime.speech.transcript import Transcript

__all__ = ["transcribe"]


@click.command
@click.argument("sounds", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="AUDIO ...")
@options.bundle
@click.option(
    "--format",
    "kind",
    type=click.Choice(["txt", "json", "srt", "vtt"]),
    default="txt",
    show_default=True,
    help="What to write.",
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="DIRECTORY", help="A file per recording, instead of stdout."
)
@click.option("--language", default="auto", show_default=True, metavar="NAME", help="Such as en, zh or ja.")
@click.option("--itn/--no-itn", default=True, help="Punctuation and digits, where the model has the choice.")
@click.option(
    "--vad", type=click.Path(path_type=Path), metavar="BUNDLE", help="An fsmn-vad bundle that cuts long recordings."
)
@click.option(
    "--vad-provider",
    metavar="NAME",
    help="Where to run the detector. Default: where the recogniser runs, --target too.",
)
@click.option(
    "--hotwords",
    metavar="WORDS|FILE.txt",
    help="Words that are likely, between spaces, or a file with one a line (a Paraformer of the kind SeACo).",
)
@click.option(
    "--punctuation",
    type=click.Path(path_type=Path),
    metavar="BUNDLE",
    help="A ct-punc bundle that writes punctuation into the text. It runs where the recogniser runs.",
)
@options.session
@options.force
@options.as_json
def transcribe(
    sounds: tuple[Path, ...],
    bundle: Path,
    kind: str,
    out: Path | None,
    language: str,
    itn: bool,
    vad: Path | None,
    vad_provider: str | None,
    hotwords: str | None,
    punctuation: Path | None,
    provider: str,
    device_id: int,
    allow_mixed: bool,
    allow_tf32: bool,
    channels_last: bool,
    target: str | None,
    force: bool,
    as_json: bool,
) -> int:
    """Recognise recordings: anything soundfile reads, any rate, mono or not.

    A directory stands for the recordings that lie in it. A file that cannot be recognised is reported and the others
    go on; the exit code then is 1, or 2 if it could not be read. Without -o the text goes to stdout; srt, vtt and json
    of several recordings need -o.

    Example: paddable transcribe a.wav b.mp3 --model sense-voice/ --format srt -o subtitles/
    """
    from paddable.runtime import load

    sounds = _recordings(sounds)
    places = _places(sounds, out, kind, force, as_json)
    choice: dict[str, Any] = {"target": target, "device_id": device_id}
    choice |= {"allow_tf32": allow_tf32, "channels_last": channels_last}
    told: list[dict[str, Any]] = []
    worst = done = 0
    elsewhere = vad_provider not in (None, provider)
    with ExitStack() as opened:
        progress = opened.enter_context(showing())
        its: dict[str, Any] = {"allow_mixed": allow_mixed, "progress": progress}
        model = opened.enter_context(load(bundle, provider, **choice, **its))
        detector = punctuator = None
        if vad is not None:
            its_choice = {} if elsewhere else choice
            detector = opened.enter_context(load(vad, vad_provider or provider, **its_choice, **its))
        if punctuation is not None:
            punctuator = opened.enter_context(load(punctuation, provider, **choice, **its))
        results = model.transcribe_many(
            sounds,
            progress=None if progress is None else _one_bar_a_kind(progress),
            detector=detector,
            punctuator=punctuator,
            language=language,
            itn=itn,
            timestamps=kind != "txt" or as_json,
            hotwords=_hotwords(hotwords),
        )
        try:
            for sound, place, (_, result) in zip(sounds, places, results, strict=True):
                if not isinstance(result, PaddableError) and place is not None:
                    result = _written(result, place, kind)
                if isinstance(result, PaddableError):
                    worst = max(worst, exit_code(result))
                    told.append({"file": str(sound), "ok": False, "error": str(result)})
                    print(f"error: {_named(sound, in_flags(str(result)))}", file=sys.stderr)
                elif as_json:
                    told.append({"file": str(sound), "ok": True, **result.to_json()})
                elif place is None:
                    _print(result, sound, kind, several=len(sounds) > 1)
                else:
                    print(str(place))
                done += 1
        except KeyboardInterrupt:
            if as_json:
                render.show_json({"ok": False, "interrupted": True, "files": told})
            raise Interrupted(_left(done, len(sounds), out)) from None
        ran = model.describe().to_json()
    if as_json:
        render.show_json({"ok": worst == 0, "files": told, "ran": ran})
    return worst


def _recordings(given: Sequence[Path]) -> tuple[Path, ...]:
    """The files, and for each directory the recordings in it, by name."""
    from paddable.audio.read import SOUNDS

    found: list[Path] = []
    for path in given:
        inside = sorted(file for file in path.iterdir() if file.suffix.lower() in SOUNDS) if path.is_dir() else []
        found += inside or [path]  # a directory without any is an error of its own, and the others go on
    return tuple(found)


def _hotwords(given: str | None) -> list[str]:
    """The words themselves, or the lines of a file."""
    if given is None or not given.endswith(".txt"):
        return (given or "").split()
    try:
        lines = Path(given).read_text(encoding="utf-8-sig").splitlines()  # Windows' editors put a mark in front
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UnreadableError("the hotwords cannot be read", where=given, why=str(told)) from error
    return [line.strip() for line in lines if line.strip()]


def _written(result: Transcript, place: Path, kind: str) -> Transcript | PaddableError:
    """The transcript once it is in its file, or why it is not; the other recordings go on."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        result.write(place, kind)
    except OSError as error:
        return MisuseError("it cannot be written", where=str(place), why=error.strerror or str(error))
    return result


def _one_bar_a_kind(progress: Progress) -> Progress:
    """Two bars for any number of files: the files, and the seconds of the one at hand."""
    return lambda stage, done, total: progress(stage if stage == "files" else "seconds", done, total)


def _left(done: int, count: int, out: Path | None) -> str:
    """What is there after Ctrl-C: files are written one by one, each whole."""
    if out is None:
        return f"{done} of {count} recordings were done; no file was written"
    return f"{done} of {count} recordings were done; their files in {out} stay"


def _places(sounds: Sequence[Path], out: Path | None, kind: str, force: bool, as_json: bool) -> list[Path | None]:
    """Where each transcript goes; None is stdout. Everything that would lose one is refused before the work begins."""
    if out is None:
        if len(sounds) > 1 and kind != "txt" and not as_json:
            raise MisuseError(f"{len(sounds)} recordings do not fit one {kind}", fix="give a directory, -o DIRECTORY/")
        return [None] * len(sounds)
    if out.exists() and not out.is_dir():
        raise MisuseError("it exists and is not a directory", where=str(out), fix="choose another place")
    places = [out / f"{sound.stem}.{kind}" for sound in sounds]
    for place in places:
        if places.count(place) > 1:
            both = [str(sound) for sound, other in zip(sounds, places, strict=True) if other == place]
            raise MisuseError(f"{' and '.join(both)} would be written to the same {place}", fix="run them one by one")
        if place.exists() and not force:
            raise exists_already(place)
    return list(places)


def _print(result: Transcript, sound: Path, kind: str, *, several: bool) -> None:
    from paddable.runtime.speech.transcript import FORMATS

    print(f"{sound}: {result.text}" if several else FORMATS[kind](result).removesuffix("\n"))


def _named(sound: Path, message: str) -> str:
    """The message, with the file where it does not begin with it."""
    return message if message.startswith(str(sound)) else f"{sound}: {message}"
