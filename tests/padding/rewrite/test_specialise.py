"""A fixed container: sizes are constants, however the model computes them, and every shape is recorded."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from paddable.errors import RefusedError
from paddable.graph.io.write import to_proto
from paddable.padding.rewrite.rewrite import rewrite
from paddable.padding.rewrite.specialise import SpecialisePass, infer_shapes

from ..example import Example

NUMBERS = (
    "int64 nil = {0}, int64 one = {1}, int64 two = {2}, int64[1] o = {0}, int64[1] a = {1}, int64[1] three = {3}, "
    "int64[1] minus = {-1}, int64[1] end = {9223372036854775807}, int64[4] split = {0, 2, 1, -1}"
)
SIZES = {
    "a sum of sizes": "s = Shape <start = 1> (x) k = ReduceSum (s, o)",
    "an entry of a shape": "s = Shape (x) k = Slice (s, minus, end)",
    "an entry by a step": "s = Shape (x) k = Slice (s, o, end, , three)",
    "a part of a shape": "k = Shape <start = -1> (x)",
    "the first part of a shape": "s = Shape <end = 2> (x) l = Shape <start = 2> (x) k = Add (l, s)",
    "the number of elements": "n = Size (x) k = Unsqueeze (n, o)",
    "at most a number": "s = Shape <start = 2> (x) k = Clip (s, , two)",
    "half of it": "s = Shape <start = 2> (x) f = Cast <to = 1> (s) h = Mul (f, half) k = Cast <to = 7> (h)",
    "a part of several": "s = Shape (x) m, n, k = Split <num_outputs = 3> (s)",
}
SHAPED = {"a part of a shape", "the number of elements", "half of it", "a part of several", "a sum of sizes"}


def fixed(body: str, outputs: str, inputs: str = "float[1, 2, T] x", held: str = "", opset: int = 18) -> ir.Model:
    constants = f"{NUMBERS}, float half = {{0.5}}"
    example = Example(body, outputs, inputs, constants, held=held, opset=opset)
    return ir.from_proto(to_proto(rewrite(example.compiled().analysis, {"T": 24})))


@pytest.mark.parametrize("name", sorted(SHAPED))
def test_a_size_is_a_constant(name: str) -> None:
    model = fixed(f"{SIZES[name]} z = ConstantOfShape (k) y = Exp (z) q = Neg (x)", "float[U] y, float[1, 2, T] q")
    kinds = {node.op_type for node in model.graph}
    assert not kinds & {"Shape", "Size", "Split", "Slice", "ReduceSum", "ConstantOfShape", "Cast", "Ceil", "Clip"}
    for node in model.graph:
        for output in node.outputs:
            assert output.shape is not None and output.shape.is_static(), node


@pytest.mark.parametrize("name", SIZES)
def test_the_size_is_the_containers(name: str) -> None:
    """It is read as a number of steps, not as data: every container has its own."""
    expected = {
        "a sum of sizes": 26, "an entry of a shape": 24, "an entry by a step": None, "a part of a shape": 24,
        "the first part of a shape": None, "the number of elements": 48, "at most a number": 2, "half of it": 12,
        "a part of several": 24,
    }[name]  # fmt: skip
    if expected is None:
        return
    model = fixed(f"{SIZES[name]} z = ConstantOfShape (k) y = Exp (z) q = Neg (x)", "float[U] y, float[1, 2, T] q")
    assert [tuple(o.shape.numpy()) for o in model.graph.outputs[:1]] == [(expected,)]


@pytest.mark.parametrize(("steps", "folded"), [(1 << 16, True), ((1 << 16) + 1, False)])
def test_a_table_is_a_constant_up_to_its_size(steps: int, folded: bool) -> None:
    """Half a megabyte of int64; what is longer is computed, and what is made of it too."""
    body = (
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, one) d = Mul (i, two) f = Cast <to = 1> (d) "
        "y = Unsqueeze (f, o) q = Neg (x)"
    )
    example = Example(body, "float[1, U] y, float[1, 2, T] q", constants=NUMBERS)
    kinds = [node.op_type for node in rewrite(example.compiled().analysis, {"T": steps}).graph]
    assert [kinds.count(kind) for kind in ("Range", "Mul")] == ([0, 0] if folded else [1, 1])


def test_a_size_that_is_an_output_too() -> None:
    """It stays one, and what else reads it reads a constant."""
    model = fixed("y = Shape (x) p = Shape (x) z = ConstantOfShape (y) w = Exp (z) q = Neg (x)",
                  "int64[3] y, int64[3] p, float[1, 2, T] w, float[1, 2, T] q")  # fmt: skip
    proto = to_proto(model)
    engine = ReferenceEvaluator(proto)
    feeds = {"x": np.zeros((1, 2, 24), np.float32), "ilens": np.array([24])}
    assert engine.run(["y"], feeds)[0].tolist() == [1, 2, 24]
    assert not any(node.op_type == "ConstantOfShape" for node in model.graph)


def _untyped(read: bool) -> ir.Model:
    """A node that no inference knows, and one that reads its second output, or does not."""
    strange = ir.Node("strange", "Op", [], num_outputs=2, name="op")
    for k, value in enumerate(strange.outputs):
        value.name = f"o{k}"
    strange.outputs[0].shape, strange.outputs[0].dtype = ir.Shape([2]), ir.DataType.FLOAT
    reader = ir.node("Neg", [strange.outputs[int(read)]], name="reader")
    reader.outputs[0].name, reader.outputs[0].dtype = "y", ir.DataType.FLOAT
    reader.outputs[0].shape = ir.Shape([2])
    graph = ir.Graph([], reader.outputs, nodes=[strange, reader], opset_imports={"": 18, "strange": 1}, name="g")
    return ir.Model(graph, ir_version=8)


def test_a_shape_that_stays_unknown_is_refused_where_something_reads_it() -> None:
    infer_shapes(_untyped(False))
    with pytest.raises(RefusedError, match="the shape of o1 stays unknown") as caught:
        infer_shapes(_untyped(True))
    assert "node op (Op)" in str(caught.value)


def test_an_output_whose_shape_stays_unknown_is_refused() -> None:
    model = _untyped(False)
    model.graph.outputs.append(model.graph[0].outputs[1])
    with pytest.raises(RefusedError, match="the shape of o1"):
        infer_shapes(model)
    symbolic = _untyped(False)
    symbolic.graph[0].outputs[0].shape = ir.Shape(["N"])
    with pytest.raises(RefusedError, match="stays unknown"):
        infer_shapes(symbolic)


def test_positions_are_constants() -> None:
    body = (
        "s = Shape <start = 2> (x) n = Squeeze (s) i = Range (nil, n, two) f = Cast <to = 1> (i) y = Unsqueeze (f, o)"
    )
    model = fixed(f"{body} q = Neg (x)", "float[1, U] y, float[1, 2, T] q")
    assert "Range" not in {node.op_type for node in model.graph}
    arrays = [v.const_value.numpy() for v in model.graph.initializers.values() if v.const_value is not None]
    assert any(np.array_equal(array.reshape(-1), np.arange(0, 24, 2)) for array in arrays)


def test_a_reshape_names_every_size() -> None:
    """Behind the one that reads the length input too, which comes first in the file."""
    body = "f = Cast <to = 1> (l) m = Mul (x, f) c = Reshape (m, split) y = Neg (c)"
    model = fixed(body, "float[1, 2, 1, T] y", "float[1, 2, T] x, int64[1] l", held="l=T")
    targets = [node.inputs[1].const_value.numpy().tolist() for node in model.graph if node.op_type == "Reshape"]
    assert [1, 2, 1, 24] in targets
    assert all(min(target, default=1) > 0 for target in targets if len(target) > 1)


def test_the_pass_says_that_it_changed_the_model() -> None:
    analysis = Example("y = Neg (x)", "float[1, 2, T] y").compiled().analysis
    assert SpecialisePass(analysis.values, lambda length: 24)(rewrite(analysis, {"T": 24})).modified


def test_a_passed_constant_is_evaluated_once() -> None:
    model = fixed("y = Add (x, half)", "float[1, 2, T] y")
    values = [v.const_value.tobytes() + bytes(str(v.shape), "ascii") for v in model.graph.initializers.values()]
    assert len(values) == len(set(values))


TIED = {  # another reader of the table, and how many copies of it there are
    "read as it is": ("e = Gather (w, i) f = Transpose <perm = [1, 0]> (w)", "float[40, 32] w", [[40, 32]]),
    "laid out in two ways": (
        "g = Transpose <perm = [1, 0]> (w) e = Gather <axis = 1> (g, i) d = Reshape (w, split) f = Squeeze (d)",
        "float[32, 40] w",
        [[32, 40]],
    ),
    "read alone": ("f = Transpose <perm = [1, 0]> (w) e = Gather <axis = 1> (f, i)", "float[40, 32] w", [[32, 40]]),
    "laid out twice alike": (
        "f = Transpose <perm = [1, 0]> (w) g = Transpose <perm = [1, 0]> (w) e = Gather <axis = 1> (g, i)",
        "float[40, 32] w",
        [[32, 40]],
    ),
}


@pytest.mark.parametrize("name", TIED)
def test_a_weight_that_is_read_in_two_layouts_is_stored_once(name: str) -> None:
    body, weight, held = TIED[name]
    example = Example(
        f"{body} a = Abs (e) y = MatMul (x, f)", "float[1, 2, U] a, float[T, 40] y", "int64[1, T] i, float[T, 32] x",
        f"{weight}, int64[3] split = {{1, 32, 40}}",
    )  # fmt: skip
    model = rewrite(example.compiled().analysis, {"T": 24})
    tensors = [value.const_value for value in model.graph.initializers.values()]
    assert [list(tensor.shape.numpy()) for tensor in tensors if tensor is not None and tensor.size > 1024] == held
