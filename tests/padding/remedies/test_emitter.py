"""Lengths, sizes, masks and index vectors as nodes: what they compute in a fixed and in a symbolic container."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from paddable.graph.io.write import to_proto
from paddable.lengths import Span, constant, parse
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.axes import Axes, Factor
from paddable.padding.facts.facts import Affine, Elements
from paddable.padding.facts.numbers import Face, Number, Product, number, product
from paddable.padding.remedies.emitter import Emitter

INT64, FLOAT = ir.DataType.INT64, ir.DataType.FLOAT
LENGTHS = {"T": [5, 3, 7], "U": [2, 4, 1]}
CONTAINER = {"T": 8, "U": 6}


def emitter(*, rows: int | None = 1, fixed: bool = False, opset: int = 18) -> Emitter:
    """Of a graph with the lengths ``T`` and ``U`` of its rows, in a container of 8 and 6 steps."""
    count = rows or 3
    graph = ir.Graph([], [], nodes=[], opset_imports={"": opset}, name="g")
    made = Emitter(
        ir.Model(graph, ir_version=8),
        Scope({"T": Span(1, 8), "U": Span(1, 6)}, rows=rows),
        CONTAINER if fixed else None,
        rows,
    )
    for name in CONTAINER:
        made.lengths[name] = _input(graph, f"n_{name}", count)
        made.sizes[name] = _input(graph, f"size_{name}", 1)
    made.row_count = _input(graph, "rows", 1)
    return made


def _input(graph: ir.Graph, name: str, size: int) -> ir.Value:
    value = ir.Value(name=name, type=ir.TensorType(INT64), shape=ir.Shape([size]))
    graph.inputs.append(value)
    return value


def run(made: Emitter, value: ir.Value, more: Mapping[str, np.ndarray] | None = None) -> np.ndarray:
    """What a value is for the lengths and the container above."""
    rows = 1 if made.scope.single_row else 3
    feeds = {f"n_{name}": np.array(steps[:rows]) for name, steps in LENGTHS.items()}
    feeds |= {f"size_{name}": np.array([steps]) for name, steps in CONTAINER.items()}
    feeds |= {"rows": np.array([rows]), **(more or {})}
    if value.producer() is None:
        value = made.op("Identity", value, dtype=value.dtype)
    graph = made.graph
    graph.extend(made.nodes)
    value.type = value.type or ir.TensorType(INT64)
    graph.outputs.append(value)
    graph.sort()
    used = {v.name: feeds[v.name or ""] for v in graph.inputs}
    return np.asarray(ReferenceEvaluator(to_proto(made.model)).run(None, used)[0])  # type: ignore[arg-type]


def asked(ask: Callable[[Emitter], ir.Value], *, rows: int | None = 1, fixed: bool = False) -> np.ndarray:
    made = emitter(rows=rows, fixed=fixed)
    return run(made, ask(made))


EXPRESSIONS = [
    "T", "T+3", "2*T", "3*T-U", "5", "T//2", "(T//2+min(T, 4-U))//3", "(2*T+1)//3", "min(T, U)", "max(T, U, 4)",
    "min(T-3, 2*U)", "-T", "T+U-1",
]  # fmt: skip


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("rows", [1, 3, None])
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_length_and_its_size(text: str, rows: int | None, fixed: bool) -> None:
    """The length is each row's own, the size the container's; in a fixed one the size is a number."""
    length = parse(text)
    made = emitter(rows=rows, fixed=fixed)
    count = 1 if rows == 1 else 3
    expected = [length.evaluate({name: steps[k] for name, steps in LENGTHS.items()}) for k in range(count)]
    found = run(made, made.length(length))
    assert np.array_equal(np.broadcast_to(found, (count,)), expected)
    made = emitter(rows=rows, fixed=fixed)
    size = made.size(length)
    known = made.known(length)
    assert known == (length.evaluate(CONTAINER) if fixed or length.is_constant else None)
    assert (size.const_value is not None) == (known is not None)
    assert run(made, size).tolist() == [length.evaluate(CONTAINER)]


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("rows", [3, None])
def test_the_rows_as_a_length(rows: int | None, fixed: bool) -> None:
    """Native has one row, and the container as many as it has."""
    batch = parse("2*batch+1")
    assert asked(lambda made: made.length(batch), rows=rows).tolist() == [3]
    made = emitter(rows=rows, fixed=fixed)
    assert made.known(batch) == (7 if rows else None)
    assert run(made, made.size(batch)).tolist() == [7]


@pytest.mark.parametrize("fixed", [False, True])
def test_a_product_of_lengths(fixed: bool) -> None:
    both = product(parse("T"), parse("U-1"), 3)
    assert isinstance(both, Product)
    assert asked(lambda made: made.length(both), fixed=fixed).tolist() == [15]
    assert asked(lambda made: made.size(both), fixed=fixed).tolist() == [120]
    assert emitter(fixed=fixed).known(both) == (120 if fixed else None)


def test_equal_requests_are_one_value() -> None:
    made = emitter()
    for ask in (
        lambda: made.length(parse("2*T+1")), lambda: made.size(parse("T//2")), lambda: made.iota(parse("T")),
        lambda: made.valid(Factor(parse("T"), ragged=True)), lambda: made.constant([1, 2]),
    ):  # fmt: skip
        assert ask() is ask()
    assert made.length(parse("T+1")) is not made.size(parse("T+1"))
    shifted = Factor(parse("T"), ragged=True, shift=parse("U"))
    assert made.valid(shifted) is not made.valid(Factor(parse("T"), ragged=True))
    assert made.constant([1]) is not made.constant([1.0], FLOAT) and made.constant([1]) is not made.constant(1)
    names = [value.name for value in made.graph.initializers.values()] + [node.name for node in made.nodes]
    assert len(set(names)) == len(names) and all(name and name.startswith("paddable/") for name in names)


def test_a_shape_of_numbers_is_a_constant() -> None:
    made = emitter()
    known = made.shape_vector([2, made.constant([5]), 3])
    assert known.const_value is not None and known.const_value.numpy().tolist() == [2, 5, 3]
    assert run(made, made.shape_vector([2, made.size(parse("T"))])).tolist() == [2, 8]
    made = emitter()
    assert made.shape_vector([made.sizes["T"]]) is made.sizes["T"]


@pytest.mark.parametrize(("opset", "as_input"), [(11, False), (12, False), (13, True), (18, True)])
def test_axes_are_an_input_from_opset_13_on(opset: int, as_input: bool) -> None:
    made = emitter(opset=opset)
    x = made.constant(np.ones((2, 1)), FLOAT)
    for value in (made.unsqueeze(x, [0]), made.squeeze(x, [1]), made.reduce_sum(x, [0], 1)):
        node = value.producer()
        assert node is not None and (len(node.inputs) == 2) == as_input == ("axes" not in node.attributes)
    assert made.unsqueeze(x, []) is x


@pytest.mark.parametrize(
    ("dtype", "fill", "expected"),
    [
        (ir.DataType.BOOL, 0, [True, False, False]), (ir.DataType.BOOL, 1, [True, False, True]),
        (FLOAT, -1.5, [1, 0, -1.5]), (FLOAT, -math.inf, [1, 0, -math.inf]), (INT64, 7, [1, 0, 7]),
        (INT64, 2.0**63, [1, 0, 2**63 - 1]), (INT64, -(2.0**64), [1, 0, -(2**63)]),
        (ir.DataType.INT32, 2.0**31, [1, 0, 2**31 - 1]), (ir.DataType.INT8, -300, [1, 0, 212]),
        (ir.DataType.INT8, -5, [1, 0, -5]), (ir.DataType.UINT16, 9, [1, 0, 9]), (ir.DataType.INT16, 9, [1, 0, 9]),
        (ir.DataType.UINT32, 9, [1, 0, 9]),
    ],
)  # fmt: skip
def test_a_selection_of_any_type(dtype: ir.DataType, fill: float, expected: list[float]) -> None:
    """What an integer cannot hold is its nearest; runtimes lack the kernel for conditions and narrow integers."""
    made = emitter()
    x = made.constant(np.array([1, 0, 1]), dtype)
    value = made.select(made.constant(np.array([True, True, False]), ir.DataType.BOOL), x, fill, dtype)
    kinds = {node.op_type for node in made.nodes}
    narrow = dtype.name in ("INT8", "INT16", "UINT16", "UINT32")
    assert value.dtype == dtype and ("Cast" in kinds) == narrow and ("Where" in kinds) == (dtype != ir.DataType.BOOL)
    assert np.array_equal(run(made, value), np.array(expected, dtype.numpy()) if fill != -300 else [1, 0, -44])


@pytest.mark.parametrize("dtype", [FLOAT, ir.DataType.INT8])
def test_a_selection_of_a_computed_fill(dtype: ir.DataType) -> None:
    made = emitter()
    x, fill = (
        made.constant(np.array([1, 0]), dtype),
        made.op("Identity", made.constant(np.array(9), dtype), dtype=dtype),
    )
    value = made.select(made.constant(np.array([True, False]), ir.DataType.BOOL), x, fill, dtype)
    assert value.dtype == dtype and run(made, value).tolist() == [1, 9]


T, U = Factor(parse("T"), ragged=True), Factor(parse("U"), ragged=True)
WINDOW = Factor(parse("T"), ragged=True, shift=parse("T"))
B, TWO = Factor(parse("batch"), batch=True), Factor(constant(2))


def _valid(atom: Factor, rows: int) -> np.ndarray:
    """[rows, size], where a step is valid."""
    size = atom.size.evaluate(CONTAINER)
    length, shift = (
        np.array([part.evaluate({n: s[k] for n, s in LENGTHS.items()}) for k in range(rows)])[:, None]
        for part in (atom.size, atom.shift)
    )
    start = atom.shift.evaluate(CONTAINER) - shift
    return (np.arange(size) >= start) & (np.arange(size) < start + length)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("atom", [T, WINDOW, Factor(parse("2*T-1"), ragged=True, shift=parse("T"))])
def test_the_valid_steps(atom: Factor, fixed: bool) -> None:
    assert np.array_equal(asked(lambda made: made.valid(atom), fixed=fixed), _valid(atom, 1)[0])
    assert np.array_equal(asked(lambda made: made.valid(atom), rows=3, fixed=fixed), _valid(atom, 3))
    made = emitter(fixed=fixed)
    assert (made.iota(parse("T")).const_value is not None) == fixed
    assert run(made, made.iota(parse("T"))).tolist() == list(range(8))


AXES: list[tuple[Axes, list[int]]] = [
    (((B,), (T,)), [1]), (((T,), (B,)), [0]), (((B,), (TWO,), (T,)), [2]), (((B,), (T,), (TWO,)), [1]),
    (((B,), (T,), (U,)), [1, 2]), (((B,), (), (T,)), [1]), (((B,), (TWO, T)), [2]), (((B,), (T, TWO)), [1]),
    (((TWO, B), (T,)), [2]), (((B, TWO), (U,), (T,)), [3, 2]), (((B, T),), [1]), (((T,), (TWO, B)), [0]),
    (((B,), (WINDOW,), (U,)), [1, 2]), (((B,), (TWO,), (T, TWO), (U,)), [2, 4]),
]  # fmt: skip


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("axes", "atoms"), AXES)
def test_a_mask_broadcasts_against_the_value(axes: Axes, atoms: list[int], rows: int, fixed: bool) -> None:
    """True where every given atom is valid in its row, whatever the order of rows and steps, and in joined axes."""
    if rows == 1:
        axes = tuple(tuple(Factor(constant(1)) if atom.batch else atom for atom in axis) for axis in axes)
    flat = [atom for axis in axes for atom in axis]
    sizes = [rows if atom.batch else atom.size.evaluate(CONTAINER) for atom in flat]
    shape = [math.prod(sizes[sum(map(len, axes[:k])) : sum(map(len, axes[: k + 1]))]) for k in range(len(axes))]
    expected = np.ones(sizes, bool)
    for position in atoms:
        valid = _valid(flat[position], rows)
        grid = np.ix_(*map(np.arange, sizes))
        row = next((grid[k] for k, atom in enumerate(flat) if atom.batch), np.zeros((), int))
        expected &= valid[row, grid[position]]
    made = emitter(rows=rows, fixed=fixed)
    mask = made.mask(axes, atoms)
    assert made.mask(axes, atoms) is mask
    assert np.array_equal(np.broadcast_to(run(made, mask), shape), expected.reshape(shape))


@pytest.mark.parametrize("opset", [11, 12, 18])
@pytest.mark.parametrize(
    ("axes", "axis"),
    [
        (((B,), (T,)), 1), (((T,), (B,)), 0), (((B,), (TWO,), (T,)), 2), (((TWO,), (T,), (B,)), 1),
        (((B,), (T,), (U,), (TWO,)), 1),
    ],
)  # fmt: skip
def test_each_row_reads_steps_of_its_own(axes: Axes, axis: int, opset: int) -> None:
    made = emitter(rows=3, opset=opset)
    shape = [3 if axis[0].batch else axis[0].size.evaluate(CONTAINER) for axis in axes]
    data = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    index = np.array([[0, 2, 4, 1], [7, 7, 0, 3], [5, 6, 1, 1]])
    found = run(made, made.gather_rows(made.constant(data, FLOAT), made.constant(index), axes, axis))
    rows = next(k for k, own in enumerate(axes) if own[0].batch)
    parts = [np.take(np.take(data, [b], rows), index[b], axis) for b in range(3)]
    assert np.array_equal(found, np.concatenate(parts, rows))


HALF = Number(parse("T"), 2, Face.LENGTH)


@pytest.mark.parametrize(
    ("found", "dtype", "as_size", "expected"),
    [
        (number(parse("T"), Face.LENGTH), INT64, False, [5]), (number(parse("T"), Face.SIZE), INT64, True, [8]),
        (number(parse("T"), Face.LENGTH), FLOAT, False, [5.0]), (HALF, FLOAT, False, [2.5]), (HALF, FLOAT, True, [4.0]),
        (HALF, ir.DataType.DOUBLE, False, [2.5]), (HALF, ir.DataType.FLOAT16, False, [2.5]), (HALF, INT64, False, [2]),
        (number(Fraction(-3, 2)), FLOAT, False, [-1.5]),
        (Number(parse("T"), 3, Face.LENGTH), ir.DataType.DOUBLE, False, [5 / 3]),
    ],
)  # fmt: skip
def test_a_number(found: Number, dtype: ir.DataType, as_size: bool, expected: list[float]) -> None:
    made = emitter()
    value = made.number(found, dtype, as_size=as_size)
    if found.divisor != 1:
        assert value.producer().op_type == ("Div" if dtype in (FLOAT, ir.DataType.DOUBLE) else "Cast")  # type: ignore[union-attr]
    result = run(made, value)
    assert result.tolist() == expected and result.dtype == dtype.numpy()


def _elements(*values: object) -> Elements:
    return Elements(np.array([number(v, Face.LENGTH) for v in values], dtype=object))  # type: ignore[arg-type]


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(
    ("content", "axes", "rows", "expected"),
    [
        (_elements(parse("T"), 3), ((TWO,),), 1, [5, 3]), (_elements(parse("T")), (), 1, [5]),
        (Affine(number(parse("T"), Face.LENGTH)), ((B,), ()), 3, [[5], [3], [7]]),
        (Affine(number(parse("T"), Face.LENGTH)), ((TWO,),), 1, [5, 5]),
        (Affine(number(4)), ((B,), (TWO,)), 3, [[4, 4]] * 3), (Affine(number(4)), ((B,),), 3, [4, 4, 4]),
        (Elements(np.array([number(parse("T"), Face.LENGTH)])), ((B,),), 3, [5, 3, 7]),
        (Affine(number(1), ((0, Fraction(2)),)), ((U,),), 1, [1, 3, 5, 7, 9, 11]),
        (Affine(number(0), ((0, Fraction(1)),)), ((TWO,), (TWO,)), 1, [[0, 0], [1, 1]]),
        (Affine(number(parse("T"), Face.LENGTH), ((1, Fraction(-1)),)), ((B,), (TWO,)), 3, [[5, 4], [3, 2], [7, 6]]),
        (Affine(number(0), ((0, Fraction(3)), (1, Fraction(1)))), ((TWO,), (TWO,)), 1, [[0, 1], [3, 4]]),
        (Affine(number(2), ((1, Fraction(1)),)), ((B,), (TWO,)), 3, [[2, 3]] * 3),
    ],
)  # fmt: skip
def test_known_contents(content: Elements | Affine, axes: Axes, rows: int, expected: list[object], fixed: bool) -> None:
    """Numbers of each row, index vectors, and constants that are spread over all rows."""
    for dtype in (INT64, FLOAT):
        made = emitter(rows=rows, fixed=fixed)
        found = run(made, made.contents(content, axes, dtype))
        assert np.array_equal(found.reshape(np.shape(expected)), expected) and found.dtype == dtype.numpy()


def test_contents_at_the_container() -> None:
    made = emitter()
    assert run(made, made.contents(_elements(parse("T"), 3), ((TWO,),), INT64, as_size=True)).tolist() == [8, 3]
    made = emitter()
    half = Affine(number(Fraction(1, 2)), ((0, Fraction(1, 2)),))
    assert run(made, made.contents(half, ((TWO,),), FLOAT)).tolist() == [0.5, 1.0]


def test_a_floor_loses_its_remainder_where_it_may_be_negative_only() -> None:
    for text, kinds in (
        ("T//2", {"Div"}),
        ("(T//2+min(T, 4-U))//3", {"Add", "Mul", "Less", "Where", "Sub", "Mod", "Div"}),
        ("(T+U)//2", {"Add", "Div"}),
    ):
        made = emitter()
        made.length(parse(text))
        assert {node.op_type for node in made.nodes} == kinds, text


def test_a_value_without_rows_has_no_steps_of_its_own() -> None:
    with pytest.raises(AssertionError, match="without a batch axis"):
        emitter(rows=3).mask(((T,),), [0])
    with pytest.raises(AssertionError, match="without a batch axis"):
        made = emitter(rows=3)
        made.gather_rows(made.lengths["T"], made.lengths["T"], ((T,),), 0)
