"""A stream: codes in as they come, audio out at once, exactly what the whole utterance would give."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddable.errors import Misuse
from paddable.runtime.step_graph import StepGraph

__all__ = ["Decoded", "Stream", "decode"]

Array = NDArray[Any]


class Stream:
    """One stream through a model's step graphs. Streams are independent; any number may share the graphs.

    Graphs of several chunk sizes carry the same states, so each call uses the smallest that holds what it got, and
    never waits to fill a chunk.

    Args:
        graphs: step graphs of one model, one per chunk size.

    Raises:
        Misuse: no graph, or graphs of different models.
    """

    def __init__(self, graphs: Sequence[StepGraph]) -> None:
        if not graphs:
            raise Misuse("a stream needs at least one step graph")
        self._graphs = sorted(graphs, key=lambda graph: graph.spec.steps)
        self.spec = self._graphs[0].spec
        if any(graph.spec.states != self.spec.states for graph in self._graphs):
            raise Misuse("the step graphs carry different states", why="they were made from different models")
        self._state = self._graphs[0].initial()

    def reset(self) -> None:
        """Start again from silence."""
        self._state = self._graphs[0].initial()

    def save(self) -> dict[str, Array]:
        """The whole state by name, as arrays of our own: a voice to come back to, also in another process."""
        return {name: value.numpy().copy() for name, value in self._state.items()}

    def restore(self, saved: dict[str, Array]) -> None:
        """Go on from what :meth:`save` gave.

        Raises:
            Misuse: a state is missing, left over, of another shape or type, or not finite.
        """
        self.spec.states.check(saved)
        self._state = self._graphs[0].to_device(saved)

    def push(self, steps: ArrayLike) -> Array:
        """The output of these steps, at once.

        Args:
            steps: any number of steps, none included, in the graph's layout; the batch axis may be left out.

        Returns:
            The output in the graph's layout, ``output_rate`` entries a step.

        Raises:
            Misuse: another type or layout, or a value out of range. The stream is then as it was before the call.
        """
        x, spec = self.checked(steps), self.spec
        state, total, done = self._state, x.shape[spec.axis], 0
        parts: list[Array] = []
        while done < total or not parts:
            graph = self._graph_for(total - done)
            span = (*(slice(None),) * spec.axis, slice(done, done + graph.spec.steps))
            part, state = graph.run(x[span], state)
            parts.append(part)
            done += graph.spec.steps
        self._state = state
        return np.concatenate(parts, spec.output_axis) if len(parts) > 1 else parts[0]

    def feed(self, chunks: Iterable[ArrayLike]) -> Iterator[Array]:
        """Push chunk after chunk as ``chunks`` yields them."""
        for chunk in chunks:
            yield self.push(chunk)

    def warm_up(self) -> None:
        """Run every graph once, so that the first audio does not wait for compilation. Leaves the stream as it is."""
        for graph in self._graphs:
            graph.run(np.zeros(_without_steps(graph), graph.dtype), graph.initial())

    def _graph_for(self, steps: int) -> StepGraph:
        return next((graph for graph in self._graphs if graph.spec.steps >= steps), self._graphs[-1])

    def checked(self, steps: ArrayLike) -> Array:
        """The steps as the graph takes them; raises :class:`Misuse` as :meth:`push` does."""
        spec, graph = self.spec, self._graphs[0]
        x = np.asarray(steps)
        where = f"input {spec.input}"
        if x.ndim == len(graph.shape) - 1:
            x = x[None]
        expected = [size if axis != spec.axis else None for axis, size in enumerate(graph.shape)]
        if x.ndim != len(expected) or any(e not in (None, s) for e, s in zip(expected, x.shape, strict=True)):
            layout = ", ".join("steps" if size is None else str(size) for size in expected)
            raise Misuse(f"got shape {list(x.shape)}, expected [{layout}]", where=where)
        same_kind = x.dtype.kind == graph.dtype.kind or np.can_cast(x.dtype, graph.dtype)
        if not same_kind:
            raise Misuse(f"got {x.dtype}, expected {graph.dtype}", where=where, fix="convert it first")
        for bound, outside in ((spec.low, np.less), (spec.high, np.greater)):
            if bound is not None and (wrong := outside(x, bound)).any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                raise Misuse(
                    f"{x[at]} at {list(at)} is outside {spec.low} .. {spec.high}",
                    where=where,
                    why="it is no code of this model, perhaps an end marker",
                    fix="leave such steps out",
                )
        return x.astype(graph.dtype, copy=False)


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
        Misuse: as :meth:`Stream.push`, or a chunk below 1.
    """
    x = stream.checked(steps)
    size = stream.spec.steps if chunk is None else chunk
    if size < 1:
        raise Misuse(f"a chunk of {size} steps", fix="ask for at least 1")
    axis, start = stream.spec.axis, time.perf_counter()
    cuts = range(size, max(x.shape[axis], 1), size)
    parts: list[Array] = []
    first = 0.0
    for part in stream.feed(np.split(x, cuts, axis)):
        parts.append(part)
        first = first or time.perf_counter() - start
    output = np.concatenate(parts, stream.spec.output_axis)
    return Decoded(output, stream.spec.sample_rate, first, time.perf_counter() - start)
