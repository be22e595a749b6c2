"""What rules look at: a graph in plain form, and what can be told about its values without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, Protocol

import numpy.typing as npt
import onnx_ir as ir

from paddable.graph.prepare.normalise import reads
from paddable.lint.shapes import Dim, inferred_shapes

__all__ = ["Kind", "LengthAxis", "RaggedInput", "Runner", "Subject"]

Array = npt.NDArray[Any]

Runner = Callable[[bytes, Mapping[str, Array]], Mapping[str, Array]]
"""Runs a serialised model on named inputs and gives its named outputs; raises what its runtime raises."""


class LengthAxis(Protocol):
    """A declared axis of time; `paddable.lengths` has the full declaration."""

    @property
    def input(self) -> str:
        """Name of the graph input."""

    @property
    def axis(self) -> int:
        """The axis; may be negative."""


class Kind(IntEnum):
    """What a value depends on; a value is of the highest kind among what it reads."""

    CONSTANT = 0
    SHAPES = 1
    """Sizes of the inputs, never their contents: shape arithmetic, positions, index tables."""
    DATA = 2


@dataclass(frozen=True)
class RaggedInput:
    """An axis of an input that looks like time."""

    value: ir.Value
    axis: int
    symbol: str | None

    def __str__(self) -> str:
        return f"axis {self.axis}" + (f" ({self.symbol!r})" if self.symbol else "") + f" of input {self.value.name!r}"


_SHAPE_READERS = {"Shape", "Size"}
_RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
_LENGTH_WORDS = ("len", "mask", "valid", "num_frames", "num_samples")


class Subject:
    """One model under lint.

    Args:
        model: in plain form (`normalise`).
        runner: see `Runner`.
        declarations: axes of time; none: every free axis but a batch axis.
    """

    def __init__(
        self, model: ir.Model, *, runner: Runner | None = None, declarations: Sequence[LengthAxis] = ()
    ) -> None:
        self.model = model
        self.runner = runner
        self._declarations = declarations

    def nodes(self, *op_types: str) -> Iterator[ir.Node]:
        """Nodes in order, those of branches included; of the named ONNX operators, or all."""
        for node in ir.traversal.RecursiveGraphIterator(self.model.graph):
            if not op_types or (not node.domain and node.op_type in op_types):
                yield node

    @property
    def inputs(self) -> list[ir.Value]:
        """What a caller feeds: graph inputs without those that have a default."""
        return [value for value in self.model.graph.inputs if value.const_value is None]

    @cached_property
    def ragged(self) -> list[RaggedInput]:
        """Axes of the inputs that look like time, or are declared so."""
        if self._declarations:
            by_name = {value.name: value for value in self.inputs}
            declared = [entry for entry in self._declarations if entry.input in by_name]
            return [self._ragged(by_name[entry.input], entry.axis) for entry in declared]
        return [
            self._ragged(value, axis)
            for value in self.inputs
            if value.dtype is not None and value.dtype.is_floating_point() and value.shape is not None
            if not _named_like_a_length(value)
            for axis, dim in enumerate(value.shape)
            # The first axis of several is the batch: free in most exports, and no time.
            if not isinstance(dim, int) and (axis > 0 or len(value.shape) == 1)
        ]

    def _ragged(self, value: ir.Value, axis: int) -> RaggedInput:
        assert value.shape is not None
        axis %= len(value.shape)
        dim = value.shape[axis]
        return RaggedInput(value, axis, None if isinstance(dim, int) else dim.value)

    @cached_property
    def length_inputs(self) -> list[ir.Value]:
        """Inputs that look like lengths or masks: integers of rank 0 or 1, booleans, or so named."""
        return [value for value in self.inputs if self._is_length(value)]

    def _is_length(self, value: ir.Value) -> bool:
        dtype = value.dtype
        if dtype is None or any(value is ragged.value for ragged in self.ragged):
            return False
        vector = value.shape is None or len(value.shape) <= 1
        return (dtype.is_integer() and vector) or dtype == ir.DataType.BOOL or _named_like_a_length(value)

    @cached_property
    def _kinds(self) -> dict[ir.Value, Kind]:
        kinds: dict[ir.Value, Kind] = {}

        def of(value: ir.Value) -> Kind:
            return Kind.CONSTANT if value.const_value is not None else kinds.get(value, Kind.DATA)

        for node in self.nodes():
            if node.op_type in _SHAPE_READERS and not node.domain:
                kind = Kind.SHAPES
            elif node.op_type in _RANDOM:
                kind = Kind.DATA
            else:
                kind = max((of(value) for value in reads(node)), default=Kind.CONSTANT)
            kinds.update(dict.fromkeys(node.outputs, kind))
        return kinds

    def kind(self, value: ir.Value | None) -> Kind:
        """What the value depends on; an input of a branch or of the graph counts as data."""
        if value is None or value.const_value is not None:
            return Kind.CONSTANT
        return self._kinds.get(value, Kind.DATA)

    def constant(self, value: ir.Value | None) -> Array | None:
        """Contents of a small constant (up to 1,024 elements); None for anything else."""
        if value is None:
            return None
        tensor = value.const_value
        producer = value.producer()
        if tensor is None and producer is not None and producer.op_type == "Constant":
            tensor = producer.attributes["value"].as_tensor() if "value" in producer.attributes else None
        return tensor.numpy() if tensor is not None and tensor.size <= 1024 else None

    @cached_property
    def _shapes(self) -> dict[str, tuple[Dim, ...]]:
        return inferred_shapes(self.model)

    def shape(self, value: ir.Value | None) -> tuple[Dim, ...] | None:
        """Inferred dims: a size, a symbol, or None for one that nothing is known about; None without a rank."""
        return None if value is None else self._shapes.get(value.name or "")

    def reaches(self, value: ir.Value) -> set[ir.Value]:
        """Every value that depends on ``value``, itself included."""
        reached = {value}
        for node in self.nodes():
            if any(read in reached for read in reads(node)):
                reached.update(node.outputs)
        return reached


def _named_like_a_length(value: ir.Value) -> bool:
    name = (value.name or "").lower()
    return any(word in name for word in _LENGTH_WORDS)
