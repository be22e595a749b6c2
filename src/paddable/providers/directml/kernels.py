"""DirectML's kernel registry, dumped from onnxruntime-directml 1.24.4: operators, versions, types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import onnx

from paddable.graph.contrib_signatures import CONTRIB_SIGNATURES
from paddable.linter.view.graph import NodeView

__all__ = ["Kernel", "Registry", "registry"]

# Device memory that the measured device lacks: even Cast to and from double went to the CPU.
UNSUPPORTED_DEVICE_TYPES = frozenset({"double", "bfloat16", "complex64", "complex128", "string"})
_ON_CPU = frozenset({"Shape", "Size"})  # write their result into CPU memory and read no data
# CPU kernels that DirectML registers under its own name; they accept sequences and optionals.
CPU_UNDER_DIRECTML = frozenset(
    {"If", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceLength", "SequenceErase", "SequenceInsert"}
    | {"OptionalGetElement", "OptionalHasElement"}
)


@dataclass(frozen=True)
class Kernel:
    """One registered kernel.

    Attributes:
        op: operator type.
        domain: operator domain, ``""`` for ai.onnx.
        since: the operator version that it implements, and the only one: the registry wants an exact match.
        types: element types allowed for each type constraint of the operator's schema.
        fusable: whether it can join a fused graph; None where nobody measured it (taken as no).
        cpu_inputs: inputs read on the CPU; a fused graph needs them to be initializers.
        input_count: the number of inputs that a fused graph accepts, None for any.
        query: name of the provider's support query, None when it asks none.
    """

    op: str
    domain: str
    since: int
    types: dict[str, frozenset[str]]
    fusable: bool | None
    cpu_inputs: tuple[int, ...] = ()
    input_count: int | None = None
    query: str | None = None

    @cached_property
    def writes_on_cpu(self) -> bool:
        """Whether the output lives in CPU memory although the kernel belongs to DirectML."""
        return self.op in _ON_CPU or self.op in CPU_UNDER_DIRECTML


class Registry:
    """All kernels, by domain, operator and version."""

    def __init__(self, table: dict[str, Any]) -> None:
        sets = {name: frozenset(members) for name, members in table["types"].items()}
        self.source: str = table["source"]
        self._wrong: dict[tuple[str, str, int, int, tuple[str | None, ...]], int | None] = {}
        self._found: dict[tuple[str, str, int], Kernel | None] = {}
        self._kernels = {
            key: {int(since): _kernel(key, int(since), row, sets) for since, row in versions.items()}
            for key, versions in table["kernels"].items()
        }

    def versions(self, node: NodeView) -> list[int]:
        """The operator versions that have a kernel, ascending; empty when DirectML does not know the operator."""
        return sorted(self._kernels.get(f"{node.domain}:{node.op}", {}))

    def all(self) -> Iterator[Kernel]:
        """Every kernel."""
        for versions in self._kernels.values():
            yield from versions.values()

    def find(self, node: NodeView) -> Kernel | None:
        """The kernel whose version is exactly the node's, whatever its types."""
        key = (node.domain, node.op, node.since)
        if key not in self._found:
            self._found[key] = self._kernels.get(f"{node.domain}:{node.op}", {}).get(node.since)
        return self._found[key]

    def wrong_type(self, node: NodeView, kernel: Kernel, types: tuple[str | None, ...]) -> str | None:
        """The first value whose type the kernel does not take, as text; None when all fit.

        Args:
            node: the node.
            kernel: its kernel.
            types: element types of its inputs and outputs, None for an absent or unknown one.
        """
        key = (kernel.domain, kernel.op, kernel.since, len(node.inputs), types)
        if key not in self._wrong:
            self._wrong[key] = _first_wrong(kernel, len(node.inputs), types)
        position = self._wrong[key]
        if position is None:
            return None
        constraint = _constraints(kernel, len(node.inputs), len(types))[position]
        listed = ", ".join(sorted(kernel.types[constraint]))
        return f"{(*node.inputs, *node.outputs)[position]!r} is {types[position]}; the kernel takes {listed}"


@cache
def registry() -> Registry:
    """The packaged registry."""
    return Registry(json.loads(files(__package__).joinpath("kernels.json").read_text(encoding="utf-8")))


def _kernel(key: str, since: int, row: dict[str, Any], sets: dict[str, frozenset[str]]) -> Kernel:
    types = {name: sets[members] for name, members in row["types"].items()}
    domain, op = key.split(":")
    cpu_inputs = tuple(row.get("cpu_inputs", ()))
    return Kernel(op, domain, since, types, row["fusable"], cpu_inputs, row.get("inputs"), row.get("query"))


def _first_wrong(kernel: Kernel, inputs: int, types: tuple[str | None, ...]) -> int | None:
    """Position of the first input or output whose type the kernel does not take."""
    for position, (constraint, dtype) in enumerate(zip(_constraints(kernel, inputs, len(types)), types, strict=True)):
        allowed = kernel.types.get(constraint)
        if allowed is not None and dtype is not None and dtype not in allowed:
            return position
    return None


def _constraints(kernel: Kernel, inputs: int, values: int) -> list[str]:
    """The type constraint of each input and output, ``""`` where there is none.

    Variadic operators repeat their last parameter.
    """
    listed: list[str] = []
    for count, names in zip((inputs, values - inputs), _signature(kernel.op, kernel.domain, kernel.since), strict=True):
        listed += [names[min(position, len(names) - 1)] if names else "" for position in range(count)]
    return listed


@cache
def _signature(op: str, domain: str, since: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if domain or (op, since) in CONTRIB_SIGNATURES:
        return CONTRIB_SIGNATURES.get((op, since), ((), ()))
    try:
        schema = onnx.defs.get_schema(op, since, domain)
    except onnx.defs.SchemaError:
        return (), ()
    return tuple(p.type_str for p in schema.inputs), tuple(p.type_str for p in schema.outputs)
