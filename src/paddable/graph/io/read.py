"""Reads any .onnx file as an IR model, or says in one line why it cannot.

The weights are not loaded: the file is mapped, the structure parsed, and every large tensor becomes a view of the map
(`_weights`). Reading an 880 MB model costs the memory of its structure.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import onnx
import onnx_ir as ir
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from paddable.bundle.foreign import HEAD, POINTER, foreign
from paddable.bundle.given import path_given
from paddable.bundle.wire import Buffer, Malformed
from paddable.errors import UnreadableError
from paddable.graph.io.structure import check_structure
from paddable.graph.io.weights import WeightFiles, cut_weights

__all__ = ["read_model"]


def read_model(
    source: str | os.PathLike[str] | onnx.ModelProto,
    *,
    for_lint: bool = False,
    any_opset: bool = False,
    older: bool = False,
) -> ir.Model:
    """Reads a model. Its large weights stay in their file and are mapped; the file must outlive the model.

    Args:
        source: path of an .onnx file, or a ModelProto (kept in place: its tensors are shared, not copied).
        for_lint: accept what only lint has a use for, since it tells what is wrong there: graph inputs of size 0, and
            newer opsets that the installed onnx knows.
        any_opset: accept every opset, since the model is only looked at.
        older: accept opsets that are older than what is understood, for ``raise_opset``.

    Returns:
        The model, its nodes in topological order.

    Raises:
        UnreadableError: not a model, damaged, with weights that are missing, or with a cycle.
        RefusedError: a model outside what is understood (opset, operators, sparse tensors).
    """
    if isinstance(source, onnx.ModelProto):
        where = source.graph.name or "model"
        check_structure(source, where=where, for_lint=for_lint, any_opset=any_opset, older=older)
        return _model(source, where, None)
    path = path_given(source, "model", wanted="a path or an onnx.ModelProto")
    data = _map_file(path)
    proto = _parse(data, path)
    check_structure(proto, where=str(path), for_lint=for_lint, any_opset=any_opset, older=older)
    return _model(proto, str(path), WeightFiles(path.parent))


def _model(proto: onnx.ModelProto, where: str, files: WeightFiles | None) -> ir.Model:
    model = _with_weights(ir.from_proto(proto), files)
    try:
        model.graph.sort()
        for function in model.functions.values():
            function.sort()
    except ValueError:
        raise UnreadableError(
            "the graph has a cycle", where=where, why="no runtime can order its nodes", fix="export the model again"
        ) from None
    for value in (*model.graph.inputs, *(output for node in model.graph for output in node.outputs)):
        if value.shape is not None and any(isinstance(size, int) and size < 0 for size in value.shape):
            # Paddle writes an open axis as -1
            value.shape = ir.Shape([None if isinstance(size, int) and size < 0 else size for size in value.shape])
    return model


def _map_file(path: Path) -> Buffer:
    where = str(path)
    if path.is_dir():
        inside = ", ".join(sorted(file.name for file in path.glob("*.onnx"))[:3])
        raise UnreadableError(
            "this is a directory, not a model",
            where=where,
            fix=f"name the .onnx file in it ({inside or 'it has none'})",
        )
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise UnreadableError(
                    "the file is empty",
                    where=where,
                    why="an interrupted download or export leaves such a file",
                    fix="fetch or export it again",
                )
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise UnreadableError(f"cannot be opened: {error.strerror}", where=where, fix="check the path") from None


def _parse(data: Buffer, path: Path) -> onnx.ModelProto:
    where = str(path)
    other = foreign(bytes(data[:HEAD]))
    proto = onnx.ModelProto()
    try:
        if not other:
            proto.ParseFromString(cut_weights(data, path.name))
    except Malformed as error:
        if error.truncated and data[0] == 0x08:  # exporters write ir_version first: the head is that of a model
            raise UnreadableError(
                f"the file is truncated: {error}",
                where=where,
                why="its end is missing",
                fix="copy or download it again",
            ) from None
        other = "something else"
    except DecodeError:
        other = "something else"
    if not other and not (proto.ir_version and proto.HasField("graph")):
        other = "something else"
    if other:
        fix = "fetch it with git lfs pull" if other == POINTER else "give the .onnx file that the exporter wrote"
        raise UnreadableError(f"not an ONNX model but {other}", where=where, fix=fix)
    return proto


def _with_weights(model: ir.Model, files: WeightFiles | None) -> ir.Model:
    """Replaces every external tensor by a view of its file."""

    def view(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
        if not isinstance(tensor, ir.ExternalTensor):
            return tensor
        if files is None:
            raise UnreadableError(
                f"tensor {tensor.name!r} lives in {os.fspath(tensor.location)!r}, and a ModelProto has no folder",
                fix="pass the model's path, or onnx.load it with its external data",
            )
        return files.view(tensor)

    roots = (model.graph, *(function.graph for function in model.functions.values()))
    graphs = [graph for root in roots for graph in (root, *root.subgraphs())]
    for graph in graphs:
        for value in graph.initializers.values():
            if value.const_value is not None:
                value.const_value = view(value.const_value)
        for node in graph:
            for name, attribute in node.attributes.items():
                if attribute.is_ref():
                    continue
                if attribute.type == ir.AttributeType.TENSOR:
                    if isinstance(attribute.value, ir.ExternalTensor):
                        node.attributes[name] = ir.AttrTensor(name, view(attribute.value))
                elif attribute.type == ir.AttributeType.TENSORS:
                    node.attributes[name] = ir.AttrTensors(name, [view(tensor) for tensor in attribute.value])
    return model
