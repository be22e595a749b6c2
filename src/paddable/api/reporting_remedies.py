"""The remedies of a conversion: alike ones together, each kind with a small picture of the graph before and after."""

from __future__ import annotations

from typing import Any

import onnx
import onnx_ir as ir

from paddable.findings import Finding
from paddable.padding.analysis import Analysis

__all__ = ["remedies"]

_LONGEST = 16
"""Nodes that one remedy puts in, at most."""


def remedies(analysis: Analysis, padded: ir.Model, *, ok: bool) -> list[dict[str, Any]]:
    """The findings of native by kind: code, operator, what leaks and the remedy; with the chain around the first.

    Args:
        analysis: of native.
        padded: the converted graph; it keeps native's names for what the remedies left in place.
        ok: it gives native's answer; else a node that reads what native's reads is one whose remedy is missing.
    """
    nodes = {node.name: node for node in analysis.model.graph}
    kinds: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in analysis.findings:
        kinds.setdefault((finding.code, finding.op, finding.leak, finding.remedy), []).append(finding)
    made = {value.name: node for node in padded.graph for value in node.outputs}
    native = {value.name for node in analysis.model.graph for value in node.outputs}
    found = []
    for (code, op, leak, remedy), findings in kinds.items():
        missing = {f.node for f in findings if not ok and _as_native(nodes.get(f.node), made)}
        shown = next((f.node for f in findings if f.node not in missing), findings[0].node)
        before, after, new = _chains(nodes.get(shown), made, native)
        places = [
            {
                "node": f.node,
                "module": f.module or "",
                "source": str(f.source) if f.source else "",
                "in the file": "missing" if f.node in missing else "" if ok else "yes",
            }
            for f in findings
        ]
        found.append(
            {
                "code": code,
                "op": op,
                "leak": leak,
                "remedy": remedy,
                "before": before or [op or "output"],
                "after": after or [op or "output"],
                "new": new,
                "places": places,
                "missing": len(missing),
            }
        )
    return found


def _as_native(node: ir.Node | None, made: dict[str | None, ir.Node]) -> bool:
    """Whether the node stands in the converted graph as it does in native."""
    if node is None:
        return False
    twin = made.get(node.outputs[0].name)
    names = [[value.name if value is not None else None for value in one.inputs] for one in (node, twin or node)]
    return twin is not None and twin.op_type == node.op_type and names[0] == names[1]


def _chains(
    node: ir.Node | None, made: dict[str | None, ir.Node], native: set[str | None]
) -> tuple[list[str], list[str], list[str]]:
    """Operators before and after, from what the node reads to what reads it."""
    if node is None:
        return [], [], []
    source = next((value for value in node.inputs if value is not None and value.const_value is None), None)
    reader = next((use.node for value in node.outputs for use in value.uses()), None)
    first = _operator(source)
    last = [reader.op_type] if reader is not None else ["output"]
    before = [first, node.op_type, *last]
    twin = next((made[value.name] for value in node.outputs if value.name in made), None)
    if twin is None and reader is not None:  # replaced under another name: walk up from what reads it
        below = next((made[value.name] for value in reader.outputs if value.name in made), None)
        above = _walk_up(below, made, native) if below is not None else []
        return before, [first, *above, *last], above
    if twin is None:
        return before, before, []
    above = _walk_up(twin, made, native)
    added = "" if above else _added(node, twin)
    own = [f"{twin.op_type} with {added}" if added else twin.op_type]
    same = twin.op_type == node.op_type and not added
    return before, [first, *above, *own, *last], above if same else [*above, *own]


def _added(node: ir.Node, twin: ir.Node) -> str:
    """What the converted node is given beside what native's reads, such as ``sequence_lens``."""
    if twin.op_type != node.op_type or twin.domain:
        return ""
    schema = onnx.defs.get_schema(twin.op_type)
    had = [index < len(node.inputs) and node.inputs[index] is not None for index in range(len(twin.inputs))]
    names = [schema.inputs[min(index, len(schema.inputs) - 1)].name for index in range(len(twin.inputs))]
    given = zip(names, twin.inputs, had, strict=True)
    return " and ".join(name for name, value, there in given if value is not None and not there)


def _walk_up(node: ir.Node, made: dict[str | None, ir.Node], native: set[str | None]) -> list[str]:
    """What was put in between a node and the native values above it, along the first path that is data."""
    best: list[str] = []
    for value in node.inputs:
        path: list[str] = []
        current = value
        while current is not None and current.name not in native and len(path) < _LONGEST:
            maker = made.get(current.name)
            if maker is None:
                break
            path.append(maker.op_type)
            current = next((v for v in maker.inputs if v is not None and v.name in native), None) or next(
                (v for v in maker.inputs if v is not None and v.const_value is None), None
            )
        if current is not None and current.name in native and len(path) > len(best):
            best = path[::-1]
    return best


def _operator(value: ir.Value | None) -> str:
    producer = value.producer() if value is not None else None
    return producer.op_type if producer is not None else "input"
