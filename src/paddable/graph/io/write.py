"""Writes IR models: same input, same bytes; weights streamed, never copied; nothing half-written on failure.

A model file is one message: the structure is serialised by onnx-ir without its initialisers, which are then framed one
by one straight from where they lie. Above 1.5 GB, or on request, they go to one aligned data file instead.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import onnx
import onnx_ir as ir

from paddable.bundle.cannot_write import CannotWrite
from paddable.bundle.wire import encode_len
from paddable.errors import MisuseError, exists_already
from paddable.findings import portable_paths
from paddable.graph.trace import STACK_TRACE

__all__ = [
    "INLINE_BELOW",
    "CannotWrite",
    "Stored",
    "append_metadata",
    "structure_proto",
    "to_proto",
    "write_model",
    "write_shared",
]

EXTERNAL_ABOVE = 1_500_000_000
"""Bytes of weights above which they leave the model file: protobuf ends at 2 GiB."""

_PROTOBUF_LIMIT = 2**31 - 1
INLINE_BELOW = 1024
"""Bytes below which a weight stays in the model file: runtimes read such constants while they infer shapes."""

_GRAPH = onnx.ModelProto.DESCRIPTOR.fields_by_name["graph"].number
_INITIALIZER = onnx.GraphProto.DESCRIPTOR.fields_by_name["initializer"].number
_RAW_DATA = onnx.TensorProto.DESCRIPTOR.fields_by_name["raw_data"].number


def write_model(
    model: ir.Model,
    path: str | os.PathLike[str],
    *,
    external_data: bool | None = None,
    force: bool = True,
    keep_traces: bool = True,
    stored: Stored | None = None,
) -> Path:
    """Writes a model, and its data file ``<name>.onnx.data`` beside it where it has one.

    Args:
        model: the model; it is not changed.
        path: the file to write.
        external_data: weights into a data file; None: above 1.5 GB of them.
        force: replace an existing file.
        keep_traces: keep absolute source paths in traces; otherwise they become relative (`findings.portable_paths`).
        stored: as in `write_shared`, for a model with a data file.

    Returns:
        ``path``.

    Raises:
        CannotWrite: the system refuses it; nothing is left behind.
        MisuseError: it exists already.
    """
    path = Path(path)
    size = sum(value.const_value.nbytes for value in _initialisers(model))
    external = size > EXTERNAL_ABOVE if external_data is None else external_data
    if external:
        data_file = path.with_name(path.name + ".data")
        write_shared({path.name: model}, data_file, force=force, keep_traces=keep_traces, stored=stored)
        return path
    if size > _PROTOBUF_LIMIT:
        raise MisuseError(
            f"{size / 1e9:.1f} GB of weights do not fit into one .onnx file",
            where=str(path),
            why="protobuf ends at 2 GiB",
            fix="leave external_data unset, or set it",
        )
    with _beside([path], force) as (file,):
        _write_file(file, model, {}, keep_traces)
    return path


def write_shared(
    models: Mapping[str, ir.Model],
    data_file: str | os.PathLike[str],
    *,
    force: bool = True,
    keep_traces: bool = True,
    stored: Stored | None = None,
) -> None:
    """Writes several models whose weights lie in one data file, equal weights once.

    Args:
        models: by file name, in the folder of ``data_file``; they are not changed.
        data_file: the data file to write.
        force: replace existing files.
        keep_traces: as in `write_model`.
        stored: of a folder under construction: weights that lie in its data files already, where the models refer to
            them. What is written now is added, to ``data_file`` too if it exists.

    Raises:
        MisuseError: the place cannot be written; nothing is left behind.
    """
    data_file = Path(data_file)
    places = [data_file.with_name(name) for name in models]
    opened = _beside([data_file, *places], force) if stored is None else _grown(data_file, places, force)
    with opened as (data, *files):
        pool = _Pool(data, data_file.name, stored if stored is not None else Stored())
        for file, model in zip(files, models.values(), strict=True):
            found = {str(value.name): pool.place(value.const_value) for value in _initialisers(model)}
            _write_file(file, model, {name: place for name, place in found.items() if place}, keep_traces)


def append_metadata(path: str | os.PathLike[str], key: str, value: str) -> None:
    """Adds a metadata entry to a model file that is written already, at a cost that is not the model's.

    One protobuf message behind another is their union, and their lists are joined:
    https://protobuf.dev/programming-guides/encoding/#last-one-wins

    Raises:
        OSError: the system refuses.
    """
    proto = onnx.ModelProto()
    proto.metadata_props.add(key=key, value=value)
    with Path(path).open("ab") as file:
        file.write(proto.SerializeToString(deterministic=True))


def to_proto(model: ir.Model, *, keep_traces: bool = True) -> onnx.ModelProto:
    """The model as a ModelProto in memory, weights included (a copy); equal to what `write_model` writes inline."""
    proto = structure_proto(model, keep_traces)
    for value in _initialisers(model):
        tensor = proto.graph.initializer.add()
        tensor.CopyFrom(_head(value))
        if value.const_value.dtype == ir.DataType.STRING:
            continue
        tensor.raw_data = value.const_value.tobytes()
    return proto


class _Initialiser:
    """One that has a value."""

    __slots__ = ("const_value", "name")

    def __init__(self, name: str, const_value: ir.TensorProtocol) -> None:
        self.name, self.const_value = name, const_value


def _initialisers(model: ir.Model) -> list[_Initialiser]:
    pairs = ((value.name, value.const_value) for value in model.graph.initializers.values())
    return [_Initialiser(name, tensor) for name, tensor in pairs if name and tensor is not None]


def structure_proto(model: ir.Model, keep_traces: bool = True) -> onnx.ModelProto:
    """The model without the initialisers of its main graph: all that can be said without a weight."""
    graph = model.graph
    view = ir.GraphView(
        graph.inputs,
        graph.outputs,
        nodes=graph,
        doc_string=graph.doc_string,
        opset_imports=graph.opset_imports,
        name=graph.name,
        metadata_props=graph.metadata_props,
    )
    bare = ir.Model(
        view,  # type: ignore[arg-type]
        ir_version=model.ir_version,
        producer_name=model.producer_name,
        producer_version=model.producer_version,
        domain=model.domain,
        model_version=model.model_version,
        doc_string=model.doc_string,
        functions=list(model.functions.values()),
        metadata_props=model.metadata_props,
        device_configurations=model.device_configurations,
    )
    proto = ir.to_proto(bare)
    _name_holes(proto.graph)
    for value in graph.initializers.values():  # their annotations, which the view leaves out with them
        quantisation = value.meta.get("quant_parameter_tensor_names")
        if quantisation and not value.is_graph_input():
            annotation = proto.graph.quantization_annotation.add(tensor_name=value.name)
            for key in sorted(quantisation):
                annotation.quant_parameter_tensor_names.add(key=key, value=quantisation[key])
    if not keep_traces:
        for owner in (proto.graph, *proto.functions):
            _make_traces_portable(owner.node)
    return proto


def _name_holes(graph: onnx.GraphProto) -> None:
    """Name each absent output in front of a present one.

    ONNX Runtime merges equal nodes whatever outputs they lack: of an LSTM whose sequence is read and an equal one whose
    state is, it leads the state's readers to the sequence, and the file does not load.
    """
    for node in graph.node:
        for attribute in node.attribute:
            for nested in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                _name_holes(nested)
        for k, name in enumerate(node.output):
            following = next((other for other in node.output[k:] if other), None)
            if not name and following is not None:
                node.output[k] = f"{following}/unread_{k}"


def _make_traces_portable(nodes: Sequence[onnx.NodeProto]) -> None:
    for node in nodes:
        if node.doc_string:
            node.doc_string = portable_paths(node.doc_string)
        for entry in node.metadata_props:
            if entry.key == STACK_TRACE:
                entry.value = portable_paths(entry.value)
        for attribute in node.attribute:
            for nested in (attribute.g, *attribute.graphs) if attribute.HasField("g") else attribute.graphs:
                _make_traces_portable(nested.node)


def _head(initialiser: _Initialiser) -> onnx.TensorProto:
    """The tensor message without its raw data."""
    tensor = initialiser.const_value
    head = onnx.TensorProto(name=initialiser.name, data_type=int(tensor.dtype), dims=tensor.shape.numpy())
    if tensor.doc_string:
        head.doc_string = tensor.doc_string
    for key in sorted(tensor.metadata_props):
        head.metadata_props.add(key=key, value=tensor.metadata_props[key])
    if tensor.dtype == ir.DataType.STRING:  # strings have no raw form
        head.string_data.extend(tensor.numpy().ravel().tolist())
    return head


def _write_file(file: BinaryIO, model: ir.Model, places: Mapping[str, Mapping[str, str]], keep_traces: bool) -> None:
    """One model message; initialisers named in ``places`` are referred to there, the others are framed inline."""
    proto = structure_proto(model, keep_traces)
    structure = proto.graph.SerializeToString(deterministic=True)
    proto.ClearField("graph")
    pieces: list[tuple[bytes, ir.TensorProtocol | None]] = []
    for initialiser in _initialisers(model):
        head, tensor = _head(initialiser), initialiser.const_value
        inline = initialiser.name not in places and tensor.dtype != ir.DataType.STRING
        if initialiser.name in places:
            head.data_location = onnx.TensorProto.EXTERNAL
            for key, value in places[initialiser.name].items():
                head.external_data.add(key=key, value=value)
        body = head.SerializeToString(deterministic=True)
        if inline:
            body += encode_len(_RAW_DATA, tensor.nbytes)
        length = len(body) + (tensor.nbytes if inline else 0)
        pieces.append((encode_len(_INITIALIZER, length) + body, tensor if inline else None))
    total = len(structure) + sum(len(head) + (tensor.nbytes if tensor is not None else 0) for head, tensor in pieces)
    file.write(proto.SerializeToString(deterministic=True))
    file.write(encode_len(_GRAPH, total) + structure)
    for framed, inlined in pieces:
        file.write(framed)
        if inlined is not None:
            _stream(inlined, file)


def _stream(tensor: ir.TensorProtocol, file: BinaryIO) -> None:
    """Writes the raw bytes, from the array itself where it has one; numpy's own writing hides why it stops."""
    written = file.write(_contents(tensor))
    if written != tensor.nbytes:
        raise AssertionError(f"{tensor.name}: {written} bytes written, {tensor.nbytes} announced")


def _contents(tensor: ir.TensorProtocol) -> bytes | memoryview:
    """The raw bytes, little endian; without a copy where a value fills its bytes and the array is contiguous."""
    if tensor.dtype.bitwidth < 8 or sys.byteorder == "big":
        return tensor.tobytes()
    return tensor.numpy().reshape(-1).view(np.uint8).data


class Stored:
    """Where weights lie in the data files of one folder: equal weights have one place, whichever model came first.

    Args:
        others: of other files, whose places are used too; none is added to them.
    """

    def __init__(self, others: Collection[Stored] = ()) -> None:
        self._places: dict[bytes, dict[str, str]] = {}
        self._digests: dict[int, tuple[ir.TensorProtocol, bytes]] = {}
        self._others = others

    def place(self, tensor: ir.TensorProtocol, add: Callable[[], dict[str, str]]) -> dict[str, str]:
        """The place of a tensor, from ``add`` where it has none yet."""
        digest = self._digest(tensor)
        for stored in (self, *self._others):
            if digest in stored._places:
                return stored._places[digest]
        self._places[digest] = add()
        return self._places[digest]

    def _digest(self, tensor: ir.TensorProtocol) -> bytes:
        """Of the contents; clones of a model share their tensors, which are read once."""
        for stored in (self, *self._others):
            if id(tensor) in stored._digests:
                return stored._digests[id(tensor)][1]
        digest = _digest(tensor)
        self._digests[id(tensor)] = tensor, digest  # the tensor is kept, lest another gets its id
        return digest


class _Pool:
    """One data file under construction.

    Large tensors start at 64 KiB, where Windows can map them; the others at a page.
    """

    def __init__(self, file: BinaryIO, location: str, stored: Stored) -> None:
        self._file, self._location, self._stored = file, location, stored

    def place(self, tensor: ir.TensorProtocol) -> dict[str, str] | None:
        """External data entries of a tensor, or None for one that stays in the model file."""
        if tensor.nbytes < INLINE_BELOW or tensor.dtype == ir.DataType.STRING:
            return None
        return self._stored.place(tensor, lambda: self._append(tensor))

    def _append(self, tensor: ir.TensorProtocol) -> dict[str, str]:
        unit = 65536 if tensor.nbytes >= 1 << 20 else 4096
        offset = -(-self._file.seek(0, os.SEEK_END) // unit) * unit
        self._file.truncate(offset)
        self._file.seek(offset)
        _stream(tensor, self._file)
        return {"location": self._location, "offset": str(offset), "length": str(tensor.nbytes)}


def _digest(tensor: ir.TensorProtocol) -> bytes:
    return hashlib.blake2b(_contents(tensor), digest_size=20).digest()


@contextmanager
def _beside(paths: Sequence[Path], force: bool) -> Iterator[list[BinaryIO]]:
    """Opens one new file beside each path; all are renamed into place at the end, or all are removed.

    Raises:
        CannotWrite: the system refuses.
        MisuseError: a path exists and ``force`` is off.
    """
    for path in paths:
        if path.is_dir() or (path.exists() and not force):
            raise exists_already(path)
    fresh = [path.with_name(f".{path.name}.{os.getpid()}.part") for path in paths]
    files: list[BinaryIO] = []
    try:
        try:
            for part in fresh:
                files.append(part.open("xb"))
            yield files
        finally:
            for file in files:
                file.close()
        for part, path in zip(fresh, paths, strict=True):
            part.replace(path)
    except OSError as error:
        raise CannotWrite.because(error, paths[-1]) from None
    finally:
        for part in fresh:
            part.unlink(missing_ok=True)


@contextmanager
def _grown(data_file: Path, paths: Sequence[Path], force: bool) -> Iterator[list[BinaryIO]]:
    """Opens a data file to add to it, and one new file beside each path, as ``_beside`` does."""
    with _beside(paths, force) as files, data_file.open("r+b" if data_file.exists() else "xb") as data:
        yield [data, *files]
