"""Rules of the CUDA provider, in the order of their codes. They look at the placement."""

from __future__ import annotations

from paddable.linter.rule import Rule
from paddable.providers.cuda.placement import CudaPlacement
from paddable.providers.cuda.rules.cpu_node_stops_capture import CpuNodeStopsCapture
from paddable.providers.cuda.rules.host_read_stops_capture import HostReadStopsCapture

__all__ = ["RULES"]

RULES: tuple[type[Rule[CudaPlacement]], ...] = (CpuNodeStopsCapture, HostReadStopsCapture)
