"""Some nodes of a graph as a model of their own, with their weights inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnx_ir as ir

from paddable.gates.engine import Array
from paddable.graph.io.write import structure_proto
from paddable.graph.prepare.normalise import reads

__all__ = ["Cutter"]


class Cutter:
    """Cuts pieces out of a model.

    Args:
        model: it; its nodes stay as they are.
    """

    def __init__(self, model: ir.Model) -> None:
        bare = structure_proto(model)
        self._protos = dict(zip(model.graph, bare.graph.node, strict=True))
        del bare.graph.node[:], bare.graph.input[:], bare.graph.output[:], bare.graph.value_info[:]
        bare.ClearField("metadata_props")
        self._bare = bare

    def cut(self, nodes: Sequence[ir.Node], feeds: Mapping[str, Array], asked: Sequence[ir.Value]) -> bytes:
        """A serialised model of some nodes.

        Args:
            nodes: in topological order.
            feeds: what they read and nobody among them makes.
            asked: the outputs.
        """
        piece = onnx.ModelProto()
        piece.CopyFrom(self._bare)
        piece.graph.name = "piece"
        piece.graph.node.extend(self._protos[node] for node in nodes)
        for name, array in feeds.items():
            kind = onnx.helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)
            piece.graph.input.append(onnx.helper.make_tensor_value_info(name, kind, np.shape(array)))
        piece.graph.output.extend(onnx.ValueInfoProto(name=value.name or "") for value in asked)
        read = dict.fromkeys(value for node in nodes for value in reads(node))
        held = (value for value in read if value.const_value is not None and value.name and value.name not in feeds)
        piece.graph.initializer.extend(_tensor(value) for value in held)
        return bytes(piece.SerializeToString())


def _tensor(value: ir.Value) -> onnx.TensorProto:
    tensor = value.const_value
    assert tensor is not None
    proto = ir.to_proto(ir.tensor(tensor.numpy(), name=value.name)) if tensor.dtype == ir.DataType.STRING else None
    if proto is not None:
        return proto
    return onnx.TensorProto(
        name=value.name, data_type=int(tensor.dtype), dims=tensor.shape.numpy(), raw_data=tensor.tobytes()
    )
