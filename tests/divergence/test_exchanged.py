"""What stands in another place is told as such: not as missing, and not as another checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable

from . import planted
from .test_stored import BLOCKS, HEAD, NORM, WIDTH, Weights, drawn, encoder, weights
from .test_verdicts import save

FEED = (
    NORM + "cK = MatMul (nK, wK) aK = Add (cK, bK) rK = Relu (aK) dK = MatMul (rK, uK) eK = Add (dK, oK) "
    "vK+ = Add (vK, eK)"
)
"""A norm, two square products and a residual."""


def two_products() -> Weights:
    held = weights()
    for k in range(BLOCKS):
        held[f"u{k}"], held[f"o{k}"] = drawn(WIDTH, WIDTH, seed=20 + k) / 4, drawn(WIDTH, seed=40 + k)
    return held


def scrambled(place: Path, seed: int = 1) -> Path:
    onnx.save(planted.scrambled(planted.reordered(onnx.load(place), seed))[0], place)
    return place


def verdict(wrong: Path, right: Path) -> tuple[str, str]:
    """Cause and text."""
    report = paddable.probe(wrong, right, ["x:1=T"])
    assert report.fork is not None, report.verdict
    return report.fork.cause.kind, report.fork.cause.text + report.fork.cause.fix


@pytest.mark.parametrize("names", ["named", "scrambled"])
@pytest.mark.parametrize("one, other", [("w2", "u2"), ("w1", "u4"), ("u1", "u4")])
def test_products_that_exchanged_their_weights(tmp_path: Path, one: str, other: str, names: str) -> None:
    right = save(tmp_path / "right.onnx", encoder(FEED), **two_products())
    held = two_products()
    held[one], held[other] = held[other], held[one]
    wrong = save(tmp_path / "wrong.onnx", encoder(FEED), **held)
    kind, text = verdict(scrambled(wrong) if names == "scrambled" else wrong, right)
    assert kind == "weights" and "of MatMul differs" in text and "lacks" not in text
    assert "these numbers are those of MatMul" in text and "checkpoint" not in text


@pytest.mark.parametrize("names", ["named", "scrambled"])
@pytest.mark.parametrize("near", [True, False])
def test_blocks_in_another_order(tmp_path: Path, near: bool, names: str) -> None:
    right = save(tmp_path / "right.onnx", encoder(FEED), **two_products())
    order = [0, 2, 1, 3, 4, 5] if near else [0, 2, 3, 4, 1, 5]
    held = two_products()
    wrong = {name: held[f"{name[0]}{order[int(name[1])]}"] for name in held}
    place = save(tmp_path / "wrong.onnx", encoder(FEED), **wrong)
    _, text = verdict(scrambled(place) if names == "scrambled" else place, right)
    assert "lacks" not in text and "checkpoint" not in text
    assert "these numbers are those of LayerNormalization" in text or "somewhere else" in text


CONV = "v0 = Transpose <perm = [0, 2, 1]> (x) "
LAYERS = 4


def convolutions(kinds: str) -> str:
    """Of each layer: ``n`` a norm behind the activation, ``f`` one in front, ``i`` one in the weights."""
    body = {
        "n": "cK = Conv <pads = [1, 1]> (vK, wK, bK) aK = Relu (cK) vK+ = BatchNormalization (aK, gK, sK, mK, qK) ",
        "f": "cK = Conv <pads = [1, 1]> (vK, wK, bK) aK = BatchNormalization (cK, gK, sK, mK, qK) vK+ = Relu (aK) ",
        "i": "cK = Conv <pads = [1, 1]> (vK, wK, bK) vK+ = Relu (cK) ",
    }
    parts = [body[kind].replace("K+", str(k + 1)).replace("K", str(k)) for k, kind in enumerate(kinds)]
    return f"{HEAD}{{ {CONV} {''.join(parts)} y = Transpose <perm = [0, 2, 1]> (v{len(kinds)}) }}"


def kernels(kinds: str) -> Weights:
    rng = np.random.default_rng(3)
    found: Weights = {}
    for k, kind in enumerate(kinds):
        weight, bias = drawn(WIDTH, WIDTH, 3, seed=k) / 5, drawn(WIDTH, seed=k)
        g, q = (rng.uniform(0.5, 2, WIDTH).astype(np.float32) for _ in "gq")
        s, m = drawn(WIDTH, seed=60 + k), drawn(WIDTH, seed=80 + k)
        if kind == "i":
            gain = g / np.sqrt(q + np.float32(1e-5))
            found |= {f"w{k}": weight * gain[:, None, None], f"b{k}": (bias - m) * gain + s}
        else:
            found |= dict(zip((f"{p}{k}" for p in "wbgsmq"), (weight, bias, g, s, m, q), strict=True))
    return found


@pytest.mark.parametrize("names", ["named", "scrambled"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("order", ["nnin", "nnfn"])
def test_a_norm_on_the_other_side_of_its_activation(tmp_path: Path, order: str, turned: bool, names: str) -> None:
    wrong = save(tmp_path / "wrong.onnx", convolutions(order), **kernels(order))
    right = save(tmp_path / "right.onnx", convolutions("nnnn"), **kernels("nnnn"))
    pair = (scrambled(wrong) if names == "scrambled" else wrong, right)
    report = paddable.probe(*(pair[::-1] if turned else pair), ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "structure", report.verdict
    assert "BatchNormalization" in report.fork.cause.text and "behind Relu" in report.fork.cause.text
    assert "differ" not in report.fork.cause.text + report.changed and "lacks" not in report.verdict, report.verdict


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "GRU with a reset in between"])
def test_a_bias_that_moved_between_the_two_of_a_recurrent_layer(tmp_path: Path, kind: str) -> None:
    """Only their sum is felt, but for the gate of a GRU that resets in between."""
    gates, operator = (4, "LSTM") if kind == "LSTM" else (3, "GRU")
    reset = ", linear_before_reset = 1" if "reset" in kind else ""
    text = (
        f"{HEAD}{{ t = Transpose <perm = [1, 0, 2]> (x) r = {operator} <hidden_size = {WIDTH}{reset}> (t, w, h, b) "
        "z = Squeeze (r, one) y = Transpose <perm = [1, 0, 2]> (z) }"
    )
    held = {"w": drawn(1, gates * WIDTH, WIDTH), "h": drawn(1, gates * WIDTH, WIDTH, seed=1) / 4}
    held |= {"b": drawn(1, 2 * gates * WIDTH), "one": np.array([1])}
    right = save(tmp_path / "right.onnx", text, **held)
    moved = held["b"].copy()
    felt = (gates - 1) * WIDTH if reset else gates * WIDTH
    moved[0, :felt] += np.float32(0.125)
    moved[0, gates * WIDTH : gates * WIDTH + felt] -= np.float32(0.125)
    report = paddable.probe(save(tmp_path / "moved.onnx", text, **{**held, "b": moved}), right, ["x:1=T"])
    assert report.ok and not report.changed, report.verdict
    moved[0, -1] += 1
    report = paddable.probe(save(tmp_path / "wrong.onnx", text, **{**held, "b": moved}), right, ["x:1=T"])
    assert report.fork is not None and report.fork.cause.kind == "weights", report.verdict
