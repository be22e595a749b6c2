"""How the nodes that DirectML runs are gathered into fused graphs, and what keeps a node out of one.

Mirrors the provider's own partitioner (``GraphPartitioner.cpp``, onnxruntime 1.24): nodes are visited in runtime
order; a node joins the open islands of its inputs and merges them; a node that cannot be fused closes the islands it
reads from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from paddable.linter.view.graph import GraphView, NodeView
from paddable.linter.view.value_type import ValueType
from paddable.providers.directml.kernels import Kernel

__all__ = ["Island", "gather_islands", "listed_by_depth", "why_not_fused"]


@dataclass(eq=False)
class Island:
    """One fused graph (`DmlFusedNode`): its nodes in runtime order."""

    nodes: list[NodeView] = field(default_factory=list)
    closed: bool = False
    merged_into: Island | None = None

    @property
    def root(self) -> Island:
        """The island that this one ended up in."""
        return self.merged_into.root if self.merged_into else self


def why_not_fused(view: GraphView, node: NodeView, kernel: Kernel, types: Sequence[ValueType | None]) -> str | None:
    """Why a node that runs on DirectML cannot join a fused graph; None when it can.

    Args:
        view: the graph.
        node: the node.
        kernel: its kernel.
        types: of its inputs and outputs.
    """
    if kernel.fusable is None:
        return f"whether {node.op} can be fused was never measured"
    if not kernel.fusable:
        return f"{node.op} is never fused"
    for position in kernel.cpu_inputs:
        name = node.input(position)
        if name and not view.is_constant(name):
            return f"input {position} ({name!r}) is computed, and a fused graph needs it as an initializer"
    for position, known in enumerate(types):
        if known is None or (known.static and not known.empty):
            continue
        name = (*node.inputs, *node.outputs)[position]
        if not known.static:
            return f"the shape of {name!r} is not static: {known.shown}"
        if name not in map(node.input, kernel.cpu_inputs):
            return f"{name!r} has a dim of size 0: {known.shown}"
    if kernel.input_count is not None and kernel.input_count != len(node.inputs):
        return f"{node.op} has {len(node.inputs)} inputs, and only {kernel.input_count} can be fused"
    return None


def gather_islands(order: Sequence[NodeView], fusable: Set[int]) -> list[Island]:
    """The fused graphs, given the nodes in runtime order and the indices of those that can be fused."""
    home: dict[str, Island] = {}
    islands: list[Island] = []
    if not fusable:
        return islands
    for node in order:
        sources = [home[name].root for name in node.inputs if name in home]
        if node.index not in fusable:
            for island in sources:
                island.closed = True
            continue
        open_sources = list(dict.fromkeys(island for island in sources if not island.closed))
        target = open_sources[0] if open_sources else Island()
        if not open_sources:
            islands.append(target)
        for other in open_sources[1:]:
            target.nodes[:0] = other.nodes
            other.merged_into = target
        target.nodes.append(node)
        home.update((name, target) for name in node.outputs if name)
    return [island for island in islands if island.merged_into is None]


def listed_by_depth(view: GraphView, order: Sequence[NodeView], fusable: Set[int]) -> list[NodeView]:
    """The nodes as a file lists them for few fused graphs.

    The runtime visits nodes backwards from the last one, so what stands late is visited early. The more nodes that
    cannot be fused lie on the way to a node, the earlier it therefore stands, as far as what it reads allows.

    Args:
        view: the graph.
        order: its nodes in any topological order.
        fusable: indices of the nodes that can be fused.
    """
    depth: dict[NodeView, int] = {}
    readers: Counter[NodeView] = Counter()
    for node in order:
        parents = set(view.parents(node))
        depth[node] = max((depth[parent] for parent in parents), default=0) + (node.index not in fusable)
        readers.update(parents)
    ready = [(depth[node], -node.index, node) for node in order if not readers[node]]
    heapify(ready)
    backwards: list[NodeView] = []
    while ready:
        node = heappop(ready)[-1]
        backwards.append(node)
        for parent in set(view.parents(node)):
            readers[parent] -= 1
            if not readers[parent]:
                heappush(ready, (depth[parent], -parent.index, parent))
    return backwards[::-1]
