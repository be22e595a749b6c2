"""The metadata of an ``.onnx`` file, read without onnx: a walk over the top level of the protobuf that skips the graph.

Fields and wire types: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (ModelProto.metadata_props = 14,
StringStringEntryProto.key = 1, .value = 2) and https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from paddable.errors import UnreadableError

__all__ = ["read_entries"]

_METADATA_PROPS, _KEY, _VALUE = 14, 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read_entries(path: str | os.PathLike[str]) -> dict[str, str]:
    """The metadata entries of an ONNX file.

    Costs a few reads whatever the size of the model: the graph is skipped, not parsed.

    Raises:
        UnreadableError: the file is absent, or no protobuf.
    """
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            entries = [_fields(file, end) for number, end in _walk(file, size) if number == _METADATA_PROPS]
    except OSError as error:
        raise UnreadableError(error.strerror or "cannot be read", where=str(path)) from error
    except (ValueError, EOFError) as error:
        raise UnreadableError("not an ONNX model, or cut short", where=str(path)) from error
    return {entry.get(_KEY, ""): entry.get(_VALUE, "") for entry in entries}


def _fields(file: BinaryIO, end: int) -> dict[int, str]:
    return {number: file.read(stop - file.tell()).decode() for number, stop in _walk(file, end)}


def _walk(file: BinaryIO, end: int) -> Iterator[tuple[int, int]]:
    """Number and end of each length-delimited field up to ``end``; the file stands at the field's first byte."""
    while file.tell() < end:
        tag = _varint(file)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            _varint(file)
        elif wire in (_FIXED64, _FIXED32):
            file.seek(8 if wire == _FIXED64 else 4, os.SEEK_CUR)
        elif wire == _BYTES and number:
            stop = _varint(file) + file.tell()
            if stop > end:
                raise EOFError
            yield number, stop
            file.seek(stop)
        else:
            raise ValueError(f"wire type {wire}")


def _varint(file: BinaryIO) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            raise EOFError
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    raise ValueError("varint too long")
