"""A fact that nobody states is the weak one, and what makes a fact false takes it away."""

from __future__ import annotations

import itertools
import math

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from paddable.api.opened import open_model
from paddable.padding.analysis import _constant_value
from paddable.padding.deduce.pointwise import CONTRIBUTED, POINTWISE, Pointwise, keeps_finite
from paddable.padding.facts.axes import fixed
from paddable.padding.facts.facts import Facts


def test_a_fact_that_is_not_stated_is_the_weak_one() -> None:
    value = Facts(ir.DataType.FLOAT, (fixed(3),))
    assert not value.finite and value.masked and not value.image and value.constant is None
    assert not value.everywhere.finite


def test_integers_are_finite_and_no_fill() -> None:
    value = Facts(ir.DataType.INT64, (fixed(3),))
    assert value.finite and not value.masked


def test_a_row_that_states_nothing_is_not_finite() -> None:
    assert not Pointwise().finite([])


@pytest.mark.parametrize("op_type", [*POINTWISE, *CONTRIBUTED])
def test_finite_rows_are_finite(op_type: str) -> None:
    """Of operands between -3 and 3, a row that claims to be finite is, wherever it says what its result is."""
    row = POINTWISE.get(op_type) or CONTRIBUTED[op_type]
    operands = [Facts(ir.DataType.FLOAT, (), low=-3.0, high=3.0, finite=True, masked=False)] * 2
    if row.evaluate is None or not keeps_finite(op_type, operands):
        return
    for x in np.linspace(-3, 3, 13):
        for arguments in ((x,), *((x, y) for y in np.linspace(-3, 3, 13))):
            try:
                result = float(row.evaluate(*(np.float64(a) for a in arguments)))
            except (TypeError, ValueError):
                continue  # another number of operands
            assert np.isfinite(result), (op_type, arguments)
            low, high = row.bounds([(a, a) for a in arguments])
            assert low - 1e-9 <= result <= high + 1e-9, (op_type, arguments)


@pytest.mark.parametrize("op_type", [*POINTWISE, *CONTRIBUTED])
def test_bounds_hold_whatever_lies_between_those_of_the_operands(op_type: str) -> None:
    row = POINTWISE.get(op_type) or CONTRIBUTED[op_type]
    marks = (-2.0, -0.5, 0.0, 0.5, 2.0)
    spans = [(low, high) for low in marks for high in marks if low <= high]
    for given in (*((span,) for span in spans), *itertools.product(spans, repeat=2)):
        for values in itertools.product(*([x for x in marks if low <= x <= high] for low, high in given)):
            try:
                with np.errstate(all="ignore"):
                    result = float(row.evaluate(*map(np.float64, values))) if row.evaluate else np.nan
            except (TypeError, ValueError, ZeroDivisionError):
                continue  # another number of operands, or outside what it is defined for
            if np.isfinite(result):
                low, high = row.bounds(given)
                assert low - 1e-9 <= result <= high + 1e-9, (given, values)


@pytest.mark.parametrize("op_type", ["Div", "Reciprocal", "Log", "Sqrt", "Mod", "Tan", "Acosh", "Atanh"])
def test_what_may_be_infinite_is_not_finite(op_type: str) -> None:
    operands = [Facts(ir.DataType.FLOAT, (), low=-3.0, high=3.0, finite=True, masked=False)] * 2
    assert not keeps_finite(op_type, operands)


@pytest.mark.parametrize(
    "cut", ["y = Trilu(wide)", "y = Pad(wide, pads)"], ids=["the other triangle is 0", "a step of 0 follows"]
)
def test_a_mask_of_ones_with_zeros_added_is_not_all_ones(cut: str) -> None:
    text = f"""
        <ir_version: 10, opset_import: ["": 17]>
        g (float[1, T, 2] x, float[1, T] mask) => (float[1, T, 2] z, float[S, U, V] y)
        <int64[1] axis = {{1}}, int64[6] pads = {{0, 0, 0, 0, 0, 1}}> {{
            z = Identity (x)
            row = Unsqueeze (mask, axis)
            column = Unsqueeze (mask, two)
            wide = Mul (row, column)
            {cut}
        }}"""
    text = text.replace("int64[1] axis = {1}", "int64[1] axis = {1}, int64[1] two = {2}")
    opened = open_model(onnx.parser.parse_model(text), ["x:1=T"], mask_inputs=["mask:1=T"])
    values = opened.analyse().values
    assert values["wide"].constant == 1.0
    assert values["y"].constant is None and values["y"].valid.value is None


def test_a_large_table_with_an_infinity_is_not_finite() -> None:
    array = np.ones((300, 300), np.float32)
    assert _constant_value(ir.tensor(array)).finite
    array[7, 7] = np.inf
    assert not _constant_value(ir.tensor(array)).finite
    array[7, 7] = np.nan
    assert not _constant_value(ir.tensor(array)).finite


@pytest.mark.parametrize(("dtype", "most"), [(ir.DataType.FLOAT, 88.0), (ir.DataType.FLOAT16, 11.0)])
def test_an_exponential_is_finite_up_to_the_last_whole_exponent(dtype: ir.DataType, most: float) -> None:
    """One more, and the result of the precision is infinite."""

    def finite(high: float) -> bool:
        return keeps_finite("Exp", [Facts(dtype, (), low=-math.inf, high=high, finite=True, masked=False)])

    with np.errstate(over="ignore"):
        assert np.isfinite(np.exp(dtype.numpy().type(most))) and not np.isfinite(np.exp(dtype.numpy().type(most + 1)))
    assert finite(most) and not finite(most + 0.5)
