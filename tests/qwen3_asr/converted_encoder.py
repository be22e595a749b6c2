"""The converted small encoder in each container, run at any length with junk behind it.

``PYTHONPATH=src:tests/qwen3_asr python tests/qwen3_asr/converted_encoder.py``, from the repository root, prints the
table of ``docs/models/qwen3_asr.md``: converted against what qwen-asr said.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort
import qwen3_synthetic as synthetic

from paddable.api.building import padded
from paddable.api.opened import Opened, open_model
from paddable.families.qwen3_asr.config import token_count
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision, session_config

CONTAINERS = (800, 3000, 6000)  # 8, 30 and 60 s
GOLDEN = Path(__file__).parent / "golden" / "qwen_asr.npz"


def open_native(file: Path) -> Opened:
    """The native graph with its length declared."""
    return open_model(file, ["mel:2=T"], rate=100)


def session(model, precision="fp32"):
    """A session of a model in a precision."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    for key, value in session_config(precision).items():
        options.add_session_config_entry(key, value)
    return ort.InferenceSession(to_proto(in_precision(model, precision)).SerializeToString(), options)


def converted(native: Opened, container: int, precision: str = "fp32", target: str = "cpu"):
    """A session of the padded graph."""
    return session(padded(native, {"T": container}, target).model, precision)


def run_padded(runner, mel: np.ndarray, container: int, junk: float):
    """Hidden states and embeddings, the whole container, of features with junk behind them."""
    frames = mel.shape[2]
    filled = np.pad(mel, ((0, 0), (0, 0), (0, container - frames)), constant_values=junk)
    outputs = runner.run(None, {"mel": filled, "ilens": np.array([frames])})
    assert [int(length[0]) for length in outputs[2:]] == [token_count(frames)] * 2
    return outputs[0][0], outputs[1][0]


def error_against(golden, attention: str, frames: int, outputs) -> float:
    """Largest error of the valid rows in parts of the largest value that the original gave; the rest must be 0."""
    worst, rows = 0.0, token_count(frames)
    for name, got in zip(("last_hidden", "embeddings"), outputs, strict=True):
        want = golden[f"{attention}_{frames}_{name}"]
        assert want.shape[0] == rows and not got[rows:].any()
        kept = got[:rows, :: int(golden["every"])]
        worst = max(worst, float(np.abs(kept - want).max() / np.abs(want).max()))
    return worst


def main() -> None:
    """Print the table."""
    import tempfile

    import onnx
    import torch

    from paddable.families.qwen3_asr.config import Qwen3AsrConfig
    from paddable.families.qwen3_asr.export import export_qwen3_asr
    from paddable.families.qwen3_asr.model import Qwen3AsrEncoder
    from paddable.families.qwen3_asr.weights import rename_key

    torch.set_num_threads(1)
    golden = dict(np.load(GOLDEN))
    print(
        "| frames | tokens |", " | ".join(f"{a}, {c // 100} s" for a in ("windowed", "global") for c in CONTAINERS), "|"
    )
    cells: dict[int, list[str]] = {frames: [] for frames in synthetic.JUDGED}
    for attention in ("windowed", "global"):
        model = Qwen3AsrEncoder(Qwen3AsrConfig.from_json({"audio_config": synthetic.HF_CONFIG}), attention)
        state = {rename_key(f"audio_tower.{n}"): torch.from_numpy(a) for n, a in synthetic.tensors().items()}
        model.load_state_dict(state)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "native.onnx"
            onnx.save(export_qwen3_asr(model.eval().requires_grad_(False)), file)
            native = open_native(file)
            for container in CONTAINERS:
                runner = converted(native, container)
                for frames in synthetic.JUDGED:
                    if frames > container:
                        cells[frames].append("")
                        continue
                    outputs = run_padded(runner, synthetic.mel(frames), container, 3.7)
                    cells[frames].append(f"{error_against(golden, attention, frames, outputs):.1e}")
                print(attention, container, "done", file=sys.stderr, flush=True)
    for frames, found in cells.items():
        print(f"| {frames} | {token_count(frames)} |", " | ".join(found), "|")


if __name__ == "__main__":
    main()
