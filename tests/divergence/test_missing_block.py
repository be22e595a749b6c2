"""A block that one graph lacks is told as that, whatever the names behind it and whatever another exporter writes in
front of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddable

from .test_exchanged import FEED, scrambled, two_products
from .test_stored import BLOCKS, WIDTH, drawn, encoder
from .test_verdicts import save


@pytest.mark.parametrize("names", ["named", "scrambled"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("lost", [2, 4, 5])
def test_names_that_count_on_behind_it(tmp_path: Path, lost: int, turned: bool, names: str) -> None:
    held, text = two_products(), encoder(FEED)
    whole = save(tmp_path / "whole.onnx", text, **held)
    last = FEED.replace("K+", str(BLOCKS)).replace("K", str(BLOCKS - 1))
    order = [k for k in range(BLOCKS) if k != lost]
    fewer = {
        name[0] + str(k): held[name[0] + str(old)] for k, old in enumerate(order) for name in held if name[1] == "0"
    }
    short = text.replace(last, "").replace(f"Neg (v{BLOCKS})", f"Neg (v{BLOCKS - 1})")
    part = save(tmp_path / "part.onnx", short, **fewer)
    part = scrambled(part) if names == "scrambled" else part
    fork = paddable.probe(*((whole, part) if turned else (part, whole)), ["x:1=T"]).fork
    assert fork is not None and fork.cause.kind == "structure", fork
    told = "which the second lacks" if turned else "the first graph lacks"
    assert told in fork.cause.text and "MatMul" in fork.cause.text and "those of" not in fork.cause.text, fork


FRONT = "a = MatMul (x, w) {} "
BLOCK = "q = MatMul (e, u) t = Div (q, eight) p = Tanh (t) h = MatMul (p, v) "
END = "z = MatMul ({}, o) y = Relu (z) "


@pytest.mark.parametrize("turned", [False, True])
def test_a_scale_of_another_exporter_is_no_scale_of_the_block(tmp_path: Path, turned: bool) -> None:
    """One exporter divides in front of an activation where the other multiplies; the block divides too."""
    head = f"(float[1, T, {WIDTH}] x) => (float[1, T, {WIDTH}] y) <float eight = {{8.0}}, float r = {{%s}}> {{ "
    weights = {name: drawn(WIDTH, WIDTH, seed=seed) / 3 for seed, name in enumerate("wuvo")}
    whole = head % 0.5 + FRONT.format("s = Mul (a, r) e = Erf (s)") + BLOCK + END.format("h") + "}"
    part = head % 2.0 + FRONT.format("s = Div (a, r) e = Erf (s)") + END.format("e") + "}"
    pair = save(tmp_path / "part.onnx", part, **weights), save(tmp_path / "whole.onnx", whole, **weights)
    scrambled(pair[0])
    fork = paddable.probe(*(pair[::-1] if turned else pair), ["x:1=T"]).fork
    assert fork is not None and fork.cause.kind == "structure" and "MatMul" in fork.cause.text, fork
    assert np.isfinite(fork.error) and ("which the second lacks" if turned else "lacks MatMul") in fork.cause.text
