"""Dtypes that the device lacks: complex and bfloat16 end the process, float64 depends on the GPU."""

from __future__ import annotations

import torch

from paddable.torch_backends.calls import Call
from paddable.torch_backends.faults import ANY, Fault, views_first

__all__ = ["FAULTS"]

_COMPLEX_MAKERS = frozenset(
    {"_fft_r2c", "_fft_c2c", "_fft_c2r", "stft", "istft", "complex", "polar", "view_as_complex", "fft_rfft"}
)
_MOVES = frozenset({"_to_copy", "copy_", "clone", "detach", "empty", "empty_like", "empty_strided", "lift_fresh"})
"""What a float64 tensor may do on a GPU that cannot compute with it."""


def _touches(call: Call, dtype: torch.dtype) -> bool:
    return call.kwargs.get("dtype") is dtype or any(tensor.dtype is dtype for tensor in call.tensors)


def _complex(call: Call) -> bool:
    if call.name in _COMPLEX_MAKERS:
        return True
    asked = call.kwargs.get("dtype")
    return (asked is not None and asked.is_complex) or any(tensor.is_complex() for tensor in call.tensors)


def _bfloat16(call: Call) -> bool:
    return _touches(call, torch.bfloat16)


def _double(call: Call) -> bool:
    asked = call.kwargs.get("dtype")
    held = any(tensor.dtype is torch.float64 and tensor.device.type != "cpu" for tensor in call.tensors)
    if call.name in _MOVES:
        source = call.tensors[0].dtype if call.tensors else asked
        return (asked is torch.float64 and source is not asked) or (held and asked not in (None, torch.float64))
    if views_first(call.func) or call.name == "_local_scalar_dense":
        return False
    return held or asked is torch.float64


def _rounded(call: Call) -> bool:
    """Sums with a Python number and running sums; both are computed in float32."""
    if call.name == "cumsum":
        return call.kwargs.get("dtype") is torch.float64 or call["self"].dtype is torch.float64
    return call["self"].dtype is torch.float64 and isinstance(call["other"], (int, float))


def _in_float32(call: Call) -> object:
    if call.name == "cumsum":
        return call.replaced(self=call["self"].to(torch.float32), dtype=torch.float32).to(torch.float64)
    return call.replaced(self=call["self"].to(torch.float32)).to(torch.float64)


FAULTS = (
    Fault(
        "complex",
        "ends the process",
        (ANY,),
        "no complex tensor can exist on the device, so no stft, istft or fft",
        "run the STFT on the CPU, or as a conv1d with DFT filters",
        _complex,
        message="fatal check in dml_util.cc: Invalid or unsupported data type ComplexFloat.",
        parks=True,
    ),
    Fault(
        "bfloat16",
        "ends the process",
        (ANY,),
        "no bfloat16 tensor can exist on the device",
        "use float16",
        _bfloat16,
        message="fatal check in dml_util.cc: Invalid or unsupported data type BFloat16.",
        parks=True,
    ),
    Fault(
        "float64",
        "raises",
        (ANY,),
        "doubles cannot be computed, nor cast to or from",
        "compute in float32, or on the CPU",
        _double,
        message="The GPU device does not support Double (Float64) operations!",
        setting=lambda settings: not settings.float64,
        when="on a GPU without float64",
        parks=True,
        hint=r"does not support Double",
    ),
    Fault(
        "float64-in-float32",
        "wrong",
        ("add", "sub", "cumsum"),
        "doubles are summed with the accuracy of float32",
        "compute it on the CPU",
        _rounded,
        setting=lambda settings: settings.float64,
        when="on a GPU with float64",
        falsify=_in_float32,
    ),
    Fault(
        "float64-sine",
        "raises",
        ("sin", "cos"),
        "sines of doubles fail",
        "compute it on the CPU",
        lambda call: call["self"].dtype is torch.float64,
        setting=lambda settings: settings.float64,
        when="on a GPU with float64",
    ),
)
