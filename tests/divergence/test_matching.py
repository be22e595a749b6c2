"""Which node of one graph is which of another: by what they hold and read, where neither names nor order tell."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from paddable.divergence.matching import match
from paddable.divergence.plain import Plain
from paddable.graph.prepare.normalise import normalise

from .test_exchanged import FEED, two_products
from .test_stored import HEAD, WIDTH, Weights, drawn, encoder


def plain(text: str, held: Weights, other: bool = False) -> Plain:
    """The graph; its inner values are called otherwise, and its nodes by what they make."""
    model = onnx.parser.parse_model('<ir_version: 9, opset_import: ["" : 18]> g ' + text)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(a, name) for name, a in held.items())
    for node in model.graph.node:
        node.name = node.output[0]
        for names in (node.input, node.output):
            names[:] = [f"other_{name}" if other and name not in (*held, "x", "y") else name for name in names]
    return Plain(normalise(ir.from_proto(model)))


def pairs(one: str, other: str, held: Weights, wrong: Weights | None = None) -> dict[str, str]:
    """By node of the first graph, that of the second, by name."""
    found = match(plain(one, held if wrong is None else wrong), plain(other, held, other=True)).pairs
    return {str(a.name): str(b.name) for a, b in found.items()}


def assert_alike(found: dict[str, str]) -> None:
    assert found and all(a == b for a, b in found.items()), found


READERS = HEAD + "{{ m = MatMul (x, w) {} {} u = Tanh (a) v = Sigmoid (b) c = Add (u, v) y = Relu (c) }}"


@pytest.mark.parametrize("attribute", ["Reshape <allowzero = 1>", "ReduceMean <keepdims = 1>"])
def test_attributes_that_mean_the_same_tell_no_readers_apart(attribute: str) -> None:
    """What is left out is its default, and ``allowzero`` says nothing."""
    held = {"w": drawn(WIDTH, WIDTH), "s": np.array([1, 2, 8]), "r": np.array([1, 4, 4])}
    one, other = ([f"a = {kind} (m, s)", f"b = {kind} (m, r)"] for kind in (attribute.split()[0], attribute))
    assert_alike(pairs(READERS.format(*one), READERS.format(*other[::-1]), held))


@pytest.mark.parametrize(("first", "second"), [("w1", "u4"), ("u1", "w2"), ("w2", "u2")])
def test_weights_exchanged_in_series_are_no_anchors(first: str, second: str) -> None:
    held, wrong = two_products(), two_products()
    wrong[first], wrong[second] = wrong[second], wrong[first]
    assert_alike(pairs(encoder(FEED), encoder(FEED), held, wrong))


BRANCHES = (
    HEAD + "{ a = Relu (x) c = MatMul (a, w) n = LayerNormalization (c, g, s) b = Tanh (x) d = MatMul (b, u) "
    "e = MatMul (d, v) m = LayerNormalization (e, h, r) y = Add (n, m) }"
)


def test_norms_of_two_branches_that_exchanged_their_weights_stay_in_their_place() -> None:
    held = {name: drawn(WIDTH, WIDTH, seed=k) for k, name in enumerate("wuv")}
    held |= {name: drawn(WIDTH, seed=k) for k, name in enumerate("gshr")}
    wrong = {**held, "g": held["h"], "s": held["r"], "h": held["g"], "r": held["s"]}
    assert_alike(pairs(BRANCHES, BRANCHES, held, wrong))


ATTENTION = (
    HEAD + "{{ {} {} e = Reshape (q, s) f = Reshape (k, s) t = Transpose <perm = [0, 2, 1]> (f) z = MatMul (e, t) "
    "p = Softmax (z) y = MatMul (p, x) }}"
)


def test_two_projections_that_exchanged_their_weights_stand_in_each_others_place() -> None:
    """For what reads them; they are themselves the nodes that hold their weights."""
    held = {"wq": drawn(WIDTH, WIDTH), "wk": drawn(WIDTH, WIDTH, seed=1), "s": np.array([1, -1, WIDTH])}
    text = ATTENTION.format("q = MatMul (x, wq)", "k = MatMul (x, wk)")
    found = pairs(text, text, held, {**held, "wq": held["wk"], "wk": held["wq"]})
    assert (found.pop("q"), found.pop("k")) == ("k", "q")
    assert_alike(found)


def test_what_reads_a_node_that_its_place_has_paired_is_told_by_its_constants() -> None:
    """Two scales of one value, of which one is changed, and behind it two more, of which one is changed; all of them
    too small to tell what they are."""
    head = "(float[1, T, 4] x) => (float[1, T, 4] y) { t = MatMul (x, w) u = MatMul (t, v) "
    one = "a = Mul (u, p) b = Mul (u, q) c = Mul (a, r) d = Mul (a, s) y = Sum (b, c, d) }"
    other = "b = Mul (u, q) a = Mul (u, p) d = Mul (a, s) c = Mul (a, r) y = Sum (b, c, d) }"
    held = {"w": drawn(4, 4), "v": drawn(4, 4, seed=1)} | {name: drawn(4, seed=k) for k, name in enumerate("pqrs")}
    assert_alike(pairs(head + one, head + other, held, {**held, "p": held["p"] + 1, "s": held["s"] + 1}))


STEP = (
    HEAD + "{ m = MatMul (x, w) z = Sigmoid (m) n = Tanh (m) c = Sin (m) u = Sub (m, z) %s "
    "o = Exp (h) f = MatMul (o, w) y = Relu (f) }"
)


@pytest.mark.parametrize("turned", [False, True])
def test_names_that_count_on_behind_an_operation_of_one_graph(turned: bool) -> None:
    held = {"w": drawn(WIDTH, WIDTH)}
    right = STEP % "mul_0 = Mul (u, n) mul_1 = Mul (z, c) h = Add (mul_0, mul_1)"
    more = STEP % "mul_0 = Mul (c, c) e = Add (n, mul_0) mul_1 = Mul (u, e) mul_2 = Mul (z, c) h = Add (mul_1, mul_2)"
    graphs = [plain(text, held) for text in ((more, right) if turned else (right, more))]
    found = {str(a.name): str(b.name) for a, b in match(*graphs).pairs.items()}
    wanted = {"mul_0": "mul_1", "mul_1": "mul_2", "h": "h"}
    wanted = {b: a for a, b in wanted.items()} if turned else wanted
    assert {name: found.get(name) for name in wanted} == wanted, found
