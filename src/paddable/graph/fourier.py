"""Fourier transforms, whose float kernels round more than a sum of products does: which there are, and in double.

ONNX Runtime 1.32 and DirectML 1.15.4 compute an STFT or DFT of a size that is no power of two by way of longer
transforms (Bluestein), 2e-5 to 5e-5 of scale from exact; a bin that holds little is wrong by much more, which a
logarithm shows: up to 3e-2.
"""

from __future__ import annotations

import onnx_ir as ir

from paddable.graph.names import Names

__all__ = ["in_double", "transforms"]


def transforms(model: ir.Model) -> list[ir.Node]:
    """Every STFT and DFT of a model, those in branches included."""
    return [node for graph in model.graphs() for node in graph if node.op_type in ("STFT", "DFT") and not node.domain]


def in_double(model: ir.Model) -> bool:
    """Compute every Fourier transform in double, in place; what goes in and comes out keeps its type.

    Returns:
        Whether there was any.
    """
    found, names = transforms(model), Names(model.graph)
    for node in found:
        assert isinstance(node.graph, ir.Graph)
        inputs, new = list(node.inputs), list[ir.Node]()
        for index in (0, 2) if node.op_type == "STFT" else (0,):  # signal and window
            if index < len(inputs) and inputs[index] is not None:
                new.append(ir.node("Cast", [inputs[index]], {"to": ir.DataType.DOUBLE}))
                inputs[index] = new[-1].outputs[0]
        wide = ir.Node("", node.op_type, inputs, attributes=node.attributes.values())
        back = ir.node("CastLike", [wide.outputs[0], node.inputs[0]])
        new += [wide, back]
        for one in new:
            one.name = names.fresh(f"{node.name or node.op_type}_{one.op_type.lower()}")
            one.outputs[0].name = names.fresh(f"{one.name}_output")
        ir.convenience.replace_nodes_and_values(node.graph, node, [node], new, [node.outputs[0]], [back.outputs[0]])
    return bool(found)
