"""Makes what ``tests.gpu.forms`` measures: the 70-block encoder for cuda with forms and without, and codec steps.

python -m tests.gpu.forms_models ENCODER.onnx ROWS.onnx OUT [NAME ...]

ENCODER and ROWS are from tests.gates.figures.sanm70, ROWS with rows. OUT gets a bundle for each entry of ``BUNDLES``,
one of 16 rows, and the codec of the released size in fp32 and fp16; or those that are named.
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


def main(encoder: str, rows: str, out: str, *names: str) -> int:
    place = Path(out)
    for name in names or [*BUNDLES, "fp16-fast-rows", "codec-fp32", "codec-fp16"]:
        start = time.perf_counter()
        if name.startswith("codec"):
            codec(place / name, name.removeprefix("codec-"))
        elif name.endswith("rows"):
            convert(rows, place / name, batch_size=16, **FAST)
        else:
            convert(encoder, place / name, **BUNDLES[name])
        print(f"{name}: made in {time.perf_counter() - start:.0f} s", flush=True)
    return 0


def convert(source: str, out: Path, **options: Any) -> None:
    given = {"containers": [STEPS], "target": "cuda", "verify": False, **options}
    paddable.convert(source, ["x:1=T"], out=out, on_message=print, **given)


def codec(out: Path, precision: str) -> None:
    released = codec_synthetic.RELEASED
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(codec_synthetic.outer_config(released)))
        save_file(codec_synthetic.checkpoint(released), Path(folder) / "model.safetensors")
        export("qwen3-tts-codec", folder, out, containers=[100], target="cuda", precision=precision, verify=False)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
