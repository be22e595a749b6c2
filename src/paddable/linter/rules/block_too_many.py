"""SHP107."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import MOVES, Site
from paddable.linter.subject import Kind
from paddable.linter.view.graph import NodeView

__all__ = ["BlockTooMany"]


class BlockTooMany(Rule[Any]):
    """## What it does
    Finds a padding to a multiple that adds a whole block where the length is a multiple already: ``k - n % k``, or
    ``(n // k + 1) * k - n``.

    ## Why is this bad
    The model then answers for a block that the sound does not have, at exact multiples only: a test at one other
    length does not see it, and recognisers repeat or invent an end.

    ## Example
    ``x = F.pad(x, (0, k - x.shape[1] % k))``

    ## Use instead
    ``F.pad(x, (0, (k - x.shape[1] % k) % k))``, or ``(n + k - 1) // k * k - n``

    ## Fix safety
    No fix: a model that was trained so needs the block.
    """

    code = "SHP107"
    name = "block-too-many"
    severity = "note"
    evidence = (measured("onnxruntime 1.24: 8 steps padded by 4 - 8 % 4 have three blocks of four"),)
    VALID = (
        """m (float[1,T,4] x) => (float[1,U,4] y) <int64[1] k = {4}, int64[4] front = {0,0,0,0}, int64[1] z = {0}> {
            n = Shape<start = 1, end = 2>(x) r = Mod(n, k) s = Sub(k, r) p = Mod(s, k)
            q = Concat<axis = 0>(front, p, z) y = Pad(x, q)
        }""",
        """m (float[1,T,4] x) => (float[1,U,4] y) <int64[1] k = {4}, int64[1] one = {1}, int64[1] z = {0}> {
            n = Shape<start = 1, end = 2>(x) d = Div(n, k) e = Add(d, one) y = Slice(x, z, e, one)
        }""",
    )
    INVALID = (
        """m (float[1,T,4] x) => (float[1,U,4] y) <int64[1] k = {4}, int64[4] front = {0,0,0,0}, int64[1] z = {0}> {
            n = Shape<start = 1, end = 2>(x) r = Mod(n, k) p = Sub(k, r) q = Concat<axis = 0>(front, p, z) y = Pad(x, q)
        }""",
        """m (float[1,T,4] x) => (float[1,U,4] y)
        <int64[1] k = {4}, int64[1] one = {1}, int64[4] front = {0,0,0,0}, int64[1] z = {0}> {
            n = Shape<start = 1, end = 2>(x) d = Div(n, k) e = Add(d, one) f = Mul(e, k) p = Sub(f, n)
            q = Concat<axis = 0>(front, p, z) y = Pad(x, q)
        }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each Sub that gives such a number of steps, where it goes into a Pad or a Concat as it is."""
        for node in site.nodes("Sub"):
            if site.kind(node.outputs[0]) is not Kind.SHAPES or not _pads(site, node.outputs[0]):
                continue
            size = _rest(site, node) or _blocks(site, node)
            if size:
                yield Match(
                    f"at a length that is a multiple of {size} already, a whole block of {size} steps is added",
                    f"if that is not meant, write (k - n % k) % k with k = {size}",
                    node,
                )


def _pads(site: Site[Any], name: str) -> bool:
    """Whether the number goes into a Pad, or is put beside others for one, as it is."""
    for reader in site.view.readers(name):
        if reader.op in ("Pad", "Concat") or (reader.op in MOVES and _pads(site, reader.outputs[0])):
            return True
    return False


def _rest(site: Site[Any], node: NodeView) -> int | None:
    """The k of ``k - n % k``."""
    size, mod = _number(site, node.inputs[0]), site.computed(node.inputs[1])
    return size if mod is not None and mod.op == "Mod" and size == _number(site, mod.inputs[1]) else None


def _blocks(site: Site[Any], node: NodeView) -> int | None:
    """The k of ``(n // k + 1) * k - n``."""
    product = site.computed(node.inputs[0])
    if product is None or product.op != "Mul":
        return None
    for blocks, factor in (product.inputs, product.inputs[::-1]):
        size, more = _number(site, factor), site.computed(blocks)
        if size is None or more is None or more.op != "Add":
            continue
        for whole, one in (more.inputs, more.inputs[::-1]):
            quotient = site.computed(whole)
            if _number(site, one) == 1 and quotient is not None and quotient.op == "Div":
                return size if _number(site, quotient.inputs[1]) == size else None
    return None


def _number(site: Site[Any], name: str) -> int | None:
    value = site.constant(name)
    whole = value is not None and value.size == 1 and np.issubdtype(value.dtype, np.integer)
    return int(value.reshape(-1)[0]) if value is not None and whole else None
