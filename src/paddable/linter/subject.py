"""The model under lint: what a caller feeds it, which axes look like time, and what can be told without a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, Protocol

import numpy.typing as npt
import onnx_ir as ir

from paddable.linter.view.folding import view_model
from paddable.linter.view.graph import Dim, GraphView, NodeView
from paddable.linter.view.light import light_proto

__all__ = ["Array", "Kind", "LengthAxis", "RaggedInput", "Runner", "Subject"]

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

    name: str
    axis: int
    symbol: str | None

    def __str__(self) -> str:
        return f"axis {self.axis}" + (f" ({self.symbol!r})" if self.symbol else "") + f" of input {self.name!r}"


_SHAPE_READERS = {"Shape", "Size"}
_RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
_LENGTH_WORDS = ("len", "mask", "valid", "num_frames", "num_samples")


class Subject:
    """One model under lint.

    Args:
        model: the model; None where only its structure is at hand, and then nothing is run and no weight is read.
        view: its main graph; None: as the file is written, where no annotation of a size is believed and equal nodes
            stay apart.
        runner: see `Runner`.
        declarations: axes of time; none: every free axis but a batch axis.
    """

    def __init__(
        self,
        model: ir.Model | None,
        view: GraphView | None = None,
        *,
        runner: Runner | None = None,
        declarations: Sequence[LengthAxis] = (),
    ) -> None:
        self.model = model
        self.runner = runner
        self._view = view
        self._declarations = declarations

    @cached_property
    def view(self) -> GraphView:
        """The main graph."""
        if self._view is not None:
            return self._view
        assert self.model is not None
        return view_model(light_proto(self.model), trusting=False, merging=False)

    @cached_property
    def inputs(self) -> list[str]:
        """What a caller feeds: graph inputs without those that have a default."""
        defaults = {tensor.name for tensor in self.view.proto.initializer}
        return [value.name for value in self.view.proto.input if value.name not in defaults]

    @cached_property
    def ragged(self) -> list[RaggedInput]:
        """Axes of the inputs that look like time, or are declared so."""
        if self._declarations:
            return [self._ragged(entry.input, entry.axis) for entry in self._declarations if entry.input in self.inputs]
        features = [n for n in self.inputs if _is_real(self.view.dtype(n)) and not _named_like_a_length(n)]
        return [
            self._ragged(name, axis)
            for name, dims in ((name, self.view.shape(name) or ()) for name in features)
            for axis, dim in enumerate(dims)
            # The first axis of several is the batch: free in most exports, and no time.
            if not isinstance(dim, int) and (axis > 0 or len(dims) == 1)
        ]

    def _ragged(self, name: str, axis: int) -> RaggedInput:
        dims = self.view.shape(name)
        assert dims is not None
        axis %= len(dims)
        dim: Dim = dims[axis]
        return RaggedInput(name, axis, dim if isinstance(dim, str) else None)

    @cached_property
    def length_inputs(self) -> list[str]:
        """Inputs that look like lengths or masks: integers of rank 0 or 1, booleans, or so named."""
        return [name for name in self.inputs if self._is_length(name)]

    def _is_length(self, name: str) -> bool:
        dtype, dims = self.view.dtype(name), self.view.shape(name)
        if dtype is None or any(name == ragged.name for ragged in self.ragged):
            return False
        vector = dims is None or len(dims) <= 1
        return (vector and dtype.startswith(("int", "uint"))) or dtype == "bool" or _named_like_a_length(name)

    def kind(self, view: GraphView, name: str) -> Kind:
        """What a value that a graph reads depends on; an input of a body or of the model counts as data."""
        return _kind(self._kinds, view, name)

    @cached_property
    def _kinds(self) -> _Kinds:
        kinds: _Kinds = {}
        _tell_kinds(kinds, self.view)
        return kinds

    def is_alive(self, node: NodeView) -> bool:
        """Whether an output of the model depends on a node."""
        return node in self._alive

    @cached_property
    def _alive(self) -> set[NodeView]:
        alive: set[NodeView] = set()
        waiting = [(self.view, name) for name in self.view.outputs]
        while waiting:
            view, name = waiting.pop()
            node = view.producers.get(name)
            if node is None and view.outer is not None:
                waiting.append((view.outer, name))
            elif node is not None and node not in alive:
                alive.add(node)
                waiting += [(view, read) for read in node.inputs]
                waiting += [(inner, made) for inner in view.inner.get(node.index, ()) for made in inner.outputs]
        return alive

    def reaches(self, name: str) -> set[str]:
        """Every value that depends on a value, itself included."""
        reached = {name}

        def walk(view: GraphView) -> None:
            for node in view.nodes:
                if not reached.isdisjoint(_reads(view, node)):
                    reached.update(filter(None, node.outputs))
                for inner in view.inner.get(node.index, ()):
                    walk(inner)

        walk(self.view)
        return reached


_Kinds = dict[GraphView, dict[str, Kind]]


def _tell_kinds(kinds: _Kinds, view: GraphView) -> None:
    told = kinds[view] = {}
    for node in view.nodes:
        for inner in view.inner.get(node.index, ()):
            _tell_kinds(kinds, inner)
        if node.op in _SHAPE_READERS and not node.domain:
            kind = Kind.SHAPES
        elif node.op in _RANDOM:
            kind = Kind.DATA
        else:
            kind = max((_kind(kinds, view, name) for name in _reads(view, node)), default=Kind.CONSTANT)
        told.update(dict.fromkeys(node.outputs, kind))


def _kind(kinds: _Kinds, view: GraphView, name: str) -> Kind:
    if not name or view.is_constant(name):
        return Kind.CONSTANT
    seen_from: GraphView | None = view
    while seen_from is not None:
        known = kinds.get(seen_from, {}).get(name)
        if known is not None:
            return known
        seen_from = seen_from.outer
    return Kind.DATA


def _reads(view: GraphView, node: NodeView) -> list[str]:
    """What a node reads, in its bodies too."""
    return [name for name in (*node.inputs, *view.captured(node)) if name]


def _is_real(dtype: str | None) -> bool:
    return dtype is not None and (dtype.startswith("float") or dtype in ("double", "bfloat16"))


def _named_like_a_length(name: str) -> bool:
    return any(word in name.lower() for word in _LENGTH_WORDS)
