"""Shape chains: nodes that a provider could run and ONNX Runtime keeps on the CPU to avoid a copy.

The walk starts at the readers of outputs that live in CPU memory (Shape, Size) and follows every node that reads
nothing but such values, graph inputs and small initializers (`GetCpuPreferredNodes` in onnxruntime's
``fallback_cpu_capability.cc``; DirectML and CUDA call it).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Protocol

from paddable.linter.view.graph import GraphView, NodeView, elements

__all__ = ["KernelMemory", "cpu_preferred"]

_SMALL_INITIALIZER = 100
_NEVER_MOVED = frozenset({"float16", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"})


class KernelMemory(Protocol):
    """Where a kernel reads and writes."""

    @property
    def cpu_inputs(self) -> tuple[int, ...]:
        """Inputs that it reads in CPU memory."""

    @property
    def writes_on_cpu(self) -> bool:
        """Whether its output lies there."""


def cpu_preferred(view: GraphView, kernels: Mapping[int, KernelMemory], order: list[NodeView]) -> set[int]:
    """Indices of nodes with a kernel of the provider that run on the CPU all the same.

    Args:
        view: the graph.
        kernels: the kernel of each node that has one, by node index (support queries are not asked here).
        order: the nodes in runtime order.
    """
    starts = [node for node in order if node.index in kernels and kernels[node.index].writes_on_cpu]
    if not starts:
        return set()
    rank = {node.index: position for position, node in enumerate(order)}
    on_cpu: set[str] = set()
    waiting: list[int] = []

    def mark(node: NodeView) -> None:
        for name in node.outputs:
            on_cpu.add(name)
            for reader in view.readers(name):
                heapq.heappush(waiting, rank[reader.index])

    for node in starts:
        mark(node)
    moved: set[int] = set()
    visited: set[int] = set()
    while waiting:
        position = heapq.heappop(waiting)
        if position in visited:
            continue
        visited.add(position)
        node = order[position]
        if node.index not in kernels:  # no kernel, so it runs on the CPU and its outputs stay there
            mark(node)
        elif _reads_only_cpu(view, node, kernels[node.index], on_cpu):
            moved.add(node.index)
            mark(node)
    return moved


def _reads_only_cpu(view: GraphView, node: NodeView, kernel: KernelMemory, on_cpu: set[str]) -> bool:
    for position, name in enumerate(node.inputs):
        if not name or view.dtype(name) in _NEVER_MOVED:
            return False
        if _is_small_initializer(view, name) or name in view.inputs:
            continue
        if name not in on_cpu or position in kernel.cpu_inputs:
            return False
    return True


def _is_small_initializer(view: GraphView, name: str) -> bool:
    if not view.is_constant(name):
        return False
    shape = view.shape(name) or ()
    return (
        all(isinstance(dim, int) for dim in shape)
        and elements([d for d in shape if isinstance(d, int)]) <= _SMALL_INITIALIZER
    )
