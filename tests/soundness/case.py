"""A model with its declarations and the means to feed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto

from .builder import BATCH, Tensor

__all__ = ["FILLINGS", "TABLE", "ZEROS", "Case", "Filling", "Point", "Row"]

Point = Mapping[str, int]
"""The number of steps of each symbol."""

Row = Mapping[str, np.ndarray]
"""One row's data, input by input, without the batch axis where the input has one."""

TABLE = 20
"""Integer inputs are rows of a table of this many rows."""


@dataclass(frozen=True)
class Case:
    """A native model and what a user would declare about it.

    Attributes:
        lengths, length_inputs, mask_inputs: declarations in the text form of the command line.
        data: ragged inputs; ``batched`` says whether their axis 0 is the batch.
        held: symbol to the input that holds its length.
        masks: symbol to the input that is 1 on its valid steps.
        rows: the batch of the padded model: 1, a constant, or None when it stays symbolic.
        native_rows: the batch that native accepts: a constant, or None for any.
        forbidden: the graph was built with an operator that must be refused.
        left_out: codes of findings whose remedies are not applied, for the tests of the judge and of the rules.
    """

    model: onnx.ModelProto
    lengths: Sequence[str]
    length_inputs: Sequence[str]
    mask_inputs: Sequence[str]
    data: Sequence[Tensor]
    batched: bool
    rows: int | None
    native_rows: int | None
    held: Mapping[str, Tensor] = field(default_factory=dict)
    masks: Mapping[str, Tensor] = field(default_factory=dict)
    forbidden: bool = False
    left_out: frozenset[str] = frozenset()

    def row(self, random: np.random.Generator, point: Point) -> Row:
        """Random data of one row at its own lengths."""
        result = {}
        for tensor in self.data:
            sizes = [s.evaluate({**point, BATCH: 1}) for s in (tensor.shape[1:] if self.batched else tensor.shape)]
            if tensor.dtype == TensorProto.INT64:
                result[tensor.name] = random.integers(0, TABLE, sizes)
            else:
                result[tensor.name] = random.standard_normal(sizes).astype(np.float32)
        return result

    def native_feeds(self, row: Row, point: Point) -> dict[str, np.ndarray]:
        """One row alone, repeated where native's batch is a constant."""
        count = self.native_rows or 1
        feeds = {k: np.stack([v] * count) if self.batched else v for k, v in row.items()}
        for symbol, tensor in self.held.items():
            feeds[tensor.name] = np.full(count, point[symbol], np.int64)
        for symbol, tensor in self.masks.items():
            feeds[tensor.name] = np.ones((count, point[symbol]), np.int64)
        return feeds

    def native_row(self, output: np.ndarray, k: int) -> np.ndarray:
        """Row ``k`` of a native output, with its batch axis: one row alone, or the k-th of equal ones."""
        k = k if self.native_rows else 0
        return output[k : k + 1] if self.batched and output.ndim else output

    def contain(
        self, rows: Sequence[Row], points: Sequence[Point], container: Point, filling: Filling
    ) -> dict[str, np.ndarray]:
        """Rows of different lengths in one container, its padding filled, with the length inputs."""
        feeds = {}
        for tensor in self.data:
            sizes = [
                s.evaluate({**container, BATCH: len(rows)})
                for s in (tensor.shape[1:] if self.batched else tensor.shape)
            ]
            stacked = []
            for row in rows:
                array = filling(sizes, tensor.dtype)
                valid = row[tensor.name]
                array[tuple(slice(0, n) for n in valid.shape)] = valid
                stacked.append(array)
            feeds[tensor.name] = np.stack(stacked) if self.batched else stacked[0]
        symbols = sorted({s for point in points for s in point}, key=lambda s: s)
        for symbol in symbols:
            held = self.held.get(symbol)
            name = held.name if held is not None else "ilens" if len(symbols) == 1 else f"ilens_{symbol}"
            feeds[name] = np.array([point[symbol] for point in points], np.int64)
        return feeds


class Filling:
    """What the padding of a container holds. Called with a shape and an element type."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __call__(self, sizes: Sequence[int], dtype: int) -> np.ndarray:
        if dtype == TensorProto.INT64:
            info = np.iinfo(np.int64)
            return np.full(sizes, [0, -1, info.min, info.max, 7][self.index], np.int64)
        signs = np.where(np.arange(int(np.prod(sizes))).reshape(sizes) % 2, -1.0, 1.0)
        with np.errstate(invalid="ignore"):
            return np.asarray([0.0, 3.7, signs * 1e30, np.nan, signs * np.inf][self.index] * np.ones(sizes), np.float32)


ZEROS = Filling(0)
FILLINGS = [Filling(k) for k in range(5)]
