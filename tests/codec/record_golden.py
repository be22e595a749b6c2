"""Records what the original decoder says, for machines where it is not installed.

In the judge's environment (see ``codec_original.py``), from the repository root:
``PYTHONPATH=tests/codec python tests/codec/record_golden.py``
"""

from __future__ import annotations

from pathlib import Path

import codec_original as original
import codec_synthetic as synthetic
import numpy as np
import torch

HERE = Path(__file__).parent / "golden"
CASES = {  # configuration, every how manyth sample, lengths, every how manyth length for the noise
    "small": (synthetic.SMALL, 29, (1, 2, 3, 80, 400), 40),
    "tiny": (synthetic.TINY, 1, (1, 7, 40), 1),
}


def main() -> None:
    """Write one ``.npz`` a case."""
    torch.set_num_threads(1)
    HERE.mkdir(exist_ok=True)
    for name, (config, stride, lengths, every) in CASES.items():
        decoder = original.load(config, synthetic.checkpoint(config))
        codes = synthetic.codes(config, max(lengths))
        recorded: dict[str, np.ndarray] = {"stride": np.array(stride)}
        whole = {frames: run(decoder, codes[:, :frames]) for frames in lengths}
        for frames, wav in whole.items():
            recorded[f"wav_{frames}"] = wav[:, ::stride]
        longest = whole[max(lengths)]
        recorded["noise"] = np.array(max(difference(decoder, codes, n, longest) for n in range(1, max(lengths), every)))
        np.savez_compressed(HERE / f"{name}.npz", **recorded)
        print(name, {k: v.shape for k, v in recorded.items()}, "noise", recorded["noise"], "max", np.abs(longest).max())


def run(decoder: torch.nn.Module, codes: np.ndarray) -> np.ndarray:
    """Codes [1, F, Q] to [1, samples] by ``forward``, never by ``decode``."""
    return decoder(torch.from_numpy(codes).transpose(1, 2)).squeeze(1).numpy()  # type: ignore[no-any-return]


def difference(decoder: torch.nn.Module, codes: np.ndarray, frames: int, longest: np.ndarray) -> float:
    """The original against itself: a run of ``frames`` against the same samples of the longest run."""
    wav = run(decoder, codes[:, :frames])
    return float(np.abs(wav - longest[:, : wav.shape[1]]).max())


if __name__ == "__main__":
    main()
