"""Turns lengths, masks and index vectors into nodes, each once: the one place where a mask is made.

Sizes come from the container: constants in a static graph, ``Shape`` of the inputs in a symbolic one. Lengths come from
the length inputs, one value per row. Everything is emitted for the opset of the graph (11 and later).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.graph.names import Names
from paddable.lengths import FloorDiv, Length, Max, Min, Symbol
from paddable.padding.deduce.scope import BATCH, Scope
from paddable.padding.facts.axes import Axes, Factor, axis_size, row_axis
from paddable.padding.facts.facts import Affine, Elements
from paddable.padding.facts.numbers import Number, Product

__all__ = ["Emitter"]

INT64 = ir.DataType.INT64
_NARROW = {getattr(ir.DataType, name) for name in ("INT8", "INT16", "UINT16", "UINT32")}


class Emitter:
    """Emits nodes into a graph; equal requests give the same value.

    Args:
        model: the graph that is rewritten.
        scope: the domain, for the signs of numerators.
        container: steps of each symbol in a static graph, None in a symbolic one.
        rows: the batch size, None when symbolic.
    """

    def __init__(self, model: ir.Model, scope: Scope, container: Mapping[str, int] | None, rows: int | None) -> None:
        self.model, self.graph, self.scope = model, model.graph, scope
        self.container, self.rows = container, rows
        self.version = model.graph.opset_imports.get("", 17)
        self.names = Names(model.graph)
        self.nodes: list[ir.Node] = []
        self.lengths: dict[str, ir.Value] = {}
        self.sizes: dict[str, ir.Value] = {}
        self.row_count: ir.Value | None = None
        self._constants: dict[tuple[str, tuple[int, ...], bytes], ir.Value] = {}
        self._made: dict[object, ir.Value] = {}

    # -- nodes -------------------------------------------------------------------------------------------------

    def op(
        self,
        op_type: str,
        *inputs: ir.Value | None,
        name: str = "",
        dtype: ir.DataType | None = None,
        **attributes: Any,
    ) -> ir.Value:
        """One node; its single output."""
        stem = self.names.fresh(f"paddable/{name or op_type}")
        node = ir.node(
            op_type, list(inputs), attributes={k: v for k, v in attributes.items() if v is not None}, name=stem
        )
        output = node.outputs[0]
        output.name = stem
        if dtype is not None:
            output.dtype = dtype
        self.nodes.append(node)
        return output

    def constant(self, array: np.ndarray | Sequence[float] | float, dtype: ir.DataType = INT64) -> ir.Value:
        """An initialiser, shared by content."""
        data = np.asarray(array)
        tensor = ir.tensor(np.ascontiguousarray(data.astype(dtype.numpy())).reshape(data.shape), dtype=dtype)
        key = (dtype.name, tuple(data.shape), tensor.tobytes())
        found = self._constants.get(key)
        if found is None:
            name = self.names.fresh("paddable/constant")
            tensor.name = name
            found = ir.Value(name=name, type=ir.TensorType(dtype), shape=ir.Shape(data.shape), const_value=tensor)
            self.graph.register_initializer(found)
            self._constants[key] = found
        return found

    def once(self, key: object, make: Callable[[], ir.Value]) -> ir.Value:
        """The value of an equal earlier request, or a new one."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    # -- small forms that differ by opset ----------------------------------------------------------------------

    def unsqueeze(self, x: ir.Value, axes: Sequence[int]) -> ir.Value:
        if not axes:
            return x
        if self.version >= 13:
            return self.op("Unsqueeze", x, self.constant(list(axes)))
        return self.op("Unsqueeze", x, axes=list(axes))

    def squeeze(self, x: ir.Value, axes: Sequence[int]) -> ir.Value:
        if self.version >= 13:
            return self.op("Squeeze", x, self.constant(list(axes)))
        return self.op("Squeeze", x, axes=list(axes))

    def reduce_sum(self, x: ir.Value, axes: Sequence[int], keepdims: int) -> ir.Value:
        if self.version >= 13:
            return self.op("ReduceSum", x, self.constant(list(axes)), keepdims=keepdims)
        return self.op("ReduceSum", x, axes=list(axes), keepdims=keepdims)

    def cast(self, x: ir.Value, dtype: ir.DataType) -> ir.Value:
        return self.op("Cast", x, to=int(dtype), dtype=dtype)

    def where(self, condition: ir.Value, x: ir.Value, y: ir.Value, name: str = "") -> ir.Value:
        return self.op("Where", condition, x, y, name=name)

    def select(
        self, condition: ir.Value, x: ir.Value, fill: float | ir.Value, dtype: ir.DataType, name: str = "fill"
    ) -> ir.Value:
        """``Where(condition, x, fill)`` of any type: runtimes lack the kernel for conditions and narrow integers."""
        if dtype == ir.DataType.BOOL:
            if not fill:
                return self.op("And", condition, x, name=name, dtype=dtype)
            return self.op("Or", self.op("Not", condition), x, name=name, dtype=dtype)
        if dtype in _NARROW:
            wider = self.cast(fill, INT64) if isinstance(fill, ir.Value) else fill
            return self.cast(self.select(condition, self.cast(x, INT64), wider, INT64, name), dtype)
        if isinstance(fill, ir.Value):
            chosen = self.where(condition, x, fill, name)
            chosen.dtype = dtype
            return chosen
        value: float | int = fill
        if not dtype.is_floating_point():
            info = np.iinfo(dtype.numpy())
            # a float rounds the largest int64 up, past the type
            value = min(max(int(fill), int(info.min)), int(info.max))
        chosen = self.where(condition, x, self.constant(np.array(value), dtype), name)
        chosen.dtype = dtype
        return chosen

    def shape_vector(self, parts: Sequence[ir.Value | int]) -> ir.Value:
        """A shape from [1]-shaped sizes and integers; a constant when all are."""
        stored = [p if isinstance(p, int) else p.const_value for p in parts]
        known = [s if isinstance(s, int) else int(s.numpy()[0]) for s in stored if s is not None]
        if len(known) == len(parts):
            return self.constant(known)
        return self.joined([self.constant([p]) if isinstance(p, int) else p for p in parts])

    def joined(self, parts: Sequence[ir.Value]) -> ir.Value:
        """Vectors one behind the other; one alone is what it is."""
        first, *others = parts
        return self.op("Concat", first, *others, axis=0) if others else first

    # -- lengths and sizes -------------------------------------------------------------------------------------

    def length(self, length: Length | Product) -> ir.Value:
        """The run-time value of a length: int64 [rows]."""
        if isinstance(length, Product):
            return self._product(length, self.length)
        return self._expression(length, self._run_time, "length")

    def size(self, length: Length | Product) -> ir.Value:
        """The container's value of a length: int64 [1]."""
        if isinstance(length, Product):
            return self._product(length, self.size)
        known = self.known(length)
        if known is not None:
            return self.constant([known])
        return self._expression(length, self._physical, "size")

    def _product(self, product: Product, each: Callable[[Length], ir.Value]) -> ir.Value:
        total: ir.Value = self.constant([product.scale])
        for factor in product.factors:
            total = self._arithmetic("Mul", total, each(factor))
        return total

    def known(self, length: Length | Product) -> int | None:
        """The container's value of a length as an integer, None in a symbolic graph."""
        if isinstance(length, Product):
            total = length.scale
            for factor in length.factors:
                part = self.known(factor)
                if part is None:
                    return None
                total *= part
            return total
        if length.is_constant:
            return length.constant
        values = dict(self.container or {})
        if self.rows is not None:
            values[BATCH] = self.rows
        if length.symbols <= set(values):
            return length.evaluate(values)
        return None

    def _run_time(self, name: str) -> ir.Value:
        if name == BATCH:
            return self.constant([1])  # native is one row
        return self.lengths[name]

    def _physical(self, name: str) -> ir.Value:
        if name == BATCH:
            assert self.row_count is not None
            return self.row_count
        return self.sizes[name]

    def _arithmetic(self, op_type: str, a: ir.Value, b: ir.Value) -> ir.Value:
        left, right = a.const_value, b.const_value
        if left is not None and right is not None and op_type in ("Add", "Mul"):
            both = left.numpy() + right.numpy() if op_type == "Add" else left.numpy() * right.numpy()
            return self.constant(both)
        return self.op(op_type, a, b, dtype=INT64)

    def _expression(self, length: Length, symbol: Callable[[str], ir.Value], kind: str) -> ir.Value:
        """``offset + sum coefficient * atom`` in integer nodes."""

        def make() -> ir.Value:
            total: ir.Value | None = None
            for coefficient, atom in length.terms:
                term = self._atom(atom, symbol, kind)
                if coefficient != 1:
                    term = self._arithmetic("Mul", term, self.constant([coefficient]))
                total = term if total is None else self._arithmetic("Add", total, term)
            if total is None:
                return self.constant([length.offset])
            if length.offset:
                total = self._arithmetic("Add", total, self.constant([length.offset]))
            return total

        return self.once((kind, length), make)

    def _atom(self, atom: object, symbol: Callable[[str], ir.Value], kind: str) -> ir.Value:
        if isinstance(atom, Symbol):
            return symbol(atom.name)
        if isinstance(atom, FloorDiv):
            return self._floor(atom.numerator, atom.divisor, symbol, kind)
        assert isinstance(atom, Min | Max)
        result = self._expression(atom.args[0], symbol, kind)
        for other in atom.args[1:]:
            value = self._expression(other, symbol, kind)
            first, second = (result, value) if isinstance(atom, Min) else (value, result)
            result = self.where(self.op("Less", first, second), result, value)
        return result

    def _floor(self, numerator: Length, divisor: int, symbol: Callable[[str], ir.Value], kind: str) -> ir.Value:
        """Floor division: Div truncates, so a numerator that may be negative loses its remainder first."""
        value = self._expression(numerator, symbol, kind)
        by = self.constant([divisor])
        low, _ = self.scope.domain.bounds(numerator)
        if low is None or low < 0:
            value = self.op("Sub", value, self.op("Mod", value, by), dtype=INT64)
        return self.op("Div", value, by, dtype=INT64)

    # -- index vectors and masks -------------------------------------------------------------------------------

    def iota(self, size: Length) -> ir.Value:
        """0, 1, 2, ... along an axis of the container: int64 [size]."""

        def make() -> ir.Value:
            known = self.known(size)
            if known is not None:
                return self.constant(np.arange(known))
            limit = self.squeeze(self.size(size), [0])
            return self.op("Range", self.constant(np.array(0)), limit, self.constant(np.array(1)), dtype=INT64)

        return self.once(("iota", size), make)

    def per_row(self, value: ir.Value) -> ir.Value:
        """[rows] to what broadcasts against an index vector: [1], or [rows, 1]."""
        return value if self.scope.single_row else self.once(("row", value.name), lambda: self.unsqueeze(value, [1]))

    def valid(self, atom: Factor) -> ir.Value:
        """Which indices of a ragged atom are valid: bool [size], or [rows, size]."""

        def make() -> ir.Value:
            index = self.iota(atom.size)
            end = self.per_row(self.length(atom.size))
            if atom.prefix:
                return self.op("Less", index, end, name="valid", dtype=ir.DataType.BOOL)
            start = self.per_row(self.op("Sub", self.size(atom.shift), self.length(atom.shift), dtype=INT64))
            inside = self.op("Less", index, self.op("Add", start, end, dtype=INT64))
            before = self.op("Less", index, start)
            return self.op("And", inside, self.op("Not", before), name="valid", dtype=ir.DataType.BOOL)

        return self.once(("valid", atom.size, atom.shift), make)

    def mask(self, axes: Axes, atoms: Sequence[int]) -> ir.Value:
        """Where every given atom of a value is valid: bool, broadcasting against the value."""
        masks = [self._single_mask(axes, i) for i in atoms]
        result = masks[0]
        for other in masks[1:]:
            key = ("and", result.name, other.name)
            result = self.once(key, partial(self.op, "And", result, other))
        return result

    def _single_mask(self, axes: Axes, position: int) -> ir.Value:
        flat = [(axis, atom) for axis, factors in enumerate(axes) for atom in factors]
        atom = flat[position][1]
        mask = self.valid(atom)
        row = None
        if not self.scope.single_row:
            row = next((i for i, (_, a) in enumerate(flat) if a.batch), None)
            if row is None:
                raise AssertionError("a ragged value without a batch axis, and every row has a length of its own")
        return self.place(mask, axes, [p for p in (row, position) if p is not None], (row, position))

    def place(
        self, value: ir.Value, axes: Axes, positions: Sequence[int], order: tuple[int | None, int] | None = None
    ) -> ir.Value:
        """Bring a vector over some atoms ([size] or [rows, size]) to the rank of a value, ready to broadcast."""
        flat = [(axis, k) for axis, factors in enumerate(axes) for k in range(len(factors))]
        key = ("place", value.name, axes, tuple(positions), order)

        def make() -> ir.Value:
            result = value
            wanted = sorted(positions)
            if order is not None and order[0] is not None and order[0] > order[1]:
                result = self.op("Transpose", result, perm=[1, 0])
            merged = [axis for axis in {flat[p][0] for p in wanted} if len(axes[axis]) > 1]
            if not merged:
                first = min(flat[p][0] for p in wanted)
                own = {flat[p][0] for p in wanted}
                ones = [axis - first for axis in range(first, len(axes)) if axis not in own]
                return self.unsqueeze(result, ones)
            # in atom space first, expanded inside merged axes, then joined to axes
            ones = [p for p in range(len(flat)) if p not in wanted]
            result = self.unsqueeze(result, ones)
            atoms = [axes[axis][k] for axis, k in flat]
            inside: list[ir.Value | int] = [
                self.size(atoms[p].size) if flat[p][0] in merged else 1 for p in range(len(flat))
            ]
            result = self.op("Expand", result, self.shape_vector(inside))
            joined: list[ir.Value | int] = []
            for axis in range(len(axes)):
                own_positions = [p for p in range(len(flat)) if flat[p][0] == axis]
                if axis in merged or any(p in wanted for p in own_positions):
                    joined.append(self.size(axis_size(axes[axis])))
                else:
                    joined.append(1)
            return self.op("Reshape", result, self.shape_vector(joined))

        return self.once(key, make)

    def gather_rows(self, value: ir.Value, index: ir.Value, axes: Axes, axis: int) -> ir.Value:
        """``value[b, .., index[b, i], ..]`` along an axis, for every row b: the index is int64 [rows, size]."""
        row = row_axis(axes)
        assert row is not None, "a gather by row of a value without a batch axis"
        order = [row, axis, *(i for i in range(len(axes)) if i not in (row, axis))]
        moved = value if order == list(range(len(axes))) else self.op("Transpose", value, perm=order)
        if self.version >= 12:
            taken = self.op("GatherND", moved, self.unsqueeze(index, [2]), batch_dims=1)
        else:  # GatherND has no batch_dims yet: the index is spread over the other axes
            inner = list(range(2, len(axes)))
            sizes: list[ir.Value | int] = [1, 1, *(self.size(axis_size(axes[order[i]])) for i in inner)]
            spread = self.op("Expand", self.unsqueeze(index, inner), self.shape_vector(sizes))
            taken = self.op("GatherElements", moved, spread, axis=1)
        back = [order.index(i) for i in range(len(axes))]
        return taken if back == list(range(len(axes))) else self.op("Transpose", taken, perm=back)

    # -- known contents ----------------------------------------------------------------------------------------

    def number(self, found: Number, dtype: ir.DataType, *, as_size: bool) -> ir.Value:
        """A number as [1] or [rows] of a type."""
        value = self.size(found.length) if as_size else self.length(found.length)
        if found.divisor == 1:
            return value if dtype == INT64 else self.cast(value, dtype)
        wide = dtype if dtype == ir.DataType.DOUBLE else ir.DataType.FLOAT
        quotient = self.op("Div", self.cast(value, wide), self.constant([found.divisor], wide))
        return quotient if wide == dtype else self.cast(quotient, dtype)

    def contents(
        self, content: Elements | Affine, axes: Axes, dtype: ir.DataType, *, as_size: bool = False
    ) -> ir.Value:
        """Known contents as a tensor of the given axes, numbers taken at run time or, ``as_size``, at the container."""
        if isinstance(content, Elements) and content.array.size == 1 and any(axes):
            content = Affine(*content.array.flat)  # one number a row
        if isinstance(content, Elements):
            parts = [self.number(x, dtype, as_size=as_size) for x in content.array.flat]
            place = None if self.scope.single_row else row_axis(axes)
            if place is not None:
                return self._vectors(parts, axes, place)
            return self.op("Reshape", self.joined(parts), self.constant(np.array(content.array.shape, dtype=np.int64)))
        base = self.number(content.base, dtype, as_size=as_size)
        flat = [atom for axis in axes for atom in axis]
        row = next((i for i, a in enumerate(flat) if a.batch), None)
        if row is not None:
            total = self.place(base, axes, [row])
        else:
            total = self.op("Reshape", base, self.constant(np.ones(len(axes), dtype=np.int64)))
        # a constant is one number for all rows, and is spread over them at the end
        covered = {row} if row is not None and not content.base.is_constant else set()
        for i, coefficient in content.coefficients:
            index = self.iota(flat[i].size)
            term = self.cast(index, dtype) if dtype != INT64 else index
            if coefficient != 1:
                term = self.op("Mul", term, self.constant(np.array([_typed(coefficient, dtype)]), dtype))
            total = self.op("Add", total, self.place(term, axes, [i]))
            covered.add(i)
        if all(i in covered for i in range(len(flat))):
            return total
        return self.op("Expand", total, self.shape_vector([self.size(axis_size(axis)) for axis in axes]))

    def _vectors(self, parts: Sequence[ir.Value], axes: Axes, place: int) -> ir.Value:
        """Numbers of each row, [rows] or [1] each, as a tensor with the rows as the axis at ``place``."""
        rows = self.size(axis_size(axes[place]))
        columns = [self.op("Expand", self.unsqueeze(part, [1]), self.shape_vector([rows, 1])) for part in parts]
        stacked = columns[0] if len(columns) == 1 else self.op("Concat", *columns, axis=1)
        others: list[ir.Value | int] = [self.size(axis_size(axis)) for k, axis in enumerate(axes) if k != place]
        behind = self.op("Reshape", stacked, self.shape_vector([rows, *others]))
        order = [*range(1, place + 1), 0, *range(place + 1, len(axes))]
        return behind if place == 0 else self.op("Transpose", behind, perm=order)


def _typed(value: Fraction, dtype: ir.DataType) -> int | float:
    return float(value) if dtype.is_floating_point() else int(value)
