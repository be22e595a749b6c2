"""The measured cases that are not right on torch-directml, written again: their name, and what was called.

A case takes the tensors that its record lists, on the device or on the CPU, and gives one result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

Case = Callable[..., Any]


def tensor(text: str, seed: int) -> Tensor | None:
    """``float32[2, 5]`` as random numbers of that dtype and shape; None for a module."""
    found = re.fullmatch(r"(\w+)\[([\d, ]*)\]", text)
    if found is None:
        return None
    dtype = getattr(torch, found[1])
    shape = [int(size) for size in found[2].split(",") if size.strip()]
    generator = torch.Generator().manual_seed(seed)
    if dtype is torch.bool:
        return torch.rand(shape, generator=generator) > 0.4
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(1, 5, shape, generator=generator).to(dtype)


def on(x: Tensor, module: nn.Module) -> nn.Module:
    """A module with weights that are the same at each call, where the tensor is."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 3)
    return module.eval().to(x.device)


def zeros_like(y: Tensor) -> Tensor:
    return torch.zeros(y.shape, device=y.device)


def written(index: Any) -> Case:
    def case(y: Tensor, *values: Tensor) -> Tensor:
        y = y.clone()
        target = y[index]
        y[index] = target.clone() + 1 if values else 5.0
        return y

    return case


def through(view: Callable[[Tensor], Tensor], write: Callable[[Tensor], Any] = lambda v: v.add_(1)) -> Case:
    def case(y: Tensor, *values: Tensor) -> Tensor:
        y = y.clone()
        write(view(y))
        return y

    return case


def filled(view: Callable[[Tensor], Tensor]) -> Case:
    def case(y: Tensor, mask: Tensor) -> Tensor:
        y = y.clone()
        view(y).masked_fill_(mask, 0.0)
        return y

    return case


def times(x: Tensor, mask: Tensor) -> Tensor:
    return x * mask


def times_in_place(x: Tensor, mask: Tensor) -> Tensor:
    x = x.clone()
    x *= mask
    return x


def recurrent(make: Callable[[], nn.Module], feed: Callable[[Tensor], Any] = lambda x: x) -> Case:
    def case(x: Tensor) -> Tensor:
        result = on(x, make().to(x.dtype))(feed(x))
        first = result[0] if isinstance(result, tuple) else result
        return first.data if isinstance(first, nn.utils.rnn.PackedSequence) else first

    return case


def lstm(*sizes: int, **more: Any) -> Case:
    return recurrent(lambda: nn.LSTM(*sizes, **{"batch_first": True, **more}))


def packed(x: Tensor) -> Any:
    return pack_padded_sequence(x, torch.tensor([x.shape[1], x.shape[1] - 2]), batch_first=True)


def window(x: Tensor) -> Tensor:
    return torch.hann_window(16).to(x.device)


FRAMED: dict[str, Any] = {"n_fft": 16, "hop_length": 4, "return_complex": True}
S = slice

CASES: dict[str, Case] = {
    "conv1d_int64_input": lambda x, w: F.conv1d(x, w),
    "float*bool then conv1d (FSMN, as FunASR)": lambda x, m: on(x, nn.Conv1d(8, 8, 3, groups=8, bias=False))(
        (x * m).transpose(1, 2)
    ),
    "float*bool_mask": times,
    "float*bool_mask_same_shape": times,
    "float*=bool_mask": times_in_place,
    "bool*float": times,
    "int64*bool": times,
    "bool*float + float (wrong dtype flows on)": lambda x, m: x * m + x,
    "scalar bool*2.5": lambda m: m * 2.5,
    "scalar bool*2": lambda m: m * 2,
    "0-d f32 tensor * bool": lambda m, s: s * m,
    "masked_fill_(view)": filled(lambda y: y[:, 2:5]),
    "view masked_fill_ y[:,2:5]": filled(lambda y: y[:, 2:5]),
    "view masked_fill_ y[1:3]": filled(lambda y: y[1:3]),
    "view masked_fill_ y[0]": filled(lambda y: y[0]),
    "LSTM_uni": lstm(6, 5),
    "LSTM_uni_states": lstm(6, 5),
    "LSTM_time_major": lstm(6, 5, batch_first=False),
    "LSTM_bi": lstm(6, 5, bidirectional=True),
    "LSTM_bi_2layers": lstm(6, 5, num_layers=2, bidirectional=True),
    "LSTM_bi_T1": lstm(6, 5, bidirectional=True),
    "LSTM_bi_len200_h64": lstm(64, 64, bidirectional=True),
    "LSTM_nobias": lstm(6, 5, bias=False),
    "LSTM_proj": lstm(6, 5, proj_size=3),
    "LSTM_fp16": lstm(6, 5),
    "LSTMCell": recurrent(lambda: nn.LSTMCell(6, 5)),
    "LSTM_packed": recurrent(lambda: nn.LSTM(6, 5, batch_first=True), packed),
    "GRU_uni": recurrent(lambda: nn.GRU(6, 5, batch_first=True)),
    "GRU_bi": recurrent(lambda: nn.GRU(6, 5, batch_first=True, bidirectional=True)),
    "GRUCell": recurrent(lambda: nn.GRUCell(6, 5)),
    "pad_sequence": lambda *xs: pad_sequence(list(xs), batch_first=True),
    "pad_sequence batch_first": lambda *xs: pad_sequence(list(xs), batch_first=True),
    "y[i,:n]=x (pad_list)": written((1, S(None, 5))),
    "y[i,:n,:]=x 3d (pad_list)": written((1, S(None, 5), S(None))),
    "narrow().copy_": through(lambda y: y.narrow(0, 1, 1).narrow(1, 0, 5), lambda v: v.copy_(v + 1)),
    "select().narrow().copy_": through(lambda y: y.select(0, 1).narrow(0, 0, 5), lambda v: v.copy_(v + 1)),
    "view write y[1,:3]=x": written((1, S(None, 3))),
    "view write y[1:3,:3]=x": written((S(1, 3), S(None, 3))),
    "view write y[1:,:]=x": written((S(1, None), S(None))),
    "view write y[1].view(2,3).add_": through(lambda y: y[1].view(2, 3)),
    "view write y[1:].t().add_": through(lambda y: y[1:].t()),
    "view write y[1][None].add_": through(lambda y: y[1][None]),
    "view write y[1:].chunk(2,1)[0].add_": through(lambda y: y[1:].chunk(2, 1)[0]),
    "view write y.chunk(2,1)[1].add_": through(lambda y: y.chunk(2, 1)[1]),
    "in-place on split output": through(lambda y: y.split(5, 1)[1]),
    "x[:,1:]+=..., then [:, :3] of it": through(lambda y: y[:, 1:][:, :3]),
    "squeeze write y[1:2].squeeze(0)[:3]=": through(lambda y: y[1:2].squeeze(0)[:3]),
    "y[1,0]=x": written((1, 0)),
    "y[1][0]=x": through(lambda y: y[1][0], lambda v: v.copy_(v + 1)),
    "y[1,2,0]=5.": written((1, 2, 0)),
    "y[1,0]=5.": written((1, 0)),
    "y[1][0]=5.": through(lambda y: y[1], lambda v: v.__setitem__(0, 5.0)),
    "scalar 1.0-uint8": lambda x: 1.0 - x,
    "uint8.sum (microsoft/DirectML#619)": lambda x: x.sum(),
    "uint8.sum(-1)": lambda x: x.sum(-1),
    "fp16_sum_overflow": lambda x: (x.abs() + 1).sum(),
    "bool.max": lambda m: m.max(),
    "cat_zero_length_first": lambda a, b: torch.cat([a, b], 1),
    "cat_zero_length_last": lambda a, b: torch.cat([b, a], 1),
    "empty cat dim0 [0,4]+[3,4]": lambda *xs: torch.cat(list(xs)),
    "empty cat last of three": lambda *xs: torch.cat(list(xs)),
    "empty pad to 3": lambda x: F.pad(x, (0, 0, 0, 3)),
    "empty layer_norm": lambda x: F.layer_norm(x, [4]),
    "empty repeat 0": lambda x: x.repeat(0, 1),
    "zero_size_matmul": lambda a, b: a @ b,
    "zero_size_linear": lambda x: on(x, nn.Linear(4, 3))(x),
    "empty linear [1,0,4]": lambda x: on(x, nn.Linear(4, 3))(x),
    "embedding_empty_index": lambda i, w: F.embedding(i, w),
    "empty embedding": lambda i: on(i, nn.Embedding(9, 4))(i),
    "sum() of an empty [0,4]": lambda x: x.sum(),
    "sum(0) of an empty [0,4]": lambda x: x.sum(0),
    "empty argmax of [0,5] dim-1": lambda x: x.argmax(-1),
    "scatter_add_zeros_inplace": lambda y, i, x: zeros_like(y).scatter_add_(1, i, x),
    "scatter_add_expanded_index": lambda y, i, x: zeros_like(y).scatter_add(1, i.expand(x.shape), x),
    "scatter_add": lambda y, i, x: y.scatter_add(1, i * 0 + 1, x),
    "scatter_add dup idx": lambda y, i, x: y.scatter_add(1, i * 0 + 1, x),
    "scatter_add 1d dup": lambda y, i, x: zeros_like(y).scatter_add(0, i * 0 + 1, x),
    "one_hot": lambda i: F.one_hot(i, 6),
    "scatter partially covered dim": lambda y, i: y.scatter(1, i, 1.0),
    "scatter -1 (one_hot form)": lambda i: torch.zeros(2, 5, 6, device=i.device).scatter(-1, i[..., None], 1.0),
    "gather_negative_idx (error expected)": lambda x, i: x.gather(1, -i),
    "gather_out_of_range (error expected)": lambda x, i: x.gather(1, i + 7),
    "embedding_out_of_range (error expected)": lambda i, w: F.embedding(i + 9, w),
    "eye on device": lambda x: torch.eye(3, device=x.device),
    "median dim": lambda x: x.median(1).values,
    "kthvalue": lambda x: x.kthvalue(2, 1).values,
    "conv_transpose1d_outpad": lambda x: on(x, nn.ConvTranspose1d(4, 3, 3, 2, 1, output_padding=1))(x),
    "conv_transpose1d outpad stride2": lambda x: on(x, nn.ConvTranspose1d(4, 3, 3, 2, 1, output_padding=1))(x),
    "conv_transpose1d_groups": lambda x: on(x, nn.ConvTranspose1d(4, 4, 4, 2, 1, groups=4))(x),
    "conv_transpose1d groups=2": lambda x: on(x, nn.ConvTranspose1d(4, 6, 4, 2, 1, groups=2))(x),
    "avg_pool1d_ceil": lambda x: F.avg_pool1d(x, 4, 4, ceil_mode=True),
    "avg_pool1d_ceil_k100 (CAM++)": lambda x: F.avg_pool1d(x, 100, 100, ceil_mode=True),
    "avg_pool2d ceil": lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True),
    "max_pool1d ceil": lambda x: F.max_pool1d(x, 4, 4, ceil_mode=True),
    "pad_mixed_sign": lambda x: F.pad(x, (-1, 2)),
    "PReLU 4d": lambda x: on(x, nn.PReLU(4))(x),
    "prelu": lambda x: on(x, nn.PReLU(4))(x),
    "layer_norm_2dims": lambda x: F.layer_norm(x, [9, 8]),
    "repeat_5d": lambda x: x.repeat(2, 1, 1, 1, 2),
    "cdist p1": lambda x: torch.cdist(x, x, p=1),
    "quantile": lambda x: torch.quantile(x, 0.5),
    "F.pad all-zero amounts, 2-D (0,0,0,0)": lambda x: F.pad(x, (0, 0, 0, 0)),
    "pad_list by F.pad + stack where one row needs no padding": lambda a, b: torch.stack(
        [F.pad(x, (0, 0, 0, 7 - len(x))) for x in (a, b)]
    ),
    "F.pad all zero amounts": lambda x: F.pad(x, (0, 0)),
    "F.pad zero 4 amounts": lambda x: F.pad(x, (0, 0, 0, 0)),
    "F.pad zero amounts value -1 int64": lambda x: F.pad(x, (0, 0), value=-1),
    "ConstantPad1d((0,0))": lambda x: nn.ConstantPad1d((0, 0), 1.0)(x),
    "stft": lambda x, w: torch.stft(x, window=w, **FRAMED).abs(),
    "stft_center_false_abs": lambda x, w: torch.stft(x, window=w, center=False, **FRAMED).abs(),
    "stft_return_complex_False": lambda x, w: torch.view_as_real(torch.stft(x, window=w, **FRAMED)),
    "istft": lambda x, w: torch.istft(torch.view_as_complex(x), 16, 4, window=w + 1),
    "rfft_abs": lambda x: torch.fft.rfft(x).abs(),
    "rfft_view_as_real": lambda x: torch.view_as_real(torch.fft.rfft(x)),
    "irfft": lambda x: torch.fft.irfft(torch.view_as_complex(x)),
    "complex_mul": lambda x: torch.view_as_real(torch.view_as_complex(x) * torch.view_as_complex(x)),
    "torch.complex": lambda x: torch.complex(x, x).abs(),
    "torch.polar(rope)": lambda x: torch.polar(x.abs(), x).real,
    "complex_tensor_to_device": lambda x: torch.complex(torch.ones(2), torch.ones(2)).to(x.device).abs(),
    "bfloat16_cast": lambda x: x.to(torch.bfloat16).float(),
    "bfloat16_to_device": lambda x: torch.ones(2, 3, dtype=torch.bfloat16).to(x.device).float(),
    "bfloat16_add": lambda x: (x.bfloat16() + 1).float(),
    "bfloat16_matmul": lambda x: (x.bfloat16() @ x.bfloat16().t()).float(),
    "bfloat16_linear": lambda x: on(x, nn.Linear(4, 3))(x.bfloat16().float()),
    "empty slice x[:,5:5]+1": lambda x: x[:, 5:5] + 1,
    "x[:,5:5] made only (empty slice)": lambda x: x[:, 5:5],
    "x[:,9:].cpu()": lambda x: x[:, 9:],
    "x[:,9:]+1 (empty slice, arithmetic)": lambda x: x[:, 9:] + 1,
    "x[9:]*2 (empty slice, arithmetic)": lambda x: x[9:] * 2,
    "cat([x[:,9:],x],1) (empty slice)": lambda x: torch.cat([x[:, 9:], x], 1),
    "full 2.5": lambda x: torch.full((2, 3), 2.5, device=x.device),
    "zeros/ones/full": lambda x: torch.full((2, 3), 2.5, device=x.device),
    "float64 sin accuracy": lambda x: x.sin(),
    "float64 add accuracy": lambda x: x + 0.1,
    "cumsum float64 accuracy 3000": lambda x: x.cumsum(1, dtype=torch.float64),
}
"""By the name of the record."""

_PROMOTED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mul": torch.mul,
    "sub": torch.sub,
    "floordiv": torch.floor_divide,
    "pow": torch.pow,
    "where": lambda a, b: torch.where(torch.tensor([[True, False, True, True, False]]).to(a.device), a, b),
    "inplace mul_": times_in_place,
}


def case_of(name: str) -> Case | None:
    """What a record called, None if it is not written down here."""
    promoted = re.match(r"promotion: (inplace mul_|\w+)\(", name)
    return _PROMOTED.get(promoted[1]) if promoted else CASES.get(name)


NOT_CALLS = re.compile(
    r"inference_mode|autocast|torch\.load|load_map|state_dict|device='|\.numpy\(\)|mixed_device|CPU raises too"
    r"|view_after_transpose|gather_int32|sub\((bool,.*|.*,bool)\)"
)
"""Records that are no call of one operator, or that the CPU refuses in the same way; judged by other tests."""
