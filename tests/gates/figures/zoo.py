"""The twelve graphs of the zoo, converted at twice the printed length, with all gates.

python -m tests.gates.figures.zoo FOLDER [NAME ...]        FOLDER holds the graphs that the shared zoo.py exports
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from paddable.api import convert
from paddable.bundle import read_metadata
from paddable.errors import PaddableError

PRINTED = {"speech2text": 200, "speech2text_ts": 200, "fun_asr_nano": 100, "hifigan": 50, "encodec_decoder_ts": 50}
"""Steps of the example input that zoo.py prints; a second of audio at 16 kHz where nothing is said."""


def printed(name: str) -> int:
    return PRINTED.get(name, 16000)


def declaration(name: str) -> str:
    return "x:2=T" if name == "encodec_decoder_ts" else "x:1=T"


def graphs(folder: Path, names: list[str]) -> list[Path]:
    return [path for path in sorted(folder.glob("*.onnx")) if not names or path.stem in names]


def main(folder: str, *names: str) -> int:
    failed = 0
    print("| graph | container | remedies | L: sites | C: rows | worst C of scale | native's noise | J: rows | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as place:
        for path in graphs(Path(folder), list(names)):
            start = time.process_time()
            size = 2 * printed(path.stem)
            try:
                out = convert(
                    path, [declaration(path.stem)], containers=[size], out=Path(place) / path.name, keep_dynamic=False
                )
            except PaddableError as error:
                failed += 1
                print(f"| {path.stem} | {size} | {error} |", flush=True)
                continue
            metadata = read_metadata(Path(str(out)))
            alone, whole, junk = (metadata.verified[gate] for gate in "LCJ")
            print(
                f"| {path.stem} | {size} | {len(metadata.remedies)} | {alone['sites']} | {whole['rows']} | "
                f"{whole['error']:.1e} | {whole['noise']:.1e} | {junk['rows']} | {time.process_time() - start:.0f} |",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
