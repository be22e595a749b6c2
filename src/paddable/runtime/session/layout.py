"""Models that ONNX Runtime's layout level ends the process on, and what a session of one leaves out.

    Transpose, Cast, MatMul

Its optimiser changes the places of the first two, and its NchwcTransformer, on x86, then reads what is not there (1.32;
issue 28392 of microsoft/onnxruntime has it since 1.24). The Cast may stand in the file, or be one of those that ONNX
Runtime puts around the operators that have no kernel in half. So the file itself says whether it is one: it is walked
as protobuf, past its weights, since the runtime does not import onnx.

Fields: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from paddable.bundle.wire import Buffer, Field, Malformed, fields, varint

__all__ = ["left_out"]

_GRAPH, _FUNCTIONS = 7, 25
_NODES, _INITIALISERS, _VALUES = 1, 5, (11, 12, 13)
_FUNCTION_NODES = 7
_HALF = (10, 16)  # float16, bfloat16
_TYPES = (b"to", b"dtype", b"output_dtype", b"stash_type", b"softmax_precision")


def left_out(model: Path | bytes) -> list[str]:
    """The optimisers that a session of a model is to be opened without.

    Args:
        model: a file, or a serialised model; what cannot be read leaves nothing out.
    """
    with suppress(OSError, ValueError, Malformed):  # an empty file has no map
        if isinstance(model, bytes):
            return _asked(model)
        with model.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _asked(data)
    return []


def _asked(data: Buffer) -> list[str]:
    """Of the bytes of a model."""
    for part in fields(data, 0, len(data)):
        if part.number == _GRAPH and _ends_it(data, part, _NODES):
            return ["NchwcTransformer"]
        if part.number == _FUNCTIONS and _ends_it(data, part, _FUNCTION_NODES):
            return ["NchwcTransformer"]
    return []


def _ends_it(data: Buffer, graph: Field, nodes: int) -> bool:
    """Whether a graph or function has a value in half, or a Cast behind a Transpose."""
    transposed: set[bytes] = set()
    for part in fields(data, graph.start, graph.end):
        if part.number == nodes:
            node = _Node.read(data, part)
            if node.half or (node.op_type == b"Cast" and transposed.intersection(node.inputs)):
                return True
            if node.op_type == b"Transpose":
                transposed.update(node.outputs)
        elif nodes == _NODES and (
            (part.number == _INITIALISERS and _is_half(data, part, 2))
            or (part.number in _VALUES and any(_is_half(data, tensor, 1) for tensor in _tensors(data, part)))
        ):
            return True
    return False


class _Node(NamedTuple):
    """Names of what it reads and makes, and whether an attribute of it names or holds half."""

    op_type: bytes
    inputs: list[bytes]
    outputs: list[bytes]
    half: bool

    @classmethod
    def read(cls, data: Buffer, node: Field) -> _Node:
        texts: dict[int, list[bytes]] = {1: [], 2: [], 4: []}
        half = False
        for part in fields(data, node.start, node.end):
            if part.number in texts:
                texts[part.number].append(data[part.start : part.end])
            elif part.number == 5:
                half = half or _names_half(data, part)
        return cls(b"".join(texts[4]), texts[1], texts[2], half)


def _names_half(data: Buffer, attribute: Field) -> bool:
    """Whether an attribute is half as a type or a tensor, or a graph that has it."""
    name, number = b"", 0
    for part in fields(data, attribute.start, attribute.end):
        if part.number == 1:
            name = data[part.start : part.end]
        elif part.number == 3:
            number = varint(data, part.start, part.end)[0]
        elif (part.number == 5 and _is_half(data, part, 2)) or (part.number == 6 and _ends_it(data, part, _NODES)):
            return True
    return name in _TYPES and number in _HALF


def _tensors(data: Buffer, value: Field) -> Iterator[Field]:
    """The tensor type of a ValueInfoProto: its type is field 2, and a tensor's is field 1 of that."""
    for kind in fields(data, value.start, value.end):
        if kind.number == 2:
            yield from (part for part in fields(data, kind.start, kind.end) if part.number == 1)


def _is_half(data: Buffer, message: Field, number: int) -> bool:
    """Whether the type that a message has in a field is half; tensors have it in front of their numbers."""
    for part in fields(data, message.start, message.end):
        if part.number == number:
            return varint(data, part.start, part.end)[0] in _HALF
    return False
