"""A fact that nobody states is the weak one, and what makes a fact false takes it away."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from paddable.api.opened import open_model
from paddable.padding.analysis import _constant_value
from paddable.padding.deduce.pointwise import CONTRIBUTED, POINTWISE, Pointwise, always, bounds, evaluate, keeps_finite
from paddable.padding.facts.axes import fixed
from paddable.padding.facts.facts import MASK_FILL, Facts


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


@pytest.mark.parametrize("op_type", ["Mod", "Tan", "Acosh", "Atanh"])
def test_what_may_be_infinite_is_not_finite(op_type: str) -> None:
    assert not keeps_finite(op_type, [_between(-3.0, 3.0)] * 2)


def _between(low: float, high: float, dtype: ir.DataType = ir.DataType.FLOAT) -> Facts:
    return Facts(dtype, (), low=low, high=high, finite=True, masked=False)


CONDITIONS = {"And", "Or", "Xor", "Not"}


def _by_definition(op_type: str, *values: float, **attributes: object) -> float | None:
    """What ONNX defines an operator to make of single numbers, None where it takes others."""
    node = helper.make_node(op_type, [f"x{k}" for k in range(len(values))], ["y"], **attributes)
    conditions = len(values) if op_type in CONDITIONS else op_type == "Where"
    feeds = {f"x{k}": np.array([v], bool if k < conditions else float) for k, v in enumerate(values)}
    inputs = [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), [1]) for k, v in feeds.items()]
    graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)])
            return float(ReferenceEvaluator(model).run(None, feeds)[0][0])
    except (TypeError, ValueError, IndexError, RuntimeError):
        return None


OPERANDS = {
    name: next(n for n in (1, 2, 3) if _by_definition(name, *(1.0,) * n) is not None)
    for name in POINTWISE
    if name not in {"Cast", "PRelu"} and not name.startswith("Bit")
}
MANY = ("Max", "Mean", "Min", "Sum")


@pytest.mark.parametrize("op_type", [name for name in OPERANDS if POINTWISE[name].evaluate])
def test_a_row_evaluates_as_the_operator_is_defined(op_type: str) -> None:
    marks = (0.0, 1.0) if op_type in CONDITIONS else (-2.0, -0.5, 0.0, 0.5, 1.0, 3.0, math.inf, math.nan)
    for values in itertools.product(marks, repeat=3 if op_type in MANY else OPERANDS[op_type]):
        found, defined = evaluate(op_type, values), _by_definition(op_type, *values)
        assert found is not None and defined is not None
        assert found == pytest.approx(defined, rel=1e-6, nan_ok=True), values


@pytest.mark.parametrize("op_type", [name for name in OPERANDS if name != "LeakyRelu"])  # its slope is an attribute
def test_no_bounds_are_wider_than_the_results(op_type: str) -> None:
    """Beyond the half step of a rounding; and finite where the operator evaluates to finite numbers."""
    row, span = POINTWISE[op_type], (-7.5, 7.5)
    if row.boolean:
        assert row.bounds([span] * 2) == (0.0, 1.0)
        return
    operands = [(0.0, 1.0), span, span] if op_type == "Where" else [span] * OPERANDS[op_type]
    low, high = row.bounds(operands)
    marks = [np.arange(-7.5, 8.0, 0.5)] if len(operands) == 1 else operands
    results = [_by_definition(op_type, *values) for values in itertools.product(*marks)]
    known = [x for x in results if x is not None and math.isfinite(x)]
    assert low == -math.inf or min(known) - 0.6 <= low
    assert high == math.inf or max(known) + 0.6 >= high
    assert row.evaluate is None or row.finite is not always or math.isfinite(high - low)


@pytest.mark.parametrize(
    ("op_type", "spans", "expected"),
    [
        ("Div", [(2, 6), (1, 2)], (1, 6)), ("Div", [(2, 6), (-2, -1)], (-6, -1)), ("Div", [(-4, 6), (2, 4)], (-2, 3)),
        ("Div", [(0, 0), (-1, 1)], (0, 0)), ("Reciprocal", [(2, 4)], (0.25, 0.5)), ("Abs", [(2, 4)], (2, 4)),
        ("Reciprocal", [(-4, -2)], (-0.5, -0.25)), ("Reciprocal", [(0, 2)], (-math.inf, math.inf)),
        ("Abs", [(-4, -2)], (2, 4)), ("Abs", [(-4, 2)], (0, 4)), ("Abs", [(0, 2)], (0, 2)), ("Abs", [(-2, 0)], (0, 2)),
        ("Log", [(1, math.e)], (0, 1)), ("Log", [(0, 1)], (-math.inf, 0)), ("Log", [(-2, 0)], (-math.inf, math.inf)),
        ("Sqrt", [(4, 9)], (2, 3)), ("Sqrt", [(-4, 9)], (0, 3)), ("Sqrt", [(-4, 0)], (0, 0)),
        ("Sqrt", [(-4, -1)], (0, math.inf)), ("Exp", [(0, 1)], (1, math.e)), ("Exp", [(0, 1e4)], (1, math.inf)),
        ("Pow", [(-2, 2), (2, 2)], (0, math.inf)), ("Pow", [(-2, 2), (3, 3)], (-math.inf, math.inf)),
        ("Pow", [(0, 2), (3, 3)], (0, math.inf)), ("Pow", [(1, 2), (-2, -2)], (-math.inf, math.inf)),
        ("Pow", [(1, 2), (1, 2)], (-math.inf, math.inf)), ("Pow", [(1, 2), (0, 0)], (-math.inf, math.inf)),
        ("Mod", [(-9, 9), (4, 4)], (0, 4)), ("Mod", [(-9, 9), (3, 4)], (-math.inf, math.inf)),
        ("Mod", [(-9, 9), (-4, -4)], (-math.inf, math.inf)), ("Mod", [(-9, 9), (0, 0)], (-math.inf, math.inf)),
        ("Elu", [(-2, 3)], (-math.inf, 3)), ("Elu", [(1, 3)], (1, 3)), ("Elu", [(-2, -1)], (-math.inf, 0)),
        ("Elu", [(0, 3)], (0, 3)), ("Softplus", [(-9, 9)], (0, math.inf)), ("Mul", [(-2, 3), (-5, 1)], (-15, 10)),
        ("Mul", [(0, math.inf), (0, 0)], (0, 0)), ("Mul", [(0, 0), (0, math.inf)], (0, 0)),
        ("LeakyRelu", [(1, 3)], (0, 3)), ("LeakyRelu", [(-3, -1)], (-3, 0)), ("Relu", [(1, 3)], (1, 3)),
        ("Relu", [(-3, -1)], (0, 0)), ("Where", [(0, 1), (-3, 2), (-1, 5)], (-3, 5)),
        ("Max", [(-3, 2), (-1, 0)], (-1, 2)), ("Min", [(-3, 2), (-5, 0)], (-5, 0)),
    ],
)  # fmt: skip
def test_the_bounds_of_a_result(op_type: str, spans: list[tuple[float, float]], expected: tuple[float, float]) -> None:
    assert bounds(op_type, [_between(*span) for span in spans], {}.get) == expected


def test_the_bounds_of_a_square() -> None:
    """Of one and the same operand twice; of two operands alike they may be negative."""
    value = _between(-3.0, 2.0)
    assert bounds("Mul", [value, value], {}.get) == (0.0, 9.0)
    assert bounds("Mul", [value, _between(-3.0, 2.0)], {}.get) == (-6.0, 9.0)
    assert bounds("Add", [value, value], {}.get) == (-6.0, 4.0)


def test_the_bounds_of_an_integer_quotient() -> None:
    """Of whole numbers, wherever the float quotient lies; infinite ones stay."""

    def quotient(low: float, high: float, by: float) -> tuple[float, float]:
        operands = [_between(low, high, ir.DataType.INT64), _between(by, by, ir.DataType.INT64)]
        return bounds("Div", operands, {}.get)

    assert quotient(-7.0, 7.0, 2.0) == (-4.0, 4.0)
    assert quotient(-6.0, 6.0, 3.0) == (-3.0, 3.0)
    assert quotient(5.0, 7.0, 10.0) == (0.0, 1.0)
    assert quotient(-math.inf, math.inf, 2.0) == (-math.inf, math.inf)
    assert bounds("Div", [_between(-7.0, 7.0), _between(2.0, 2.0)], {}.get) == (-3.5, 3.5)


@pytest.mark.parametrize("to", [1, 9, 10, 11, 16, 7])
def test_the_bounds_of_a_cast(to: int) -> None:
    """A float type rounds within the 2**-8 of bfloat16, an integer type to a whole number, a condition to 0 or 1."""
    for low, high in itertools.product((-2.5, -0.1, 0.0, 0.1, 2.5), repeat=2):
        if low > high:
            continue
        found = bounds("Cast", [_between(low, high)], {"to": to}.get)
        if to == 9:
            assert found == (0.0, 1.0)
        elif to == 7:
            assert found == (math.floor(low), math.ceil(high))
        else:
            for end, given, sign in ((found[0], low, -1), (found[1], high, 1)):
                assert abs(given) * 2**-8 <= sign * (end - given) <= abs(given) * 2**-6
    for kind in (7, to if to != 9 else 7):
        assert bounds("Cast", [_between(-math.inf, math.inf)], {"to": kind}.get) == (-math.inf, math.inf)


SPANS = [(low, high) for low, high in itertools.product((-2.0, -0.5, 0.0, 0.5, 2.0), repeat=2) if low <= high]


@pytest.mark.parametrize("op_type", ["Div", "Log", "Reciprocal", "Sqrt"])
def test_what_is_finite_within_some_bounds_only_is_finite_there(op_type: str) -> None:
    for span in SPANS:
        operands = [_between(-2.0, 2.0), _between(*span)] if op_type == "Div" else [_between(*span)]
        marks = [x for x in np.linspace(-2, 2, 17) if span[0] <= x <= span[1]]
        results = [_by_definition(op_type, *([1.0, x] if op_type == "Div" else [x])) for x in marks]
        assert keeps_finite(op_type, operands) == all(np.isfinite(results)), span


@pytest.mark.parametrize(
    ("base", "power", "finite"),
    [
        ((0.0, 2.0), (0.5, 0.5), True), ((-1.0, 2.0), (0.5, 0.5), False), ((-1.0, 2.0), (3.0, 3.0), True),
        ((-1.0, 2.0), (0.0, 0.0), True), ((0.5, 2.0), (-1.0, -1.0), True), ((0.0, 2.0), (-1.0, -1.0), False),
        ((0.5, 2.0), (1.0, 2.0), False),
    ],
)  # fmt: skip
def test_a_power_is_finite(base: tuple[float, float], power: tuple[float, float], finite: bool) -> None:
    assert keeps_finite("Pow", [_between(*base), _between(*power)]) == finite


@pytest.mark.parametrize("op_type", [name for name, count in OPERANDS.items() if count == 1])
def test_what_is_0_at_0_is_told_where_the_row_does_not_evaluate(op_type: str) -> None:
    row = POINTWISE[op_type]
    if row.evaluate is None and op_type != "Clip":  # its limits are attributes
        assert row.zero_at_zero == (_by_definition(op_type, 0.0) == 0)


def test_what_a_table_says_of_single_operators() -> None:
    """The operators that IEEE 754 leaves one result, that answer a condition, and that take a mask's fill away."""
    assert {name for name, row in POINTWISE.items() if row.exact} == {
        "Abs", "Add", "And", "Cast", "Ceil", "Clip", "Div", "Equal", "Floor", "Greater", "GreaterOrEqual", "Identity",
        "Less", "LessOrEqual", "Max", "Min", "Mod", "Mul", "Neg", "Not", "Or", "Sign", "Sqrt", "Sub", "Where", "Xor",
    }  # fmt: skip
    assert {name for name, row in POINTWISE.items() if row.boolean} == {
        "And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "Not", "Or", "Xor",
    }  # fmt: skip
    unmasking = {name for name, row in POINTWISE.items() if row.unmasks}
    assert unmasking == {"Cos", "Erf", "Exp", "HardSigmoid", "Relu", "Sigmoid", "Sin", "Tanh"}
    assert all(abs(_by_definition(name, MASK_FILL) or 0.0) <= 1 for name in unmasking)


@pytest.mark.parametrize("op_type", CONTRIBUTED)
def test_a_contributed_activation_is_finite(op_type: str) -> None:
    """It is 0 at 0 too, but for one that adds a bias first."""
    row = CONTRIBUTED[op_type]
    assert row.finite([]) and row.zero_at_zero == (op_type != "BiasGelu")


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
