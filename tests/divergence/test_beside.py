"""Nodes that make sizes and masks beside what a model computes: how an exporter lays them out is no cause."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import paddable

from .test_verdicts import save

CONV = "Conv <kernel_shape = [3], pads = [1, 1]>"
RNG = np.random.default_rng(0)
V, W = (0.2 * RNG.standard_normal((4, 4, 3)).astype(np.float32) for _ in range(2))


def _last_block(place: Path, block: str, name: str) -> Path:
    text = f"(float[1, 4, T] x) => (float[1, 4, T] y) {{ a = {CONV} (x, v) {block} }}"
    return save(place / name, text, v=V, w=W, one=np.array([0]), two=np.array([1]))


def test_axes_of_what_sizes_make_are_no_cause(tmp_path: Path) -> None:
    """One graph has a block more, with a shape of its own in it."""
    more = (
        "s = Shape <start = 2> (x) l = Cast <to = 1> (s) i = Unsqueeze (l, one) j = Unsqueeze (i, two) "
        f"b = {CONV} (a, w) c = Div (b, j) d = Add (c, a) y = Tanh (d)"
    )
    less = "s = Shape <start = 2> (x) l = Cast <to = 1> (s) i = Unsqueeze (l, two) c = Div (a, i) y = Tanh (c)"
    files = _last_block(tmp_path, more, "more.onnx"), _last_block(tmp_path, less, "less.onnx")
    for one, other in (files, files[::-1]):
        fork = paddable.probe(one, other, ["x:2=T"], at=17).fork
        assert fork is not None and fork.cause.kind == "structure" and "Conv" in fork.cause.text, fork


def test_a_mask_that_is_right_elsewhere_is_no_cause(tmp_path: Path) -> None:
    """One exporter inverts the mask once for all blocks, the other in each; one block has another mask."""
    head = "(float[1, 4, T] x, float[T] m) => (float[1, 4, T] y)"
    convs = [f"a{k} = {CONV} (b{k}, w)" for k in range(4)]
    once = [f"{each} b{k + 1} = Where (n, zero, a{k})" for k, each in enumerate(convs)]
    each = [
        f"{conv} t{k} = Unsqueeze (p, two) u{k} = Unsqueeze (t{k}, two) i{k} = Equal (u{k}, no) "
        f"b{k + 1} = Where (i{k}, zero, a{k})"
        for k, conv in enumerate(convs)
    ]
    each[2] = "q = Sub (m, half) " + each[2].replace("Unsqueeze (p, two)", "Unsqueeze (r, two)")
    each[2] = each[2].replace("t2 =", "r = Greater (q, zero) t2 =")
    start = "{ p = Greater (m, zero) b0 = Tanh (x)"
    held = {"w": W, "zero": np.zeros((), np.float32), "half": np.full((), 0.5, np.float32), "two": np.array([0])}
    held |= {"both": np.array([0, 1]), "no": np.array(False)}
    right = save(
        tmp_path / "right.onnx",
        f"{head} {start} u = Unsqueeze (p, both) n = Not (u) {' '.join(once)} y = Tanh (b4) }}",
        **held,
    )
    wrong = save(tmp_path / "wrong.onnx", f"{head} {start} {' '.join(each)} y = Tanh (b4) }}", **held)
    for one, other in ((wrong, right), (right, wrong)):
        fork = paddable.probe(one, other, ["x:2=T", "m:0=T"], at=17).fork
        assert fork is not None and fork.cause.kind == "structure", fork
        assert "Sub" in fork.cause.text and "where the" not in fork.cause.text, fork.cause.text


def test_a_dropped_layer_is_told_by_where_its_numbers_are(tmp_path: Path) -> None:
    """Of whichever graph is named first."""
    held = {f"w{k}": (0.2 * RNG.standard_normal((4, 4, 3))).astype(np.float32) for k in range(6)}

    def chain(name: str, kept: list[int]) -> Path:
        convs = [f"a{k + 1} = {CONV} (b{k}, w{at}) b{k + 1} = Tanh (a{k + 1})" for k, at in enumerate(kept)]
        text = f"(float[1, 4, T] x) => (float[1, 4, T] y) {{ b0 = Relu (x) {' '.join(convs)} y = Abs (b{len(kept)}) }}"
        return save(tmp_path / name, text, **{f"w{at}": held[f"w{at}"] for at in kept})

    whole, short = chain("whole.onnx", list(range(6))), chain("short.onnx", [0, 1, 2, 3, 5])
    for one, other in ((whole, short), (short, whole)):
        fork = paddable.probe(one, other, ["x:2=T"], at=17).fork
        assert fork is not None, fork
        assert "lack" in fork.cause.text or "numbers are those of Conv" in fork.cause.text, fork.cause


def test_one_name_of_two_nodes_is_no_exchange(tmp_path: Path) -> None:
    """An exporter counts the nodes of a module: one more has the name that another has elsewhere."""
    text = "(float[1, 4, T] x) => (float[1, 2, T] y) {{ a0 = {} (x, v) a = Tanh (a0) {} y = Tanh (d) }}"
    held = {"v": V, "w": W[:2], "u": V[::-1], "f": np.full((), 1.1, np.float32), "g": np.full((), 0.3, np.float32)}
    block = (
        f"{{0}}p = {CONV} (a, u) {{0}}e = Tanh ({{0}}p) {{1}} = Mul ({{0}}e, g) {{0}}b = Relu ({{1}}) "
        f"{{0}}q = {CONV} ({{0}}b, w) {{0}}c = Tanh ({{0}}q)"
    )
    right = save(tmp_path / "right.onnx", text.format(CONV, block.format("", "m") + " d = Sigmoid (c)"), **held)
    more = block.format("o", "k") + " m = Mul (oc, f) d = Sigmoid (m)"
    wrong = save(tmp_path / "wrong.onnx", text.format(CONV, more), **held)
    fork = paddable.probe(wrong, right, ["x:2=T"], at=17).fork
    assert fork is not None and (fork.op, fork.cause.kind) == ("Mul", "structure"), fork
