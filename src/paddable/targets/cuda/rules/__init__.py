"""Rules of the CUDA provider, in the order of their codes. What they look at is a placement."""

from __future__ import annotations

from paddable.targets.cuda.placement import CudaPlacement
from paddable.targets.cuda.rules.cpu_node_stops_capture import CpuNodeStopsCapture
from paddable.targets.cuda.rules.host_read_stops_capture import HostReadStopsCapture
from paddable.targets.rule import TargetRule

__all__ = ["CUDA_RULES"]

CUDA_RULES: tuple[TargetRule[CudaPlacement], ...] = (CpuNodeStopsCapture(), HostReadStopsCapture())
