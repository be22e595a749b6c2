"""Operands of two dtypes: where torch-directml promotes wrongly, or not at all."""

from __future__ import annotations

from typing import Any

import torch

from paddable.torch_backends.calls import Call
from paddable.torch_backends.faults import Fault

__all__ = ["FAULTS"]


def _pair(call: Call) -> tuple[Any, Any]:
    return call["self"], call["other"]


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, torch.Tensor) and value.dtype is torch.bool)


def _number_times_bool(call: Call) -> bool:
    left, right = _pair(call)
    return _is_bool(left) != _is_bool(right) and (isinstance(left, torch.Tensor) or isinstance(right, torch.Tensor))


def _as(value: Any, dtype: torch.dtype) -> Any:
    return value.to(dtype) if isinstance(value, torch.Tensor) else value


def _promoted(call: Call) -> Any:
    """Both operands cast to the dtype that PyTorch promotes to; in place, only the second is."""
    left, right = _pair(call)
    dtype = torch.result_type(left, right)
    if call.name.endswith("_"):
        return call.replaced(other=_as(right, left.dtype if left.is_floating_point() else dtype))
    return call.replaced(self=_as(left, dtype), other=_as(right, dtype))


def _as_bools(call: Call) -> Any:
    left, right = (value.to(torch.bool) if isinstance(value, torch.Tensor) else bool(value) for value in _pair(call))
    return left & right


def _minus_uint8(call: Call) -> bool:
    taken = call["self"] if call.name == "rsub" else call["other"]
    return isinstance(taken, torch.Tensor) and taken.dtype is torch.uint8


def _subtract_int64(call: Call) -> Any:
    left, right = _pair(call)
    dtype = torch.result_type(left, right)
    if call.name == "rsub":
        left, right = right, left
    wide = [_as(value, torch.int64) if _as_uint8(value) else value for value in (left, right)]
    return torch.sub(*wide, alpha=call["alpha"] or 1).to(dtype)


def _as_uint8(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype is torch.uint8


def _nothing_subtracted(call: Call) -> Any:
    left, right = _pair(call)
    if call.name == "sub_":
        return left
    kept = right if call.name == "rsub" else left
    return torch.zeros_like(call["self"], dtype=torch.result_type(left, right)) + kept


def _float_minus_tensor(call: Call) -> bool:
    return isinstance(call["other"], float) and not _as_uint8(call["self"])


def _negate_and_add(call: Call) -> Any:
    return torch.neg(call["self"] * (call["alpha"] or 1)) + call["other"]


def _two_dtypes(call: Call) -> bool:
    left, right = _pair(call)
    if not (isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor)):
        return False
    return right.dtype is not torch.bool and torch.result_type(left, right) is not left.dtype


def _is_floor_division(call: Call) -> bool:
    if call.name.startswith("div") and call["rounding_mode"] != "floor":
        return False
    return _two_dtypes(call)


def _by_bool(call: Call) -> bool:
    right = call["other"]
    floors = call.name == "floor_divide" or call["rounding_mode"] == "floor"
    return floors and isinstance(right, torch.Tensor) and right.dtype is torch.bool


def _in_the_first_dtype(call: Call) -> Any:
    left, right = _pair(call)
    return torch.div(left.float(), right.float(), rounding_mode="floor").to(left.dtype)


def _branches_differ(call: Call) -> bool:
    left, right = _pair(call)
    scalar = any(value.dim() == 0 and value.device.type == "cpu" for value in (left, right))
    return left.dtype is not right.dtype and not scalar


def _full_of_floats(call: Call) -> bool:
    return isinstance(call["fill_value"], float) and call["dtype"] is None


def _full_in_default_dtype(call: Call) -> Any:
    return call.replaced(dtype=torch.get_default_dtype())


FAULTS = (
    Fault(
        "number-times-bool",
        "wrong",
        ("mul", "mul_", "multiply", "multiply_"),
        "the product of a number and a bool tensor is a bool tensor",
        "x * mask.to(x.dtype), or x.masked_fill(~mask, 0)",
        _number_times_bool,
        repair=_promoted,
        falsify=_as_bools,
    ),
    Fault(
        "minus-uint8",
        "wrong",
        ("sub", "sub_", "subtract", "rsub"),
        "what is subtracted is taken as 0",
        "cast with .long() first",
        _minus_uint8,
        repair=_subtract_int64,
        falsify=_nothing_subtracted,
    ),
    Fault(
        "float-minus-tensor",
        "raises",
        ("rsub",),
        "1.0 - x is computed with a double",
        "-x + 1.0 (1 - x is right too)",
        _float_minus_tensor,
        message="The GPU device does not support Double (Float64) operations!",
        repair=_negate_and_add,
        setting=lambda settings: not settings.float64,
        when="on a GPU without float64",
    ),
    Fault(
        "floor-divide-of-two-dtypes",
        "wrong",
        ("floor_divide", "div"),
        "the quotient has the first operand's dtype",
        "cast both to one dtype first",
        _is_floor_division,
        repair=_promoted,
        falsify=_in_the_first_dtype,
    ),
    Fault(
        "floor-divide-by-bool",
        "wrong",
        ("floor_divide", "div"),
        "a quotient by False raises no error, or has the first operand's dtype",
        "cast both to one dtype first",
        _by_bool,
        falsify=_in_the_first_dtype,
    ),
    Fault(
        "where-of-two-dtypes",
        "raises",
        ("where",),
        "torch.where takes no branches of two dtypes",
        "cast both to one dtype; a Python number as a branch is fine",
        _branches_differ,
        message="expected scalar type float but found another",
        repair=_promoted,
    ),
    Fault(
        "full-of-floats",
        "wrong",
        ("full",),
        "torch.full(shape, 2.5) is float64",
        "give dtype=torch.float32, or use new_full or full_like",
        _full_of_floats,
        repair=_full_in_default_dtype,
        falsify=lambda call: call.replaced(dtype=torch.float64),
        setting=lambda settings: settings.float64,
        when="on a GPU with float64",
    ),
    Fault(
        "full-of-doubles",
        "raises",
        ("full",),
        "torch.full(shape, 2.5) is computed with doubles",
        "give dtype=torch.float32, or use new_full or full_like",
        _full_of_floats,
        message="The GPU device does not support Double (Float64) operations!",
        repair=_full_in_default_dtype,
        setting=lambda settings: not settings.float64,
        when="on a GPU without float64",
    ),
    Fault(
        "pow-of-bytes",
        "wrong",
        ("pow",),
        "powers of uint8 are clamped instead of wrapped, and bool ** bool raises no error",
        "compute it on the CPU",
        lambda call: all(_as_uint8(v) or _is_bool(v) for v in (call["self"], call["exponent"])),
        falsify=lambda call: torch.full_like(call["self"], 1 if _is_bool(call["self"]) else 255),
    ),
)
