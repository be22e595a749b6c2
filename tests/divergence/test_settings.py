"""Pads, epsilons, positions and masks of the model itself are told as what they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnxruntime.quantization import quantize_dynamic

import paddable

from .test_stored import drawn
from .test_verdicts import save

RNG = np.random.default_rng(0)
W, V = (0.3 * RNG.standard_normal((8, 8)).astype(np.float32) for _ in range(2))
TABLE = RNG.standard_normal((64, 8)).astype(np.float32)
HEAD = "(float[1, T, 8] x) => (float[1, T, 8] y) "
CUT = "s = Shape <start = 1, end = 2> (x) e = Add (s, from) p = Slice (table, from, e, zero)"
GELU = "d = Div (a, two) g = Erf (d) h = Add (g, one) m = Mul (a, h) n = Mul (m, half)"


def _native(place: Path, body: str, ints: str = "", **held: np.ndarray) -> Path:
    return save(place, f"{HEAD}<{ints}> {{ {body} }}" if ints else f"{HEAD}{{ {body} }}", w=W, v=V, **held)


def _padded(native: Path) -> Path:
    out = native.with_name(f"padded-{native.name}")
    paddable.convert(native, ["x:1=T"], containers=[40], out=out, verify=False)
    return out


@pytest.mark.parametrize(("ours", "theirs"), [(3, 0), (0, 3)])
def test_positions_that_begin_elsewhere_are_the_table(tmp_path: Path, ours: int, theirs: int) -> None:
    body = f"a = MatMul (x, w) {CUT} b = Add (a, p) y = MatMul (b, v)"
    one, other = (
        _native(tmp_path / f"{n}-{k}.onnx", body, f"int64[1] from = {{{n}}}, int64[1] zero = {{0}}", table=TABLE)
        for k, n in enumerate((ours, theirs))
    )
    fork = paddable.probe(_padded(one), other, at=20).fork
    assert fork is not None and (fork.op, fork.cause.kind) == ("Add", "weights"), fork
    assert "made of table" in fork.cause.text, fork.cause.text


def test_pads_are_no_weights(tmp_path: Path) -> None:
    body = "t = Transpose <perm = [0, 2, 1]> (x) p = Pad (t, pads) c = Conv (p, k) y = Transpose <perm = [0, 2, 1]> (c)"
    kernel = RNG.standard_normal((8, 8, 5)).astype(np.float32)
    one, other = (
        _native(tmp_path / f"{n}.onnx", body, f"int64[6] pads = {{0, 0, {n}, 0, 0, {4 - n}}}", k=kernel) for n in (4, 2)
    )
    fork = paddable.probe(one, other, lengths=["x:1=T"], at=20).fork
    assert fork is not None and fork.cause.kind == "attributes" and "causal" in fork.cause.fix, fork


def test_an_epsilon_is_no_weight(tmp_path: Path) -> None:
    body = "a = MatMul (x, w) q = Mul (a, a) m = ReduceMean (q, axes) e = Add (m, eps) r = Sqrt (e) y = Div (a, r)"
    one, other = (
        _native(tmp_path / f"{n}.onnx", body, f"int64[1] axes = {{2}}, float eps = {{{n}}}") for n in (0.1, 0.001)
    )
    fork = paddable.probe(one, other, lengths=["x:1=T"], at=20).fork
    assert fork is not None and fork.cause.kind == "attributes" and "epsilon" in fork.cause.fix, fork


def test_attention_that_looks_back_only_is_no_remedy(tmp_path: Path) -> None:
    start = "k = Transpose <perm = [0, 2, 1]> (x) a = MatMul (x, k) "
    back = (
        "n = Shape <start = 1, end = 2> (x) u = Squeeze (n) r = Range (zero, u, one) c = Unsqueeze (r, last) "
        "b = Less (c, r) s = Where (b, low, a) "
    )
    end = "p = Softmax (s) y = MatMul (p, x)"
    ints = "int64 zero = {0}, int64 one = {1}, int64[1] last = {1}, float low = {-10000}"
    causal = _native(tmp_path / "causal.onnx", start + back + end, ints)
    native = _native(tmp_path / "native.onnx", start + "s = Identity (a) " + end)
    fork = paddable.probe(_padded(causal), native, at=20).fork
    assert fork is not None and fork.cause.kind == "structure" and "Where" in fork.cause.text, fork


def test_what_8_bits_make_of_constants_is_no_weight(tmp_path: Path) -> None:
    start, table = (RNG.standard_normal(shape).astype(np.float32) for shape in ((1, 8), (8, 32)))
    body = "c = MatMul (start, table) a = MatMul (x, up) b = Add (a, c) y = MatMul (b, down)"
    up, down = drawn(8, 32), drawn(32, 8)
    native = _native(tmp_path / "native.onnx", body, start=start, table=table, up=up, down=down)
    quantize_dynamic(native, tmp_path / "int8.onnx")
    report = paddable.probe(tmp_path / "int8.onnx", native, lengths=["x:1=T"], at=20)
    assert report.ok and not report.changed, report.verdict
    other = _native(tmp_path / "other.onnx", body, start=start + 1, table=table, up=up, down=down)
    quantize_dynamic(other, tmp_path / "wrong.onnx")
    report = paddable.probe(tmp_path / "wrong.onnx", native, lengths=["x:1=T"], at=20)
    assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict


def test_another_activation_in_8_bits_is_no_order_of_inputs(tmp_path: Path) -> None:
    ints = "float two = {1.41421354}, float one = {1}, float half = {0.5}"
    native = _native(tmp_path / "native.onnx", f"a = MatMul (x, w) {GELU} y = MatMul (n, v)", ints)
    other = _native(tmp_path / "other.onnx", "a = MatMul (x, w) n = Relu (a) y = MatMul (n, v)")
    quantize_dynamic(other, tmp_path / "int8.onnx")
    fork = paddable.probe(tmp_path / "int8.onnx", native, lengths=["x:1=T"], at=20).fork
    assert fork is not None and fork.cause.kind == "structure" and "Relu" in fork.cause.text, fork


@pytest.mark.parametrize("turned", [False, True])
def test_a_residual_inside_a_block_is_missing_where_names_count_on(tmp_path: Path, turned: bool) -> None:
    """As an exporter writes it, all additions behind the missing one have the name of the one in front of them."""
    front = [("MatMul", "x", "w"), ("Relu", "/b/MatMul"), ("MatMul_1", "/b/Relu", "v"), ("Tanh", "x")]
    whole = [("Add", "/b/MatMul_1", "/b/MatMul"), ("Add_1", "/b/Tanh", "/b/Add"), ("Add_2", "x", "/b/Add_1")]
    short = [("Add", "/b/Tanh", "/b/MatMul_1"), ("Add_1", "x", "/b/Add")]
    for name, nodes in (("native", [*front, *whole]), ("short", [*front, *short])):
        model = onnx.load(_native(tmp_path / f"{name}.onnx", "y = Identity (x)"))
        model.graph.node[0].input[0] = f"/b/{nodes[-1][0]}"
        made = [
            onnx.helper.make_node(kind.split("_")[0], inputs, [f"/b/{kind}"], name=f"/b/{kind}")
            for kind, *inputs in nodes
        ]
        model.graph.node.extend([*made, model.graph.node.pop(0)])
        onnx.save(model, tmp_path / f"{name}.onnx")
    pair = (tmp_path / "short.onnx", tmp_path / "native.onnx")
    fork = paddable.probe(*(pair[::-1] if turned else pair), lengths=["x:1=T"], at=20).fork
    assert fork is not None and fork.cause.kind == "structure" and "Add" in fork.cause.text, fork
