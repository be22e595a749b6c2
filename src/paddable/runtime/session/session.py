"""A model in all its containers, as one function from inputs to outputs."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from paddable.bundle import Metadata
from paddable.errors import MisuseError, PaddableError
from paddable.runtime.description import Description, Place
from paddable.runtime.session.domain import refuse_unaccepted
from paddable.runtime.session.expressions import evaluate
from paddable.runtime.session.graph import GraphSession
from paddable.runtime.session.native import accepts, native_feeds, signature, with_lengths
from paddable.runtime.session.not_a_number import tell_not_a_number
from paddable.runtime.session.ragged import cut, output_axes, pad
from paddable.runtime.session.request import Request, Row, read_request
from paddable.runtime.session.rows import Groups, Paces, Prepared

__all__ = ["Container", "Session", "Unjudged"]

Array = NDArray[Any]
_NATIVE = -1
"""Place of native among the graphs that are open."""


@dataclass(frozen=True)
class Container:
    """One graph and the size it was made for: steps of each symbol, none when it is symbolic.

    ``rows`` is how many rows it takes, where that is not what the metadata says.
    """

    steps: Mapping[str, int]
    open: Callable[[], GraphSession]
    rows: int | None = None

    def holds(self, steps: Mapping[str, int]) -> bool:
        """Whether rows of these lengths fit."""
        return all(steps[symbol] <= size for symbol, size in self.steps.items())


class Session:
    """Runs a converted model: pads each request to the smallest container that holds it, and cuts the padding off.

    Made by ``paddable.load``. Containers are opened when they are first needed, or all at once by ``warm_up``. Several
    threads may use one session; a container runs their requests side by side on the CPU, elsewhere one at a time.
    Answers are the caller's own: no later call changes them.

    Of several rows, those that fit one container share the graph of several rows that it may have beside it, where that
    was faster when it was measured: at a full group of the container, as soon as single runs there took as long as it
    takes to open a graph. A single row never does.

    Args:
        containers: the graphs, at least one.
        metadata: what is ragged; None for a graph that Paddable did not make, which is run as it is.
        native: opens the graph before it was padded, to take where it is faster: each row runs alone, at its own
            length. What the containers would refuse is still refused.
        place: where the graphs run.
        clock: seconds, by which rows are measured.
    """

    def __init__(
        self,
        containers: Sequence[Container],
        metadata: Metadata | None,
        native: Callable[[], GraphSession] | None = None,
        place: Place | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.metadata = metadata
        ordered = sorted(containers, key=lambda container: math.prod(container.steps.values()))
        self._containers = [container for container in ordered if container.rows is None]
        self._graphs = [*self._containers, *(container for container in ordered if container.rows is not None)]
        self._of_rows = {
            place: index
            for place, one in enumerate(self._containers)
            for index, other in enumerate(self._graphs)
            if other.rows is not None and other.steps == one.steps
        }
        self._paces = Paces(clock)
        self._native, self._place = native, place or Place()
        self._open: dict[int, GraphSession] = {}
        self._opening = threading.Lock()

    @property
    def largest(self) -> Mapping[str, int]:
        """Steps of each symbol in the largest container; empty when any length fits."""
        return self._containers[-1].steps

    def run(self, inputs: Mapping[str, Any], *, strict: bool = False) -> dict[str, Any]:
        """Run the model.

        Args:
            inputs: by name: an array in the graph's layout, or a list of arrays, one per row, of unequal lengths.
                Lengths (``ilens``) may be left out: then each row is valid to its end. A length of 0 that is given is
                a row that only fills the batch.
            strict: whether a row that is too short, too long or off the step is an error beside other rows, too;
                otherwise it has the length 0, after a warning.

        Returns:
            By name, the valid part of each output, and its ``<output>_length``. For a list of rows each output is a
            list of arrays without the batch axis; otherwise one array, as long as its longest row and 0 past the end
            of a shorter one.

        Raises:
            MisuseError: a wrong input, one that is longer than every container, or a single row of a length that the
                model does not accept; the message names it, and the nearest lengths that are accepted.

        Warns:
            PaddableWarning: NaN in an output although no input holds any; rows without an answer beside others.
        """
        outputs = self.answer(inputs, strict=strict)
        tell_not_a_number(inputs, outputs, self._first.providers[0])
        return outputs

    def answer(self, inputs: Mapping[str, Any], *, strict: bool = False) -> dict[str, Any]:
        """As ``run``, without a warning: for a caller that looks for NaN itself."""
        if self.metadata is None:
            return self._run_as_it_is(inputs)
        request = read_request(inputs, self.metadata, *self._signature(self.metadata))
        self._refuse_values(request)
        given = any(name in inputs for name in self.metadata.length_inputs)
        refuse_unaccepted(request.rows, self.metadata.symbols, strict=strict, empty=given)
        parts: list[dict[str, Array]] = []
        if self._of_rows and len(request.rows) > 1:
            parts = self._run_in_groups(request, self.metadata)
        else:
            size = self.metadata.rows or len(request.rows)
            size = 1 if self._native else size
            for start in range(0, len(request.rows), size):
                parts += self._run_rows(request.rows[start : start + size], request, self.metadata)
        return _as_lists(parts, self.metadata) if request.listed else _as_arrays(parts, self.metadata)

    @property
    def takes_rows(self) -> bool:
        """Whether some container has a graph of several rows beside it."""
        return bool(self._of_rows)

    def prepare(self, inputs: Mapping[str, Any]) -> Prepared:
        """Check one row, for ``answer_prepared``; arguments and errors as of ``answer``."""
        assert self.metadata is not None  # nothing takes rows without it
        request = read_request(inputs, self.metadata, *self._signature(self.metadata))
        self._refuse_values(request)
        given = any(name in inputs for name in self.metadata.length_inputs)
        refuse_unaccepted(request.rows, self.metadata.symbols, strict=False, empty=given)
        return Prepared(request, self._place_of(_longest(request.rows, self.metadata), self.metadata))

    def rows_at(self, steps: Mapping[str, int]) -> int:
        """How many rows of these lengths share a run at most."""
        place = next((i for i, container in enumerate(self._containers) if container.holds(steps)), -1)
        return self._most_at(place)

    def gathers(self, place: int) -> int:
        """How many rows of a container are worth waiting for: as many as share a run, as long as that may be faster."""
        pace = self._paces.found.get(place)
        return self._most_at(place) if pace is None or pace.is_faster else 1

    def answer_prepared(self, rows: Sequence[Prepared], *, together: bool = False) -> list[dict[str, Array]]:
        """What ``answer`` gives for each.

        Args:
            rows: that fit the largest place of theirs, at most as many as share a run there.
            together: run them together, whatever is faster.
        """
        assert self.metadata is not None
        first = rows[0].request
        alike = all(
            np.array_equal(array, row.request.shared[name]) for row in rows[1:] for name, array in first.shared.items()
        )
        if not alike:
            return [self.answer_prepared([row], together=together)[0] for row in rows]
        request = Request([row.request.rows[0] for row in rows], first.shared, True, {})
        if together:
            return self._run_rows(request.rows, request, self.metadata, of_rows=True)
        return self._run_group(max(row.place for row in rows), request.rows, request, self.metadata)

    def fits(self, row: Prepared, place: int) -> bool:
        """Whether a row fits a container."""
        return self._containers[place].holds(row.request.rows[0].steps)

    def _refuse_values(self, request: Request) -> None:
        """Raise ``MisuseError`` for values of the right type that the model does not know; nothing is known here."""

    def warm_up(self, progress: Callable[[str, int, int], None] | None = None, *, smallest: bool = False) -> None:
        """Open every container and run it once, so that no user waits for it.

        Args:
            progress: told ``containers``, how many are warm and how many there are.
            smallest: the smallest container alone.
        """
        wanted = list(range(1 if smallest else len(self._graphs))) if self._native is None else [_NATIVE]
        for done, index in enumerate(wanted):
            if progress is not None:
                progress("containers", done, len(wanted))
            self._warm(index)
        if progress is not None:
            progress("containers", len(wanted), len(wanted))

    def example(self, steps: Mapping[str, int], seed: int = 0) -> dict[str, Array]:
        """Inputs of one row to measure with: small random floats, and zeros elsewhere.

        Args:
            steps: how long it is, by symbol.
            seed: of the numbers.
        """
        metadata, rng = self.metadata or Metadata(symbols={}), np.random.default_rng(seed)
        dtypes, shapes = self._signature(metadata)
        inputs = {}
        for name in dtypes.keys() - metadata.length_inputs.keys():
            axes, rows = metadata.inputs.get(name, {}), metadata.batch.inputs.get(name) if metadata.batch else None
            shape = [
                evaluate(axes[axis], steps) if axis in axes else size if isinstance(size, int) and axis != rows else 1
                for axis, size in enumerate(shapes[name])
            ]
            floats = dtypes[name].kind == "f"
            inputs[name] = (0.1 * rng.standard_normal(shape) if floats else np.zeros(shape)).astype(dtypes[name])
        return inputs

    def describe(self) -> Description:
        """Where the model runs and in which form, how long it took to get ready, and what else was tried."""
        said: dict[int, dict[str, Any]] = {} if self._native is None else {_NATIVE: {"steps": {}}}
        said |= {index: {"steps": dict(container.steps)} for index, container in enumerate(self._graphs)}
        for place, index in self._of_rows.items():
            pace = self._paces.found.get(place)
            together = pace.together if pace and math.isfinite(pace.together) else None
            told = {"alone": pace.alone if pace else None, "together": together}
            said[index] |= {"rows": self._graphs[index].rows, **told}
        seen = dict(self._open)
        rows = []
        for index, about in said.items():
            graph = seen.get(index)
            rows.append({**about, "opened": graph.opened if graph else None, "warmed": graph.warmed if graph else None})
        here = next((graph.providers[0] for graph in seen.values()), None)
        at = self._place
        return Description(at.provider, here, at.form, tuple(rows), at.tried, at.precision)

    def close(self) -> None:
        """Give the containers' memory back. The session opens them again when it is used."""
        self._open.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _first(self) -> GraphSession:
        """The graph that knows the inputs: native where it is taken, so that nothing else has to be opened."""
        return self._session(0 if self._native is None else _NATIVE)

    def _signature(self, metadata: Metadata) -> tuple[Mapping[str, np.dtype[Any]], Mapping[str, Sequence[Any]]]:
        """Type and shape of each input that ``run`` takes."""
        graph = self._first
        return (graph.dtypes, graph.shapes) if self._native is None else signature(graph, metadata)

    def _session(self, index: int) -> GraphSession:
        if (graph := self._open.get(index)) is not None:
            return graph
        with self._opening:
            if index not in self._open:
                open_it = self._native if index == _NATIVE and self._native else self._graphs[index].open
                self._open[index] = open_it()
            return self._open[index]

    def _warm(self, index: int) -> None:
        """Open a graph and run it once; one of open size is only opened: there is no one size to prepare for."""
        graph = self._session(index)
        if index == _NATIVE or not self._graphs[index].steps:
            return
        feeds = {
            name: np.zeros([axis if isinstance(axis, int) else 1 for axis in shape], graph.dtypes[name])
            for name, shape in graph.shapes.items()
        }
        start = time.perf_counter()
        graph.warm_up(feeds)
        if graph.warmed is None:
            graph.warmed = time.perf_counter() - start

    def _run_as_it_is(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        graph = self._session(0)
        none = Metadata(symbols={})
        return dict(graph.run(read_request(inputs, none, graph.dtypes, graph.shapes).shared))

    def _place_of(self, longest: Mapping[str, int], metadata: Metadata) -> int:
        """The smallest container that holds rows of these lengths."""
        index = next((i for i, container in enumerate(self._containers) if container.holds(longest)), None)
        if index is None:
            raise self._too_long(longest, metadata)
        return index

    def _most_at(self, place: int) -> int:
        """How many rows share a run of a container; 1 where it has no graph for that."""
        index = self._of_rows.get(place)
        return (self._graphs[index].rows if index is not None else None) or 1

    def _run_in_groups(self, request: Request, metadata: Metadata) -> list[dict[str, Array]]:
        """Each row with those of its container."""
        rows, found = request.rows, dict[int, dict[str, Array]]()
        apart = Request(rows, request.shared, True, {})  # in another order than the caller's array has them

        def run(place: int, group: Sequence[int]) -> None:
            answers = self._run_group(place, [rows[number] for number in group], apart, metadata)
            found.update(zip(group, answers, strict=True))

        places = [self._place_of(row.steps, metadata) for row in rows]
        groups = Groups[int](self.gathers, lambda number, place: self._containers[place].holds(rows[number].steps))
        for number, place in enumerate(places):
            if full := groups.add(place, number):
                run(place, full)
        while groups.waiting:
            place = max(groups.waiting)
            run(place, groups.take(place))
        return [found[number] for number in range(len(rows))]

    def _run_group(
        self, place: int, rows: Sequence[Row], request: Request, metadata: Metadata
    ) -> list[dict[str, Array]]:
        """Rows of a container, and of smaller ones, the faster way; a full group that is not measured yet goes both."""

        def alone(number: int) -> dict[str, Array]:
            return self._run_rows([rows[number]], request, metadata)[0]

        own = [self._place_of(row.steps, metadata) for row in rows]
        # native's time grows with what a row holds, a container's with its size
        sizes = [
            row.steps if self._native else self._containers[each].steps for row, each in zip(rows, own, strict=True)
        ]
        loads = [float(max(1, math.prod(size.values()))) for size in sizes]
        pace = self._paces.found.get(place)
        if len(rows) > 1 and pace is not None and pace.pays(sum(loads)):
            return self._run_rows(rows, request, metadata, of_rows=True)
        alike = min(own) == place or 2 * self._size(min(own)) >= self._size(place)
        if pace is None and len(rows) == self._most_at(place) > 1 and alike and self._may_measure(place):
            together = partial(self._run_rows, rows, request, metadata, of_rows=True)
            answers = self._paces.measured(place, loads, alone, together)
            if answers is not None:
                if not self._paces.found[place].is_faster:
                    self._open.pop(self._of_rows[place], None)  # its weights are worth nothing
                return answers
        if min(own) == place:
            return self._paces.one_by_one(place, len(rows), alone)
        found: dict[int, dict[str, Array]] = {}
        for each in sorted(set(own)):  # in a container of their own they may be faster yet
            members = [number for number in range(len(rows)) if own[number] == each]
            answers = self._run_group(each, [rows[number] for number in members], request, metadata)
            found.update(zip(members, answers, strict=True))
        return [found[number] for number in range(len(rows))]

    def _may_measure(self, place: int) -> bool:
        """A few clips are done before another graph is open: that has to be worth its time."""
        return self._of_rows[place] in self._open or self._paces.has_spent(place, self._first.opened)

    def _size(self, place: int) -> int:
        return math.prod(self._containers[place].steps.values())

    def _run_rows(
        self, rows: Sequence[Row], request: Request, metadata: Metadata, *, of_rows: bool = False
    ) -> list[dict[str, Array]]:
        longest = _longest(rows, metadata)
        index = self._place_of(longest, metadata)
        if of_rows:
            index = self._of_rows[index]
            assert metadata.batch is not None
            metadata = replace(metadata, batch=replace(metadata.batch, size=self._graphs[index].rows))
        elif self._native is not None and accepts(rows[0], metadata):
            graph = self._session(_NATIVE)
            return graph.answer(
                lambda _: native_feeds(rows[0], request, metadata, graph),
                lambda outputs, reused: cut(
                    with_lengths(outputs, rows[0], metadata), rows, metadata, apart=request.listed, reused=reused
                ),
            )
        graph = self._session(index)
        steps = self._graphs[index].steps or longest
        return graph.answer(
            lambda into: pad(rows, request, metadata, steps, graph.dtypes, into),
            lambda outputs, reused: cut(outputs, rows, metadata, apart=request.listed, reused=reused),
        )

    def _too_long(self, longest: Mapping[str, int], metadata: Metadata) -> PaddableError:
        largest = self._containers[-1].steps
        symbol = next((symbol for symbol, size in largest.items() if longest[symbol] > size), next(iter(longest)))
        where = metadata.symbols[symbol]
        needed, there = _sizes(longest[symbol], largest[symbol], where.rate)
        return MisuseError(
            f"{needed} do not fit the largest container, {there}",
            where=f"input {where.input!r}, axis {where.axis}",
            fix="cut the input into pieces, or convert the model with a larger container",
        )


class Unjudged:
    """A session for a pipeline, which refuses NaN itself: ``run`` does not warn.

    Args:
        session: the session.

    Attributes:
        rows: the session, where several rows may share a run.
    """

    def __init__(self, session: Session) -> None:
        self.run = session.answer
        self.largest, self.metadata = session.largest, session.metadata
        self.rows = session if session.takes_rows else None


def _sizes(needed: int, there: int, rate: float | None) -> tuple[str, str]:
    """Both sizes, in seconds too where the rate is known: with as many digits as it takes to tell them apart."""
    if rate is None:
        return f"{needed} steps", f"{there} steps"
    digits = next((d for d in range(2, 6) if f"{needed / rate:.{d}f}" != f"{there / rate:.{d}f}"), 6)
    return f"{needed} steps ({needed / rate:.{digits}f} s)", f"{there} steps ({there / rate:.{digits}f} s)"


def _longest(rows: Sequence[Row], metadata: Metadata) -> Mapping[str, int]:
    if len(rows) == 1:
        return rows[0].steps
    return {symbol: max(row.steps[symbol] for row in rows) for symbol in metadata.symbols}


def _as_lists(rows: Sequence[Mapping[str, Array]], metadata: Metadata) -> dict[str, Any]:
    axes = output_axes(metadata)
    return {
        name: [np.squeeze(row[name], axes[name]) if name in axes else row[name] for row in rows] for name in rows[0]
    }


def _as_arrays(groups: Sequence[Mapping[str, Array]], metadata: Metadata) -> dict[str, Any]:
    """The rows of several runs as one array, 0 where another's rows are longer."""
    if len(groups) == 1:
        return dict(groups[0])
    axes = output_axes(metadata)
    result: dict[str, Any] = {}
    for name in groups[0]:
        parts = [group[name] for group in groups]
        if name not in axes:
            raise MisuseError("it has no batch axis, so it cannot tell the rows apart", where=f"output {name!r}")
        shape = np.max([part.shape for part in parts], axis=0)
        shape[axes[name]] = 0
        widened = [
            np.pad(part, [(0, max(0, full - size)) for full, size in zip(shape, part.shape, strict=True)])
            for part in parts
        ]
        result[name] = np.concatenate(widened, axes[name])
    return result
