"""``paddable decode``: codes to sound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from paddable.cli import options, render

__all__ = ["decode"]


@click.command
@click.argument("codes", type=click.Path(path_type=Path), metavar="CODES.npy")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The sound file to write; its ending says the kind, such as .wav, .flac or .ogg.",
)
@options.bundle
@click.option("--stream", is_flag=True, help="Step by step: any length, sound from the first chunk on.")
@click.option("--chunk", type=click.IntRange(min=1), metavar="N", help="Frames a step. Default: the smallest graph's.")
@options.session
@options.force
@options.as_json
def decode(codes: Path, out: Path | None, bundle: Path, as_json: bool, **choices: Any) -> int:
    """Decode a file of codes with a bundle of qwen3-tts-codec, and say how long the first sound took.

    Example: paddable decode codes.npy -o out.wav --model codec/ --stream
    """
    from paddable.runtime.decoding import decode as decode_codes

    if out is None:
        raise click.UsageError("nowhere to write: give -o FILE.wav")
    report = decode_codes(bundle, codes, out, **choices)
    if as_json:
        render.show_json(report.to_json())
    else:
        first = "" if report.first_seconds is None else f"first sound after {report.first_seconds * 1000:.1f} ms, "
        print(f"{report.out}: {report.seconds:.2f} s at {report.sample_rate} Hz, {first}{report.elapsed:.2f} s in all")
    return 0
