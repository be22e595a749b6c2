"""Element type and shape of a value, decoded once for all values that have the same.

A graph of thousands of values has far fewer types, and decoding a message dim by dim is what costs: equal messages are
known by their bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import onnx

__all__ = ["TYPE_NAMES", "UNKNOWN", "Dim", "TypeReader", "ValueType"]

Dim = int | str | None
"""A size, a symbol, or nothing known."""

TYPE_NAMES: dict[int, str] = {value: name.lower() for name, value in onnx.TensorProto.DataType.items()}


class ValueType:
    """One type; equal types of one reader are the same object. Not to be changed.

    Attributes:
        dtype: element type as ONNX spells it in kernel registries: ``float``, ``int64``; None for a non-tensor.
        shape: the dims; None without a known rank.
        static: whether every dim is a number.
        empty: whether a dim is 0.
        shown: the shape as text.
    """

    __slots__ = ("dtype", "empty", "shape", "shown", "static")

    def __init__(self, dtype: str | None, shape: tuple[Dim, ...] | None) -> None:
        self.dtype = dtype
        self.shape = shape
        self.static = shape is not None and all(type(dim) is int for dim in shape)
        self.empty = shape is not None and 0 in shape
        self.shown = "unknown" if shape is None else str(list(shape))


_MADE_UP = re.compile(rb"unk__\d+")
"""A symbol that shape inference made up, a new one for each value: it says that nothing is known."""

UNKNOWN = ValueType(None, None)


class TypeReader:
    """Decodes value infos."""

    def __init__(self) -> None:
        self._by_bytes: dict[bytes, ValueType] = {}
        self._of: dict[tuple[str | None, tuple[Dim, ...] | None], ValueType] = {}
        self._joined: dict[tuple[ValueType, ValueType], ValueType] = {}

    @property
    def highest_rank(self) -> int:
        """The highest rank of any type that was met."""
        return max((len(shape or ()) for _, shape in self._of), default=0)

    def met(self, dtype: str) -> bool:
        """Whether any value has that element type."""
        return any(known == dtype for known, _ in self._of)

    def read(self, infos: Iterable[onnx.ValueInfoProto]) -> dict[str, ValueType]:
        """The types that value infos state, by name."""
        by_bytes = self._by_bytes
        as_bytes = onnx.TypeProto.SerializeToString  # a message looks for each name among its fields first
        types: dict[str, ValueType] = {}
        for info in infos:
            message = info.type
            key = as_bytes(message)
            found = by_bytes.get(key)
            if found is None:
                alike = _MADE_UP.sub(b"", key)
                found = by_bytes.get(alike)
                if found is None:
                    found = by_bytes[alike] = self._decode(message)
                by_bytes[key] = found
            types[info.name] = found
        return types

    def make(self, dtype: str | None, shape: tuple[Dim, ...] | None) -> ValueType:
        """The type with these parts."""
        key = (dtype, shape)
        found = self._of.get(key)
        if found is None:
            found = self._of[key] = ValueType(dtype, shape)
        return found

    def join(self, inferred: ValueType, annotated: ValueType) -> ValueType:
        """What was inferred, completed by the file's own annotation as ONNX Runtime completes it."""
        if inferred.dtype is not None and (inferred.static or annotated.shape is None):
            return inferred
        found = self._joined.get((inferred, annotated))
        if found is None:
            shape = _completed(inferred.shape, annotated.shape)
            found = self._joined[inferred, annotated] = self.make(inferred.dtype or annotated.dtype, shape)
        return found

    def without_sizes(self, known: ValueType) -> ValueType:
        """The element type and the rank alone."""
        return self.make(known.dtype, None if known.shape is None else (None,) * len(known.shape))

    def _decode(self, message: onnx.TypeProto) -> ValueType:
        if not message.HasField("tensor_type"):
            return UNKNOWN
        tensor = message.tensor_type
        dims = tensor.shape.dim if tensor.HasField("shape") else None
        shape = None if dims is None else tuple([_dim(dim) for dim in dims])
        return self.make(TYPE_NAMES[tensor.elem_type], shape)


def _dim(message: onnx.TensorShapeProto.Dimension) -> Dim:
    name = message.dim_param
    if name:
        return None if name.startswith("unk__") else name
    return message.dim_value if message.HasField("dim_value") else None


def _completed(inferred: tuple[Dim, ...] | None, annotated: tuple[Dim, ...] | None) -> tuple[Dim, ...] | None:
    if inferred is None or annotated is None or len(inferred) != len(annotated):
        return annotated if inferred is None else inferred
    if all(isinstance(dim, int) for dim in inferred):
        return inferred
    pairs = zip(inferred, annotated, strict=True)
    return tuple(a if isinstance(a, int) else b if isinstance(b, int) else a or b for a, b in pairs)
