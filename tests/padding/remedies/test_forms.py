"""The masked forms at every opset, precision and rank: what they compute, and that they compute no more."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from paddable.graph.io.write import to_proto
from paddable.padding.rewrite.rewrite import rewrite

from ..example import Example
from ..native import assert_exact


def fixed(body: str, **given: str) -> ir.Model:
    return ir.from_proto(to_proto(rewrite(Example(body, **given).compiled().analysis, {"T": 24})))


def test_the_weight_of_an_average_is_one_for_all_channels() -> None:
    model = fixed("y = AveragePool <kernel_shape = [3], pads = [1, 1]> (x)")
    shapes = sorted(tuple(node.inputs[0].shape.numpy()) for node in model.graph if node.op_type == "AveragePool")
    assert shapes == [(1, 1, 24), (1, 2, 24)]


@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_the_mean_of_rows(opset: int, keepdims: int) -> None:
    """Of each row over its own length, whichever axis is in front."""
    shape = "batch, 1" if keepdims else "batch"
    assert_exact(
        f"g (float[batch, T] x) => (float[{shape}] y) {{ y = ReduceMean <axes = [1], keepdims = {keepdims}> (x) }}",
        "x:1=T",
        opset=opset,
        rows=None,
        padded_rows=3,
        needs=["PAD101"],
    )


@pytest.mark.parametrize("keepdims", [0, 1])
def test_the_mean_of_rows_with_time_in_front(keepdims: int) -> None:
    back = "y = Transpose <perm = [1, 0, 2]> (m)" if keepdims else "y = Identity (m)"
    assert_exact(
        f"""g (float[batch, 2, T] x) => (float[{"batch, 1, 2" if keepdims else "batch, 2"}] y) {{
           t = Transpose <perm = [2, 0, 1]> (x) m = ReduceMean <axes = [0], keepdims = {keepdims}> (t) {back} }}""",
        "x:2=T",
        rows=None,
        padded_rows=3,
        needs=["PAD101"],
    )  # fmt: skip


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize(("largest", "fill"), [("ArgMax", "-inf"), ("ArgMin", "inf")])
def test_the_last_of_equal_places_of_rows(keepdims: int, largest: str, fill: str) -> None:
    """No step is larger than another, and all are as large as what the padding is filled with."""
    back = "y = Transpose <perm = [1, 0, 2]> (m)" if keepdims else "y = Identity (m)"
    assert_exact(
        f"""g (float[batch, 2, T] x) => (int64[{"batch, 1, 2" if keepdims else "batch, 2"}] y)
           <float fill = {{{fill}}}> {{
           t = Transpose <perm = [2, 0, 1]> (x) n = IsNaN (t) a = Where (n, t, fill)
           m = {largest} <axis = 0, keepdims = {keepdims}, select_last_index = 1> (a) {back} }}""",
        "x:2=T",
        rows=None,
        padded_rows=3,
    )  # fmt: skip


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_group_normalisation(groups: int) -> None:
    numbers = "0.5, 1.5, 2.5, 3.5"
    assert_exact(
        f"""g (float[batch, 4, T] x) => (float[batch, 4, T] y)
           <float[4] s = {{{numbers}}}, float[4] b = {{{numbers}}}> {{
           y = GroupNormalization <num_groups = {groups}> (x, s, b) }}""",
        "x:2=T",
        opset=21,
        rows=None,
        padded_rows=3,
        needs=["PAD101"],
    )  # fmt: skip


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axis", [0, 2])
def test_the_last_of_equal_places_counts_the_axes_in_front_of_the_rows(axis: int, keepdims: int) -> None:
    """Time in front of the rows goes or stays, and behind them it does not move them; 0 is the axis by default."""
    perm, shape = {0: ([2, 0, 1], "batch, 1, 2"), 2: ([1, 0, 2], "batch, 2, 1")}[axis]
    named = f"axis = {axis}, " if axis else ""
    back = {(0, 0): "Identity (m)", (0, 1): "Transpose <perm = [1, 0, 2]> (m)", (2, 0): "Transpose <perm = [1, 0]> (m)",
            (2, 1): "Transpose <perm = [1, 0, 2]> (m)"}[axis, keepdims]  # fmt: skip
    assert_exact(
        f"""g (float[batch, 2, T] x) => (int64[{shape if keepdims else "batch, 2"}] y) <float fill = {{-inf}}> {{
           t = Transpose <perm = {perm}> (x) n = IsNaN (t) a = Where (n, t, fill)
           m = ArgMax <{named}keepdims = {keepdims}, select_last_index = 1> (a) y = {back} }}""",
        "x:2=T",
        rows=None,
        padded_rows=3,
    )  # fmt: skip
