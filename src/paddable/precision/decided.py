"""What was decided of native, carried over to a graph that is made of it.

    native      q = h * h                      m = mean(q)
    padded      q = h * h    f = q, or 0       s = sum(f)      m = s / n

Which nodes stay in fp32 is decided by patterns, and what padding, a fix or a form puts in front of a node or in its
place hides them: nothing is left in front of a mean but the fill. Names are not lost: what is made in place of a value
has its name. So a node stays where the node of native that made its value does, and with it all in front of it that
makes values which native does not have: that is what the value is made of here.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

__all__ = ["Decided", "carried_over", "decided"]

Decided = Mapping[str, str]
"""By name of every value of native's nodes, why its node stays in fp32; empty text where it does not."""


def decided(native: ir.Graph, stays: Mapping[str, str]) -> Decided:
    """What holds of all values of native.

    Args:
        native: the graph.
        stays: by the first output of each node that stays, why.
    """
    return {str(value.name): stays.get(str(node.outputs[0].name), "") for node in native for value in node.outputs}


def carried_over(graph: ir.Graph, native: Decided) -> dict[ir.Node, str]:
    """The nodes that stay in a graph made of native, each with its reason."""
    found: dict[ir.Node, str] = {}
    waiting = [(node, why) for node in graph for value in node.outputs if (why := native.get(str(value.name), ""))]
    while waiting:
        node, why = waiting.pop()
        if node not in found:
            found[node] = why
            read = [value for value in node.inputs if value is not None and value.name not in native]
            makers = [value.producer() for value in read if value.dtype == ir.DataType.FLOAT]
            waiting += [(maker, why) for maker in makers if maker is not None]
    return found
