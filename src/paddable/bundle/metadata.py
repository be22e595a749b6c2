"""The ``paddable`` metadata of a converted model: what is ragged, by which rule, and what was done about it.

It is one JSON object, stored under the key ``paddable`` in the file's metadata and, for a bundle, in ``bundle.json``.
Lengths are written as expressions, ``(T-80)//320+1``, in the symbols that ``symbols`` declares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from paddable.bundle.conform import conforms, type_name
from paddable.errors import UnreadableError

__all__ = ["FORMAT", "KEY", "Batch", "Metadata", "Remedy", "Symbol"]

FORMAT = 1
"""Version of the JSON object. Raised when an older reader would misunderstand it."""

KEY = "paddable"
"""The key of the metadata entry in an ONNX file."""


@dataclass(frozen=True)
class Symbol:
    """A length that the caller chooses, and the values for which the promise holds.

    Attributes:
        input: the first input that has it.
        axis: the axis of that input, in steps.
        min: the smallest length that native accepts; lengths go from here in jumps of ``step``.
        max: the largest length, where a table or a crop inside the model ends; None when nothing does.
        step: native demands lengths of the form ``min + k * step``.
        rate: steps a second, if known.
        shortest: the least length that the user wanted accepted, if any was given. Native may answer below it.
    """

    input: str
    axis: int
    min: int = 1
    max: int | None = None
    step: int = 1
    rate: float | None = None
    shortest: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The symbol as plain data."""
        return {name: value for name, value in vars(self).items() if name != "shortest" or value is not None}


@dataclass(frozen=True)
class Batch:
    """The batch axis: rows of unequal length, kept apart by the model.

    Attributes:
        size: rows a run takes; None when any number.
        inputs: the batch axis of each input that has one.
        outputs: the batch axis of each output that has one.
    """

    size: int | None
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


@dataclass(frozen=True)
class Remedy:
    """One thing the compiler inserted: the finding's code, the node it was for, and what it is."""

    code: str
    node: str
    remedy: str

    def to_json(self) -> dict[str, str]:
        """The remedy as plain data."""
        return {"code": self.code, "node": self.node, "remedy": self.remedy}


@dataclass(frozen=True)
class Metadata:
    """Everything a reader has to know to run a padded model and to judge it.

    Attributes:
        symbols: the declared symbols.
        container: steps of each symbol in this graph; empty when the container is symbolic.
        lengths: of each ragged output, the length along each ragged axis.
        inputs: of each ragged input, the length along each ragged axis.
        length_inputs: of each input that holds lengths, such as ``ilens``, the length it holds.
        mask_inputs: of each native input that held a padding mask and was dropped, the length along its axis.
        padding_masks: those among ``mask_inputs`` that were true at padding; absent when there are none.
        batch: the batch axis, or None when the model has none.
        remedies: what the compiler inserted, in graph order.
        verified: what the gates measured.
        versions: of the packages that made the file.
        advice: session settings by provider, see ``paddable.providers.session_advice``.
        bindings: inputs and sizes that were fixed first, such as ``sr=16000``; absent when there are none.
        native_opset: the opset of native, where it was brought up to the graph's first; absent elsewhere.
        precision: what the graph computes or stores its weights in; absent from the text when it is fp32.
        kept: values of native that stay in fp32 in this precision, each with its reason; absent when there are none.
        fixed: of values of native that are rounded to a fixed range: low, high, and how many bits hold it; likewise.
        forms: by form, how many ``places`` it took and why others were ``left``; absent when no form fits.
    """

    symbols: Mapping[str, Symbol]
    container: Mapping[str, int] = field(default_factory=dict)
    lengths: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    inputs: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    length_inputs: Mapping[str, str] = field(default_factory=dict)
    mask_inputs: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    batch: Batch | None = None
    remedies: tuple[Remedy, ...] = ()
    verified: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, Any] = field(default_factory=dict)
    precision: str = "fp32"
    bindings: tuple[str, ...] = ()
    native_opset: int | None = None
    padding_masks: tuple[str, ...] = ()
    kept: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Sequence[float]] = field(default_factory=dict)
    forms: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int | None:
        """Rows that a run takes; None when any number, or when there is no batch."""
        return self.batch.size if self.batch else None

    def to_json(self) -> dict[str, Any]:
        """The object as plain data, keys in a fixed order."""
        return {
            "format": FORMAT,
            "symbols": {name: symbol.to_json() for name, symbol in self.symbols.items()},
            "container": dict(self.container),
            "inputs": {name: _text_axes(axes) for name, axes in self.inputs.items()},
            "length_inputs": dict(self.length_inputs),
            "mask_inputs": {name: _text_axes(axes) for name, axes in self.mask_inputs.items()},
            "lengths": {name: _text_axes(axes) for name, axes in self.lengths.items()},
            "batch": self.batch
            and {"size": self.batch.size, "inputs": dict(self.batch.inputs), "outputs": dict(self.batch.outputs)},
            "remedies": [remedy.to_json() for remedy in self.remedies],
            "verified": dict(self.verified),
            "versions": dict(sorted(self.versions.items())),
            "advice": dict(self.advice),
            **({"precision": self.precision} if self.precision != "fp32" else {}),
            **({"bindings": list(self.bindings)} if self.bindings else {}),
            **({"native_opset": self.native_opset} if self.native_opset is not None else {}),
            **({"padding_masks": list(self.padding_masks)} if self.padding_masks else {}),
            **({"kept": dict(self.kept)} if self.kept else {}),
            **({"fixed": {name: list(known) for name, known in self.fixed.items()}} if self.fixed else {}),
            **({"forms": dict(self.forms)} if self.forms else {}),
        }

    def dumps(self) -> str:
        """The text that goes into a file: same metadata, same bytes."""
        return json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, data: Any, *, where: str) -> Metadata:
        """Read what ``to_json`` gave. Unknown keys are left for newer readers.

        Args:
            data: the parsed JSON.
            where: the file, for the error.

        Raises:
            UnreadableError: the object is of a newer format, or not of this form.
        """
        if isinstance(data, Mapping) and data.get("format") != FORMAT:
            raise UnreadableError(
                f"paddable metadata of format {data.get('format')!r}",
                where=where,
                why=f"this version reads format {FORMAT}",
                fix="upgrade paddable, or convert the model again",
            )
        try:
            _check_types("", data, _EXPECTED)
            batch = data.get("batch")
            metadata = cls(
                symbols={name: _symbol(symbol) for name, symbol in data["symbols"].items()},
                container={name: int(steps) for name, steps in data.get("container", {}).items()},
                lengths={name: _number_axes(axes) for name, axes in data.get("lengths", {}).items()},
                inputs={name: _number_axes(axes) for name, axes in data.get("inputs", {}).items()},
                length_inputs=dict(data.get("length_inputs", {})),
                mask_inputs={name: _number_axes(axes) for name, axes in data.get("mask_inputs", {}).items()},
                batch=Batch(batch["size"], dict(batch["inputs"]), dict(batch["outputs"])) if batch else None,
                remedies=tuple(Remedy(r["code"], r["node"], r["remedy"]) for r in data.get("remedies", ())),
                verified=dict(data.get("verified", {})),
                versions=dict(data.get("versions", {})),
                advice=dict(data.get("advice", {})),
                precision=str(data.get("precision", "fp32")),
                bindings=tuple(map(str, data.get("bindings", ()))),
                native_opset=data.get("native_opset"),
                padding_masks=tuple(map(str, data.get("padding_masks", ()))),
                kept={str(name): str(why) for name, why in data.get("kept", {}).items()},
                fixed={str(name): list(map(float, known)) for name, known in data.get("fixed", {}).items()},
                forms=dict(data.get("forms", {})),
            )
            _check_symbols(metadata)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableError(
                f"the paddable metadata is damaged ({type(error).__name__}: {error})",
                where=where,
                fix="convert the model again",
            ) from error
        return metadata

    @classmethod
    def loads(cls, text: str, *, where: str) -> Metadata:
        """Read what ``dumps`` gave.

        Raises:
            UnreadableError: the text is no JSON, of a newer format, or not of this form.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UnreadableError(f"no JSON ({error})", where=where, fix="convert the model again") from error
        return cls.from_json(data, where=where)


_AXES = Mapping[str, Mapping[str, str]]

_EXPECTED: Mapping[str, Any] = {
    "symbols": Mapping[str, Mapping[str, Any]],
    "container": Mapping[str, int],
    "lengths": _AXES,
    "inputs": _AXES,
    "length_inputs": Mapping[str, str],
    "mask_inputs": _AXES,
    "batch": Mapping[str, Any] | None,
    "remedies": Sequence[Mapping[str, str]],
    "verified": Mapping[str, Any],
    "versions": Mapping[str, str],
    "advice": Mapping[str, Mapping[str, Any]],
    "precision": str,
    "bindings": Sequence[str],
    "native_opset": int | None,
    "padding_masks": Sequence[str],
    "kept": Mapping[str, str],
    "fixed": Mapping[str, Sequence[float | int]],
    "forms": Mapping[str, Mapping[str, Any]],
}

_OF_BATCH: Mapping[str, Any] = {"size": int | None, "inputs": Mapping[str, int], "outputs": Mapping[str, int]}


def _check_types(path: str, data: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for key, hint in expected.items():
        if key in data and not conforms(data[key], hint):
            text = repr(data[key])
            shown = text if len(text) <= 60 else f"{text[:57]}..."
            raise ValueError(f"{path}{key} is {shown}, expected {type_name(hint)}")
    for name, symbol in data["symbols"].items() if not path else ():
        _check_types(f"symbols.{name}.", symbol, get_type_hints(Symbol))
    if not path and data.get("batch"):
        _check_types("batch.", data["batch"], _OF_BATCH)


def _check_symbols(metadata: Metadata) -> None:
    """Every symbol is the length of an axis that the inputs have, and every plain length is a symbol.

    A file that names no inputs is left alone.
    """
    for name, symbol in metadata.symbols.items():
        if metadata.inputs and symbol.axis not in metadata.inputs.get(symbol.input, {}):
            raise ValueError(f"symbols.{name} is axis {symbol.axis} of {symbol.input}, which is not among the inputs")
        if symbol.step < 1:
            raise ValueError(f"symbols.{name}.step is {symbol.step}, expected 1 and more")
    for key, named in (
        ("inputs", metadata.inputs),
        ("mask_inputs", metadata.mask_inputs),
        ("lengths", metadata.lengths),
    ):
        for name, axes in named.items():
            if not axes:
                raise ValueError(f"{key}.{name} is {{}}, expected the length of an axis")
            for axis, length in axes.items():
                _check_length(f"{key}.{name}.{axis}", length, metadata)
    for name, length in metadata.length_inputs.items():
        _check_length(f"length_inputs.{name}", length, metadata)
    if metadata.batch is not None and metadata.batch.size is not None and metadata.batch.size < 1:
        raise ValueError(f"batch.size is {metadata.batch.size}, expected 1 and more")


def _check_length(path: str, length: str, metadata: Metadata) -> None:
    if length.isidentifier() and length not in metadata.symbols:
        raise ValueError(f"{path} is {length}, which is not among the symbols")


def _symbol(data: Mapping[str, Any]) -> Symbol:
    known = {name: data[name] for name in Symbol.__dataclass_fields__ if name in data}
    return Symbol(**known)


def _text_axes(axes: Mapping[int, str]) -> dict[str, str]:
    return {str(axis): length for axis, length in sorted(axes.items())}


def _number_axes(axes: Mapping[str, str]) -> dict[int, str]:
    return {int(axis): length for axis, length in axes.items()}
