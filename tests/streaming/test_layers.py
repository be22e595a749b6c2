"""Every streaming layer: whole form right, every chunking equal to it, and nothing from the future."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from paddable.errors import MisuseError
from paddable.families.layers.streaming import (
    CausalConv,
    CausalUpsample,
    Memory,
    SlidingAttention,
    StepForm,
    WholeMemory,
    Window,
    declare_states,
)

STRICT = 1e-12
STEPS, CHUNK = 40, 6
CONVS = [
    (CausalConv(3, 4, kernel, rate=1, dilation=dilation), 1)
    for kernel, dilation in itertools.product((1, 2, 3, 7), (1, 3, 9))
]
UPSAMPLES = [
    (CausalUpsample(3, 4, stride * taps, stride, rate=1), stride)
    for stride, taps in itertools.product((1, 2, 5), (1, 2, 3))
]


class Attention(nn.Module):
    """[B, C, T] through one attention layer."""

    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window
        self.attention = SlidingAttention(3, 2, 4, window, bias=True, rate=1)

    def forward(self, x_BCT: Tensor, memory: Memory) -> Tensor:
        x_BTC = x_BCT.transpose(1, 2)
        window = Window.make(x_BTC, memory, self.window, 4, 10000.0)
        return self.attention(x_BTC, window, memory).transpose(1, 2)


LAYERS = [*CONVS, *UPSAMPLES, *((Attention(window), 1) for window in (2, 5, 9))]
IDS = [f"{type(layer).__name__}{i}" for i, (layer, _) in enumerate(LAYERS)]


def signal(seed: int = 0) -> Tensor:
    return torch.randn(1, 3, STEPS, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
@pytest.mark.parametrize(("layer", "rate"), LAYERS, ids=IDS)
def test_any_chunking_is_whole(layer: nn.Module, rate: int) -> None:
    layer = layer.double()
    x, form, rng = signal(), StepForm(layer, rate, axis=-1), np.random.default_rng(0)
    whole = layer(x, WholeMemory())
    assert whole.shape[-1] == rate * STEPS
    for _ in range(8):
        states, done, parts = form.initial(), 0, []
        while done < STEPS:
            valid = min(int(rng.integers(0, CHUNK + 1)), STEPS - done)
            chunk = torch.full((1, 3, CHUNK), 1e3, dtype=torch.float64)  # junk
            chunk[..., :valid] = x[..., done : done + valid]
            y, length, *states = form(chunk, torch.tensor([valid]), *states)
            assert not y[..., int(length) :].any()
            parts.append(y[..., : int(length)])
            done += valid
        assert (torch.cat(parts, -1) - whole).abs().max() <= STRICT


@pytest.mark.parametrize(("layer", "rate"), LAYERS, ids=IDS)
def test_no_gradient_reaches_the_future(layer: nn.Module, rate: int) -> None:
    layer = layer.double()
    for step in (0, 17, STEPS - 1):
        x = signal().requires_grad_()
        layer(x, WholeMemory())[..., rate * step : rate * (step + 1)].sum().backward()
        assert x.grad is not None and not x.grad[..., step + 1 :].any() and x.grad[..., step].any()


@torch.no_grad()
@pytest.mark.parametrize(("layer", "rate"), CONVS, ids=IDS[: len(CONVS)])
def test_whole_convolution_is_left_padded(layer: CausalConv, rate: int) -> None:
    conv, x = layer.double().conv, signal()
    padded = F.pad(x, ((conv.kernel_size[0] - 1) * conv.dilation[0], 0))
    assert torch.equal(layer(x, WholeMemory()), conv(padded))


@torch.no_grad()
@pytest.mark.parametrize(("layer", "rate"), UPSAMPLES, ids=IDS[len(CONVS) : len(CONVS) + len(UPSAMPLES)])
def test_whole_upsampling_is_cut_on_the_right(layer: CausalUpsample, rate: int) -> None:
    conv, x = layer.double().conv, signal()
    full = F.conv_transpose1d(x, conv.weight, conv.bias, conv.stride)
    assert (layer(x, WholeMemory()) - full[..., : rate * STEPS]).abs().max() <= STRICT


@pytest.mark.parametrize("window", [2, 5, 9])
def test_a_query_sees_exactly_its_window(window: int) -> None:
    layer = Attention(window).double()
    x = signal().requires_grad_()
    layer(x, WholeMemory())[..., 30].sum().backward()
    assert x.grad is not None
    assert x.grad.abs().amax((0, 1)).nonzero().flatten().tolist() == list(range(30 - window + 1, 31))


@torch.no_grad()
def test_positions_are_exact_at_any_age() -> None:
    """After a million steps the cache gives bit for bit what it gave when it first was full: no position is kept."""
    layer = Attention(5).double()
    form, x = StepForm(layer, 1, axis=-1), signal()[..., :CHUNK]
    full = torch.tensor([CHUNK])
    _, _, *states = form(x, full, *form.initial())
    first = form(x, full, *states)
    again = form(x, full, *first[2:])
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


def test_states_are_named_after_their_layers() -> None:
    model = nn.ModuleDict({"first": CausalConv(3, 4, 7, rate=2), "second": nn.ModuleList([Attention(5)])})
    table = declare_states(model)
    assert [(spec.name, spec.shape) for spec in table] == [
        ("first", (1, 3, 6)),
        ("second_0_attention_key", (1, 2, 4, 4)),
        ("second_0_attention_value", (1, 2, 4, 4)),
        ("count", (1,)),
    ]


def test_layers_without_history_have_no_state() -> None:
    assert len(declare_states(nn.ModuleList([CausalConv(3, 4, 1, rate=1), CausalUpsample(3, 4, 2, 2, rate=1)]))) == 0


def test_what_one_count_cannot_describe_is_refused() -> None:
    with pytest.raises(MisuseError, match="several sizes"):
        declare_states(nn.ModuleList([Attention(5), Attention(6)]))
    with pytest.raises(MisuseError, match="not a multiple"):
        CausalUpsample(3, 4, 5, 2, rate=1)


def test_a_step_wants_every_state() -> None:
    form = StepForm(CausalConv(3, 4, 7, rate=1), 1, axis=-1)
    with pytest.raises(MisuseError, match="0 states given, 1 declared"):
        form(torch.zeros(1, 3, 4), torch.tensor([4]))
