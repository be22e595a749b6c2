"""The findings of an analysis: what they tell, and of which axis."""

from __future__ import annotations

import pytest

from paddable.api.opened import open_model
from paddable.errors import RefusedError
from paddable.graph.trace import STACK_TRACE

from .example import Example

WEIGHTS = "float[2, 2, 3] w, int64[1] time = {2}, int64[6] tail = {0, 0, 0, 0, 0, 2}, float[2] s, float[2] b"

TOLD = {
    "Conv <pads = [1, 1]>": (
        "y = Conv <pads = [1, 1]> (x, w)", "PAD102", 2, "the window at the valid end reads the padding",
        "zero the padding first",
    ),
    "Softmax": (
        "y = Softmax <axis = 2> (x)", "PAD103", 2, "the padding takes part of the attention",
        "fill the padding with -inf",
    ),
    "ReduceMax": (
        "y = ReduceMax (x, time)", "PAD107", 2, "the extremum over time sees the padding", "fill the padding with -inf",
    ),
    "ReduceMean": (
        "y = ReduceMean (x, time)", "PAD101", 2, "the mean over time counts the padding",
        "zero the padding first; masked sum divided by the length",
    ),
    "InstanceNormalization": (
        "y = InstanceNormalization (x, s, b)", "PAD101", 2, "mean and variance over time count the padding",
        "masked two-pass mean and variance",
    ),
    "AveragePool": (
        "y = AveragePool <kernel_shape = [3], pads = [1, 1]> (x)", "PAD102", 2,
        "the average at the valid end counts the padding",
        "zero the padding first; masked sum divided by the valid count",
    ),
    "Pad": ("y = Pad <mode = \"reflect\"> (x, tail)", "PAD102", 2, "the mirrored tail", "gather by run-time index"),
    "Log over time": (
        "t = Transpose <perm = [0, 2, 1]> (x) l = Log (t) y = MatMul (x, l)", "PAD108", 1,
        "the sum over time reads the padding",
        "zero the padding first",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_a_finding(name: str) -> None:
    """The first remedy tells the leak; the fixes stand in the order in which they are applied, each once."""
    body, code, axis, leak, fix = TOLD[name]
    analysis = Example(body, constants=WEIGHTS).compiled().analysis
    (found,) = analysis.findings
    assert (found.code, found.axis, found.remedy) == (code, axis, fix)
    assert leak in found.leak
    assert (found.node, found.op) in [(site.node.name, site.node.op_type) for site in analysis.sites]


def test_the_last_of_equal_places() -> None:
    body = "y = ArgMax <axis = 2, select_last_index = 1> (x)"
    (found,) = Example(body, "int64[1, 2, 1] y").compiled().analysis.findings
    assert found.leak == "the position of the extremum may lie in the padding"
    assert found.remedy == "fill the padding with -inf; at most the last valid index"


def test_a_reversed_axis_and_a_slice_from_the_end_tell_apart() -> None:
    bounds = "int64[1] first = {-1}, int64[1] last = {-9223372036854775807}, int64[1] back = {-1}, int64[1] two = {-2}"
    constants = f"{bounds}, int64[1] time = {{2}}, int64[1] end = {{9223372036854775807}}"
    reverse = Example("y = Slice (x, first, last, time, back)", constants=constants)
    tail = Example("y = Slice (x, two, end, time)", constants=constants)
    told = [example.compiled().analysis.findings[0].leak for example in (reverse, tail)]
    assert told == ["a reversed axis starts in the padding", "a slice counted from the end reads the container's end"]


def test_a_finding_over_two_lengths_names_the_first() -> None:
    example = Example("y = ReduceSum (x, both)", "float[1] y", "float[1, T, U] x", "int64[2] both = {1, 2}")
    (found,) = example.compiled().analysis.findings
    assert found.axis == 1
    joined = Example(
        "t = Transpose <perm = [0, 2, 1]> (x) r = Reshape (t, flat) y = ReduceSum (r, one)",
        "float[1, 1] y",
        constants="int64[2] flat = {1, -1}, int64[1] one = {1}",
    )
    (found,) = joined.compiled().analysis.findings
    assert found.axis == 1


@pytest.mark.parametrize("trace", ["", " at model.py:7"])
def test_a_refusal_tells_the_node_and_the_line_that_made_it(trace: str) -> None:
    model = Example("t = Transpose <perm = [0, 2, 1]> (x) r = MatMul (t, x) y = Det (r)", "float[1] y").model
    twist = model.graph.node[-1]
    twist.name = "twist"
    if trace:
        entry = twist.metadata_props.add()
        entry.key, entry.value = STACK_TRACE, 'File "model.py", line 7, in forward\n    return torch.det(r)'
    with pytest.raises(RefusedError) as caught:
        open_model(model, ["x:2=T"]).analyse()
    (finding,) = caught.value.findings
    assert caught.value.where == f"node twist (Det){trace}" and (finding.code, finding.node, finding.op) == (
        "PAD190",
        "twist",
        "Det",
    )


def test_the_lengths_of_the_outputs() -> None:
    """Of each output and axis that has one; an output without time has none."""
    example = Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = MatMul (t, u) z = ReduceMax (x, all)",
        "float[1, T, U] y, float[1, 1, 1] z",
        "float[1, 2, T] x, float[1, 2, U] u",
        "int64[3] all = {0, 1, 2}",
    )
    lengths = example.compiled().analysis.lengths()
    assert {name: {axis: str(size) for axis, size in axes.items()} for name, axes in lengths.items()} == {
        "y": {1: "T", 2: "U"}
    }
