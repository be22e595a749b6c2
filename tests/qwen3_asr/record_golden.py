"""Records what qwen-asr 0.0.6 says, for machines where it is not installed.

In the judge's environment (see ``qwen3_original.py``), from the repository root:
``PYTHONPATH=tests/qwen3_asr python tests/qwen3_asr/record_golden.py``
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import qwen3_original as original
import qwen3_synthetic as synthetic
import torch

GOLDEN = Path(__file__).parent / "golden" / "qwen_asr.npz"
EVERY = 8  # channels kept: each token matters, not each channel


def main() -> None:
    """Write one ``.npz``."""
    torch.set_num_threads(1)
    encoder = original.load()
    recorded: dict[str, np.ndarray] = {"every": np.array(EVERY)}
    for frames in synthetic.JUDGED:
        for attention, run in (("global", original.run), ("windowed", original.run_windowed)):
            hidden, embeddings = run(encoder, synthetic.mel(frames))
            recorded[f"{attention}_{frames}_last_hidden"] = hidden[:, ::EVERY]
            recorded[f"{attention}_{frames}_embeddings"] = embeddings[:, ::EVERY]
        apart = np.abs(recorded[f"global_{frames}_embeddings"] - recorded[f"windowed_{frames}_embeddings"]).max()
        print(frames, "tokens", len(hidden), "global - windowed", apart, "of", np.abs(embeddings).max())
    GOLDEN.parent.mkdir(exist_ok=True)
    np.savez_compressed(GOLDEN, **recorded)


if __name__ == "__main__":
    main()
