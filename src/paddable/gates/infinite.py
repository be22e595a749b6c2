"""Which node of a graph in half is the first whose answer is not finite, where native's in fp32 is."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx_ir as ir

from paddable.gates.engine import Array, Engine, EngineError, Source
from paddable.gates.lift import read_source
from paddable.graph.io.write import write_model

__all__ = ["first_infinite", "told_first_infinite"]

_FLOATS = {ir.DataType.FLOAT, ir.DataType.FLOAT16}


def told_first_infinite(
    half: Source, feeds: Mapping[str, Array], folder: Path, output: str, lines: Mapping[str, str]
) -> str:
    """How a message that an answer is not finite goes on: with the node, and by ``lines`` the user's source of it."""
    node = first_infinite(half, feeds, folder, output)
    if not node:
        return ""
    line = lines.get(node.split(" ", 1)[1], "")
    return f": {node}{f' ({line})' if line else ''} is the first node that is not"


def first_infinite(half: Source, feeds: Mapping[str, Array], folder: Path, output: str) -> str:
    """``Div /norm/Div``: the first node that makes what is not finite of what is; nothing where none is found.

    It is one from which an output has it. What is not finite in padding alone is cut off on the way.

    A mask is infinite from the start, since it is a constant. It is followed by what reads it, and no answer of an
    output is told by it alone.

    Args:
        half: a file in half to the letter; see ``lift.rounded``.
        feeds: the inputs.
        folder: for a copy whose outputs are all its values.
        output: that is not finite.
    """
    model = read_source(half)
    graph = model.graph
    made = [(node, value) for node in graph for value in node.outputs if value.name and value.dtype in (*_FLOATS, None)]
    held = {str(value.name) for value in graph.outputs}
    for _, value in made:
        if value.name not in held and value.dtype is not None:
            graph.outputs.append(value)
    answers: dict[str, Array] = {}
    with suppress(EngineError):
        engine = Engine(write_model(model, folder / "all-values.onnx"), optimise=False, where="native in half")
        answers = engine.run(feeds)
    infinite = {name for name, array in answers.items() if array.dtype.kind == "f" and not np.isfinite(array).all()}
    infinite |= {
        str(value.name)
        for value in graph.initializers.values()
        if value.const_value is not None
        and value.dtype in _FLOATS
        and not np.isfinite(value.const_value.numpy().astype(np.float64)).all()
    }
    reached, waiting = set[ir.Value](), [value for value in graph.outputs if value.name == output]
    while waiting:
        value = waiting.pop()
        producer = value.producer()
        if value in reached or producer is None:
            continue
        reached.add(value)
        waiting += [one for one in producer.inputs if one is not None and one.name in infinite]
    for node, value in made:
        reads = {str(one.name) for one in node.inputs if one is not None}
        begins = value.name in infinite and infinite.isdisjoint(reads) and node.op_type != "Identity"
        if begins and value in reached:
            narrows = node.op_type == "Cast" and node.attributes.get_int("to", 0) == ir.DataType.FLOAT16
            before = node.inputs[0].producer() if narrows and node.inputs[0] is not None else None
            node = before or node  # what rounds an answer is none of the model's
            return f"{node.op_type} {node.name or node.outputs[0].name}"
    return ""
