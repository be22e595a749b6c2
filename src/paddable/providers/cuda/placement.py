"""Where each node of a graph runs under CUDA, and what keeps the graph from being captured.

    placement = place(view_model(onnx.load(path, load_external_data=False)))
    print(placement)

Facts: ONNX Runtime's list of CUDA kernels, and its rules in ``cuda_execution_provider.cc`` (the forms that fall to the
CPU) and ``inference_session.cc`` (a session refuses to capture when a value is copied between the memories or the graph
has control flow). A value that a kernel reads in CPU memory is read once, while the graph is captured: when it depends
on the inputs, a replay would go on with the old one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from paddable.linter.view.graph import GraphView, NodeView
from paddable.providers.cpu_preferred import cpu_preferred
from paddable.providers.cuda.kernels import Kernel, find_kernel

__all__ = ["CudaPlacement", "place"]

_SHAPE_CHAIN = "shape arithmetic on values that live in CPU memory: ONNX Runtime keeps it there"
_ACTIVATIONS = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}


@dataclass
class CudaPlacement:
    """The placement of one graph, and of the subgraphs below it.

    Attributes:
        view: the graph.
        on_cpu: nodes on the CPU, and why.
        lacking: those of them that CUDA cannot run.
        host_reads: nodes on CUDA that read a value in CPU memory which depends on the inputs, and that value.
    """

    view: GraphView
    on_cpu: list[tuple[NodeView, str]]
    lacking: set[int]
    host_reads: list[tuple[NodeView, str]]
    subgraphs: list[CudaPlacement] = field(default_factory=list)

    def walk(self) -> Iterator[CudaPlacement]:
        """This graph and every graph inside it."""
        yield self
        for inner in self.subgraphs:
            yield from inner.walk()

    def runs(self, node: NodeView) -> bool:
        """Whether CUDA runs the node."""
        return all(node is not other for other, _ in self.on_cpu)

    @property
    def is_static(self) -> bool:
        """Whether every shape in the graph is fixed."""
        made = (name for node in self.view.nodes for name in node.outputs if name)
        return all(self.view.is_static(name) for name in (*self.view.inputs, *made))

    @property
    def capturable(self) -> bool:
        """Whether the provider can capture the graph and replay it for other inputs."""
        return self.is_static and not (self.on_cpu or self.host_reads or self.subgraphs)

    def to_json(self) -> dict[str, Any]:
        """A sentence, counts, CPU nodes and values read on the host, for ``--json``."""
        return {
            "summary": str(self),
            "nodes": len(self.view.nodes),
            "capturable": self.capturable,
            "cpu": [{"node": node.name, "op": node.op, "why": why} for node, why in self.on_cpu],
            "host_reads": [{"node": node.name, "op": node.op, "value": value} for node, value in self.host_reads],
        }

    def __str__(self) -> str:
        ops = ", ".join(f"{count} {op}" for op, count in Counter(node.op for node, _ in self.on_cpu).most_common())
        return (
            f"{len(self.view.nodes)} nodes: {len(self.on_cpu)} on the CPU{f' ({ops})' if ops else ''}; "
            f"{'can' if self.capturable else 'cannot'} be captured"
        )


def place(view: GraphView) -> CudaPlacement:
    """Predict where each node of the graph and of its subgraphs runs."""
    order = view.in_runtime_order()
    kernels: dict[int, Kernel] = {}
    reasons: dict[int, str] = {}
    for node in order:
        kernel = find_kernel(node, view)
        refused = kernel if isinstance(kernel, str) else _refused_form(node, view)
        if refused:
            reasons[node.index] = refused
        elif isinstance(kernel, Kernel):
            kernels[node.index] = kernel
    lacking = set(reasons)
    reasons.update(dict.fromkeys(cpu_preferred(view, kernels, order) - lacking, _SHAPE_CHAIN))
    return CudaPlacement(
        view,
        [(node, reasons[node.index]) for node in order if node.index in reasons],
        lacking,
        list(_host_reads(view, [node for node in order if node.index not in reasons], kernels)),
        [place(inner) for views in view.inner.values() for inner in views],
    )


def _host_reads(view: GraphView, on_cuda: list[NodeView], kernels: dict[int, Kernel]) -> Iterator[tuple[NodeView, str]]:
    for node in on_cuda:
        for position in kernels[node.index].cpu_inputs:
            name = node.input(position)
            if name and not view.is_constant(name):
                yield node, name


def _refused_form(node: NodeView, view: GraphView) -> str:
    """Why the provider leaves a node with a kernel to the CPU; empty when it takes it."""
    if node.op == "ConvTranspose" and not node.domain:
        pads = list(node.attribute("pads", []))
        if pads[: len(pads) // 2] != pads[len(pads) // 2 :]:
            return "CUDA's ConvTranspose takes symmetric pads only"
        if _text(node.attribute("auto_pad", "NOTSET")).startswith("SAME"):
            return "CUDA's ConvTranspose takes no auto_pad"
    if node.op in ("ArgMax", "ArgMin") and node.attribute("select_last_index", 0):
        return f"CUDA's {node.op} cannot select the last index"
    if node.op in _ACTIVATIONS and not node.domain:
        return _refused_recurrence(node)
    return ""


def _refused_recurrence(node: NodeView) -> str:
    asked = [_text(name).lower() for name in node.attribute("activations", [])]
    usual = _ACTIVATIONS[node.op]
    if asked and asked != [*usual] * (len(asked) // len(usual)):
        return f"CUDA's {node.op} has the usual activations only"
    if any(node.attribute(name, None) is not None for name in ("activation_alpha", "activation_beta", "clip")):
        return f"CUDA's {node.op} knows neither clip nor parameters of activations"
    if node.op == "LSTM" and node.attribute("input_forget", 0):
        return "CUDA's LSTM does not couple its gates"
    if node.op == "GRU" and not node.attribute("linear_before_reset", 0):
        return "CUDA's GRU wants linear_before_reset = 1"
    return "CUDA's LSTM has no peepholes" if node.op == "LSTM" and node.input(7) else ""


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
