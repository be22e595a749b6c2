"""What the original Qwen3-ASR encoder and codec would meet, against the measured table. Random weights.

Needs the environments of ``tests/qwen3_asr/qwen3_original.py`` and ``tests/codec/codec_original.py``, which are one.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from paddable.torch_backends import MissingOperators, missing_ops

TESTS = Path(__file__).parents[1]
pytestmark = pytest.mark.original


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    if not (find_spec("qwen_asr") and find_spec("qwen_tts")):  # importing them would import audio libraries
        pytest.skip("qwen-asr and qwen-tts are not installed")
    for folder in ("qwen3_asr", "codec"):
        monkeypatch.syspath_prepend(str(TESTS / folder))


class Encoder(nn.Module):
    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, mel: Tensor, frames: Tensor) -> Any:
        return self.encoder(mel, feature_lens=frames).last_hidden_state


def test_the_encoder_of_qwen3_asr_loses_every_chunk_but_the_first() -> None:
    import qwen3_original
    import qwen3_synthetic

    mel = torch.randn(qwen3_synthetic.HF_CONFIG["num_mel_bins"], 230, generator=torch.Generator().manual_seed(0))
    report = missing_ops(Encoder(qwen3_original.load()), (mel, torch.tensor([230])))
    assert effects(report) == {("wrong", "write-into-view-of-view")}
    assert fits_on_a_screen(report)


def test_the_codec_pads_by_nothing() -> None:
    import codec_original
    import codec_synthetic

    decoder = codec_original.load(codec_synthetic.SMALL, codec_synthetic.checkpoint(codec_synthetic.SMALL, snake=0.3))
    codes = torch.from_numpy(codec_synthetic.codes(codec_synthetic.SMALL, 40)).transpose(1, 2)
    report = missing_ops(decoder, (codes,))
    assert effects(report) == {("wrong", "pad-nothing")}
    assert fits_on_a_screen(report)


def effects(report: MissingOperators) -> set[tuple[str, str]]:
    """What fails or is wrong under ``torch.no_grad()``."""
    told = [entry for entry in report.struck if entry.fault not in ("", "inference-mode")]
    assert all(entry.way_round and entry.evidence for entry in told)
    return {(entry.effect, entry.fault) for entry in told}


def fits_on_a_screen(report: MissingOperators) -> bool:
    lines = str(report).splitlines()
    return len(lines) <= 24 and all(len(line) <= 110 for line in lines)
