"""Makes what ``tests.gpu.forms`` measures: the 70-block encoder for cuda with forms and without, and codec steps.

python -m tests.gpu.forms_models ENCODER.onnx ROWS.onnx OUT   both from tests.gates.figures.sanm70, ROWS with rows

OUT gets a bundle for each entry of ``BUNDLES``, and the codec of the released size in fp32 and fp16.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.numpy import save_file

import paddable
from paddable.api.exporting import export

sys.path.insert(0, str(Path(__file__).parents[1] / "codec"))
import codec_synthetic

STEPS = 501
FAST = {"precision": "fp16", "half": "fast"}
BUNDLES: Mapping[str, Mapping[str, Any]] = {
    "fp16-fast": FAST,
    "fp32": {},
    "fp16": {"precision": "fp16"},
    "fp32-none": {"forms": "none"},
    "fp16-none": {"precision": "fp16", "forms": "none"},
    "fp16-fast-4": {**FAST, "containers": [34, 84, 167, STEPS]},
}


def main(encoder: str, rows: str, out: str) -> int:
    place = Path(out)

    def make(name: str, source: str, **options: Any) -> None:
        start = time.perf_counter()
        given = {"containers": [STEPS], "target": "cuda", "verify": False, **options}
        paddable.convert(source, ["x:1=T"], out=place / name, on_message=print, **given)
        print(f"{name}: made in {time.perf_counter() - start:.0f} s", flush=True)

    for name, options in BUNDLES.items():
        make(name, encoder, **options)
    make("fp16-fast-rows", rows, batch_size=16, **FAST)
    with tempfile.TemporaryDirectory() as folder:
        released = codec_synthetic.RELEASED
        (Path(folder) / "config.json").write_text(json.dumps(codec_synthetic.outer_config(released)))
        save_file(codec_synthetic.checkpoint(released), Path(folder) / "model.safetensors")
        for precision in ("fp32", "fp16"):
            export(
                "qwen3-tts-codec", folder, place / f"codec-{precision}", containers=[100], target="cuda",
                precision=precision, verify=False,
            )  # fmt: skip
            print(f"codec-{precision}: made", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
