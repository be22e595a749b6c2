"""SHP101."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.rules.reshape_minus_one_under_allowzero import minus_one_under_allowzero
from paddable.linter.site import Site
from paddable.linter.subject import Kind

__all__ = ["ComputedReshapeTarget"]


class ComputedReshapeTarget(Rule[Any]):
    """## What it does
    Finds a Reshape whose target is computed while the model runs (Shape, Gather, Concat, ...). One that also has a
    -1 under ``allowzero=1`` is reported as SHP102 instead.

    ## Why is this bad
    Providers that compile for fixed shapes need the target as a constant: DirectML takes the node out of its fused
    graph, and the shape arithmetic in front of it runs on the CPU. Compilers for NPUs refuse it.

    ## Example
    ``q.view(b, t, 2, 4)`` under the TorchScript exporter: ``Reshape(q, Concat(Gather(Shape(x), 0), Gather(Shape(x),
    1), 2, 4))``

    ## Use instead
    ``q.unflatten(-1, (2, 4))`` under the dynamo exporter writes a constant target (drop ``allowzero`` afterwards,
    SHP102); or ``paddable convert`` for fixed containers, where every target is folded.

    ## Fix safety
    No fix in the file as it is: the target is constant only once the lengths are.
    """

    code = "SHP101"
    name = "computed-reshape-target"
    severity = "warning"
    evidence = (
        measured("onnxruntime-directml 1.24.4: Reshape fuses only with a constant target"),
        reported("https://github.com/elbruno/ElBruno.QwenTTS/issues/6"),
    )
    VALID = (
        "m (float[1,T,8] x) => (float[1,T,2,4] y) <int64[4] s = {1,-1,2,4}> { y = Reshape(x, s) }",
        "m (float[1,T,8] x) => (float[1,T,8] y) <int64[2] a = {1,-1}, int64[1] b = {8}> {"
        " s = Concat<axis = 0>(a, b) y = Reshape(x, s) }",
    )
    INVALID = (
        """m (float[1,T,8] x) => (float[1,T,2,4] y) <int64[2] heads = {2,4}> {
            sizes = Shape<start = 0, end = 2>(x) s = Concat<axis = 0>(sizes, heads) y = Reshape(x, s)
        }""",
        """m (float[1,T,8] x, bool c) => (float[1,T,2,4] y) <int64[2] heads = {2,4}> {
            sizes = Shape<start = 0, end = 2>(x) s = Concat<axis = 0>(sizes, heads)
            y = If (c) <
                then_branch = t () => (float[1,T,2,4] a) { a = Reshape(x, s) },
                else_branch = e () => (float[1,T,2,4] b) { b = Reshape<allowzero = 1>(x, s) }
            >
        }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each Reshape whose target is not constant."""
        for node in site.nodes("Reshape"):
            target = node.inputs[1]
            if site.kind(target) is Kind.CONSTANT or minus_one_under_allowzero(site, node):
                continue
            producer = site.producer(target)
            origin = f" by {producer.op}" if producer is not None else ""
            yield Match(
                f"the target of Reshape is computed{origin} at run time; providers with fixed shapes need a constant",
                "`paddable convert` folds it for a fixed container; in the source, unflatten/flatten name no free size",
                node,
            )
