"""Nodes that are equal are one: among what was inserted, and where a native graph computes a thing twice."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from paddable.api.opened import open_model
from paddable.gates.engine import Engine
from paddable.graph.io.write import to_proto
from paddable.padding.rewrite.rewrite import rewrite
from paddable.padding.rewrite.simplify import MergeEqualPass, RemoveNeutralPass

from ..example import Example

ONES = ", ".join(["0.1"] * 48)
CONVOLUTIONS = f"""<ir_version: 9, opset_import: ["" : 17]> g (float[1, 4, T] x) => (float[1, 4, T] y)
    <float[4, 4, 3] k = {{{ONES}}}> {{
    a = Conv <kernel_shape = [3], pads = [1, 1]> (x, k) b = Relu (a)
    y = Conv <kernel_shape = [3], pads = [1, 1]> (b, k) }}"""


def test_what_is_inserted_says_each_thing_once() -> None:
    """The length is clamped once, and the index of the tail fill compares with what the mask compares with."""
    model = rewrite(open_model(onnx.parser.parse_model(CONVOLUTIONS), ["x:2=T"]).analyse())
    said = Counter(
        (node.op_type, *(v.name if v is not None else None for v in node.inputs), *map(str, node.attributes.values()))
        for node in model.graph
    )
    assert max(said.values()) == 1
    kinds = Counter(node.op_type for node in model.graph)
    assert kinds["Less"] == 4, "two of the clamp, one of the shortest length, one of the mask"


def test_recurrent_operators_of_which_one_is_read_for_its_state() -> None:
    """Merged, the sequence that nobody read of the first gets a name, and the file loads."""
    w, r = (", ".join([number] * 16) for number in ("0.3", "0.2"))
    proto = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 17]> g (float[3, 1, 2] x) => (float[3, 1, 1, 2] y, float[1, 1, 2] h)
        <float[1, 8, 2] w = {{{w}}}, float[1, 8, 2] r = {{{r}}}> {{
        unread, state = LSTM <hidden_size = 2> (x, w, r) h = Relu (state)
        sequence = LSTM <hidden_size = 2> (x, w, r) y = Relu (sequence) }}"""
    )
    proto.graph.node[0].output[0] = ""
    proto.graph.node[2].output.append("")
    feeds = {"x": np.random.default_rng(0).standard_normal((3, 1, 2)).astype(np.float32)}
    twice = ir.from_proto(proto)
    MergeEqualPass()(twice)
    assert [node.op_type for node in twice.graph] == ["LSTM", "Relu", "Relu"]
    want, got = (Engine(to_proto(m).SerializeToString()).run(feeds) for m in (ir.from_proto(proto), twice))
    assert all(np.array_equal(got[name], want[name]) for name in ("y", "h"))


def test_outputs_that_are_equal_keep_their_names() -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17]> g (float[1, T] x) => (float[1, T] y, float[1, T] z) {
           y = Relu (x) z = Relu (x) }"""
    )
    model = rewrite(open_model(proto, ["x:1=T"]).analyse(), {"T": 4})
    feeds = {"x": np.array([[1, -1, 3, 9]], np.float32), "ilens": np.array([3])}
    got = Engine(to_proto(model).SerializeToString()).run(feeds)
    assert list(got) == ["y", "z", "y_length", "z_length"]
    assert got["y"].tolist() == got["z"].tolist() == [[1, 0, 3, 0]] and got["z_length"] == [3]


def test_an_analysis_serves_every_container() -> None:
    analysis = open_model(onnx.parser.parse_model(CONVOLUTIONS), ["x:2=T"]).analyse()
    before = [(node.op_type, [v.name for v in node.inputs if v is not None]) for node in analysis.model.graph]
    first, other, again = (to_proto(rewrite(analysis, {"T": steps})) for steps in (8, 16, 8))
    assert first == again != other
    assert before == [(n.op_type, [v.name for v in n.inputs if v is not None]) for n in analysis.model.graph]


KNOWN = """s = Shape <start = 2> (x) d = Sub (s, s) q = Div (s, s) nought = Cast <to = 1> (d) one = Cast <to = 1> (q)
    no = Cast <to = 9> (d) yes = Cast <to = 9> (q) wide = Expand (nought, threes)"""
CONSTANTS = "int64[4] threes = {3, 1, 1, 1}"


def test_passes_say_whether_they_changed_anything() -> None:
    """A node that does nothing is removed; where there is none, the model is as it was."""
    for body, modified in (
        (f"{KNOWN} z = Add (x, nought) y = Relu (z)", True),
        ("z = Neg (x) y = Relu (z)", False),
    ):
        analysis = Example(body, "float[1, 2, T] y", constants=CONSTANTS).compiled().analysis
        model = analysis.model.clone()
        assert RemoveNeutralPass(analysis.values, [])(model).modified is modified
        assert ("z" in {v.name for node in model.graph for v in node.outputs}) is not modified


def test_a_node_with_a_remedy_or_in_front_of_an_output_stays() -> None:
    example = Example(f"{KNOWN} y = Add (x, nought)", "float[1, 2, T] y", constants=CONSTANTS)
    analysis = example.compiled().analysis
    model = analysis.model.clone()
    assert not RemoveNeutralPass(analysis.values, [])(model).modified, "outputs keep their producers"
    inner = Example(f"{KNOWN} z = Add (x, nought) y = Relu (z)", "float[1, 2, T] y", constants=CONSTANTS)
    analysis = inner.compiled().analysis
    model = analysis.model.clone()
    assert not RemoveNeutralPass(analysis.values, list(model.graph))(model).modified


NEUTRAL = {
    "z = Add (nought, x)": True, "z = Sub (x, nought)": True, "z = Sub (nought, x)": False, "z = Mul (x, one)": True,
    "z = Mul (one, x)": True, "z = Mul (x, nought)": False, "z = Div (x, one)": True, "z = Div (one, x)": False,
    "z = Where (yes, x, one)": True, "z = Where (no, one, x)": True, "z = Where (yes, one, x)": False,
    "z = Add (x, wide)": False,
    **{
        f"c = Less (x, one) a = {condition} z = Where (a, x, one)": removed
        for condition, removed in {
            "And (c, yes)": True, "And (yes, c)": True, "And (c, no)": False, "Or (c, no)": True, "Or (no, c)": True,
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("body", NEUTRAL)
def test_neutral_elements(body: str) -> None:
    """Not where the other operand widens the result, or is itself the result of the operator."""
    shape = "3, 1, 2, T" if "wide" in body else "1, 2, T"
    analysis = Example(f"{KNOWN} {body} y = Tanh (z)", f"float[{shape}] y", constants=CONSTANTS).compiled().analysis
    assert RemoveNeutralPass(analysis.values, [])(analysis.model.clone()).modified is NEUTRAL[body]
