"""The declarations that a graph's inputs suggest: which axis is time, which counts rows, who holds lengths or a mask.

A guess for a person to look at, from names, types and shapes; nothing is proven by it and nothing relies on it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from paddable.errors import arguments

__all__ = ["Suggestion", "suggest"]

_ROWS = re.compile(r"^(b|bs|rows?)$|batch", re.IGNORECASE)
_TIME = re.compile(r"time|frame|seq|len|sample|audio|step|wave|token|^[tlsu]$", re.IGNORECASE)
_LENGTH = re.compile(r"len|size|num_|count", re.IGNORECASE)
_MASK = re.compile(r"mask", re.IGNORECASE)
_PADDING_MASK = re.compile(r"pad(ding)?_?mask", re.IGNORECASE)
"""PyTorch's name of a mask that is True at padding; transformers' ``attention_mask`` is 1 at valid steps."""
_STATE = re.compile(r"(^|_)(h|c|hn|cn|h0|c0|hidden|cell|state|states|cache|past|context|mem)(_|\d|$)", re.IGNORECASE)
_RATE = re.compile(r"^(sr|fs|rate|sampl(e|ing)_?rate)$", re.IGNORECASE)
_UNNAMED = re.compile(r"None|\?|.*dynamic_axes_.*|")
"""Names that an exporter makes up for an axis when nobody gave it one."""
_WHOLE = (ir.DataType.INT64, ir.DataType.INT32)


@dataclass(frozen=True)
class Suggestion:
    """What the inputs look like.

    Attributes:
        time: input and axis of each axis that looks ragged; the first defines T.
        batch: input and axis of each axis that looks like the rows of a batch.
        length_inputs: inputs that look as if they held the lengths.
        masks: input and axis of inputs that look like padding masks.
        states: inputs that look like state carried from run to run.
        scalars: inputs without axes, which ``--set`` can bind.
        symbols: the length of each of ``time``: another one where the model calls the axis otherwise.
    """

    time: Sequence[tuple[str, int]] = ()
    batch: Sequence[tuple[str, int]] = ()
    length_inputs: Sequence[str] = ()
    masks: Sequence[tuple[str, int]] = ()
    states: Sequence[str] = ()
    scalars: Sequence[str] = ()
    symbols: Sequence[str] = ()

    @property
    def parameters(self) -> str:
        """The declarations, as a message names them; empty where no axis looks ragged."""
        return arguments(**self._declared) if self.time else ""

    @property
    def options(self) -> str:
        """The same as options of ``paddable check`` and ``paddable convert``, on one line."""
        flags = {
            "lengths": "--length", "length_inputs": "--length-input", "mask_inputs": "--mask-input",
            "bindings": "--set",
        }  # fmt: skip
        words = [f"{flags[name]} {text}" for name, texts in self._declared.items() if name in flags for text in texts]
        return " ".join([*words, *([f"--batch {self.batch_axes}"] if self.time and self.batch_axes else [])])

    @property
    def _declared(self) -> dict[str, list[str] | str]:
        """Arguments of ``convert``, those that are not empty."""
        if not self.time:
            return {}
        masks = [f"{name}:{axis}={'~' if _PADDING_MASK.search(name) else ''}T" for name, axis in self.masks]
        held = [f"{name}=T" for name in self.length_inputs]
        found = {
            "lengths": self.lengths, "length_inputs": held, "mask_inputs": masks, "batch": self.batch_axes,
            "bindings": self._bindings,
        }  # fmt: skip
        return {name: value for name, value in found.items() if value}

    @property
    def lengths(self) -> list[str]:
        """The ragged axes, as ``--length`` takes them."""
        return [f"{name}:{axis}={symbol}" for (name, axis), symbol in zip(self.time, self.symbols, strict=True)]

    @property
    def _bindings(self) -> list[str]:
        """The commonest rate for a scalar that is called one: the branch that it decides goes then."""
        return [f"{name}=16000" for name in self.scalars if _RATE.match(name)]

    @property
    def batch_axes(self) -> str | None:
        """The batch axes, as ``--batch`` takes them; None where they need not be named."""
        if any(axis for _, axis in self.batch) or (self.batch and self.time and self.batch[0][0] != self.time[0][0]):
            return ",".join(f"{name}:{axis}" for name, axis in self.batch)
        return None

    def command(self, file: str) -> str:
        """A line to run next on a file.

        Args:
            file: its path, as the command line takes it.
        """
        quoted = f'"{file}"' if re.search(r"[\s()&;]", file) else file
        if self.time:
            return f"paddable check {quoted} {self.options}"
        if self.batch:
            return " ".join(
                [
                    f"paddable convert {quoted} -o fixed.onnx --batch-size 1",
                    *(f"--set {text}" for text in self._bindings),
                ]
            )
        return f"paddable lint {quoted}"

    def to_json(self) -> dict[str, object]:
        """The suggestion as plain data."""
        return {
            "time": [f"{name}:{axis}" for name, axis in self.time],
            "batch": [f"{name}:{axis}" for name, axis in self.batch],
            "length_inputs": list(self.length_inputs),
            "masks": [f"{name}:{axis}" for name, axis in self.masks],
            "states": list(self.states),
            "scalars": list(self.scalars),
        }


def suggest(inputs: Mapping[str, ir.Value], outputs: Sequence[ir.Value] = ()) -> Suggestion:
    """Guess the declarations from the signature of a graph.

    Args:
        inputs: the graph's inputs by name.
        outputs: its outputs; one of the shape of an input speaks for a state.
    """
    shapes = {name: tuple(value.shape) for name, value in inputs.items() if value.shape is not None}
    varying = {
        (name, axis): str(size)
        for name, shape in shapes.items()
        for axis, size in enumerate(shape)
        if not isinstance(size, int)
    }
    states = [name for name in shapes if _is_state(name, inputs[name], outputs)]
    rows = _rows(shapes, varying, states)
    batch = [place for place, symbol in varying.items() if symbol in rows or place in rows]
    vectors, masks = [], []
    for name, shape in shapes.items():
        dtype = inputs[name].dtype
        if dtype in _WHOLE and len(shape) == 1 and ((name, 0) in batch or (shape[0] == 1 and _LENGTH.search(name))):
            vectors.append(name)
        elif _MASK.search(name) and len(shape) == 2 and (dtype in _WHOLE or dtype == ir.DataType.BOOL):
            masks.append((name, 1))
    named = [name for name in vectors if _LENGTH.search(name)]
    length_inputs = named or (vectors if len(vectors) == 1 else [])
    taken = {*batch, *((name, 0) for name in length_inputs), *masks}
    time = [
        (name, axis)
        for name, axis in varying
        if (name, axis) not in taken and name not in vectors and name not in (mask for mask, _ in masks)
    ]
    time = _data_first(time, states)
    return Suggestion(
        time=time,
        symbols=_symbols(time, varying),
        batch=[(name, axis) for name, axis in batch if name not in vectors] if time else batch,
        length_inputs=length_inputs if time else (),
        masks=masks if time else (),
        states=states,
        scalars=[name for name, shape in shapes.items() if not shape],
    )


def _rows(
    shapes: Mapping[str, Sequence[object]], varying: Mapping[tuple[str, int], str], states: Sequence[str]
) -> set[object]:
    """Names of dimensions, or places, that count rows: named so, or leading in an input of several axes."""
    named = {symbol for symbol in varying.values() if _ROWS.match(symbol)}
    if named:
        return set(named)
    leading = {}
    for (name, axis), symbol in varying.items():
        several = sum(place[0] == name for place in varying) > 1
        if axis == 0 and name not in states and (several or len(shapes[name]) > 2) and not _TIME.search(symbol):
            leading[name, 0] = symbol
    shared = set(leading.values()) - {"None", "?", ""}
    return {*leading, *shared}


def _is_state(name: str, value: ir.Value, outputs: Sequence[ir.Value]) -> bool:
    if not _STATE.search(name) or _MASK.search(name) or _LENGTH.search(name):
        return False
    sizes = [size for size in value.shape or () if isinstance(size, int)]
    return any([size for size in output.shape or () if isinstance(size, int)] == sizes for output in outputs)


def _symbols(time: Sequence[tuple[str, int]], varying: Mapping[tuple[str, int], str]) -> list[str]:
    """T for the first axis and for all of its name, U for the next name, and so on.

    Axes without a name of their own are alike between inputs, and differ within one.
    """
    keys: list[str | int] = []
    for input_name, axis in time:
        name = varying[input_name, axis]
        unnamed = sum(other == input_name and isinstance(key, int) for (other, _), key in zip(time, keys, strict=False))
        keys.append(unnamed if _UNNAMED.fullmatch(name) else name)
    letters = {key: "TUVWXYZ"[min(i, 6)] for i, key in enumerate(dict.fromkeys(keys))}
    return [letters[key] for key in keys]


def _data_first(time: Sequence[tuple[str, int]], states: Sequence[str]) -> list[tuple[str, int]]:
    return sorted(time, key=lambda place: place[0] in states)
