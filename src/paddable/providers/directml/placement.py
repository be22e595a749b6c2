"""Where each node of a graph runs under DirectML, why, what is copied and what is fused.

    placement = place(view_model(onnx.load(path, load_external_data=False)))
    print(placement)

Facts: the kernel registry of onnxruntime-directml 1.24.4 (identical in onnxruntime-windowsml 1.30) and the provider's
own partitioning rules; see ``docs/targets/directml.md``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from paddable.linter.view.graph import GraphView, NodeView
from paddable.linter.view.value_type import ValueType
from paddable.providers.cpu_preferred import cpu_preferred
from paddable.providers.directml.islands import Island, gather_islands, why_not_fused
from paddable.providers.directml.kernels import CPU_UNDER_DIRECTML, UNSUPPORTED_DEVICE_TYPES, Kernel, registry
from paddable.providers.directml.support import refusal

__all__ = ["Copy", "NodePlacement", "Placement", "Reason", "find_kernel", "place"]

Reason = Literal["kernel", "operator", "version", "type", "device type", "form", "shape chain"]
"""Why a node runs where it runs: DirectML has the ``kernel``; or it lacks the operator, its version, its types, the
device lacks the type, a support query refuses the form, or the node belongs to a shape chain kept on the CPU."""


class NodePlacement(NamedTuple):
    """Where one node runs.

    Attributes:
        node: the node.
        on_directml: True on the GPU's provider, False on the CPU.
        reason: which rule decided.
        why: the same for a reader, empty for a plain kernel.
        unfused: why it runs as a kernel of its own, None when it is fused or on the CPU.
    """

    node: NodeView
    on_directml: bool
    reason: Reason
    why: str = ""
    unfused: str | None = None


@dataclass(frozen=True)
class Copy:
    """A value that crosses between CPU and GPU memory at each run."""

    value: str
    to_cpu: bool


@dataclass
class Placement:
    """The placement of one graph, and of the subgraphs below it."""

    view: GraphView
    nodes: list[NodePlacement]
    islands: list[Island]
    copies: list[Copy]
    subgraphs: dict[int, list[Placement]] = field(default_factory=dict)

    @cached_property
    def _by_op(self) -> dict[str, list[NodeView]]:
        """Nodes of ai.onnx that run on DirectML, by operator."""
        nodes: dict[str, list[NodeView]] = defaultdict(list)
        for placed in self.nodes:
            if placed.on_directml and not placed.node.domain:
                nodes[placed.node.op].append(placed.node)
        return nodes

    def running(self, op: str | None = None) -> Iterator[NodeView]:
        """The nodes that run on DirectML, of one ai.onnx operator or all."""
        if op is None:
            yield from (placed.node for placed in self.nodes if placed.on_directml)
        else:
            yield from self._by_op.get(op, ())

    @cached_property
    def by_index(self) -> dict[int, NodePlacement]:
        """Where each node runs, by its position in the file."""
        return {placed.node.index: placed for placed in self.nodes}

    def placed(self, node: NodeView) -> NodePlacement:
        """Where a node runs."""
        return self.by_index[node.index]

    def runs(self, node: NodeView) -> bool:
        """Whether DirectML runs the node."""
        return self.placed(node).on_directml

    @property
    def capturable(self) -> bool:
        """DirectML captures no graph, and has no options for fixed shapes that a graph could be unfit for."""
        return True

    def same_island(self, *nodes: NodeView) -> bool:
        """Whether the nodes are in one fused graph."""
        return any(all(node in island.nodes for node in nodes) for island in self.islands)

    @property
    def cpu_nodes(self) -> list[NodePlacement]:
        """Nodes that run on the CPU."""
        return [placed for placed in self.nodes if not placed.on_directml]

    @cached_property
    def fused(self) -> set[int]:
        """Positions in the file of the nodes that run inside a fused graph."""
        return {placed.node.index for placed in self.nodes if placed.on_directml and placed.unfused is None}

    @cached_property
    def kernels(self) -> list[NodePlacement]:
        """Nodes that run on DirectML outside any fused graph."""
        return [placed for placed in self.nodes if placed.unfused is not None]

    def walk(self) -> Iterator[Placement]:
        """This graph and every graph inside it."""
        yield self
        for inner in (placement for placements in self.subgraphs.values() for placement in placements):
            yield from inner.walk()

    def to_json(self) -> dict[str, Any]:
        """A sentence, counts, islands, CPU nodes and copies, for ``--json``."""
        return {
            "summary": str(self),
            "nodes": len(self.nodes),
            "islands": [[node.name for node in island.nodes] for island in self.islands],
            "kernels": [{"node": p.node.name, "op": p.node.op, "why": p.unfused} for p in self.kernels],
            "cpu": [{"node": p.node.name, "op": p.node.op, "reason": p.reason, "why": p.why} for p in self.cpu_nodes],
            "copies": [{"value": copy.value, "to": "cpu" if copy.to_cpu else "gpu"} for copy in self.copies],
        }

    def __str__(self) -> str:
        ops = ", ".join(f"{count} {op}" for op, count in Counter(p.node.op for p in self.cpu_nodes).most_common())
        fused = sum(len(island.nodes) for island in self.islands)
        return (
            f"{len(self.nodes)} nodes: {fused} in {len(self.islands)} fused graphs, "
            f"{len(self.kernels)} DirectML kernels of their own, {len(self.cpu_nodes)} on the CPU"
            f"{f' ({ops})' if ops else ''}; {len(self.copies)} copies a run"
        )


def place(view: GraphView) -> Placement:
    """Predict where each node of the graph and of its subgraphs runs."""
    order = view.in_runtime_order()
    types = [view.types(node) for node in order]
    kernels, refused = _find_kernels(view, order, types)
    refused.update(_shape_chain_refusals(cpu_preferred(view, kernels, order)))
    on_gpu = {index: kernel for index, kernel in kernels.items() if index not in refused} if refused else kernels
    unfused = _why_unfused(view, order, types, on_gpu)
    return Placement(
        view,
        [
            NodePlacement(node, True, "kernel", "", unfused[node.index])
            if node.index in on_gpu
            else NodePlacement(node, False, *refused[node.index])
            for node in order
        ],
        gather_islands(order, {index for index, why in unfused.items() if why is None}),
        _copies(view, order, on_gpu),
        {index: [place(inner) for inner in views] for index, views in view.inner.items()},
    )


_Types = tuple[ValueType | None, ...]
_Refusals = dict[int, tuple[Reason, str]]


def _find_kernels(view: GraphView, order: list[NodeView], types: list[_Types]) -> tuple[dict[int, Kernel], _Refusals]:
    kernels: dict[int, Kernel] = {}
    refused: _Refusals = {}
    taken: dict[Any, Kernel] = {}  # kernels that take the operator with these types: equal layers ask again
    for node, known in zip(order, types, strict=True):
        key = (node.op, node.domain, node.since, len(node.inputs), known)
        kernel = taken.get(key)
        if kernel is None:
            kernel, reason = find_kernel(view, node)
            if reason is not None:
                refused[node.index] = reason
            elif kernel is not None and kernel.query is None:
                taken[key] = kernel
        if kernel is not None:
            kernels[node.index] = kernel
    return kernels, refused


def _why_unfused(
    view: GraphView, order: list[NodeView], types: list[_Types], on_gpu: dict[int, Kernel]
) -> dict[int, str | None]:
    # The provider does not follow values that a subgraph captures, so one If turns fusion off for the graph that it
    # stands in. The bodies themselves are fused again.
    if any(view.inner.values()):
        return dict.fromkeys(on_gpu, "an If, Loop or Scan in this graph turns fusion off")
    return {
        node.index: why_not_fused(view, node, on_gpu[node.index], known)
        for node, known in zip(order, types, strict=True)
        if node.index in on_gpu
    }


def find_kernel(view: GraphView, node: NodeView) -> tuple[Kernel | None, tuple[Reason, str] | None]:
    """The registered kernel of a node, and why it is not used; both, when a known kernel is refused."""
    table = registry()
    kernel = table.find(node)
    if kernel is None:
        versions = table.versions(node)
        if not versions:
            return None, ("operator", f"DirectML has no kernel for {node.op}")
        listed = ", ".join(map(str, versions))
        return None, ("version", f"{node.op} is version {node.since} here and DirectML has kernels for {listed} only")
    types = tuple([view.type(name).dtype if name else None for name in (*node.inputs, *node.outputs)])
    wrong_type = table.wrong_type(node, kernel, types)
    if wrong_type:
        return None, ("type", wrong_type)
    form = refusal(kernel.query, node, view)
    if form:
        return kernel, ("form", f"DirectML's kernel refuses this form: {form}")
    if kernel.op not in CPU_UNDER_DIRECTML and not UNSUPPORTED_DEVICE_TYPES.isdisjoint(types):
        for position, (name, dtype) in enumerate(zip((*node.inputs, *node.outputs), types, strict=True)):
            is_cpu_input = position < len(node.inputs) and position in kernel.cpu_inputs
            if dtype in UNSUPPORTED_DEVICE_TYPES and not is_cpu_input:
                return kernel, ("device type", f"{name!r} is {dtype}, which the device cannot hold")
    return kernel, None


def _shape_chain_refusals(indices: set[int]) -> dict[int, tuple[Reason, str]]:
    why = "shape arithmetic on values that live in CPU memory: ONNX Runtime keeps it there"
    return dict.fromkeys(indices, ("shape chain", why))


def _copies(view: GraphView, order: list[NodeView], on_gpu: dict[int, Kernel]) -> list[Copy]:
    """Values made in one memory and read in the other; each is copied once, whatever the number of readers."""
    read_on_cpu: set[str] = set()
    for node in order:
        kernel = on_gpu.get(node.index)
        if kernel is None:
            read_on_cpu.update(node.inputs, view.captured(node) if node.nests else ())
        elif kernel.cpu_inputs:
            read_on_cpu.update(map(node.input, kernel.cpu_inputs))
    copies: list[Copy] = []
    for node in order:
        kernel = on_gpu.get(node.index)
        if kernel is None or kernel.writes_on_cpu:
            copies += [Copy(name, to_cpu=False) for name in node.outputs if _read_on_gpu(view, name, on_gpu)]
        elif not read_on_cpu.isdisjoint(node.outputs):
            copies += [Copy(name, to_cpu=True) for name in node.outputs if name and name in read_on_cpu]
    return copies


def _read_on_gpu(view: GraphView, name: str, on_gpu: dict[int, Kernel]) -> bool:
    return any(
        given == name and position not in on_gpu[reader.index].cpu_inputs
        for reader in view.readers(name)
        if reader.index in on_gpu
        for position, given in enumerate((*reader.inputs, *view.captured(reader)))
    )
