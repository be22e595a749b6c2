"""Judges one random graph: exact under the tests C and J, refused, or wrong."""

from __future__ import annotations

import faulthandler
import itertools
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
import onnx_ir as ir
from onnx import helper

from paddable.errors import RefusedError
from paddable.lengths import Length, Span
from paddable.padding.facts.numbers import Product

from .case import FILLINGS, ZEROS, Case, Point, Row
from .recipe import Recipe, build
from .runs import Compiled, Session, compile_case
from .truth import truth

__all__ = ["Verdict", "judge"]

TOLERANCE = 1e-5
LEAK = 1e-4
POINTS = 6
_ULP = 1.2e-7


@dataclass
class Verdict:
    """What came of one graph.

    Attributes:
        outcome: ``exact``, ``refused``, ``wrong`` (a silent error) or ``crash`` (anything but a refusal).
        reason: of a refusal or an error.
        worst: largest error relative to scale.
        leaks: plain zero padding changes some valid output.
        operators: the operators that touched a ragged axis.
        tight: native runs below the shortest accepted length.
        spans: the accepted values of each symbol.
    """

    outcome: str
    reason: str = ""
    worst: float = 0.0
    leaks: bool = False
    operators: frozenset[str] = frozenset()
    tight: str = ""
    spans: Mapping[str, Span] = field(default_factory=dict)


class Wrong(Exception):
    """A silent error."""


class IllConditioned(Exception):
    """Native's own answer is rounding: it moves as far when its results are rounded at random."""


def judge(recipe: Recipe | Case, seed: int = 0) -> Verdict:
    """Compile a graph and compare it with native; never raises."""
    try:
        case = recipe if isinstance(recipe, Case) else build(recipe)
        native = Session(case.model)
    except Exception as error:
        return Verdict("broken", f"{type(error).__name__}: {str(error)[:300]}")
    try:
        compiled = compile_case(case)
    except RefusedError as refusal:
        return Verdict("refused", refusal.what)
    except Exception as error:
        return Verdict("crash", f"{type(error).__name__}: {str(error)[:300]}")
    verdict = Verdict("exact", operators=_operators(compiled), spans=compiled.analysis.scope.spans)
    try:
        _Trial(case, native, compiled, np.random.default_rng(seed), verdict).run()
    except Wrong as wrong:
        verdict.outcome, verdict.reason = "wrong", str(wrong)
    except IllConditioned as reason:
        verdict.outcome, verdict.reason = "ill-conditioned", str(reason)
    except Exception as error:
        verdict.outcome, verdict.reason = "crash", f"{type(error).__name__}: {str(error)[:300]}"
    return verdict


def _operators(compiled: Compiled) -> frozenset[str]:
    return frozenset(
        site.node.op_type
        for site in compiled.analysis.sites
        if any(v is not None and v.ragged for v in (*site.operands, *site.outputs))
    )


# -- lengths -----------------------------------------------------------------------------------------------------------


def _fit(span: Span, steps: int) -> int | None:
    """The smallest accepted number of steps that is at least ``steps``."""
    steps = max(steps, span.low)
    steps += (span.residue - steps) % span.step
    return None if span.high is not None and steps > span.high else steps


def _edges(span: Span, sizes: Sequence[Length], symbol: str) -> list[int]:
    """The shortest length, then where a floor or a ceiling jumps."""
    first = span.first
    found = [first]
    rows = []
    for steps in range(first, first + 24 * span.step, span.step):
        if span.high is not None and steps > span.high:
            break
        point = {symbol: steps}
        rows.append((steps, [s.evaluate(point) for s in sizes]))
    for (before, old), (after, new) in itertools.pairwise(rows):
        growth = [b - a for a, b in zip(old, new, strict=True)]
        common = [b - a for a, b in zip(rows[0][1], rows[1][1], strict=True)]
        if growth != common:
            found += [before, after]
    return list(dict.fromkeys(found))


# -- trial -------------------------------------------------------------------------------------------------------------


class _Trial:
    def __init__(
        self, case: Case, native: Session, compiled: Compiled, random: np.random.Generator, verdict: Verdict
    ) -> None:
        self.case, self.native, self.compiled, self.random, self.verdict = case, native, compiled, random, verdict
        self.spans: Mapping[str, Span] = compiled.analysis.scope.spans
        self.ragged = compiled.analysis.lengths()
        self.plain: Session | None = None
        self.shaken: Session | None = None
        self.rows = case.rows or (1 if case.rows is not None else 2)

    def run(self) -> None:
        session = Session(self.compiled.model)
        points = self._points()
        oracle = [self._native(point) for point in points]
        for group in self._groups(len(points)):
            chosen = [points[i] for i in group]
            least = {s: max(p[s] for p in chosen) for s in self.spans}
            for container in self._containers(least, points):
                self._compare(session, group, points, oracle, container, f"container {container}")
        self._junk(session, points, oracle)
        self._below(session)
        self._static(points, oracle)
        self._naive(points, oracle)
        self._tight()

    def _points(self) -> list[Point]:
        sizes: dict[str, list[Length]] = {s: [] for s in self.spans}
        for value in self.compiled.analysis.values.values():
            for axis in range(value.rank):
                size = value.size(axis)
                if not isinstance(size, Product) and len(size.symbols) == 1:
                    (symbol,) = size.symbols
                    if symbol in sizes and size not in sizes[symbol]:
                        sizes[symbol].append(size)
        edges = {s: _edges(span, sizes[s], s)[:4] for s, span in self.spans.items()}
        points: list[Point] = []
        for k in range(POINTS):
            point = {}
            for symbol, span in self.spans.items():
                found = edges[symbol]
                if k < len(found) and (k == 0 or self.random.random() < 0.8):
                    point[symbol] = found[k]
                else:
                    wanted = span.first + int(self.random.integers(0, 30))
                    point[symbol] = _fit(span, wanted) or span.first
            points.append(point)
        return points

    def _groups(self, count: int) -> Iterator[list[int]]:
        """Which points share a batch."""
        if self.rows == 1:
            yield from ([i] for i in range(count))
        else:
            for i in range(0, count, 2):
                yield [(i + k) % count for k in range(self.rows)]

    def _containers(self, least: Point, points: Sequence[Point]) -> list[Point]:
        most = {s: 2 * max(p[s] for p in points) for s in self.spans}
        wanted = [least, {s: n + 1 for s, n in least.items()}, {s: 2 * n for s, n in least.items()}, most]
        result: list[Point] = []
        for steps in wanted:
            fitted = {s: _fit(self.spans[s], n) or least[s] for s, n in steps.items()}
            if fitted not in result:
                result.append(fitted)
        return result

    def _native(self, point: Point) -> tuple[Row, dict[str, np.ndarray]]:
        row = self.case.row(self.random, point)
        try:
            found = self.native(self.case.native_feeds(row, point))
        except Exception as error:
            if _index_of_nan(error):
                raise IllConditioned(f"native reads at the index that NaN was rounded to, n {dict(point)}") from None
            raise Wrong(f"native fails at the accepted length {dict(point)}: {str(error)[:200]}") from None
        return row, found

    def _compare(
        self, session: Session, group: Sequence[int], points: Sequence[Point],
        oracle: Sequence[tuple[Row, dict[str, np.ndarray]]], container: Point, where: str,
    ) -> None:  # fmt: skip
        chosen = [points[i] for i in group]
        feeds = self.case.contain([oracle[i][0] for i in group], chosen, container, ZEROS)
        found = session(feeds)
        for k, i in enumerate(group):
            for name, whole in oracle[i][1].items():
                expected = self.case.native_row(whole, k)
                got = found[name][k : k + 1] if self.case.batched and found[name].ndim else found[name]
                self._lengths(found, name, expected, k, points[i], where)
                inside = got[tuple(slice(0, n) for n in expected.shape)]
                if inside.shape != expected.shape:
                    raise Wrong(f"{name} is {got.shape} where native has {expected.shape}, n {points[i]}, {where}")
                self._close(name, inside, expected, oracle[i][0], points[i], where)
                rest = got.copy()
                rest[tuple(slice(0, n) for n in expected.shape)] = 0
                if rest.any():
                    raise Wrong(f"{name} is not zero past its length, n {dict(points[i])}, {where}")

    def _lengths(
        self, found: Mapping[str, np.ndarray], name: str, expected: np.ndarray, k: int, point: Point, where: str
    ) -> None:
        titles: dict[Length, str] = {}
        for axis, size in self.ragged.get(name, {}).items():
            title = titles.setdefault(size, f"{name}_length" if not titles else f"{name}_length_{axis}")
            if found[title][k] != expected.shape[axis]:
                raise Wrong(
                    f"{title} is {found[title][k]}, native has {expected.shape[axis]}, n {dict(point)}, {where}"
                )

    def _close(self, name: str, got: np.ndarray, expected: np.ndarray, row: Row, point: Point, where: str) -> None:
        error = _error(got, expected)
        self.verdict.worst = max(self.verdict.worst, error if error <= TOLERANCE else 0.0)
        if error <= TOLERANCE or error <= 3 * self._noise(name, row, point):
            return
        told = f"{name} differs by {error:.3g} of scale, n {dict(point)}, {where}"
        condition = self._condition(name, row, point)
        if error <= 3 * condition or condition >= 1:  # what moves by all of its scale may as well be NaN
            raise IllConditioned(told)
        exact = truth(self.case.model, self.case.native_feeds(row, point))
        if exact is not None and exact[name].shape == got.shape and _error(got, exact[name]) <= TOLERANCE:
            raise IllConditioned(f"{told}; in double precision native gives what the padded model gives")
        raise Wrong(told)

    def _noise(self, name: str, row: Row, point: Point) -> float:
        if self.plain is None:
            self.plain = Session(self.case.model, optimise=False)
        feeds = self.case.native_feeds(row, point)
        return _error(self.plain(feeds)[name], self.native(feeds)[name])

    def _condition(self, name: str, row: Row, point: Point) -> float:
        """How far native itself moves when each of its results is rounded at random (stochastic arithmetic)."""
        if self.shaken is None:
            ragged = {k for k, v in self.compiled.analysis.values.items() if v.ragged and v.dtype == ir.DataType.FLOAT}
            self.shaken = Session(_shaken(self.case.model, ragged), optimise=False)
        feeds = self.case.native_feeds(row, point)
        factors: dict[str, np.ndarray] = {i: np.ones((), np.float32) for i in self.shaken.inputs if i not in feeds}
        still = self.shaken({**feeds, **factors})
        if any(np.isnan(still[f"{i}/before"]).any() for i in factors):
            return float("inf")  # native met NaN itself: what is largest then is not defined
        moved = 0.0
        for _ in range(12):
            for i in factors:
                factors[i] = np.float32(1) + self.random.uniform(-_ULP, _ULP, still[f"{i}/before"].shape)
                factors[i] = factors[i].astype(np.float32)
            moved = max(moved, _error(self.shaken({**feeds, **factors})[name], still[name]))
        return moved

    def _junk(
        self, session: Session, points: Sequence[Point], oracle: Sequence[tuple[Row, dict[str, np.ndarray]]]
    ) -> None:
        for group in self._groups(len(points)):
            chosen = [points[i] for i in group]
            least = {s: max(p[s] for p in chosen) for s in self.spans}
            container = {s: _fit(self.spans[s], n + 7) or least[s] for s, n in least.items()}
            reference = None
            for filling in FILLINGS:
                feeds = self.case.contain([oracle[i][0] for i in group], chosen, container, filling)
                found = session(feeds)
                if reference is None:
                    reference = found
                for name, array in found.items():
                    if not np.array_equal(array, reference[name], equal_nan=array.dtype.kind == "f"):
                        raise Wrong(f"{name} sees junk {filling.index}, n {chosen}, container {container}")

    def _below(self, session: Session) -> None:
        """Below the minimum every output of the row is zero."""
        for symbol, span in self.spans.items():
            container = {s: _fit(sp, 2 * sp.first + 3) or sp.first for s, sp in self.spans.items()}
            for steps in {0, span.first - 1}:
                point = {s: sp.first for s, sp in self.spans.items()} | {symbol: steps}
                rows = [self.case.row(self.random, point) for _ in range(self.rows)]
                for filling in FILLINGS:
                    try:
                        found = session(self.case.contain(rows, [point] * self.rows, container, filling))
                    except Exception as error:
                        if _index_of_nan(error):
                            raise IllConditioned(f"NaN is rounded to an index, n {point}") from None
                        raise
                    for name, array in found.items():
                        if array.any():
                            raise Wrong(f"{name} is not zero at {point}, below the minimum {span.first}")

    def _static(self, points: Sequence[Point], oracle: Sequence[tuple[Row, dict[str, np.ndarray]]]) -> None:
        if self.case.rows is None:
            return
        most = {s: max(p[s] for p in points) for s in self.spans}
        container = {s: _fit(self.spans[s], n + 3) or most[s] for s, n in most.items()}
        session = Session(compile_case(self.case, container).model)
        for group in self._groups(len(points)):
            self._compare(session, group, points, oracle, container, f"static container {container}")

    def _naive(self, points: Sequence[Point], oracle: Sequence[tuple[Row, dict[str, np.ndarray]]]) -> None:
        """Whether zero padding alone changes what is valid."""
        for point, (row, expected) in zip(points, oracle, strict=True):
            container = {s: _fit(self.spans[s], 2 * n) or n for s, n in point.items()}
            feeds = self.case.contain(
                [row] * (self.case.native_rows or 1), [point] * (self.case.native_rows or 1), container, ZEROS
            )
            for symbol, tensor in self.case.masks.items():
                mask = np.zeros((self.case.native_rows or 1, container[symbol]), np.int64)
                mask[:, : point[symbol]] = 1
                feeds[tensor.name] = mask
            try:
                found = self.native(feeds)
            except Exception:  # what padding makes of an index may be out of range
                self.verdict.leaks = True
                return
            for name, array in expected.items():
                inside = found[name][tuple(slice(0, n) for n in array.shape)]
                if inside.shape != array.shape or _error(inside, array) > LEAK:
                    self.verdict.leaks = True
                    return

    def _tight(self) -> None:
        """The shortest accepted length is the shortest that native accepts: `convert` refuses another domain."""
        for symbol, span in self.spans.items():
            point = {s: sp.first for s, sp in self.spans.items()} | {symbol: span.first - 1}
            if point[symbol] < 1:
                continue
            feeds = self.case.native_feeds(self.case.row(self.random, point), point)
            if _answers(self.native, feeds, self.ragged, point):
                self.verdict.tight = f"{symbol} >= {span.first}: {self.compiled.analysis.scope.reasons.get(symbol)}"


def _index_of_nan(error: Exception) -> bool:
    """Whether a run stopped at an index that the cast of NaN gives: the least int64."""
    return "idx=-9223372036854775808" in str(error) or "GatherElements op: Out of range value in index tensor" in str(
        error
    )


def _answers(
    session: Session, feeds: Mapping[str, np.ndarray], lengths: Mapping[str, Mapping[int, Length]], point: Point
) -> bool:
    """Whether native gives finite results of the stated sizes, none empty, as the gate of the domain asks.

    In a child process: some kernels crash on sizes that they do not check.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            faulthandler.disable()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            found = session(feeds)
            finite = all(a.size and np.isfinite(a.astype(np.float64)).all() for a in found.values())
            stated = all(
                found[name].shape[axis] == length.evaluate(point)
                for name, axes in lengths.items()
                for axis, length in axes.items()
            )
            code = 0 if finite and stated else 1
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return status == 0


def _shaken(model: onnx.ModelProto, names: Collection[str]) -> onnx.ModelProto:
    """The model with each named result times an input ``shaken/<name>``, and returned as it was before."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    nodes = list(copy.graph.node)
    del copy.graph.node[:]
    for node in nodes:
        after: list[onnx.NodeProto] = []
        for k, name in enumerate(node.output):
            if name in names:
                factor = f"shaken/{name}"
                node.output[k] = f"{factor}/before"
                after.append(helper.make_node("Mul", [node.output[k], factor], [name]))
                copy.graph.input.append(helper.make_tensor_value_info(factor, onnx.TensorProto.FLOAT, None))
                copy.graph.output.append(onnx.ValueInfoProto(name=node.output[k]))
        copy.graph.node.extend([node, *after])
    return copy


def _error(got: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference relative to scale; infinite where one is NaN or infinite and the other is not the same."""
    a, b = got.astype(np.float64), expected.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    if not (np.isfinite(a[~same]).all() and np.isfinite(b[~same]).all()):
        return float("inf")
    finite = np.abs(b[np.isfinite(b)])
    scale = max(float(finite.max()) if finite.size else 0.0, 1e-6)
    return float(np.abs(a[~same] - b[~same]).max()) / scale
