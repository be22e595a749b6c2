"""One checkpoint that two exporters store in their own ways is one, and one number in it is found in any of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddable

from .test_verdicts import save

Weights = dict[str, np.ndarray]
WIDTH, BLOCKS = 16, 6
HEAD = f"(float[1, T, {WIDTH}] x) => (float[1, T, {WIDTH}] y) "


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(np.float32)


def weights() -> Weights:
    """Of each block a norm's gain and shift, and a square matrix."""
    rng = np.random.default_rng(5)
    found: Weights = {}
    for k in range(BLOCKS):
        found[f"g{k}"] = rng.uniform(0.5, 2, WIDTH).astype(np.float32)
        found[f"s{k}"], found[f"b{k}"] = (rng.standard_normal(WIDTH).astype(np.float32) for _ in "sb")
        found[f"w{k}"] = (rng.standard_normal((WIDTH, WIDTH)) / 2).astype(np.float32)
    return found


def encoder(block: str) -> str:
    """A chain of blocks, each of which reads ``vK`` and makes ``v(K + 1)``."""
    body = "v0 = Neg (x) " + " ".join(block.replace("K+", str(k + 1)).replace("K", str(k)) for k in range(BLOCKS))
    return HEAD + "{ " + body + f" y = Neg (v{BLOCKS}) }}"


REST = " rK = Relu (aK) vK+ = Add (vK, rK)"
NORM = "nK = LayerNormalization <axis = -1> (vK, gK, sK) "
PLAIN = NORM + "cK = MatMul (nK, wK) aK = Add (cK, bK)" + REST
TURNED = (
    NORM
    + "tK = Transpose <perm = [1, 0]> (wK) cK = MatMul (nK, tK) aK = Add (cK, bK) rK = Relu (aK) vK+ = Add (vK, rK)"
)
HALVED = NORM + "tK = Cast <to = 1> (wK) cK = MatMul (nK, tK) aK = Add (cK, bK)" + REST
GEMM = NORM + "fK = Squeeze (nK, first) cK = Gemm <transB = 1> (fK, wK, bK) aK = Unsqueeze (cK, first)" + REST
FLAT = NORM + "fK = Squeeze (nK, first) cK = MatMul (fK, wK) dK = Add (cK, bK) aK = Unsqueeze (dK, first)" + REST
FOLDED = "nK = LayerNormalization <axis = -1> (vK, one) cK = MatMul (nK, wK) aK = Add (cK, bK)" + REST


def as_turned(held: Weights) -> Weights:
    return {name: array.T.copy() if name[0] == "w" else array for name, array in held.items()}


def as_halves(held: Weights) -> Weights:
    return {name: array.astype(np.float16) if name[0] == "w" else array for name, array in held.items()}


def as_whole(held: Weights) -> Weights:
    return {name: array.astype(np.float32) for name, array in as_halves(held).items()}


def as_folded(held: Weights) -> Weights:
    """The norm's gain and shift in the matrix and bias behind it."""
    found: Weights = {"one": np.ones(WIDTH, np.float32)}
    for k in range(BLOCKS):
        g, s, w, b = (held[f"{part}{k}"] for part in "gswb")
        found[f"w{k}"], found[f"b{k}"] = g[:, None] * w, b + s @ w
    return found


OTHER_WAY = PLAIN.replace("Add (cK, bK)", "Add (bK, cK)")
FIRST = {"first": np.array([0], np.int64)}
WAYS = {
    "turned": ((TURNED, as_turned), (PLAIN, dict)),
    "other way": ((OTHER_WAY, dict), (PLAIN, dict)),
    "half": ((HALVED, as_halves), (PLAIN, as_whole)),
    "gemm": ((GEMM, lambda held: as_turned(held) | FIRST), (FLAT, lambda held: held | FIRST)),
    "folded gain": ((FOLDED, as_folded), (PLAIN, dict)),
}


def pair(folder: Path, way: str, changed: Weights, turned: bool) -> list[Path]:
    (one, store), (other, keep) = WAYS[way]
    places = [
        save(folder / "one.onnx", encoder(one), **store(changed)),
        save(folder / "other.onnx", encoder(other), **keep(weights())),
    ]
    return places[::-1] if turned else places


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_one_checkpoint_agrees(tmp_path: Path, way: str, turned: bool) -> None:
    report = paddable.probe(*pair(tmp_path, way, weights(), turned), ["x:1=T"])
    assert report.ok and not report.changed, report.verdict
    assert report.matched["paired"] >= 3 * BLOCKS


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["w3", "b2"])
def test_one_number_is_found_however_it_is_stored(tmp_path: Path, way: str, name: str, turned: bool) -> None:
    held = weights()
    at = (5, 2) if name[0] == "w" else (3,)
    held[name][at] += 4
    report = paddable.probe(*pair(tmp_path, way, held, turned), ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict
    assert report.verdict.startswith("The runs part at"), report.verdict
    wanted = {"w3": ("MatMul", "Gemm"), "b2": ("Add", "Gemm", "MatMul")}[name]
    assert report.fork.op in wanted
    assert f"in 1 of {held[name].size} numbers" in report.fork.cause.text


def test_a_change_that_no_output_feels_is_told_behind_a_cast(tmp_path: Path) -> None:
    held = weights()
    held["b3"][:] = -1e3  # the Relu hides the product
    (one, store), (other, keep) = WAYS["half"]
    right = save(tmp_path / "right.onnx", encoder(other), **keep(held))
    held["w3"][5, 2] += 4
    wrong = save(tmp_path / "wrong.onnx", encoder(one), **store(held))
    report = paddable.probe(wrong, right, ["x:1=T"])
    assert report.ok and "but 1 weight differs" in report.verdict
    assert "made of w3) of MatMul" in report.changed and "most at [5, 2]" in report.changed


TIED = (
    "(int64[1, T] ids) => (float[1, T, 40] y) { e = Gather (table, ids) r = Relu (e) "
    "t = Transpose <perm = [1, 0]> (OUT) y = MatMul (r, t) }"
)


@pytest.mark.parametrize("untied", ["table", "output"])
def test_a_tied_embedding_is_told_where_its_first_use_does_not_feel_it(tmp_path: Path, untied: str) -> None:
    table = np.abs(drawn(40, WIDTH))
    right = save(tmp_path / "right.onnx", TIED.replace("OUT", "table"), table=table)
    changed = table.copy()
    changed[30, 2] += 3
    held = {"table": changed, "output": table} if untied == "table" else {"table": table, "output": changed}
    wrong = save(tmp_path / "wrong.onnx", TIED.replace("OUT", "output"), **held)
    report = paddable.probe(wrong, right, ["ids:1=T"], inputs={"ids": np.array([[1, 2, 3]])})
    told = report.changed if untied == "table" else report.fork.cause.text if report.fork else ""
    assert ("Gather" if untied == "table" else "MatMul") in told, report.verdict
    assert "in 1 of 640 numbers" in told
    tied = save(tmp_path / "tied.onnx", TIED.replace("OUT", "table"), table=changed)
    report = paddable.probe(tied, right, ["ids:1=T"], inputs={"ids": np.array([[1, 2, 3]])})
    assert report.fork is not None and report.fork.op == "MatMul" and report.fork.cause.kind == "weights"
    assert "1 weight differs" in report.changed


def test_the_rounding_of_another_exporter_is_no_difference(tmp_path: Path) -> None:
    """Neither where the runs agree, nor in front of where they part."""
    held = weights()
    right = save(tmp_path / "right.onnx", encoder(PLAIN), **held)
    for k in range(BLOCKS):
        held[f"w{k}"] = np.nextafter(np.nextafter(held[f"w{k}"], np.float32(9)), np.float32(9))
    rounded = save(tmp_path / "rounded.onnx", encoder(PLAIN), **held)
    report = paddable.probe(rounded, right, ["x:1=T"])
    assert report.ok and not report.changed, report.verdict
    text = encoder(PLAIN).replace("r3 = Relu (a3)", "r3 = Tanh (a3)")
    report = paddable.probe(save(tmp_path / "wrong.onnx", text, **held), right, ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "structure"
    assert "Tanh" in report.verdict and "differ" not in report.verdict, report.verdict


def test_most_weights_stored_otherwise_are_not_another_checkpoint(tmp_path: Path) -> None:
    """Halves that a node joins, the gain of every norm folded: no number is in both files, and one fault is told."""
    (one, store), (other, keep) = WAYS["folded gain"]
    right = save(tmp_path / "right.onnx", encoder(other), **keep(weights()))
    text = encoder(one).replace("r3 = Relu (a3)", "r3 = Tanh (a3)")
    report = paddable.probe(save(tmp_path / "wrong.onnx", text, **store(weights())), right, ["x:1=T"])
    assert not report.differences, report.verdict
    assert report.fork is not None and "Tanh" in report.fork.cause.text


@pytest.mark.parametrize("names", ["named", "scrambled"])
@pytest.mark.parametrize("parts", ["gs", "w"])
def test_weights_exchanged_between_blocks_stay_in_their_place(tmp_path: Path, parts: str, names: str) -> None:
    right = save(tmp_path / "right.onnx", encoder(PLAIN), **weights())
    held = weights()
    for part in parts:
        held[f"{part}1"], held[f"{part}4"] = held[f"{part}4"], held[f"{part}1"]
    text = encoder(PLAIN)
    if names == "scrambled":
        text = text.replace("(n", "(m").replace(" n", " m").replace("(c", "(q").replace(" c", " q")
    report = paddable.probe(save(tmp_path / "wrong.onnx", text, **held), right, ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict
    name = {"gs": "g1", "w": "w1"}[parts]
    assert f"({name}) of {'MatMul' if parts == 'w' else 'LayerNormalization'}" in report.fork.cause.text


def test_another_model_of_the_same_input_is_told_and_no_node_blamed(tmp_path: Path) -> None:
    one = save(tmp_path / "one.onnx", encoder(PLAIN), **weights())
    body = "n = Neg (x) t = Transpose <perm = [0, 2, 1]> (n) v0 = Conv (t, k) " + " ".join(
        f"a{k} = Relu (v{k}) p{k} = Conv (a{k}, up) r{k} = Relu (p{k}) d{k} = Conv (r{k}, down) "
        f"v{k + 1} = Add (v{k}, d{k})"
        for k in range(4)
    )
    text = HEAD + "{ " + body + " y = Transpose <perm = [0, 2, 1]> (v4) }"
    kernels = {"k": drawn(WIDTH, WIDTH, 1), "up": drawn(24, WIDTH, 1), "down": drawn(WIDTH, 24, 1)}
    other = save(tmp_path / "other.onnx", text, **kernels)
    report = paddable.probe(one, other, ["x:1=T"])
    assert not report.ok and not report.forks
    assert report.verdict.startswith("These are two different models: "), report.verdict
