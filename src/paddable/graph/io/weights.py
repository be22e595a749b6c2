"""Weights stay in their file: tensors that view a memory-mapped file instead of copying it.

Both places where ONNX keeps a large tensor come out alike: ``raw_data`` in the model file, and a data file beside it.
"""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from paddable.bundle.wire import LEN, Buffer, encode_len, fields
from paddable.errors import UnreadableError

__all__ = ["WeightFiles", "cut_weights"]

_SMALL = 16 * 1024
"""Bytes below which a tensor stays in the protobuf message: a view would cost more than the copy."""

_HOLDERS = {"ModelProto", "GraphProto", "FunctionProto", "NodeProto", "AttributeProto"}
"""Messages in which a tensor can lie."""

_RAW_DATA = onnx.TensorProto.DESCRIPTOR.fields_by_name["raw_data"].number


def cut_weights(data: Buffer, file_name: str) -> bytes:
    """Serialised model without its large tensors, which become external references into ``file_name``, the same file.

    The result is valid ONNX as it stands: external data may lie in any file, at any offset.

    Raises:
        Malformed: when ``data`` is not a protobuf message.
    """

    def cut(start: int, stop: int, message: Any) -> bytes:
        if stop - start < _SMALL:
            return data[start:stop]
        if message.name == "TensorProto":
            return _refer(data, start, stop, file_name)
        out = bytearray()
        for field in fields(data, start, stop):
            known = message.fields_by_number.get(field.number)
            inner = known.message_type if known is not None and field.wire_type == LEN else None
            if inner is not None and (inner.name in _HOLDERS or inner.name == "TensorProto"):
                payload = cut(field.start, field.end, inner)
                out += encode_len(field.number, len(payload)) + payload
            else:
                out += data[field.key_at : field.end]
        return bytes(out)

    # Even a small file is walked once at this level: protobuf's own parser does not tell truncated from foreign.
    for _ in fields(data, 0, len(data)):
        pass
    whole: bytes = cut(0, len(data), onnx.ModelProto.DESCRIPTOR)
    return whole


def _refer(data: Buffer, start: int, stop: int, file_name: str) -> bytes:
    """The tensor ``data[start:stop]`` with its raw data named by place instead of held."""
    kept, raw = bytearray(), None
    for field in fields(data, start, stop):
        if field.number == _RAW_DATA:
            raw = field
        else:
            kept += data[field.key_at : field.end]
    if raw is None:  # float_data and its kin: rare, old and small in practice
        return data[start:stop]
    reference = onnx.TensorProto(data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", file_name), ("offset", raw.start), ("length", raw.end - raw.start)):
        reference.external_data.add(key=key, value=str(value))
    kept += reference.SerializeToString(deterministic=True)
    return bytes(kept)


class WeightFiles:
    """The data files of one model: finds them, maps each once and makes tensors that view them.

    Args:
        folder: the folder of the model file; locations are relative to it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps: dict[Path, Buffer] = {}

    def view(self, tensor: ir.ExternalTensor) -> ir.Tensor[np.ndarray] | ir.PackedTensor[np.ndarray]:
        """A read-only tensor over the mapped bytes; nothing is read until its values are.

        Raises:
            UnreadableError: naming tensor and file, when the file is absent, too short, or outside the model's folder.
        """
        name, dtype = tensor.name, tensor.dtype
        location = os.fspath(tensor.location)
        size, offset = tensor.nbytes, tensor.offset or 0
        if tensor.length is not None and tensor.length != size:
            raise UnreadableError(
                f"tensor {name!r} has {tensor.length} bytes of data, but {dtype} {list(tensor.shape)} takes {size}",
                where=location,
                fix="the file is damaged or was edited by hand; export the model again",
            )
        data = self._map(location, name)
        if offset + size > len(data):
            raise UnreadableError(
                f"tensor {name!r} should end at byte {offset + size}, but the file has {len(data)}",
                where=location,
                why="the weights are incomplete",
                fix="copy or download the data file again",
            )
        packed = dtype.bitwidth < 8
        stored = np.dtype(np.uint8) if packed else dtype.numpy()
        count = size if packed else tensor.size
        values = np.frombuffer(data, stored, count, offset) if count else np.empty(0, stored)
        about = {"name": name, "doc_string": tensor.doc_string, "metadata_props": dict(tensor.metadata_props)}
        if packed:
            return ir.PackedTensor(values, dtype, shape=tensor.shape, **about)  # type: ignore[arg-type]
        return ir.Tensor(values.reshape(tensor.shape.numpy()), dtype, shape=tensor.shape, **about)  # type: ignore[arg-type]

    def _map(self, location: str, tensor: str | None) -> Buffer:
        path = self._find(location, tensor)
        if path not in self._maps:
            try:
                with path.open("rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    self._maps[path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
            except OSError as error:
                raise UnreadableError(
                    f"external data of tensor {tensor!r} cannot be read: {error.strerror}",
                    where=location,
                    why="the weights live in that file",
                    fix=f"put it into {self._folder} (a model and its data file travel together)",
                ) from None
        return self._maps[path]

    def _find(self, location: str, tensor: str | None) -> Path:
        """The file of a location; a path written on Windows is understood everywhere.

        Only the text is judged, links are followed: download caches store models as links to files elsewhere.
        """
        portable = location.replace("\\", "/")
        inside = os.path.normpath(portable)
        if not portable or inside.startswith(("..", "/")) or re.match(r"[A-Za-z]:", inside):
            raise UnreadableError(
                f"external data of tensor {tensor!r} lies outside the model's folder",
                where=location,
                why="a model must not read other files of this machine",
                fix="move the data file beside the model and save the model again with a relative location",
            )
        literal = self._folder / location
        return literal if literal.exists() else self._folder / inside
