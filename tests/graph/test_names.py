"""Fresh names: each new, the same for the same calls, and one step of counting each."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from paddable.graph.names import Names

MODEL = """<ir_version: 9, opset_import: ["" : 18]>
    g (float[T] x) => (float[T] y) {
        x_2 = Relu(x)
        y = Abs(x_2)
    }"""


def test_fresh_names_go_round_those_that_are_used() -> None:
    names = Names(ir.from_proto(onnx.parser.parse_model(MODEL)).graph)
    assert [names.fresh("x") for _ in range(3)] == ["x_1", "x_3", "x_4"]
    assert [names.fresh(stem) for stem in ("z", "z", "x_3", "x", "", "y")] == ["z", "z_1", "x_3_1", "x_5", "_1", "y_1"]


def test_counting_goes_on_where_it_stopped() -> None:
    class Counted(set[str]):
        asked = 0

        def __contains__(self, name: object) -> bool:
            self.asked += 1
            return super().__contains__(name)

    names = Names(ir.from_proto(onnx.parser.parse_model(MODEL)).graph)
    names._used = used = Counted(names._used)
    assert len({names.fresh("watched") for _ in range(1000)}) == 1000
    assert used.asked <= 2000
