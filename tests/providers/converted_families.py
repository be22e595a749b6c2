"""Where the graphs of our own families run on DirectML, by the placement model; small sizes, random weights.

python -m tests.providers.converted_families

Each family is exported for DirectML from a checkpoint folder, the gates run, and every graph of the bundle is placed.
Exits as `tests.providers.converted` does.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
from tests.api import checkpoints
from tests.providers.converted import placed

from paddable.api import export

FAMILIES: dict[str, tuple[Callable[[Path], Path], dict[str, Any]]] = {
    "fsmn-vad": (checkpoints.fsmn_vad, {"containers": ["2s"]}),
    "sense-voice": (checkpoints.sense_voice, {"containers": ["2s"]}),
    "fun-asr-nano": (checkpoints.fun_asr_nano, {"containers": ["2s"]}),
    "paraformer": (checkpoints.paraformer, {"containers": ["2s"]}),
    "ct-punc": (checkpoints.ct_punc, {"containers": ["64"]}),
    "qwen3-asr": (checkpoints.qwen3_asr, {"containers": ["2s"]}),
    "qwen3-tts-codec": (checkpoints.qwen3_tts_codec, {"containers": ["24"], "chunks": [1, 4]}),
}


def main() -> int:
    good = True
    with tempfile.TemporaryDirectory() as name:
        for family, (write, choices) in FAMILIES.items():
            folder = Path(name) / family
            export(family, write(folder / "checkpoint"), folder / "bundle", target="directml", **choices)
            for path in sorted((folder / "bundle").glob("*.onnx")):
                if path.name != "native.onnx":
                    good &= placed(f"{family} {path.name}", onnx.load(path, load_external_data=False))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
