"""Fingerprints of weights: equal for equal numbers, whatever the name, the layout or the float type.

A stranger's export may transpose a matrix, and a converter may store it in half. So the fingerprint is a sum over the
elements, in any order, of a hash of each element rounded to half. Two weights with one fingerprint are candidates for a
pair; whether they are equal is decided by their numbers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

__all__ = ["Fingerprint", "fingerprint"]

Fingerprint = tuple[int, int]
"""Number of elements, and the sum of their hashes modulo 2**64."""

_CHUNK = 1 << 22
_ODD = np.uint64(0x9E3779B97F4A7C15)


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    mixed = (bits + np.uint64(1)) * _ODD
    mixed ^= mixed >> np.uint64(29)
    mixed *= _ODD
    return mixed


_HALVES = _mixed(np.arange(1 << 16, dtype=np.uint64))
"""The hash of every half."""
_HALVES[1 << 15] = _HALVES[0]  # -0 is 0


def fingerprint(tensor: ir.TensorProtocol) -> Fingerprint:
    """The fingerprint of a tensor."""
    if tensor.dtype == ir.DataType.STRING:
        return tensor.size, hash(tuple(tensor.numpy().ravel().tolist())) & (2**64 - 1)
    flat = np.asarray(tensor.numpy()).reshape(-1)
    total = 0
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        if part.dtype.kind in "iub":
            mixed = _mixed(part.astype(np.int64).view(np.uint64))
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                mixed = _HALVES[part.astype(np.float16).view(np.uint16)]
        total += int(mixed.sum(dtype=np.uint64))
    return int(flat.size), total & (2**64 - 1)
