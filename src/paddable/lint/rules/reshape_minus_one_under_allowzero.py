"""SHP102."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from paddable.lint.rule import Match, Rule, measured, reported
from paddable.lint.subject import Subject

__all__ = ["ReshapeMinusOneUnderAllowzero", "minus_one_under_allowzero"]

Target = list[int | None]
"""Elements of a Reshape target; None: computed."""


class ReshapeMinusOneUnderAllowzero(Rule):
    """## What it does
    Finds a Reshape with ``allowzero=1`` whose target holds a -1 that stands for a size which only a run tells.

    ## Why is this bad
    DirectML takes such a target as it stands: -1 becomes a dim of 4294967295, and the first run stops with 8007023E.
    Other runtimes accept it, so nothing shows before the model reaches a user's machine: without a target it is a
    warning, for DirectML an error (DML101), for another target a note. PyTorch's dynamo exporter writes
    ``allowzero=1`` for every ``view``, ``reshape``, ``flatten`` and ``unflatten``.

    ## Example
    ``Reshape <allowzero = 1> (x, [1, -1, 2, 4])`` with x of shape [1, T, 8]

    ## Use instead
    ``Reshape (x, [1, -1, 2, 4])``. Without a literal 0 in the target both mean the same. `paddable convert` goes
    further: in a static container no -1 is left.

    ## Fix safety
    Exact, where the target is constant and holds no 0: the attribute is dropped.
    """

    code = "SHP102"
    name = "reshape-minus-one-under-allowzero"
    severity = "warning"
    evidence = (
        measured("onnxruntime-directml 1.24.4 and onnxruntime-windowsml 1.30.0: dynamo exports stop with 8007023E"),
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

    def check(self, subject: Subject) -> Iterator[Match]:
        """Yields each such Reshape."""
        for node in subject.nodes("Reshape"):
            target = minus_one_under_allowzero(subject, node)
            if target is None:
                continue
            shown = "[" + ", ".join("?" if size is None else str(size) for size in target) + "]"
            exact = None not in target and 0 not in target
            yield Match(
                f"Reshape has allowzero=1 and a -1 in its target {shown}: DirectML reads the -1 as a size (8007023E)",
                "drop allowzero: without a 0 in the target it means the same"
                if exact
                else "write the sizes out, or drop allowzero if no size can be 0; `paddable convert` removes it",
                node,
            )


def minus_one_under_allowzero(subject: Subject, node: ir.Node) -> Target | None:
    """The target of a Reshape that has the problem, else None."""
    allowzero = node.attributes.get("allowzero")
    if allowzero is None or not allowzero.as_int():
        return None
    operand = node.inputs[0]
    assert operand is not None
    dims = subject.shape(operand)
    if dims is not None and all(isinstance(dim, int) for dim in dims):
        return None  # every tool that folds constants resolves this -1
    target = _elements(subject, node.inputs[1])
    return target if -1 in target else None


def _elements(subject: Subject, value: ir.Value | None) -> Target:
    known = subject.constant(value)
    if known is not None:
        return [int(size) for size in known.reshape(-1)]
    producer = None if value is None else value.producer()
    if producer is not None and producer.op_type == "Concat":
        return [size for piece in producer.inputs for size in _elements(subject, piece)]
    return [None]
