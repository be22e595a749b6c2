"""The first value that differs between native and padded: where to look when gate C fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from paddable.gates.engine import Array, Engine, EngineError, Source
from paddable.gates.oracle import scale
from paddable.gates.regions import Frame
from paddable.graph.io.write import to_proto
from paddable.graph.trace import source
from paddable.padding.analysis import Analysis

__all__ = ["first_difference"]

_VISIBLE = 1e-4


def first_difference(
    analysis: Analysis,
    padded: Source,
    native_feeds: Mapping[str, Array],
    padded_feeds: Mapping[str, Array],
    frame: Frame,
) -> dict[str, Any] | None:
    """Compare every value that both graphs have, in graph order, on its valid part.

    The padded graph keeps native's names for the values that rules left in place, and facts say which part of them is
    valid.

    Args:
        analysis: of the native model, not used up.
        padded: the padded graph.
        native_feeds: inputs of one row for native.
        padded_feeds: the same row, in a container.
        frame: that container and row.

    Returns:
        Node, operator, value, error relative to the value's scale, and source line of the first difference above 1e-4,
        or None when no inner value differs so much.
    """
    proto = _load(padded)
    names = {output for node in proto.graph.node for output in node.output if output}
    nodes = [
        (node, value)
        for node in analysis.model.graph
        for value in node.outputs
        if value.name in names and _comparable(analysis, value)
    ]
    wanted = [value.name or "" for _, value in nodes]
    try:
        native = Engine(_exposed(to_proto(analysis.model), wanted), optimise=False).run(native_feeds)
        other = Engine(_exposed(proto, wanted), optimise=False).run(padded_feeds)
    except EngineError as failure:
        return {"node": None, "note": f"the inner values could not be compared: {failure.what}"}
    for node, value in nodes:
        name = value.name or ""
        facts = analysis.values[name]
        mine, theirs = native[name], other[name]
        mask = frame.valid(facts)
        if theirs.shape != mask.shape or int(mask.sum()) != mine.size:
            error = np.inf
        elif mine.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                gap = np.abs(theirs[mask].astype(np.float64) - mine.ravel().astype(np.float64))
            gap[np.isnan(mine.ravel()) & np.isnan(theirs[mask]) | (mine.ravel() == theirs[mask])] = 0
            error = float(np.nan_to_num(gap, nan=np.inf).max(initial=0.0)) / scale(mine)
        else:
            error = 0.0 if np.array_equal(theirs[mask], mine.ravel()) else np.inf
        if error > _VISIBLE:
            line = source(node)
            return {
                "node": node.name,
                "op": node.op_type,
                "value": name,
                "error": float(f"{error:.3g}") if np.isfinite(error) else "inf",
                "source": str(line) if line else None,
            }
    return None


def _comparable(analysis: Analysis, value: ir.Value) -> bool:
    """Contents computed from sizes are the container's by design; what is inside a relative shift has no valid
    prefix."""
    facts = analysis.values.get(value.name or "")
    if facts is None or facts.relative is not None or facts.content is not None or value.is_graph_output():
        return False
    return (facts.pending is None or facts.pending.token.done) and facts.dtype != ir.DataType.STRING


def _load(padded: Source) -> onnx.ModelProto:
    return onnx.load_from_string(padded) if isinstance(padded, bytes) else onnx.load(padded)


def _exposed(proto: onnx.ModelProto, names: list[str]) -> bytes:
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    have = {value.name for value in copy.graph.output}
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in have)
    return bytes(copy.SerializeToString())
