"""SHP102, and DML101 where it is fatal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.findings import Severity
from paddable.linter.evidence import measured, reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.graph import NodeView

__all__ = ["ReshapeMinusOneUnderAllowzero", "minus_one_under_allowzero"]

Target = list[int | None]
"""Elements of a Reshape target; None: computed."""


class ReshapeMinusOneUnderAllowzero(Rule[Any]):
    """## What it does
    Finds a Reshape with ``allowzero=1`` whose target shape holds a -1. As DML101 it finds each one that a provider runs
    which takes the -1 for a size; as SHP102 only those whose -1 stands for a size that a run tells.

    ## Why is this bad
    With ``allowzero=1`` DirectML takes the target as it stands, so that -1 becomes a dim of 4294967295. A graph with
    free dims stops at the first run with 8007023E or, by where in the graph it stands, 80070057; a static one at
    session creation with 80070057. Other runtimes accept it, so nothing shows before the model reaches a user's
    machine: without a target it is a warning, for DirectML an error, for another target a note. PyTorch's dynamo
    exporter writes ``allowzero=1`` for every ``view``, ``reshape``, ``flatten`` and ``unflatten``.

    ## Example
    ``Reshape <allowzero=1> (x, [1, -1, 2, 4])`` with x of shape [1, T, 8]

    ## Use instead
    ``Reshape (x, [1, -1, 2, 4])``. Without a literal 0 in the target both mean the same. `paddable convert` goes
    further: in a static container no -1 is left.

    ## Fix safety
    Exact: the attribute is dropped where the target is constant and holds no 0. A target with both -1 and 0 is invalid
    ONNX under ``allowzero=1`` and is only reported.
    """

    code = "SHP102"
    also_codes = ("DML101",)
    name = "reshape-minus-one-under-allowzero"
    severity = "warning"
    evidence = (
        measured("onnxruntime-directml 1.24.4 and onnxruntime-windowsml 1.30.0: eight dynamo exports failed there"),
        reported("https://github.com/microsoft/onnxscript/pull/2346: since then the exporter writes allowzero"),
    )
    VALID = (
        "m (float[1,T,8] x) => (float[1,T,2,4] y) <int64[4] s = {1,-1,2,4}> { y = Reshape(x, s) }",
        "m (float[1,6] x) => (float[2,3] y) <int64[2] s = {2,3}> { y = Reshape<allowzero = 1>(x, s) }",
        "m (float[1,T,8] x, int64[1] n) => (float[1,T,8] y) <int64[3] s = {-1,1,1}> {"
        " v = Reshape<allowzero = 1>(n, s) f = Cast<to = 1>(v) y = Mul(x, f) }",
    )
    INVALID = (
        "m (float[1,T,8] x) => (float[1,T,2,4] y) <int64[4] s = {1,-1,2,4}> { y = Reshape<allowzero = 1>(x, s) }",
        """m (float[1,T,8] x) => (float[1,T,8] y) <int64[1] rest = {-1}> {
            sizes = Shape<start = 0, end = 2>(x) s = Concat<axis = 0>(sizes, rest) y = Reshape<allowzero = 1>(x, s)
        }""",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each such Reshape."""
        fatal_here = site.facts is not None and site.facts.minus_one_is_a_size is not None
        severity: Severity = "warning" if site.facts is None or fatal_here else "note"
        for node in site.nodes("Reshape"):
            fatal = fatal_here and site.runs(node)
            target = minus_one_under_allowzero(site, node, of_static=fatal)
            if target is None:
                continue
            shown = "[" + ", ".join("?" if size is None else str(size) for size in target) + "]"
            exact = 0 not in target and site.view.is_constant(node.inputs[1]) and None not in target
            yield Match(
                f"Reshape has allowzero=1 and a -1 in its target {shown}: DirectML reads the -1 as a size "
                "(8007023E or 80070057)",
                "drop allowzero: without a 0 in the target it means the same"
                if exact
                else "write the sizes out, or drop allowzero if no size can be 0; `paddable convert` removes it",
                node,
                severity="error" if fatal else severity,
                code="DML101" if fatal else "",
                fixable=fatal and exact,
            )


def minus_one_under_allowzero(site: Site[Any], node: NodeView, of_static: bool = False) -> Target | None:
    """The target of a Reshape that has the problem, else None.

    Args:
        site: the graph.
        node: the Reshape.
        of_static: whether to speak of an operand of known sizes too, whose -1 every tool resolves that folds constants.
    """
    if not node.attribute("allowzero", 0):
        return None
    dims = site.shape(node.inputs[0])
    if not of_static and dims is not None and all(isinstance(dim, int) for dim in dims):
        return None
    target = _elements(site, node.inputs[1])
    return target if -1 in target else None


def _elements(site: Site[Any], name: str) -> Target:
    known = site.constant(name)
    if known is not None:
        return [int(size) for size in known.reshape(-1)]
    producer = site.producer(name)
    if producer is not None and producer.op == "Concat":
        return [size for piece in producer.inputs for size in _elements(site, piece)]
    return [None]
