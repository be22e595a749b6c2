"""Weights that several nodes read: where one needs fp32, storing them in fewer bits too would make a file larger."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import onnx_ir as ir

from paddable.graph.constants import Constants
from paddable.precision.int8 import LEAST, storable
from paddable.precision.moves import MOVES

__all__ = ["kept_with_others", "told_tables"]


def kept_with_others(model: ir.Model, stored: Collection[str]) -> dict[str, str]:
    """Names of the answers whose nodes keep their weights because somebody else does, each with its reason.

    Args:
        model: native.
        stored: names of the answers whose nodes would get theirs in fewer bits.
    """
    constants = Constants(model.graph)
    weights = storable(model.graph, left=True)
    nodes = {node: weight for node, weight in weights.items() if str(node.outputs[0].name) in stored}
    kept: dict[str, str] = {}
    found = True
    while found:  # who keeps a weight makes others keep it
        found = False
        for node, weight in list(nodes.items()):
            for source in constants.sources(weight.value):
                others = [
                    reader for reader, at in constants.readers(source) if reader not in nodes or at != nodes[reader].at
                ]
                size = 0 if source.const_value is None else source.const_value.size
                if others and size >= LEAST and node in nodes:
                    reader = _told_reader(constants, source, others[0])
                    kept[str(node.outputs[0].name)] = f"{reader} reads its weight {source.name} in fp32 all the same"
                    del nodes[node]
                    found = True
    return kept


def _told_reader(constants: Constants, source: ir.Value, reader: ir.Node) -> str:
    """Who computes with a weight: the reader, or the first node on the way to it that does more than lay it out."""
    waiting = [reader]
    while waiting:
        node = waiting.pop()
        if node is not reader and node.op_type not in MOVES | {"Cast"}:
            reader = node
        waiting += [
            producer
            for value in node.inputs
            if value is not None and (producer := value.producer()) is not None and constants.computes(producer)
            if source in constants.sources(value)
        ]
    return f"{reader.op_type} {reader.name}".strip()


def told_tables(model: ir.Model, stored: Collection[str], *, apart: bool) -> Iterator[str]:
    """A line for each table that a lookup and products share in 8 bits.

    Args:
        model: as of ``kept_with_others``, and so ``stored``.
        stored: names of answers.
        apart: whether each reader has codes of its own, which are equal.
    """
    readers: dict[str, list[ir.Node]] = {}
    for node, weight in storable(model.graph).items():
        if weight.table is not None:
            readers.setdefault(str(weight.table.name), []).append(node)
    for table, nodes in readers.items():
        if all(str(node.outputs[0].name) in stored for node in nodes):
            who = " and ".join(sorted(f"{node.op_type} {node.name or node.outputs[0].name}" for node in nodes))
            yield (
                f"{table} is in 8 bits for {who}, and a data file has it once"
                if apart
                else f"{table} is stored once, in 8 bits, for {who}"
            )
