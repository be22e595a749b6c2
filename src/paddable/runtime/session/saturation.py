"""Whether 8-bit products saturate on this processor, and what a session is asked for because of it.

x86 processors without VNNI sum two products of an unsigned and a signed byte in 16 bits, which saturate. ONNX Runtime
avoids it where a session sets ``session.x64quantprecision``, by kernels for unsigned weights. It does so on processors
with AMX as well, which need no such thing and lose their 8-bit kernels: 131 instead of 1,019 GFLOP/s in one thread of
an Intel Xeon. A file asks for the entry on behalf of the processors that need it; a session gets it on those alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

__all__ = ["asked_here", "saturates"]

_ENTRY = "session.x64quantprecision"

# y = MatMulInteger(a, b) of uint8 a [4, 4], and b [4, 4] of 127 in int8; opset 17. The runtime does not import onnx.
_PRODUCT = (
    b'\x08\x08\x12\x00:d\n\x18\n\x01a\n\x01b\x12\x01y"\rMatMulInteger\x12\x01g*\x1b\x08\x04\x08\x04\x10\x03B\x01bJ\x10'
    + 16 * b"\x7f"
    + b"Z\x13\n\x01a\x12\x0e\n\x0c\x08\x02\x12\x08\n\x02\x08\x04\n\x02\x08\x04"
    + b"b\x13\n\x01y\x12\x0e\n\x0c\x08\x06\x12\x08\n\x02\x08\x04\n\x02\x08\x04B\x04\n\x00\x10\x11"
)


@cache
def saturates() -> bool:
    """Whether ONNX Runtime's product of unsigned and signed bytes is wrong here; the largest is run, once a process."""
    import onnxruntime as ort

    options: Any = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(_PRODUCT, options, providers=["CPUExecutionProvider"])
    (product,) = session.run(None, {"a": np.full((4, 4), 255, np.uint8)})
    return bool((np.asarray(product) != 4 * 255 * 127).any())


def asked_here(config: Mapping[str, str]) -> dict[str, str]:
    """The session configuration entries that a file asks for, less the one that only processors that saturate need."""
    return {key: value for key, value in config.items() if key != _ENTRY or saturates()}
