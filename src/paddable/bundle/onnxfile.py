"""The metadata of an ``.onnx`` file, read without onnx: a walk over the top level of the protobuf that skips the graph.

Fields: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (ModelProto.metadata_props = 14,
StringStringEntryProto.key = 1, .value = 2).
"""

from __future__ import annotations

import mmap
import os

from paddable.bundle.wire import Buffer, Malformed, fields
from paddable.errors import UnreadableError

__all__ = ["read_entries"]

_METADATA_PROPS, _KEY, _VALUE = 14, 1, 2


def read_entries(path: str | os.PathLike[str]) -> dict[str, str]:
    """The metadata entries of an ONNX file.

    Costs a few reads whatever the size of the model: the graph is skipped, not parsed.

    Raises:
        UnreadableError: the file is absent, or no protobuf.
    """
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                return {}
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                entries = [
                    _texts(data, field.start, field.end)
                    for field in fields(data, 0, size)
                    if field.number == _METADATA_PROPS
                ]
    except OSError as error:
        raise UnreadableError(error.strerror or "cannot be read", where=str(path)) from error
    except (Malformed, UnicodeDecodeError) as error:
        raise UnreadableError("not an ONNX model, or cut short", where=str(path)) from error
    return {entry.get(_KEY, ""): entry.get(_VALUE, "") for entry in entries}


def _texts(data: Buffer, start: int, end: int) -> dict[int, str]:
    return {field.number: data[field.start : field.end].decode() for field in fields(data, start, end)}
