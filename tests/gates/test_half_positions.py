"""A model that computes the angles of its positions in half: a graph of fixed sizes holds them computed, in half."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from paddable.api import convert
from paddable.api.certificate import certificate
from paddable.api.opened import open_model
from paddable.gates import Candidate, GateReport, judge
from paddable.graph.io.write import to_proto
from paddable.padding.rewrite.rewrite import rewrite

ANGLES = {
    "product": "u = Unsqueeze(c, ends) a = Mul(u, inv)",
    "scaled": "e = Mul(c, third) u = Unsqueeze(e, ends) a = MatMul(u, inv)",
    "divided": "e = Div(c, seven) u = Unsqueeze(e, ends) a = MatMul(u, inv)",
}
CONTAINER = {"T": 300}


def rotary(angles: str, seed: int = 0) -> onnx.ModelProto:
    """Attention whose queries and keys turn with their position, in half as float16 converters write it."""
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> g (float16[1, T, 32] x) => (float16[1, T, 32] y) { '
        "n0 = Shape<start = 1, end = 2>(x) n = Squeeze(n0) r = Range(zero, n, one) c = Cast<to = 10>(r) "
        f"{ANGLES[angles]} co = Cos(a) si = Sin(a) "
        "q = MatMul(x, w) q1, q2 = Split<axis = -1, num_outputs = 2>(q) "
        "qa = Mul(q1, co) qb = Mul(q2, si) qc = Sub(qa, qb) qd = Mul(q1, si) qe = Mul(q2, co) qf = Add(qd, qe) "
        "qr = Concat<axis = -1>(qc, qf) k = MatMul(x, v) k1, k2 = Split<axis = -1, num_outputs = 2>(k) "
        "ka = Mul(k1, co) kb = Mul(k2, si) kc = Sub(ka, kb) kd = Mul(k1, si) ke = Mul(k2, co) kf = Add(kd, ke) "
        "kr = Concat<axis = -1>(kc, kf) t = Transpose<perm = [0, 2, 1]>(kr) s = MatMul(qr, t) "
        "p = Softmax<axis = -1>(s) h = MatMul(p, x) y = Add(h, x) }"
    )
    rng = np.random.default_rng(seed)
    weights = {"w": rng.standard_normal((32, 32)) / 6, "v": rng.standard_normal((32, 32)) / 6}
    weights |= {"inv": 10000 ** (-np.arange(16) / 16)[None], "third": np.array(1 / 3), "seven": np.array(7)}
    arrays = {name: array.astype(np.float16) for name, array in weights.items()}
    arrays |= {"zero": np.array(0), "one": np.array(1), "ends": np.array([1])}
    read = {name for node in model.graph.node for name in node.input}
    model.graph.initializer.extend(numpy_helper.from_array(a, name) for name, a in arrays.items() if name in read)
    return model


def judged(native: onnx.ModelProto, padded: onnx.ModelProto) -> GateReport:
    analysis = open_model(native, ["x:1=T"]).analyse()
    candidate = Candidate("static", padded.SerializeToString(), certificate(analysis, {}, CONTAINER, "cpu"), CONTAINER)
    return judge(analysis, native.SerializeToString(), [candidate], limit=6)


@pytest.mark.parametrize("angles", ANGLES)
def test_the_lift_rounds_what_is_made_of_sizes(angles: str) -> None:
    for seed in range(2):
        convert(rotary(angles, seed), ["x:1=T"], containers=[300], gate_lengths=6)


@pytest.mark.parametrize("precision", ["int8", "fp16"])
def test_so_does_a_precision_that_computes_in_fp32(precision: str) -> None:
    convert(rotary("product"), ["x:1=T"], containers=[300], precision=precision, gate_lengths=6)


def test_a_table_that_is_off_fails_on_the_lift() -> None:
    native = rotary("scaled")
    padded = to_proto(rewrite(open_model(native, ["x:1=T"]).analyse(), CONTAINER))
    (table,) = (one for one in padded.graph.initializer if list(one.dims)[:1] == [300] and one.data_type == 10)
    table.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(table) * np.float16(1.003), table.name))
    rows = judged(native, padded).rows
    assert any(not row.ok and row.model == "static, fp32 lift" for row in rows)
