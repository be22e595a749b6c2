"""Writes what the tests of this folder run: small bundles with random weights, and what they answer on this machine.

python -m tests.windows.make FOLDER

Needs torch and onnx, which are not there under Wine: `.ci/judges windows` runs this on Linux, and what the runtime
answers on Windows is compared with it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from paddable.api import export
from paddable.runtime import load

JFK = Path(__file__).resolve().parents[2] / "src/paddable/assets/jfk.wav"
PIECES = ["<blank>", *("\u2581" + character for character in "字世界你好天地人山水火土金木日月星云风")]
"""Twenty classes that write Chinese, which no Western code page has."""
FEW = 8
"""Lengths that the gates try: what they prove is asked elsewhere."""


def make(folder: Path) -> None:
    """Write ``sense-voice``, ``fsmn-vad``, ``codec``, ``codes.npy`` and what they answer, ``expected``."""
    from tests.api import checkpoints

    source = folder / "checkpoints"
    voice = checkpoints.sense_voice(source / "sense-voice")
    (voice / "tokens.json").write_text(json.dumps(PIECES, ensure_ascii=False), encoding="utf-8")
    export("sense-voice", voice, folder / "sense-voice", containers=["2s", "12s"], gate_lengths=FEW)
    vad = checkpoints.fsmn_vad(source / "fsmn-vad")
    export("fsmn-vad", vad, folder / "fsmn-vad", containers=["2s", "12s"], gate_lengths=FEW)
    codec = checkpoints.qwen3_tts_codec(source / "codec")
    export("qwen3-tts-codec", codec, folder / "codec", containers=[12, 25], chunks=[12, 4], gate_lengths=FEW)

    codes = checkpoints.codec_synthetic.codes(checkpoints.codec_synthetic.TINY, 25)
    np.save(folder / "codes.npy", codes)
    transcript = load(folder / "sense-voice", "cpu").transcribe(JFK, timestamps=True)
    sound = load(folder / "codec", "cpu").run({"codes": codes})["wav"]
    expected = {
        "transcript": transcript.to_json(),
        "segments": load(folder / "fsmn-vad", "cpu").speech_segments(JFK),
    }
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False), encoding="utf-8")
    np.save(folder / "expected.npy", sound)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
