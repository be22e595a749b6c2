"""DML129."""

from __future__ import annotations

from collections.abc import Iterator

from paddable.linter.evidence import measured
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement

__all__ = ["SequencesDiffer"]


class SequencesDiffer(Rule[Placement]):
    """## What it does
    Finds tensors that go through a sequence: split into one or gathered in one, and joined by ConcatFromSequence.

    ## Why is this bad
    On DirectML such a graph (FastSpeech 2 with its length regulator: SplitToSequence, Loop, ConcatFromSequence) gave
    wrong values that differed from run to run, NaN among them, without an error; with ONNX Runtime's optimisations off
    it ended with 8007023E.

    ## Example
    ``ConcatFromSequence <axis=0> (SplitToSequence <axis=0> (x))``

    ## Use instead
    Tensor operators: Split and Concat for a known number of parts; for a length regulator, a Gather by the index of
    the frame's phoneme (a comparison with CumSum of the durations).

    ## Fix safety
    No fix.
    """

    code = "DML129"
    name = "sequences-differ"
    severity = "error"
    evidence = (measured("onnxruntime-directml 1.24.4 on a software device: FastSpeech 2, three runs, three answers"),)
    VALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4, 8] x) => (float[4, 8] y) {
                    a, b = Split<axis: int = 0, num_outputs: int = 2>(x)
                    y = Concat<axis: int = 0>(a, b) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4, 8] x) => (int64 n) {
                    s = SplitToSequence<axis: int = 0>(x)
                    n = SequenceLength(s) }""",
    )
    INVALID = (
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4, 8] x) => (float[4, 8] y) {
                    s = SplitToSequence<axis: int = 0>(x)
                    y = ConcatFromSequence<axis: int = 0>(s) }""",
        """<ir_version: 10, opset_import: ["" : 18]>
                agraph (float[4, 8] x, float[2, 8] z) => (float[6, 8] y) {
                    s = SequenceConstruct(x, z)
                    y = ConcatFromSequence<axis: int = 0>(s) }""",
    )

    def check(self, site: Site[Placement]) -> Iterator[Match]:
        for node in site.nodes("ConcatFromSequence"):
            yield Match(
                "values that come out of a sequence are wrong on DirectML, and differ from run to run, silently",
                "join tensors with Concat, or repeat frames with Gather",
                node,
                fixable=False,
            )
