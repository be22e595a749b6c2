"""A stream: codes in as they come, audio out at once, exactly what the whole utterance would give."""

from __future__ import annotations

import itertools
import time
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddable.errors import MisuseError
from paddable.runtime.session.dtypes import as_declared
from paddable.runtime.speech.answers import finite
from paddable.runtime.streaming.state_buffers import SETS, StateBuffers
from paddable.runtime.streaming.step_graph import StepGraph

__all__ = ["Decoded", "Stream", "decode"]

Array = NDArray[Any]


class Stream:
    """One stream through a model's step graphs. Streams are independent; any number may share the graphs.

    Graphs of several chunk sizes carry the same states, so each call uses the smallest that holds what it got, and
    never waits to fill a chunk. State stays on the device, in buffers that are read and written in turn.

    Args:
        graphs: step graphs of one model on one device, one per chunk size, not empty.
        idle: buffers of streams that are gone, taken from and given back to; what was captured for them serves again.

    Raises:
        MisuseError: no graph, or graphs of different models.
    """

    def __init__(self, graphs: Sequence[StepGraph], idle: deque[StateBuffers] | None = None) -> None:
        if not graphs:
            raise MisuseError("a stream needs at least one step graph")
        self._graphs = sorted(graphs, key=lambda graph: graph.spec.steps)
        self.spec = self._graphs[0].spec
        if any(graph.spec.states != self.spec.states for graph in self._graphs):
            raise MisuseError("the step graphs carry different states", why="they were made from different models")
        try:
            self._buffers = (idle if idle is not None else deque()).pop()
        except IndexError:
            self._buffers = StateBuffers(self._graphs)
        if idle is not None:
            weakref.finalize(self, idle.append, self._buffers)
        self._at = 0
        self.reset()

    def reset(self) -> None:
        """Start again from silence."""
        self._buffers.write(self._at, self.spec.states.initial())

    def save(self) -> dict[str, Array]:
        """The whole state by name, as arrays of our own: a voice to come back to, also in another process."""
        return self._buffers.read(self._at)

    def restore(self, saved: dict[str, Array]) -> None:
        """Go on from what :meth:`save` gave.

        Raises:
            MisuseError: no mapping of arrays, or a state is missing, left over, of another shape or type, not finite or
                impossible. The stream is then as it was. (A state of other weights of the same sizes looks the same.)
        """
        states = self.spec.states
        states.check(saved)
        native = {item.name: saved[item.name].astype(item.dtype, copy=False) for item in states}  # of any byte order
        self._buffers.write(self._at, native)

    def push(self, steps: ArrayLike) -> Array:
        """The output of these steps, at once.

        Args:
            steps: any number of steps, none included, in the graph's layout; the batch axis may be left out.

        Returns:
            The output in the graph's layout, ``output_rate`` entries a step.

        Raises:
            MisuseError: another type or layout, or a value out of range. The stream is then as it was before the call.
            PaddableError: ONNX Runtime failed, or the output holds NaN or infinity. Likewise.
        """
        x, spec = self.checked(steps), self.spec
        at, total, done = self._at, x.shape[spec.axis], 0
        parts: list[Array] = []
        while done < total or not parts:
            index = self._graph_for(total - done)
            size = self._graphs[index].spec.steps
            span = (*(slice(None),) * spec.axis, slice(done, done + size))
            after = next(free for free in range(SETS) if free not in (self._at, at))
            parts.append(self._buffers.step(index, at, after).run(x[span]))
            at, done = after, done + size
        output = np.concatenate(parts, spec.output_axis) if len(parts) > 1 else parts[0]
        finite(output, spec.output, "reset the stream if its state was restored; look at the weights; try fp32")
        self._at = at
        return output

    def feed(self, chunks: Iterable[ArrayLike]) -> Iterator[Array]:
        """Push chunk after chunk as ``chunks`` yields them."""
        for chunk in chunks:
            yield self.push(chunk)

    def warm_up(self) -> None:
        """Run every graph between every two sets, so that no chunk waits for a plan or a capture.

        No step of these runs is valid, so the state stays as it is.
        """
        state = self.save()
        for index, graph in enumerate(self._graphs):
            nothing = np.zeros(_without_steps(graph), graph.dtype)
            for before, after in itertools.permutations(range(SETS), 2):
                self._buffers.write(before, state)
                self._buffers.step(index, before, after).warm_up(nothing)

    def _graph_for(self, steps: int) -> int:
        fits = (index for index, graph in enumerate(self._graphs) if graph.spec.steps >= steps)
        return next(fits, len(self._graphs) - 1)

    def checked(self, steps: ArrayLike) -> Array:
        """The steps as the graph takes them; raises :class:`MisuseError` as :meth:`push` does."""
        spec, graph = self.spec, self._graphs[0]
        where = f"input {spec.input}"
        if isinstance(steps, np.ma.MaskedArray):
            raise MisuseError(
                "a masked array", where=where, why="masked arrays are not supported", fix="leave masked steps out"
            )
        try:
            x = np.asarray(steps)
        except ValueError as error:
            raise MisuseError("the steps have unequal shapes", where=where, fix="give one array") from error
        if x.ndim == len(graph.shape) - 1:
            x = x[None]
        expected = [size if axis != spec.axis else None for axis, size in enumerate(graph.shape)]
        if x.ndim != len(expected) or any(e not in (None, s) for e, s in zip(expected, x.shape, strict=True)):
            layout = ", ".join("steps" if size is None else str(size) for size in expected)
            raise MisuseError(f"got shape {list(x.shape)}, expected [{layout}]", where=where)
        if x.dtype.kind not in ("iu" if graph.dtype.kind in "iu" else graph.dtype.kind):
            raise MisuseError(f"got {x.dtype}, expected {graph.dtype}", where=where, fix="convert it first")
        spec.check_range(x)
        return as_declared(spec.input, x, graph.dtype)


def _without_steps(graph: StepGraph) -> tuple[int, ...]:
    return tuple(0 if axis == graph.spec.axis else size for axis, size in enumerate(graph.shape))


@dataclass(frozen=True)
class Decoded:
    """A decoded utterance.

    Attributes:
        output: in the graph's layout, such as audio [1, samples].
        sample_rate: hertz, if the output is audio.
        first_seconds: from the first steps at hand to their output.
        seconds: for everything.
    """

    output: Array
    sample_rate: int | None
    first_seconds: float
    seconds: float


def decode(stream: Stream, steps: ArrayLike, chunk: int | None = None) -> Decoded:
    """Stream a whole input and time it.

    Args:
        stream: goes on from its state, and keeps the state after the last step.
        steps: in the graph's layout; the batch axis may be left out.
        chunk: steps a push; by default the chunk size of the stream's smallest graph.

    Raises:
        MisuseError: as :meth:`Stream.push`, or a chunk that is not a whole number of at least 1.
        PaddableError: as :meth:`Stream.push`.
    """
    x = stream.checked(steps)
    size = stream.spec.steps if chunk is None else chunk
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise MisuseError(f"a chunk of {size!r} steps", fix="ask for a whole number of at least 1")
    axis, start = stream.spec.axis, time.perf_counter()
    cuts = range(size, max(x.shape[axis], 1), size)
    parts: list[Array] = []
    first = 0.0
    for part in stream.feed(np.split(x, cuts, axis)):
        parts.append(part)
        first = first or time.perf_counter() - start
    output = np.concatenate(parts, stream.spec.output_axis)
    return Decoded(output, stream.spec.sample_rate, first, time.perf_counter() - start)
