"""From an exception that a backend raised to an error that says what happened and what to do."""

from __future__ import annotations

import re

import torch

from paddable.findings import Source
from paddable.torch_backends.calls import Call
from paddable.torch_backends.errors import BackendError, real_text
from paddable.torch_backends.faults import Backend, Fault, Settings

__all__ = ["explained", "explained_text"]


def explained(
    error: BaseException,
    call: Call,
    backend: Backend | None,
    *,
    module: str = "",
    source: Source | None = None,
    product: str = "",
) -> BackendError:
    """The error of an operator, told as what it is.

    Args:
        error: what was raised.
        call: the operator and its arguments.
        backend: whose device it was called on, if that is known.
        module: dotted path of the module that was running.
        source: the user's line.
        product: the product of a number and a bool that one of the arguments came from, if any.
    """
    if isinstance(error, BackendError):
        return error
    what = f"{call} failed: {real_text(error)}"
    where = f"{source or ''}{f' in {module}' if module else ''}".strip()
    fault = _fault(call, backend) or _by_text(real_text(error), backend)
    why = f"on {backend.name}, {fault.what}" if fault and backend else ""
    fix = fault.way_round if fault else ""
    if product:
        why = f"its bool operand came from {product}: a product of a number and a bool is a bool on this backend"
        fix = "write x * mask.to(x.dtype) there"
    return BackendError(what, where=where, why=why, fix=fix)


def explained_text(error: BaseException, backend: Backend) -> BackendError | None:
    """An error that no operator raised, such as that of autocast; None if nothing is known about it."""
    fault = _by_text(real_text(error), backend)
    if fault is None or isinstance(error, BackendError):
        return None
    return BackendError(real_text(error), why=f"on {backend.name}, {fault.what}", fix=fault.way_round)


def _fault(call: Call, backend: Backend | None) -> Fault | None:
    if backend is None:
        return None
    fault = backend.find(call, Settings(inference_mode=torch.is_inference_mode_enabled()))
    return fault if fault is not None and fault.effect != "wrong" else None


def _by_text(text: str, backend: Backend | None) -> Fault | None:
    faults = backend.faults if backend else ()
    return next((fault for fault in faults if fault.hint and re.search(fault.hint, text)), None)
