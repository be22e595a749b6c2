"""fp16: what stays in fp32 in native stays in a container, whatever padding puts between or in its place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from paddable.api import convert

from .networks import model

RANDOM = np.random.default_rng(0)
HALF, FLOAT = onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape) / shape[0] ** 0.5


WEIGHTS = {
    "w": normal(8, 16), "b": np.full(16, 8.0), "o": normal(16, 5), "s": np.array([4.0]), "axes": [1], "end": [-1],
    "k": normal(16, 16, 3), "n": np.full(16, 0.5),
}  # fmt: skip
BODIES = {
    "a variance over time": """h0 = MatMul(x, w) h = Add(h0, b) q = Mul(h, h) e = ReduceMean(q, axes)
        m = ReduceMean(h, axes) mm = Mul(m, m) v = Sub(e, mm) r = Sqrt(v) d = Sub(h, m) z = Div(d, r)
        y = MatMul(z, o)""",
    "attention": """h = MatMul(x, w) t = Transpose<perm = [0, 2, 1]>(h) a = MatMul(h, t) c = Div(a, s)
        p = Softmax<axis = -1>(c) g = MatMul(p, h) y = MatMul(g, o)""",
    "an attentive mean": """h = MatMul(x, w) t = Tanh(h) a = MatMul(t, u) c = Mul(a, s) p = Softmax<axis = 1>(c)
        g = Mul(p, h) e = ReduceSum(g, axes) d = Sub(h, e) y = MatMul(d, o)""",
    "a norm over time": """h0 = MatMul(x, w) t = Transpose<perm = [0, 2, 1]>(h0) h = Mul(t, s)
        i = InstanceNormalization(h, n, n) c = Conv<pads = [1, 1]>(i, k) r = Transpose<perm = [0, 2, 1]>(c)
        y = MatMul(r, o)""",
    "a maximum": """h = MatMul(x, w) c = Mul(h, s) p = ReduceLogSumExp(c, axes) d = Sub(h, p) y = MatMul(d, o)""",
    "an answer": "h = MatMul(x, w) l = MatMul(h, o) q = Mul(l, l) e = ReduceMean(q, axes) y = Sub(l, e)",
}


def network(kind: str) -> onnx.ModelProto:
    read = {name: array for name, array in {**WEIGHTS, "u": normal(16, 1)}.items() if f" {name})" in BODIES[kind]
            or f" {name}," in BODIES[kind]}  # fmt: skip
    return model(BODIES[kind], **read)


def types(made: onnx.ModelProto) -> dict[str, list[ir.DataType | None]]:
    """By name of a node, the types of what it makes."""
    inferred = onnx.shape_inference.infer_shapes(made)
    graph = ir.from_proto(inferred).graph
    return {str(node.name): [value.dtype for value in node.outputs] for node in graph}


@pytest.mark.parametrize("half", ["exact", "fast"])
@pytest.mark.parametrize("kind", BODIES)
def test_all_that_stays_in_native_stays_in_a_container_and_the_report_is_true(
    kind: str, half: str, tmp_path: Path
) -> None:
    out = tmp_path / "bundle"
    convert(network(kind), ["x:1=T"], containers=[24], precision="fp16", half=half, out=out, gate_lengths=2)
    name = "fp16" if half == "exact" else "fp16-fast"
    stays = {one["node"] for one in json.loads((out / "report.json").read_text())["ranges"][name]["stays"]}
    file = next(graph["file"] for graph in json.loads((out / "bundle.json").read_text())["graphs"])
    found = types(onnx.load(out / file, load_external_data=False))
    assert stays & found.keys() and any(ir.DataType.FLOAT16 in kinds for kinds in found.values())
    assert not {node for node in stays & found.keys() if ir.DataType.FLOAT16 in found[node]}
