"""The padded file: its length inputs, what junk and refused lengths make of it, and no node more than it needs."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

from paddable.errors import MisuseError
from paddable.graph.io.write import to_proto
from paddable.lengths import constant, parse
from paddable.padding.remedies import Segment
from paddable.padding.rewrite.rewrite import _copied, _Rewriter, rewrite

from ..example import Example

STATE = "float[1, 4, 2] w, float[1, 4, 1] r"
EXAMPLES = {
    "two lengths": Example(
        "s = Softmax <axis = 2> (x) y = Neg (s) z = Softmax <axis = 2> (u)",
        "float[1, 2, T] y, float[1, 2, U] z",
        "float[1, 2, T] x, float[1, 2, U] u",
        finds="PAD103 Softmax, PAD103 Softmax",
        claims="T 0; -1..-0; finite",
    ),
    "two inputs of one length": Example(
        "a = Add (x, u) y = Softmax <axis = 2> (a)",
        "float[1, 2, T] y",
        "float[1, 2, T] x, float[1, 2, T] u",
        finds="PAD103 Softmax",
        claims="T 0; 0..1; finite",
    ),
    "an input without a length": Example(
        "a = Add (x, u) y = Softmax <axis = 2> (a)",
        "float[1, 2, T] y",
        "float[1, 2, T] x, float[1, 2, 1] u",
        finds="PAD103 Softmax",
        claims="T 0; 0..1; finite",
    ),
    "the model's own length": Example(
        "f = Cast <to = 1> (l) t = ReduceSum (x, a) y = Div (t, f)",
        "float[1, 2, 1] y",
        "float[1, 2, T] x, int64[1] l",
        "int64[1] a = {2}",
        held="l=T",
        finds="PAD101 ReduceSum",
        claims="finite",
    ),
    "the model's own length as a size": Example(
        "z = ConstantOfShape (l) e = Exp (z) a = Unsqueeze (e, o) y = Add (x, a)",
        "float[1, 2, T] y",
        "float[1, 2, T] x, int64[1] l",
        "int64[1] o = {0}",
        held="l=T",
        claims="T finite; finite",
        guards="ConstantOfShape",
    ),
    "the model's own lengths of rows": Example(
        "f = Cast <to = 1> (l) u = Unsqueeze (f, o) t = ReduceSum (x, a) y = Div (t, u)",
        "float[batch, 2, 1] y",
        "float[batch, 2, T] x, int64[batch] l",
        "int64[1] a = {2}, int64[2] o = {1, 2}",
        held="l=T",
        rows=0,
        finds="PAD101 ReduceSum",
        claims="finite",
    ),
    "the model's own mask": Example(
        "f = Cast <to = 1> (m) u = Unsqueeze (f, a) v = Mul (x, u) t = ReduceSum (v, c) n = ReduceSum (u, c) y = "
        "Div (t, n)",
        "float[1, 2, 1] y",
        "float[1, 2, T] x, int64[1, T] m",
        "int64[1] a = {1}, int64[1] c = {2}",
        held="m:1=T",
        claims="any",
    ),
    "the model's own mask over keys": Example(
        "k = Cast <to = 9> (m) u = Unsqueeze (k, a) t = Transpose <perm = [0, 2, 1]> (x) s = MatMul (t, x) v = "
        "Where (u, s, low) p = Softmax (v) y = MatMul (p, t)",
        "float[1, T, 2] y",
        "float[1, 2, T] x, int64[1, T] m",
        "int64[1] a = {1}, float low = {-inf}",
        held="m:1=T",
        claims="T finite; finite",
    ),
    "a multiple of three": Example(
        "r = Reshape (x, s) y = ReduceMean (r, a)",
        "float[1, 2, U, 1] y",
        constants="int64[4] s = {1, 2, -1, 3}, int64[1] a = {3}",
        claims="T//3 finite; finite",
        first="T=3",
    ),
    "an output that is an input": Example("y = Identity (x)", "float[1, 2, T] y", claims="T finite; finite"),
    "an output that is used": Example(
        "y = Sin (x) z = Softmax <axis = 2> (y)",
        "float[1, 2, T] y, float[1, 2, T] z",
        finds="PAD103 Softmax",
        claims="T finite; -1..1; finite",
    ),
    "two lengths of one output": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (t, u)",
        "float[1, T, U] y",
        "float[1, 2, T] x, float[1, 2, U] u",
        claims="T finite; U finite; finite",
    ),
    "an output of another length": Example(
        "c = Conv <strides = [2], pads = [1, 1]> (x, w) y = Softmax <axis = 2> (c)",
        constants="float[2, 2, 3] w",
        finds="PAD102 Conv, PAD103 Softmax",
        claims="(T+1)//2 0; 0..1; finite",
    ),
    "an output without time": Example(
        "y = ReduceMax (x, a)",
        "float[1, 2, 1] y",
        constants="int64[1] a = {2}",
        finds="PAD107 ReduceMax",
        claims="finite",
        harmless="PAD107",
    ),
    "codes": Example(
        "y = Gather (w, x)", "float[1, T, 3] y", "int64[1, T] x", "float[20, 3] w", claims="T finite; -1.4..1.4; finite"
    ),
    "half precision": Example(
        "h = Cast <to = 10> (x) m = ReduceMean (h, a) d = Sub (h, m) p = Softmax <axis = 2> (d) y = Cast <to = 1> (p)",
        "float[1, 2, T] y",
        constants="int64[1] a = {2}",
        finds="PAD101 ReduceMean, PAD103 Softmax",
        claims="T 0; 0..1.008; finite",
        harmless="PAD101",
    ),
    "opset 11, a mean of rows": Example(
        "y = ReduceMean <axes = [2]> (x)",
        "float[batch, 2, 1] y",
        "float[batch, 2, T] x",
        rows=0,
        opset=11,
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "opset 11, rows backward": Example(
        "y = Slice (x, from, to, a, by)",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x",
        "int64[1] from = {-1}, int64[1] to = {-99999999999}, int64[1] a = {2}, int64[1] by = {-1}",
        rows=0,
        opset=11,
        finds="PAD105 Slice",
        claims="T finite; finite",
    ),
    "opset 11, a softmax over time": Example(
        "y = Softmax <axis = 2> (x)", "float[1, 2, T] y", opset=11, finds="PAD103 Softmax", claims="T 0; 0..1; finite"
    ),
    "opset 12, rows backward": Example(
        "y = Slice (x, from, to, a, by)",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x",
        "int64[1] from = {-1}, int64[1] to = {-99999999999}, int64[1] a = {2}, int64[1] by = {-1}",
        rows=0,
        opset=12,
        finds="PAD105 Slice",
        claims="T finite; finite",
    ),
    "opset 13, a mean": Example(
        "y = ReduceMean <axes = [2]> (x)", "float[1, 2, 1] y", opset=13, finds="PAD101 ReduceMean", claims="finite"
    ),
    "rows, a mean without the axis": Example(
        "y = ReduceMean <keepdims = 0> (x, a)",
        "float[batch, 2] y",
        "float[batch, 2, T] x",
        "int64[1] a = {2}",
        rows=0,
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "rows, normalised": Example(
        "y = GroupNormalization <num_groups = 2, epsilon = 0.1> (x, w, b)",
        "float[batch, 4, T] y",
        "float[batch, 4, T] x",
        "float[4] w, float[4] b",
        rows=0,
        opset=21,
        finds="PAD101 GroupNormalization",
        claims="T finite; finite",
    ),
    "rows, averaged at the end": Example(
        "y = AveragePool <kernel_shape = [3], pads = [1, 1]> (x)",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x",
        rows=0,
        finds="PAD102 AveragePool",
        claims="T finite; finite",
    ),
    "rows, the last of equal steps": Example(
        "z = Floor (x) y = ArgMax <axis = 2, select_last_index = 1> (z)",
        "int64[batch, 2, 1] y",
        "float[batch, 2, T] x",
        rows=0,
        finds="PAD107 ArgMax",
        claims="0..inf; finite",
    ),
    "rows, the last of equal steps without the axis": Example(
        "z = Floor (x) y = ArgMax <axis = 2, select_last_index = 1, keepdims = 0> (z)",
        "int64[batch, 2] y",
        "float[batch, 2, T] x",
        rows=0,
        finds="PAD107 ArgMax",
        claims="0..inf; finite",
    ),
    "rows, time in front of them": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) m = ReduceMean (t, a) y = Transpose <perm = [1, 2, 0]> (m)",
        "float[batch, 2, 1] y",
        "float[batch, 2, T] x",
        "int64[1] a = {0}",
        rows=0,
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "rows, time in front of them, without the axis": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) y = ReduceMean <keepdims = 0> (t, a)",
        "float[batch, 2] y",
        "float[batch, 2, T] x",
        "int64[1] a = {0}",
        rows=0,
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "rows behind their features": Example(
        "t = Transpose <perm = [2, 1, 0]> (x) s = Slice (t, from, to, a, by) y = Transpose <perm = [2, 1, 0]> (s)",
        "float[batch, 2, T] y",
        "float[batch, 2, T] x",
        "int64[1] from = {-1}, int64[1] to = {-99999999999}, int64[1] a = {0}, int64[1] by = {-1}",
        rows=0,
        finds="PAD105 Slice",
        claims="T finite; finite",
    ),
    "a mean over time and a constant axis": Example(
        "y = ReduceMean (x, a)",
        "float[1, 1, 1] y",
        constants="int64[2] a = {1, 2}",
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "a mean over two lengths": Example(
        "y = ReduceMean (x, a)",
        "float[1, 1, 1] y",
        "float[1, T, U] x",
        "int64[2] a = {1, 2}",
        finds="PAD101 ReduceMean",
        claims="finite",
    ),
    "the model's own length, a scalar": Example(
        "f = Cast <to = 1> (l) y = Mul (x, f)",
        "float[1, 2, T] y",
        "float[1, 2, T] x, int64 l",
        held="l=T",
        claims="T finite; finite",
    ),
}
NODES = {
    "two lengths": (44, 36),
    "two inputs of one length": (24, 20),
    "an input without a length": (22, 18),
    "the model's own length": (22, 18),
    "the model's own length as a size": (25, 19),
    "the model's own lengths of rows": (30, 26),
    "the model's own mask": (26, 21),
    "the model's own mask over keys": (30, 25),
    "a multiple of three": (30, 23),
    "an output that is an input": (20, 16),
    "an output that is used": (24, 20),
    "two lengths of one output": (41, 33),
    "an output of another length": (30, 22),
    "an output without time": (19, 15),
    "codes": (21, 17),
    "half precision": (33, 29),
    "opset 11, a mean of rows": (32, 28),
    "opset 11, rows backward": (39, 34),
    "opset 11, a softmax over time": (21, 17),
    "opset 12, rows backward": (37, 32),
    "opset 13, a mean": (24, 20),
    "rows, a mean without the axis": (32, 28),
    "rows, normalised": (52, 46),
    "rows, averaged at the end": (34, 29),
    "rows, the last of equal steps": (31, 27),
    "rows, the last of equal steps without the axis": (32, 28),
    "rows, time in front of them": (34, 30),
    "rows, time in front of them, without the axis": (34, 30),
    "rows behind their features": (39, 34),
    "a mean over time and a constant axis": (25, 21),
    "a mean over two lengths": (44, 37),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


def _model(example: Example, container: dict[str, int] | None = None) -> onnx.ModelProto:
    return to_proto(rewrite(example.compiled().analysis, container))


def _nodes(example: Example) -> tuple[int, int]:
    analysis = example.compiled().analysis
    container = {name: span.first + 24 * span.step for name, span in analysis.scope.spans.items()}
    return len(_model(example).graph.node), len(_model(example, container).graph.node)


@pytest.mark.parametrize("name", NODES)
def test_no_node_more_than_needed(name: str) -> None:
    """Nodes of the file with a symbolic container, and with a fixed one."""
    assert _nodes(EXAMPLES[name]) == NODES[name]


def test_length_inputs() -> None:
    assert [i.name for i in _model(EXAMPLES["an output without time"]).graph.input] == ["x", "ilens"]
    assert [i.name for i in _model(EXAMPLES["two lengths"]).graph.input] == ["x", "u", "ilens_T", "ilens_U"]
    assert [i.name for i in _model(EXAMPLES["the model's own length"]).graph.input] == ["x", "l"]
    assert [i.name for i in _model(EXAMPLES["the model's own mask"]).graph.input] == ["x", "ilens"]


def test_length_outputs() -> None:
    def outputs(name: str) -> list[str]:
        return [o.name for o in _model(EXAMPLES[name]).graph.output]

    assert outputs("an output without time") == ["y"]
    assert outputs("an output of another length") == ["y", "y_length"]
    assert outputs("two lengths of one output") == ["y", "y_length", "y_length_2"]
    assert outputs("an output that is used") == ["y", "z", "y_length", "z_length"]


def _shape(value: onnx.ValueInfoProto) -> list[int | str]:
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def test_shapes_of_the_file() -> None:
    example = EXAMPLES["an output of another length"]
    symbolic, fixed = _model(example).graph, _model(example, {"T": 9}).graph
    assert [_shape(v) for v in (*symbolic.input, *symbolic.output)] == [[1, 2, "T"], [1], [1, 2, "(T+1)//2"], [1]]
    assert [_shape(v) for v in (*fixed.input, *fixed.output)] == [[1, 2, 9], [1], [1, 2, 5], [1]]
    rows = _model(EXAMPLES["rows, averaged at the end"]).graph
    assert [_shape(v) for v in (*rows.input, *rows.output)] == [[3, 2, "T"], [3], [3, 2, "T"], [3]]


@pytest.mark.parametrize("name", ["an output of another length", "half precision", "a multiple of three"])
def test_a_fixed_container_leaves_nothing_to_shape_arithmetic(name: str) -> None:
    model = ir.from_proto(_model(EXAMPLES[name], {"T": 24}))
    assert not {node.op_type for node in model.graph} & {"Shape", "Size", "Range", "ConstantOfShape", "Concat"}
    for node in model.graph:
        for output in node.outputs:
            assert output.shape is not None and output.shape.is_static(), node
        if node.op_type == "Reshape":
            target = node.inputs[1]
            assert target is not None and target.const_value is not None
            assert (target.const_value.numpy() > 0).all()


EVEN = Example(
    "s = Shape <start = 2> (x) o = Mod (s, two) l = Slice (x, back, most, axis) n = Expand (l, one) "
    "c = Concat <axis = 0> (one, one, o) r = Expand (l, c) y = Concat <axis = 2> (x, r)",
    constants="int64[1] two = {2}, int64[1] back = {-1}, int64[1] most = {9999999}, int64[1] axis = {2}, "
    "int64[1] one = {1}",
)


@pytest.mark.parametrize("name", [*EXAMPLES, "even"])
def test_the_shapes_that_a_fixed_file_records_are_those_that_come_out(name: str) -> None:
    example = EXAMPLES.get(name, EVEN)
    if example.refused or not example.native:
        return
    compiled = example.compiled()
    container = {symbol: span.first + 7 * span.step for symbol, span in compiled.analysis.scope.spans.items()}
    model = to_proto(rewrite(compiled.analysis, container))
    known = {info.name: _shape(info) for info in model.graph.value_info}
    model.graph.output.extend(onnx.ValueInfoProto(name=value) for value in known)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    dtypes = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}
    feeds = {
        i.name: np.ones([d if isinstance(d, int) else 2 for d in i.shape], dtypes.get(i.type, i.type[7:-1]))
        for i in session.get_inputs()
    }
    found = session.run(list(known), feeds)
    assert {value: list(array.shape) for value, array in zip(known, found, strict=True)} == known


@pytest.mark.parametrize(
    ("name", "container", "what", "why", "fix"),
    [
        ("frames", {"T": 2}, "smaller than the shortest", "Conv needs an input", "T=3"),
        ("table", {"T": 21}, "longer than the model allows, 20", "Add", "T=20"),
        ("threes", {"T": 7}, "does not fit the model's step of 3", "", "T=9"),
        ("both", {"T": 21}, "longer than the model allows, 20", "20", "T=20"),
    ],
)
def test_containers_that_do_not_fit(name: str, container: dict[str, int], what: str, why: str, fix: str) -> None:
    example = {
        "both": Example(  # the reason is of the end that is told, not of what narrowed the lengths last
            "s = Shape <start = 2> (x) t = Slice (w, o, s, a) h = Add (x, t) y = Conv (h, k)",
            "float[1, 2, U] y",
            constants="float[2, 20] w, int64[1] o = {0}, int64[1] a = {1}, float[2, 2, 3] k",
        ),
        "frames": Example("y = Conv (x, w)", constants="float[2, 2, 3] w"),
        "table": Example(
            "s = Shape <start = 2> (x) t = Slice (w, o, s, a) y = Add (x, t)",
            "float[1, 2, T] y",
            constants="float[2, 20] w, int64[1] o = {0}, int64[1] a = {1}",
        ),
        "threes": EXAMPLES["a multiple of three"],
    }[name]
    with pytest.raises(MisuseError, match=what) as caught:
        _model(example, container)
    assert why in str(caught.value.why)
    assert fix in str(caught.value.fix)
    limit = int(fix.partition("=")[2])
    _model(example, {"T": limit})


@pytest.mark.parametrize("dtype", [np.int64])
def test_lengths_are_clamped_to_the_container(dtype: type) -> None:
    session = onnxruntime.InferenceSession(_model(EXAMPLES["an output of another length"]).SerializeToString())
    x = np.random.default_rng(0).standard_normal((1, 2, 9)).astype(np.float32)
    whole = session.run(None, {"x": x, "ilens": np.array([9], dtype)})
    for given in (10, 99999):
        for got, expected in zip(session.run(None, {"x": x, "ilens": np.array([given], dtype)}), whole, strict=True):
            assert np.array_equal(got, expected)
    for given in (0, -1, -99999):
        assert not any(got.any() for got in session.run(None, {"x": x, "ilens": np.array([given], dtype)}))


def test_the_models_own_lengths_are_clamped_where_it_reads_them() -> None:
    """The first is not read at all, and the second is, as a number."""
    example = Example(
        "f = Cast <to = 1> (k) t = ReduceSum (u, a) y = Div (t, f) z = Neg (x)",
        "float[1, 2, 1] y, float[1, 2, T] z",
        "float[1, 2, T] x, float[1, 2, U] u, int64[1] l, int64[1] k",
        "int64[1] a = {2}",
        held="l=T k=U",
        finds="PAD101 ReduceSum",
        claims="finite",
    )
    example.check()
    session = onnxruntime.InferenceSession(_model(example).SerializeToString())
    x, u = (np.random.default_rng(seed).standard_normal((1, 2, 9)).astype(np.float32) for seed in (0, 1))

    def outputs(length: int) -> list[np.ndarray]:
        return session.run(None, {"x": x, "u": u, "l": np.array([9]), "k": np.array([length])})

    assert all(np.array_equal(a, b) for a, b in zip(outputs(9), outputs(10), strict=True))
    assert np.array_equal(outputs(99999)[0], outputs(9)[0]) and not np.array_equal(outputs(8)[0], outputs(9)[0])


@pytest.mark.parametrize("to", [1, 10, 11])
def test_a_length_as_data_has_the_models_own_precision(to: int) -> None:
    """A third of it too: doubles are divided as doubles, and halves as floats, since a long length is none in half."""
    kind, dtype = {1: ("float", np.float32), 10: ("float16", np.float16), 11: ("double", np.float64)}[to]
    example = Example(
        f"s = Shape <start = 2> (x) n = Squeeze (s) m = Cast <to = {to}> (n) q = Div (m, by) y = Add (x, q)",
        f"{kind}[1, 1, T] y",
        f"{kind}[1, 1, T] x",
        f"{kind} by = {{{16896 if to == 10 else 3}}}",  # the text form gives halves by their bits
    )
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(_model(example).SerializeToString(), options)
    for length in (7, 70001):
        y = session.run(None, {"x": np.zeros((1, 1, 70003), dtype), "ilens": np.array([length])})[0]
        assert y.dtype == dtype and np.array_equal(np.unique(y[..., :length]), np.array([length / 3], dtype))


def test_codes_of_a_contributed_operator_keep_their_type() -> None:
    """ONNX infers no type for it, and the fill of its padding has to have one."""
    Example(
        "q = QuantizeLinear (x, s, z) c = com.microsoft.QLinearAdd (q, s, z, q, s, z, s2, z) "
        "m = MaxPool <kernel_shape = [3], pads = [1, 1]> (c) y = DequantizeLinear (m, s2, z)",
        "float[1, 2, T] y",
        constants="float s = {0.05}, float s2 = {0.1}, uint8 z = {128}",
        finds="PAD107 MaxPool",
        claims="T finite; finite",
        harmless="PAD107",
    ).check()


@pytest.mark.parametrize("shape", ["", "[1]", "[1, 1]"])
def test_the_models_own_length_keeps_its_rank(shape: str) -> None:
    example = Example(
        "y = Neg (x) z = Cast <to = 1> (l)",
        f"float[1, 2, T] y, float{shape} z",
        f"float[1, 2, T] x, int64{shape} l",
        held="l=T",
    )
    session = onnxruntime.InferenceSession(to_proto(rewrite(example.compiled().analysis)).SerializeToString())
    feeds = {"x": np.zeros((1, 2, 9), np.float32), "l": np.full([int(d) for d in shape[1:-1].split(", ") if d], 5)}
    (found,) = session.run(["z"], feeds)
    assert found.shape == feeds["l"].shape and found == 5.0


def test_what_is_read_below_the_shortest_length_is_in_range() -> None:
    """A row of no steps is all ones: the table has two rows, and 99 was given."""
    example = Example(
        "e = Gather (w, x) y = Slice (e, from, to, from)",
        "float[1, U, 3] y",
        "int64[1, T] x",
        "float[2, 3] w, int64[1] from = {1}, int64[1] to = {9999999}",
        first="T=2",
    )
    session = onnxruntime.InferenceSession(_model(example).SerializeToString())
    y, length = session.run(None, {"x": np.full((1, 9), 99), "ilens": np.array([0])})
    assert not y.any() and length == [0]


def _map(*segments: str) -> tuple[Segment, ...]:
    """Of ``start: native + physical, step``."""
    found = [re.fullmatch(r"(.+): (.+) \+ (.+), (-?\d)", text) for text in segments]
    return tuple(Segment(parse(m[1]), parse(m[2]), parse(m[3]), int(m[4])) for m in found if m)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize(
    ("size", "source", "segments"),
    [
        ("T", "T", _map("0: 0 + 0, 1", "T: T-1 + 0, 0")), ("T", "T", _map("0: T-1 + 0, -1")),
        ("T-(T//2)", "T", _map("0: 0 + 0, 2")), ("T-(T//2)", "T", _map("0: T//3 + 0, 2")),
        ("T", "T", _map("0: 2 + 0, 1")), ("T", "T", _map("0: -2 + 0, 1")), ("3", "T", _map("0: T-3 + 0, 1")),
        ("2*T", "2*T", _map("0: 0 + 0, 1", "T: -T + T, 1")), ("T+2", "T+2", _map("0: 0 + 0, 1", "T: -T + T, 1")),
        ("3*T", "3*T", _map("0: 0 + 0, 1", "T: -T + T, 1", "2*T: -2*T + 2*T, 1")),
        ("T+4", "T", _map("0: 2 + 0, -1", "2: -2 + 0, 1", "T+2: 2*T + 0, -1")),
        ("T+4", "T", _map("0: 0 + 0, 0", "2: -2 + 0, 1", "T+2: T-1 + 0, 0")), ("T+1", "T+1", _map("0: 0 + T, 0")),
        ("4", "9", _map("0: 2 + 0, 2")), ("4", "9", _map("0: 0 + 0, 1", "2: 5 + 0, 0")),
        ("T", "9", _map("0: 9-T + 0, 1")), ("T", "T", _map("0: 0 + 0, 1", "3: 1 + 0, 1")),
    ],
)  # fmt: skip
def test_the_index_of_a_map(rows: int, size: str, source: str, segments: tuple[Segment, ...]) -> None:
    """Each index of the container reads what the last segment that has begun says, inside its source."""
    example = Example("y = Neg (x)", "float[batch, T] y" if rows == 0 else "float[1, T] y", "", rows=rows)
    example = replace(example, inputs=example.outputs.replace(" y", " x"))
    writer = _Rewriter(_copied(example.compiled().analysis), None, ())
    writer._physical_sizes()
    writer._length_inputs()
    index = writer._index(parse(size), parse(source), segments)
    writer.graph.extend(writer.emitter.nodes)
    index.dtype = ir.DataType.INT64
    writer.graph.outputs.append(index)
    writer.graph.sort()
    session = onnxruntime.InferenceSession(to_proto(writer.model).SerializeToString())
    held, lengths = {"T": 9}, [9, 4, 5] if rows == 0 else [5]
    found = session.run([index.name], {"x": np.zeros((len(lengths), 9), np.float32), "ilens": np.array(lengths)})[0]

    def expected(length: int) -> list[int]:
        valid, read = {"T": length}, []
        inside = valid if all(s.physical == constant(0) for s in segments) else held
        for k in range(parse(size).evaluate(held)):
            now = [s for s in segments if s.start.evaluate(valid) <= k or s is segments[0]][-1]
            place = now.native.evaluate(valid) + now.physical.evaluate(held) + now.step * k
            read.append(min(max(place, 0), parse(source).evaluate(inside) - 1))
        return read

    wanted = [expected(length) for length in lengths]
    assert (np.broadcast_to(found, np.shape(wanted)) == wanted).all()
    assert found.ndim == 1 or len(found) == len(lengths)
