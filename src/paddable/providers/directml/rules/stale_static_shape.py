"""DML103."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.linter.view.value_type import Dim, ValueType
from paddable.providers.directml.placement import Placement

__all__ = ["StaleStaticShape"]


class StaleStaticShape(Rule[Placement]):
    """## What it does
    Finds a value whose recorded shape states a size that the graph contradicts: another number, or a free dim.

    ## Why is this bad
    The CPU provider warns and goes on; DirectML trusts the annotation and stops with 80070057. Exporters leave such
    shapes behind: dynamo annotates an LSTM's output with the sizes of the example, TorchScript the output of a
    flatten.

    ## Example
    ``float[1, 5, 12] y = LSTM(x)`` with ``x`` of shape ``[1, T, 8]``

    ## Use instead
    No annotation at all: the runtime infers shapes itself.

    ## Fix safety
    Exact: annotations are not part of the computation. A size that nothing proves or contradicts is kept, and reported
    as a warning where it stands on a graph output.
    """

    code = "DML103"
    name = "stale-static-shape"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4: two real exports ran once the annotations were cleared"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[N, 4] x) => (float[N, 4] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[2, 4] x) => (float[2, 4] y) <float[2, 4] h> { h = Relu(x)
            y = Tanh(h) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[N, 4] x) => (float[5, 4] y) { y = Relu(x) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
        agraph (float[2, 4] x) => (float[2, 4] y) <float[2, 5] h> { h = Relu(x)
            y = Tanh(h) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        view = site.view
        symbols = {dim for name in view.inputs for dim in view.shape(name) or () if isinstance(dim, str)}
        wrongs: dict[tuple[ValueType, ValueType], int | None] = {}  # the same few pairs come again and again
        for name, stated in view.annotated.items():
            inferred = view.inferred.get(name, stated)
            if inferred is stated:
                continue
            pair = stated, inferred
            if pair not in wrongs:
                wrongs[pair] = _contradiction(stated.shape, inferred.shape, symbols)
            wrong = wrongs[pair]
            if wrong is not None and name not in view.inputs and name not in view.initializers:
                said, given = list(stated.shape or ()), list(inferred.shape or ())
                what = f"{name!r} is annotated {said}, and the graph gives {given}"
                yield Match(what, "clear the annotation", view.producers.get(name), value=name, axis=wrong)


def _contradiction(stated: tuple[Dim, ...] | None, inferred: tuple[Dim, ...] | None, symbols: set[str]) -> int | None:
    """The first axis where a stated size is not what the graph gives: another size, or the very symbol of an input."""
    if stated is None or inferred is None:
        return None
    if len(stated) != len(inferred):
        return 0
    for axis, (size, truth) in enumerate(zip(stated, inferred, strict=True)):
        if isinstance(size, int) and ((isinstance(truth, int) and truth != size) or truth in symbols):
            return axis
    return None
