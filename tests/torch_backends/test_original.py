"""`funasr`'s own encoders, predictors and decoder under the simulated backend. Random weights.

Needs ``pip install torch==2.13.0`` and ``pip install --no-deps funasr==1.4.16`` with what its modules import.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from paddable.torch_backends import BackendError, fallback, missing_ops, simulated_backend, trace_ops

pytestmark = pytest.mark.original


@pytest.fixture(autouse=True)
def _installed() -> None:
    pytest.importorskip("funasr")


FRAMES = torch.tensor([40, 31])
BLOCK = {"attention_heads": 4, "linear_units": 96, "kernel_size": 11}


class Timestamps(nn.Module):
    def __init__(self, predictor: nn.Module) -> None:
        super().__init__()
        self.predictor = predictor

    def forward(self, hidden: Tensor, mask: Tensor, tokens: Tensor) -> Any:
        return self.predictor.get_upsample_timestamp(hidden, mask, tokens)


def hidden() -> Tensor:
    return torch.randn(2, 40, 64, generator=torch.Generator().manual_seed(1))


def mask() -> Tensor:
    return (torch.arange(40) < FRAMES[:, None])[:, None]


def paraformer_encoder() -> tuple[nn.Module, tuple[Any, ...]]:
    from funasr.models.sanm.encoder import SANMEncoder

    more = {"input_layer": "pe", "pos_enc_class": "SinusoidalPositionEncoder", "selfattention_layer_type": "sanm"}
    return SANMEncoder(64, 64, num_blocks=6, sanm_shfit=0, **BLOCK, **more), (hidden(), FRAMES)


def sense_voice_encoder() -> tuple[nn.Module, tuple[Any, ...]]:
    from funasr.models.sense_voice.model import SenseVoiceEncoderSmall

    return SenseVoiceEncoderSmall(64, 64, num_blocks=6, tp_blocks=2, sanm_shfit=0, **BLOCK), (hidden(), FRAMES)


def paraformer_predictor() -> tuple[nn.Module, tuple[Any, ...]]:
    from funasr.models.paraformer.cif_predictor import CifPredictorV2

    return firing(CifPredictorV2(64, 1, 1, tail_threshold=0.45)), (hidden(), None, mask())


def bicif_module() -> nn.Module:
    from funasr.models.bicif_paraformer.cif_predictor import CifPredictorV3

    more = {"upsample_times": 3, "use_cif1_cnn": False, "upsample_type": "cnn_blstm"}
    return firing(CifPredictorV3(64, 1, 1, tail_threshold=0.45, smooth_factor2=0.25, noise_threshold2=0.01, **more))


def bicif_predictor() -> tuple[nn.Module, tuple[Any, ...]]:
    return bicif_module(), (hidden(), None, mask())


def bicif_timestamps() -> tuple[nn.Module, tuple[Any, ...]]:
    return Timestamps(bicif_module()), (hidden(), mask(), torch.tensor([9, 7]))


def decoder() -> tuple[nn.Module, tuple[Any, ...]]:
    from funasr.models.paraformer.decoder import ParaformerSANMDecoder

    part = ParaformerSANMDecoder(50, 64, num_blocks=4, att_layer_num=4, **BLOCK)
    return part, (hidden(), FRAMES, hidden()[:, :9], torch.tensor([9, 7]))


def firing(predictor: nn.Module) -> nn.Module:
    """With weights at which tokens are found."""
    nn.init.constant_(predictor.cif_output.bias, 2.0)
    return predictor


MASK, DOUBLES = ("aten.mul", "number-times-bool"), ("aten.cumsum", "float64")
LSTM, EMPTY = ("aten._thnn_fused_lstm_cell", "lstm"), ("aten.cat", "cat-with-empty")
PARTS: dict[str, tuple[Callable[[], tuple[nn.Module, tuple[Any, ...]]], set[tuple[str, str]]]] = {
    "Paraformer encoder": (paraformer_encoder, {MASK}),
    "SenseVoice encoder": (sense_voice_encoder, set()),
    "Paraformer predictor": (paraformer_predictor, {DOUBLES, ("aten._to_copy", "parked")}),
    "BiCifParaformer predictor": (bicif_predictor, {LSTM, EMPTY, MASK}),
    "BiCifParaformer timestamps": (bicif_timestamps, {LSTM, MASK}),
    "Paraformer decoder": (decoder, set()),
}


def built(name: str) -> tuple[nn.Module, tuple[Any, ...]]:
    torch.manual_seed(0)
    module, sample = PARTS[name][0]()
    return module.eval(), sample


def moved(value: Any, device: torch.device) -> Any:
    return tree_map(lambda v: v.to(device) if isinstance(v, Tensor) else v, value)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("part", PARTS)
def test_the_part_runs_to_its_end_and_equals_the_cpu(part: str, mode: type) -> None:
    module, sample = built(part)
    with torch.no_grad():
        want = [v for v in tree_leaves(module(*copy.deepcopy(sample))) if isinstance(v, Tensor)]
    with simulated_backend() as device:
        there = copy.deepcopy(module).to(device)
        before = {name: (id(value), value.device) for name, value in there.state_dict(keep_vars=True).items()}
        inputs = moved(sample, device)
        with fallback(device) as report, mode():
            got = [v for v in tree_leaves(there(*inputs)) if isinstance(v, Tensor)]
        assert {name: (id(v), v.device) for name, v in there.state_dict(keep_vars=True).items()} == before
        assert all(value.device == device for value in got)
        for ours, theirs in zip(got, want, strict=True):
            torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-5, atol=1e-5)
    assert {(entry.op, entry.reason) for entry in report.replaced} == PARTS[part][1]


@pytest.mark.parametrize("part", PARTS)
def test_what_is_missing_agrees_with_what_is_replaced(part: str) -> None:
    report = missing_ops(*built(part))
    told = {entry.fault for entry in report.struck} - {"inference-mode", ""}
    assert told == {reason for _, reason in PARTS[part][1]} - {"parked"}
    assert report.ok is not bool(told) and len(str(report).splitlines()) <= 24


def test_a_bool_convolution_names_the_product_in_funasr() -> None:
    module, sample = built("Paraformer encoder")
    with simulated_backend(code_page=936) as device, torch.no_grad(), pytest.raises(BackendError) as told, trace_ops():
        module.to(device)(*moved(sample, device))
    assert "aten.mul.Tensor(float32[2, 40, 64], bool[2, 40, 1])" in told.value.why and "attention.py:" in told.value.why
    assert "无效参数" in told.value.what and "fsmn_block" in told.value.where
