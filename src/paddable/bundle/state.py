"""State that a step graph carries from one chunk to the next, declared once.

A :class:`StateSpec` gives the graph input (``state_<name>``), the graph output (``next_state_<name>``), the initial
value and the line of documentation. Shapes are fixed, so that every chunk has one shape. A :class:`StepSpec` is all
that a runtime must know of a step graph; it travels in the file's metadata under :data:`STEP_METADATA_KEY`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.errors import MisuseError, UnreadableError

__all__ = ["STEP_METADATA_KEY", "StateSpec", "StateTable", "StepSpec"]

STEP_METADATA_KEY = "paddable_step"
STEP_FORMAT = 1

State = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class StateSpec:
    """One state tensor.

    Attributes:
        name: letters, digits and ``_``; the graph uses ``state_<name>`` and ``next_state_<name>``.
        shape: fixed shape, batch included.
        dtype: numpy name of the element type.
        meaning: what it holds, for the documentation.
        init: value of every element at the start of a stream.
        low, high: smallest and largest value that an element can have, or None.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    meaning: str
    init: float = 0
    low: int | None = None
    high: int | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"\w+", self.name, re.ASCII):
            raise MisuseError("bad state name", where=repr(self.name), fix="use letters, digits and _")
        if not all(size > 0 for size in self.shape):
            raise MisuseError(
                f"state has shape {list(self.shape)}",
                where=self.name,
                why="a zero-length or symbolic state changes the graph's shapes from chunk to chunk",
                fix="give it its full size and a valid count",
            )

    @property
    def input_name(self) -> str:
        return f"state_{self.name}"

    @property
    def output_name(self) -> str:
        return f"next_state_{self.name}"

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    def initial(self) -> NDArray[Any]:
        """The value at the start of a stream: ``shape``, ``dtype``."""
        return np.full(self.shape, self.init, dtype=self.dtype)

    def check(self, value: object) -> None:
        """Raise :class:`MisuseError` unless ``value`` is an array that this state can have been."""
        where, expected = f"state {self.name}", f"expected {self.dtype}{list(self.shape)}"
        if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
            raise MisuseError(f"got {type(value).__name__}, {expected}", where=where, fix="give what save() returned")
        if value.shape != self.shape or value.dtype.newbyteorder("=") != np.dtype(self.dtype):
            told = f"got {value.dtype}{list(value.shape)}, {expected}"
            raise MisuseError(told, where=where, why="it was saved from another model")
        if not np.isfinite(value).all():
            raise MisuseError("not finite", where=where, why="NaN would stay in the stream for ever")
        for bound, outside in ((self.low, np.less), (self.high, np.greater)):
            if bound is not None and outside(value, bound).any():
                raise MisuseError(
                    f"{value[outside(value, bound)][0]} is outside {self.low} .. {self.high}",
                    where=where,
                    why="no stream of this model can have come to it",
                    fix="give what save() returned",
                )


@dataclass(frozen=True)
class StateTable:
    """Every state of a graph, in the order of its inputs."""

    specs: tuple[StateSpec, ...]

    def __post_init__(self) -> None:
        names = [spec.name for spec in self.specs]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise MisuseError(f"state declared twice: {', '.join(twice)}", fix="give each state its own name")

    def __iter__(self) -> Iterator[StateSpec]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)

    @property
    def nbytes(self) -> int:
        """Bytes of one stream's state."""
        return sum(spec.nbytes for spec in self.specs)

    def initial(self) -> State:
        """State name to value at the start of a stream."""
        return {spec.name: spec.initial() for spec in self.specs}

    def check(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Raise :class:`MisuseError` unless ``state`` holds the declared states, possible values of their shapes."""
        if not isinstance(state, Mapping):
            raise MisuseError(
                f"got {type(state).__name__}, expected a mapping of state names to arrays",
                where="the state to restore",
                fix="give what save() returned",
            )
        self.check_names(state)
        for spec in self.specs:
            spec.check(state[spec.name])

    def check_names(self, names: Iterable[object]) -> None:
        """Raise :class:`MisuseError` if a declared state is missing from ``names`` or one is left over."""
        given, declared = {str(name) for name in names}, {spec.name for spec in self.specs}
        missing, left_over = sorted(declared - given), sorted(given - declared)
        if missing or left_over:
            parts = [f"missing: {', '.join(missing)}"] * bool(missing)
            parts += [f"left over: {', '.join(left_over)}"] * bool(left_over)
            raise MisuseError(
                f"states do not match the declaration ({'; '.join(parts)})",
                why="a forgotten state restarts its layer at every chunk",
            )

    def markdown(self) -> str:
        """The table of states for the documentation."""
        rows = [f"| `{s.name}` | {s.dtype} {list(s.shape)} | {s.nbytes:,} | {s.meaning} |" for s in self.specs]
        return "\n".join(["| state | type and shape | bytes | meaning |", "|---|---|---|---|", *rows])


@dataclass(frozen=True)
class StepSpec:
    """A step graph: at most ``steps`` valid steps a call, one ragged input, one ragged output, explicit states.

    Attributes:
        steps: steps of every call (the container); ``ilens`` of them are valid.
        input: name of the ragged input. Its ``axis`` has ``steps`` entries.
        axis: axis of the steps in the input.
        output: name of the ragged output; ``<output>_length`` comes beside it.
        output_axis: axis of the output that grows with the steps.
        output_rate: output entries per step.
        states: the states.
        low: smallest accepted input value (integers), or None.
        high: largest accepted input value (integers), or None.
        sample_rate: hertz of the output, when it is audio.
    """

    steps: int
    input: str
    axis: int
    output: str
    output_axis: int
    output_rate: int
    states: StateTable
    low: int | None = None
    high: int | None = None
    sample_rate: int | None = None

    def check_range(self, x: NDArray[Any]) -> None:
        """Raise :class:`MisuseError` unless every element of the input is of ``low`` .. ``high``."""
        for bound, outside in ((self.low, np.less), (self.high, np.greater)):
            if bound is not None and (wrong := outside(x, bound)).any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                raise MisuseError(
                    f"{x[at]} at {list(at)} is outside {self.low} .. {self.high}",
                    where=f"input {self.input}",
                    why="it is not a code of this model, perhaps an end marker",
                    fix="leave such steps out",
                )

    def to_json(self) -> str:
        """Compact JSON with stable order, for the metadata of the graph."""
        data = {"format": STEP_FORMAT} | {k: v for k, v in vars(self).items() if k != "states"}
        data["states"] = [dict(vars(spec), shape=list(spec.shape)) for spec in self.states]
        return json.dumps(data, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> StepSpec:
        """Read what :meth:`to_json` wrote; raises :class:`UnreadableError` for anything else."""
        try:
            data = json.loads(text)
            if data.pop("format") != STEP_FORMAT:
                raise ValueError("unknown format")
            states = tuple(StateSpec(**dict(spec, shape=tuple(spec["shape"]))) for spec in data.pop("states"))
            return cls(**data, states=StateTable(states))
        except (ValueError, TypeError, KeyError) as error:
            raise UnreadableError(
                f"bad description of a step graph ({error})",
                where=f"metadata {STEP_METADATA_KEY}",
                fix="export the graph again with this version",
            ) from None
