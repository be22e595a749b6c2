"""Writes ONNX graphs: a thin layer over onnx.helper that follows sizes and hides how operators differ by opset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from paddable.lengths import Length
from paddable.lengths import constant as fixed_size

__all__ = ["BATCH", "BOOL", "FLOAT", "INT32", "INT64", "Builder", "Shape", "Tensor", "ragged"]

FLOAT, INT64, INT32, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL
BATCH = "batch"

Choice = TypeVar("Choice")

Shape = tuple[Length, ...]


def ragged(size: Length) -> bool:
    """Whether a size changes with a length (the batch is no length)."""
    return bool(size.symbols - {BATCH})


def _shape(sizes: Sequence[Length | int]) -> Shape:
    return tuple(fixed_size(s) if isinstance(s, int) else s for s in sizes)


@dataclass(frozen=True)
class Tensor:
    """A value of the graph: name, element type and the size of each axis as a length."""

    name: str
    dtype: int
    shape: Shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    def size(self, axis: int) -> int:
        """The size of an axis that is constant."""
        return self.shape[axis].constant


@dataclass
class Builder:
    """A graph under construction.

    Attributes:
        random: the choices of the present step; every step has a generator of its own, so that a recipe can be shrunk.
        opset: version of the standard operators.
        outputs: what the graph returns; a step may add some.
        lengths: ``{symbol: input name}`` of inputs that hold a length (int64 ``[batch]``).
        masks: ``{symbol: input name}`` of inputs that are 1 on valid steps (int64 ``[batch, T]``).
    """

    random: np.random.Generator
    opset: int
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: list[onnx.TensorProto] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)
    lengths: dict[str, Tensor] = field(default_factory=dict)
    masks: dict[str, Tensor] = field(default_factory=dict)
    others: list[Tensor] = field(default_factory=list)
    count: int = 0

    # -- choices -----------------------------------------------------------------------------------------------

    def pick(self, options: Sequence[Choice]) -> Choice:
        return options[int(self.random.integers(len(options)))]

    def chance(self, probability: float = 0.5) -> bool:
        return bool(self.random.random() < probability)

    def between(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    # -- nodes -------------------------------------------------------------------------------------------------

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}_{self.count}"

    def ops(
        self, op_type: str, inputs: Sequence[Tensor | None], results: Sequence[tuple[int, Sequence[Length | int]]],
        domain: str = "", **attributes: object,
    ) -> list[Tensor]:  # fmt: skip
        """One node; its outputs have the given element types and shapes."""
        outputs = [Tensor(self.name(op_type.lower()), dtype, _shape(shape)) for dtype, shape in results]
        names = [i.name if i is not None else "" for i in inputs]
        attributes = {k: v for k, v in attributes.items() if v is not None}
        node = helper.make_node(
            op_type, names, [o.name for o in outputs], name=self.name(f"node_{op_type}"), domain=domain, **attributes
        )
        self.nodes.append(node)
        return outputs

    def op(
        self, op_type: str, *inputs: Tensor | None, shape: Sequence[Length | int] | None = None,
        dtype: int | None = None, domain: str = "", **attributes: object,
    ) -> Tensor:  # fmt: skip
        """A node with one output; by default of the broadcast shape and the first input's element type."""
        given = [i for i in inputs if i is not None]
        result = (given[0].dtype if dtype is None else dtype, self.broadcast(given) if shape is None else shape)
        return self.ops(op_type, inputs, [result], domain, **attributes)[0]

    @staticmethod
    def broadcast(tensors: Sequence[Tensor]) -> Shape:
        rank = max(t.rank for t in tensors)
        result = []
        for back in range(rank, 0, -1):
            sizes = [t.shape[t.rank - back] for t in tensors if t.rank >= back]
            result.append(next((s for s in sizes if s != fixed_size(1)), fixed_size(1)))
        return tuple(result)

    def constant(self, array: object, dtype: int = INT64) -> Tensor:
        """A constant, as an initialiser or as a Constant node."""
        data = np.asarray(array, dtype=helper.tensor_dtype_to_np_dtype(dtype))
        name = self.name("constant")
        proto = numpy_helper.from_array(data, name)
        if self.count % 3:
            self.initializers.append(proto)
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], name=self.name("node_Constant"), value=proto))
        return Tensor(name, dtype, _shape(data.shape))

    def floats(self, array: object) -> Tensor:
        return self.constant(array, FLOAT)

    def weight(self, *shape: int, fan_in: int | None = None, positive: bool = False) -> Tensor:
        """Random weights of a scale that keeps a sum over ``fan_in`` terms near one."""
        data = self.random.standard_normal(shape) / math.sqrt(fan_in or 1)
        return self.floats(np.abs(data) + 0.1 if positive else data)

    def output(self, tensor: Tensor) -> None:
        if all(tensor.name != o.name for o in self.outputs):
            self.outputs.append(tensor)

    # -- forms that differ by opset ----------------------------------------------------------------------------

    def unsqueeze(self, x: Tensor, *axes: int) -> Tensor:
        rank = x.rank + len(axes)
        old = iter(x.shape)
        shape = [fixed_size(1) if i in {a % rank for a in axes} else next(old) for i in range(rank)]
        return self._with_axes("Unsqueeze", x, axes, shape, since=13)

    def squeeze(self, x: Tensor, *axes: int) -> Tensor:
        shape = [s for i, s in enumerate(x.shape) if i not in {a % x.rank for a in axes}]
        return self._with_axes("Squeeze", x, axes, shape, since=13)

    def reduce(self, op_type: str, x: Tensor, *axes: int, keepdims: int = 1) -> Tensor:
        dropped = {a % x.rank for a in axes}
        shape = [fixed_size(1) if i in dropped else s for i, s in enumerate(x.shape) if keepdims or i not in dropped]
        return self._with_axes(op_type, x, axes, shape, since=13 if op_type == "ReduceSum" else 18, keepdims=keepdims)

    def _with_axes(
        self, op_type: str, x: Tensor, axes: Sequence[int], shape: Sequence[Length], since: int, **attributes: object
    ) -> Tensor:
        if self.opset >= since:
            return self.op(op_type, x, self.constant(list(axes)), shape=shape, **attributes)
        return self.op(op_type, x, shape=shape, axes=list(axes), **attributes)

    def split(self, x: Tensor, axis: int, parts: Sequence[int]) -> list[Tensor]:
        results = [
            (x.dtype, [fixed_size(p) if i == axis % x.rank else s for i, s in enumerate(x.shape)]) for p in parts
        ]
        if self.opset >= 13:
            return self.ops("Split", [x, self.constant(list(parts))], results, axis=axis)
        return self.ops("Split", [x], results, axis=axis, split=list(parts))

    def transpose(self, x: Tensor, *order: int) -> Tensor:
        return self.op("Transpose", x, shape=[x.shape[i] for i in order], perm=list(order))

    def cast(self, x: Tensor, dtype: int) -> Tensor:
        return self.op("Cast", x, dtype=dtype, to=dtype)

    # -- sizes -------------------------------------------------------------------------------------------------

    def dim(self, x: Tensor, axis: int, scalar: bool = False) -> Tensor:
        """The size of an axis, int64 ``[1]`` or ``[]``, in one of the ways in which exporters write it."""
        axis %= x.rank
        if self.opset >= 15 and self.chance():
            found = self.op("Shape", x, shape=[1], dtype=INT64, start=axis, end=axis + 1)
            return self.squeeze(found, 0) if scalar else found
        whole = self.op("Shape", x, shape=[x.rank], dtype=INT64)
        if self.chance():
            one = self.op("Gather", whole, self.constant(axis), shape=[], axis=0)
            return one if scalar else self.unsqueeze(one, 0)
        one = self.op("Gather", whole, self.constant([axis]), shape=[1], axis=0)
        return self.squeeze(one, 0) if scalar else one

    def calc(self, op_type: str, a: Tensor, b: Tensor | int) -> Tensor:
        """Arithmetic on sizes."""
        other = b if isinstance(b, Tensor) else self.constant([b] if a.rank else b)
        return self.op(op_type, a, other)

    def rows(self, x: Tensor) -> int | Tensor:
        """The batch as the first target size of a Reshape: a constant, a copy, or computed."""
        if x.shape[0].is_constant:
            return x.size(0)
        return 0 if self.chance() else self.dim(x, 0)

    def free(self, x: Tensor, axis: int) -> int | Tensor:
        """The only ragged target size of a Reshape: inferred or computed."""
        return -1 if self.chance() else self.dim(x, axis)

    def reshape(self, x: Tensor, sizes: Sequence[Length | int | Tensor], shape: Sequence[Length | int]) -> Tensor:
        """Reshape to constants and computed sizes ([1] tensors) joined by Concat, as exporters write it."""
        if all(isinstance(s, int) for s in sizes):
            return self.op("Reshape", x, self.constant(list(sizes)), shape=shape)
        parts = [s if isinstance(s, Tensor) else self.constant([s]) for s in sizes]
        target = self.op("Concat", *parts, shape=[len(parts)], axis=0) if len(parts) > 1 else parts[0]
        return self.op("Reshape", x, target, shape=shape)

    def slice(
        self, x: Tensor, axis: int, start: int | Tensor, end: int | Tensor, size: Length | int, step: int | None = None
    ) -> Tensor:
        bounds = [b if isinstance(b, Tensor) else self.constant([b]) for b in (start, end)]
        steps = [self.constant([step])] if step is not None else []
        shape = [size if i == axis % x.rank else s for i, s in enumerate(x.shape)]
        return self.op("Slice", x, *bounds, self.constant([axis]), *steps, shape=shape)

    # -- layouts -----------------------------------------------------------------------------------------------

    def time_axis(self, x: Tensor) -> int:
        """The ragged axis of a stream ``[batch, channels, time]`` or ``[batch, time, channels]``."""
        return next(i for i, s in enumerate(x.shape) if ragged(s))

    def time_last(self, x: Tensor) -> Tensor:
        return x if self.time_axis(x) == 2 else self.transpose(x, 0, 2, 1)

    def time_middle(self, x: Tensor) -> Tensor:
        return x if self.time_axis(x) == 1 else self.transpose(x, 0, 2, 1)

    def linear(self, x: Tensor, width: int, bias: bool | None = None) -> Tensor:
        """MatMul with weights on the last axis."""
        inside = x.size(-1)
        result = self.op("MatMul", x, self.weight(inside, width, fan_in=inside), shape=[*x.shape[:-1], width])
        if self.chance(0.7) if bias is None else bias:
            result = self.op("Add", result, self.weight(width))
        return result
