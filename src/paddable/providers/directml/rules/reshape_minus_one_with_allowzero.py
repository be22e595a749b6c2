"""DML101."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.lint.rule import measured, reported
from paddable.providers.directml.site import DirectMLRule, Site
from paddable.providers.rule import Match
from paddable.providers.view import GraphView

__all__ = ["ReshapeMinusOneWithAllowzero"]


class ReshapeMinusOneWithAllowzero(DirectMLRule):
    """## What it does
    Finds a Reshape with ``allowzero=1`` whose target shape holds a -1.

    ## Why is this bad
    With ``allowzero=1`` DirectML takes the target as it stands, so that -1 becomes a dim of 4294967295. A graph with
    free dims stops at the first run with 8007023E, a static one at session creation with 80070057. The CPU accepts
    it. PyTorch's dynamo exporter writes ``allowzero=1`` on every ``view``, ``reshape``, ``flatten`` and
    ``unflatten``.

    ## Example
    ``Reshape <allowzero=1> (x, [1, -1, 4, 8])``

    ## Use instead
    ``Reshape (x, [1, -1, 4, 8])``: without a literal 0 in the target both mean the same.

    ## Fix safety
    Exact: the attribute is dropped where the target is constant and holds no 0. A target with both -1 and 0 is invalid
    ONNX under ``allowzero=1`` and is only reported.
    """

    code = "DML101"
    name = "reshape-minus-one-with-allowzero"
    severity = "error"
    supersedes = ("SHP102",)
    evidence = (
        measured("onnxruntime-directml 1.24.4 and onnxruntime-windowsml 1.30.0: eight dynamo exports failed there"),
        reported("microsoft/onnxscript#2346, the change that made the exporter write allowzero"),
    )
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[2, 6] x) => (float[6, 2] y) <int64[2] shape = {-1, 2}> { y = Reshape(x, shape) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[2, 6] x) => (float[6, 2] y) <int64[2] shape = {6, 2}> {
            y = Reshape<allowzero: int = 1>(x, shape) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[2, 6] x) => (float[6, 2] y) <int64[2] shape = {-1, 2}> {
            y = Reshape<allowzero: int = 1>(x, shape) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[N, 6] x) => (float[M, 2] y) <int64[1] rest = {-1}, int64[1] two = {2}> {
            n = Shape<start: int = 0, end: int = 1>(x)
            shape = Concat<axis: int = 0>(n, rest, two)
            y = Reshape<allowzero: int = 1>(x, shape)
        }""",
    )

    def check(self, site: Site) -> Iterator[Match]:
        for node in site.on_directml("Reshape"):
            if not node.attribute("allowzero", 0):
                continue
            target = _parts(site.view, node.input(1))
            if -1 in target:
                computed = None in target or not site.view.is_constant(node.input(1))
                fixable = 0 not in target and not computed
                yield Match(
                    f"allowzero=1 with a -1 in the target {_text(target)}: DirectML reads the -1 as a size",
                    "drop allowzero" if fixable else "write the sizes out, or drop allowzero if no size can be 0",
                    node,
                    fixable=fixable,
                )


def _parts(view: GraphView, name: str) -> list[int | None]:
    """Elements of a target shape; None for those that are computed."""
    known = view.constant(name)
    if known is not None:
        return list(known.reshape(-1).tolist())
    producer = view.producers.get(name)
    if producer is not None and producer.op == "Concat":
        return [part for piece in producer.inputs for part in _parts(view, piece)]
    return [None]


def _text(target: list[int | None]) -> str:
    return "[" + ", ".join("?" if part is None else str(part) for part in target) + "]"
