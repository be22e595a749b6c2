"""Values of a run made again: from what was kept in front of them, and not from the beginning."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from paddable.divergence import pieces
from paddable.divergence.pieces import Pieces, on_provider
from paddable.divergence.plain import Plain
from paddable.gates.engine import Array

NODES, PIECE = 60, 10


@pytest.fixture
def plain() -> Plain:
    """Sums of the two values before."""
    nodes = [
        helper.make_node("Add", [f"v{k - 1}" if k else "x", f"v{k - 2}" if k > 1 else "x"], [f"v{k}"], f"n{k}")
        for k in range(NODES)
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, [2]) for name in ("x", f"v{NODES - 1}")]
    graph = helper.make_graph(nodes, "sums", ends[:1], ends[1:])
    return Plain(ir.from_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])))


@pytest.mark.parametrize(("room", "most"), [(pieces._KEPT, PIECE), (0, NODES)])
def test_a_value_is_made_again_from_the_nearest_place(
    plain: Plain, room: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "_KEPT", room)
    ran: list[int] = []

    def run(model: bytes, feeds: Mapping[str, Array]) -> dict[str, Array]:
        ran.append(len(onnx.load_from_string(model).graph.node))
        return on_provider("cpu")(model, feeds)

    x = np.array([1.0, -2.0])
    whole = Pieces(plain, {"x": x}, run)
    values = [node.outputs[0] for node in plain.nodes]
    right: dict[ir.Value, Array] = {}
    for start in range(0, NODES, PIECE):
        right |= whole.advance(start, start + PIECE, values[start : start + PIECE])
    ran.clear()
    asked = [values[3], values[41], values[47], plain.model.graph.inputs[0]]
    again = whole.again(asked)
    assert set(again) == set(asked)
    assert all(np.array_equal(again[value], right[value]) for value in asked[:3])
    assert np.array_equal(again[asked[3]], x)
    assert max(ran) <= most and (sum(ran) == 4 + 8 if room else max(ran) == 48)
