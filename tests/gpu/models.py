"""Makes the models that the scripts beside this one measure: converted for cuda, random weights.

python -m tests.gpu.models ZOO ENCODER.onnx OUT    ZOO from shared/zoo.py, ENCODER from tests.gates.figures.sanm70

OUT gets ``zoo/*.onnx``, and the bundles ``encoder`` (one container of 501 frames), ``encoder-4`` (four) and ``codec``
(the released size).
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from safetensors.numpy import save_file

import paddable
from paddable.api.exporting import export

sys.path.insert(0, str(Path(__file__).parents[1] / "codec"))
import codec_synthetic

STEPS = {"encodec_decoder_ts": 50, "fun_asr_nano": 100, "hifigan": 50, "speech2text": 200, "speech2text_ts": 200}
CONTAINERS = {"encoder": [501], "encoder-4": [34, 84, 167, 501]}


def main(zoo: str, encoder: str, out: str) -> int:
    place = Path(out)
    for path in sorted(Path(zoo).glob("*.onnx")):
        axis, steps = (2 if path.stem == "encodec_decoder_ts" else 1), 2 * STEPS.get(path.stem, 16000)
        paddable.convert(
            path, [f"x:{axis}=T"], containers=[steps], target="cuda", verify=False, out=place / "zoo" / path.name
        )
    for name, containers in CONTAINERS.items():
        paddable.convert(encoder, ["x:1=T"], containers=containers, target="cuda", verify=False, out=place / name)
    with tempfile.TemporaryDirectory() as folder:
        released = codec_synthetic.RELEASED
        (Path(folder) / "config.json").write_text(json.dumps(codec_synthetic.outer_config(released)))
        save_file(codec_synthetic.checkpoint(released), Path(folder) / "model.safetensors")
        export("qwen3-tts-codec", folder, place / "codec", containers=[100], target="cuda", verify=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
