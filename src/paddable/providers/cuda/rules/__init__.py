"""Rules of the CUDA provider, in the order of their codes. What they look at is a placement."""

from __future__ import annotations

from paddable.providers.cuda.placement import CudaPlacement
from paddable.providers.cuda.rules.cpu_node_stops_capture import CpuNodeStopsCapture
from paddable.providers.cuda.rules.host_read_stops_capture import HostReadStopsCapture
from paddable.providers.rule import TargetRule

__all__ = ["CUDA_RULES"]

CUDA_RULES: tuple[TargetRule[CudaPlacement], ...] = (CpuNodeStopsCapture(), HostReadStopsCapture())
