"""The synthetic encoder as a model, and what the recorded judge said about it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import qwen3_synthetic as synthetic  # noqa: E402

from paddable.families.qwen3_asr.config import Qwen3AsrConfig  # noqa: E402
from paddable.families.qwen3_asr.export import export_qwen3_asr  # noqa: E402
from paddable.families.qwen3_asr.front_end import WhisperFrontEnd  # noqa: E402
from paddable.families.qwen3_asr.model import Attention, Qwen3AsrEncoder, ShortClips  # noqa: E402
from paddable.families.qwen3_asr.weights import rename_key  # noqa: E402

torch.set_num_threads(1)

Outputs = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="session")
def make_encoder() -> Callable[..., Qwen3AsrEncoder]:
    """The small encoder with the synthetic weights, in any of its forms."""

    def make(
        attention: Attention = "windowed", short_clips: ShortClips = "own", waveform: bool = False
    ) -> Qwen3AsrEncoder:
        config = Qwen3AsrConfig.from_json({"audio_config": synthetic.HF_CONFIG})
        model = Qwen3AsrEncoder(config, attention, short_clips, WhisperFrontEnd() if waveform else None)
        weights = {rename_key(f"audio_tower.{name}"): torch.from_numpy(a) for name, a in synthetic.tensors().items()}
        model.load_state_dict(weights)
        return model.eval().requires_grad_(False)

    return make


@pytest.fixture(scope="session")
def exported(
    make_encoder: Callable[..., Qwen3AsrEncoder], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Path]:
    """The native graph of a form of the small encoder, exported once; gives the file."""
    folder = tmp_path_factory.mktemp("exported")
    made: dict[tuple[object, ...], Path] = {}

    def export(*form: object) -> Path:
        if form not in made:
            made[form] = folder / f"{len(made)}.onnx"
            onnx.save(export_qwen3_asr(make_encoder(*form)), made[form])
        return made[form]

    return export


@pytest.fixture(scope="session")
def run_model() -> Callable[[Qwen3AsrEncoder, np.ndarray], Outputs]:
    """A model's hidden states [L, D] and embeddings [L, E] for one row."""

    def run(model: Qwen3AsrEncoder, sound: np.ndarray) -> Outputs:
        hidden, embeddings = model(torch.from_numpy(sound))
        return hidden[0].numpy(), embeddings[0].numpy()

    return run


@pytest.fixture(scope="session")
def golden() -> Mapping[str, np.ndarray]:
    """What qwen-asr said; ``record_golden.py`` makes it."""
    return dict(np.load(HERE / "golden/qwen_asr.npz"))


@pytest.fixture(scope="session")
def error() -> Callable[[np.ndarray, np.ndarray], float]:
    """Largest difference in parts of the largest expected value."""

    def relative(got: np.ndarray, want: np.ndarray) -> float:
        assert got.shape == want.shape
        return float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-6))

    return relative
