"""The CUDA provider's kernels: operators, versions, types, and what they read and write in CPU memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import onnx

from paddable.linter.view.graph import GraphView, NodeView

__all__ = ["Kernel", "find_kernel"]

# From the kernels' registrations (`InputMemoryType(OrtMemTypeCPUInput, n)`), which the generated list leaves out.
_CPU_INPUTS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("Expand", "Reshape", "Squeeze", "Unsqueeze", "Split", "Tile", "TopK", "Trilu", "CumSum"), (1,)),
    **dict.fromkeys(("Resize", "Pad"), (1, 2, 3)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (4,)),
    **dict.fromkeys(("ConstantOfShape", "If"), (0,)),
    **dict.fromkeys(("OneHot", "Dropout"), (1, 2)),
    "Slice": (1, 2, 3, 4),
    "Range": (0, 1, 2),
    "Loop": (0, 1),
    "MatMulInteger": (2, 3),
    "NonMaxSuppression": (2, 3, 4),
    "Upsample": (1,),
}
_ON_CPU = frozenset({"Shape", "Size", "SequenceLength"})


@dataclass(frozen=True)
class Kernel:
    """One registered kernel.

    Attributes:
        op: operator type.
        types: element types allowed for each type constraint of the operator's schema.
    """

    op: str
    types: dict[str, frozenset[str]]

    @property
    def cpu_inputs(self) -> tuple[int, ...]:
        """Inputs that it reads in CPU memory."""
        return (1,) if self.op.startswith("Reduce") else _CPU_INPUTS.get(self.op, ())

    @property
    def writes_on_cpu(self) -> bool:
        """Whether its output lies there."""
        return self.op in _ON_CPU


def find_kernel(node: NodeView, view: GraphView) -> Kernel | str:
    """The kernel that the provider has for a node, or why it has none."""
    table = _table()
    rows = table["kernels"].get(f"{node.domain}:{node.op}")
    if not rows:
        return f"CUDA has no kernel for {node.op}"
    fitting = [row for row in rows if row[0] == node.since or (row[1] is not None and row[0] <= node.since <= row[1])]
    if not fitting:
        return f"CUDA's kernels for {node.op} do not know its version {node.since}"
    wrong = ""
    for _, _, types in fitting:
        kernel = Kernel(node.op, {name: table["sets"][members] for name, members in types.items()})
        wrong = _wrong_type(node, kernel, view)
        if not wrong:
            return kernel
    return wrong


def _wrong_type(node: NodeView, kernel: Kernel, view: GraphView) -> str:
    for name, constraint in _typed_values(node):
        allowed, dtype = kernel.types.get(constraint), view.dtype(name)
        if allowed is not None and dtype is not None and dtype not in allowed:
            return f"{name!r} is {dtype}; CUDA's {node.op} takes {', '.join(sorted(allowed))}"
    return ""


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(files(__package__).joinpath("kernels.json").read_text(encoding="utf-8"))
    return {"kernels": table["kernels"], "sets": {name: frozenset(names) for name, names in table["types"].items()}}


def _typed_values(node: NodeView) -> Iterator[tuple[str, str]]:
    """Each present input and output with the type constraint of the operator's schema; the last one repeats."""
    for names, constraints in zip(
        (node.inputs, node.outputs), _signature(node.op, node.domain, node.since), strict=True
    ):
        for position, name in enumerate(names):
            if name and constraints:
                yield name, constraints[min(position, len(constraints) - 1)]


@cache
def _signature(op: str, domain: str, since: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        schema = onnx.defs.get_schema(op, since, domain)
    except onnx.defs.SchemaError:
        return (), ()
    return tuple(p.type_str for p in schema.inputs), tuple(p.type_str for p in schema.outputs)
