"""PyTorch on backends that lack operators: what runs, what would fail, and how to run it all the same.

Needs PyTorch alone, 2.4.1 or newer.
"""

from paddable.torch_backends.errors import BackendError
from paddable.torch_backends.fallback import FallbackReport, Replaced, fallback
from paddable.torch_backends.missing import MissingOperators, Struck, missing_ops
from paddable.torch_backends.simulated import simulated_backend
from paddable.torch_backends.trace import OperatorCall, OperatorTrace, trace_ops

__all__ = [
    "BackendError",
    "FallbackReport",
    "MissingOperators",
    "OperatorCall",
    "OperatorTrace",
    "Replaced",
    "Struck",
    "fallback",
    "missing_ops",
    "simulated_backend",
    "trace_ops",
]
