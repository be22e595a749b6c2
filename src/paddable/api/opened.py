"""A model and what was declared about it, checked against the graph: by a user, or by a file that was made from it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, TypedDict, Unpack

import onnx
import onnx_ir as ir

from paddable.bundle import KEY, Metadata
from paddable.bundle.given import path_given
from paddable.errors import MisuseError, RefusedError, arguments
from paddable.graph.io.read import read_model
from paddable.graph.prepare.bind import bind
from paddable.graph.prepare.normalise import normalise
from paddable.graph.prepare.raise_opset import raise_opset
from paddable.lengths import Length, parse, symbol
from paddable.lengths.declare import (
    BatchAxis,
    LengthDeclaration,
    LengthInput,
    MaskInput,
    parse_batches,
    parse_length,
    parse_length_input,
    parse_mask_input,
    parse_shortest,
)
from paddable.padding.analysis import Analysis, analyse
from paddable.padding.declaration import Declarations, resolve
from paddable.padding.deduce.branches import inline_alike
from paddable.padding.suggestion import suggest
from paddable.several import several

__all__ = [
    "Declared",
    "Model",
    "Opened",
    "Progress",
    "file_of",
    "open_as_converted",
    "open_model",
    "read_native",
    "texts_of",
    "told_raised",
]

Model: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto"
Progress: TypeAlias = Callable[[str, int, int], None]

_WANTED = "a path or an onnx.ModelProto"

_BATCH_1 = "export with batch 1"
"""What the rules say of a model that is understood with one row alone."""


class Declared(TypedDict, total=False):
    """What can be said about a model besides its ragged axes, as text of the command line takes it.

    Where several can be given, one text alone is one.

    Attributes:
        length_inputs: inputs that hold lengths, such as ``["ilens=T"]``.
        mask_inputs: inputs that hold padding masks, such as ``["mask:1=T"]``, or ``["mask:1=~T"]`` where True is
            padding; ``convert`` drops them.
        shortest: of some symbols, the shortest length to accept, such as ``["T=8"]``; native's own by default.
        batch: the batch axis, such as ``"x:0"`` or ``"a:0,b:1"``, or ``"none"``; by default axis 0 of the first ragged
            input, unless the model mixes what a fixed axis 0 counts.
        batch_size: size of a symbolic batch axis; 1 by default, and rows of 2 and more must stay apart.
        keep_dynamic: keep the container symbolic, and the batch unless ``batch_size`` is given.
        rate: steps a second.
        bindings: inputs and sizes that are fixed first, such as ``["sr=16000", "x:1=512"]``; see ``bind``.
    """

    length_inputs: str | Sequence[str]
    mask_inputs: str | Sequence[str]
    shortest: str | Sequence[str]
    batch: str | None
    batch_size: int | None
    keep_dynamic: bool
    rate: float | None
    bindings: str | Sequence[str]


def texts_of(declared: Declared, name: str) -> tuple[str, ...]:
    """One of the declarations that take several texts.

    Raises:
        MisuseError: something else is in its place.
    """
    return several(name, declared.get(name))


@dataclass(frozen=True)
class Opened:
    """A native model with its declarations.

    Attributes:
        model: the model in an opset that is understood; what is made of it shares its weights.
        declarations: checked against the model's inputs.
        rates: steps a second of each symbol whose rate is known.
        source: the file, None for a model in memory.
        bindings: what was bound or given a size, as text.
        native: the model as it was read, but for its bindings: the oracle. ``model`` itself where its opset is one that
            is understood.
        rows_declared: whether the number of rows is what was declared, and not another one that is tried.
    """

    model: ir.Model
    declarations: Declarations
    rates: Mapping[str, float]
    source: Path | None
    bindings: Sequence[str]
    native: ir.Model
    rows_declared: bool = True

    @property
    def oracle(self) -> Path | None:
        """The file that is native; None where native exists in memory alone, as it does once an input is bound."""
        return None if self.bindings else self.source

    @property
    def native_opset(self) -> int | None:
        """The opset of native, where the model had to be brought up to another; None elsewhere."""
        before, after = (model.opset_imports.get("") for model in (self.native, self.model))
        return None if before == after else before

    def of_rows(self, rows: int) -> Opened:
        """The same with another number of rows in a batch that is open."""
        return replace(self, declarations=replace(self.declarations, rows=rows), rows_declared=False)

    def analyse(self) -> Analysis:
        """The analysis, made once. Whoever asks must not change it; ``rewrite`` does not.

        Raises:
            RefusedError: no proof was found at some node.
        """
        return self._analysis

    @cached_property
    def _analysis(self) -> Analysis:
        try:
            return analyse(self.model.clone(), self.declarations)
        except RefusedError as error:
            if not self.declarations.batch_assumed:
                raise self._with_one_row(error) from None
        # what was taken for rows may be mel bands; a refusal that is left has nothing to do with rows
        return analyse(self.model.clone(), self.declarations.without_batch)

    def _with_one_row(self, error: RefusedError) -> RefusedError:
        """The refusal; where the rows are open and one row is understood, no other export is asked for."""
        batch = self.declarations.batch
        if self.declarations.rows == 1 or batch is None or not self.rows_declared:
            return error
        value = next(value for value in self.model.graph.inputs if value.name == batch.input)
        if value.shape is None or isinstance(value.shape[batch.axis], int):
            return error
        try:
            analyse(self.model.clone(), replace(self.declarations, rows=1))
        except RefusedError:
            return error
        findings = [replace(finding, remedy=_of_one_row(finding.remedy)) for finding in error.findings]
        return RefusedError(error.what, where=error.where, why=error.why, fix=_of_one_row(error.fix), findings=findings)

    def in_one_form(self) -> Opened:
        """The same for other precisions than fp32, where what is padded would be of another form than native.

        Padding makes one graph of each If, so native's are inlined alike. An input that has a value and was not
        declared is a weight, as exporters write it that keep initialisers among the inputs: it leaves the signature.

        Raises:
            RefusedError: as of ``analyse``.
        """
        declared = self.declarations
        named = {*declared.axes, *declared.length_inputs, *declared.masks, *declared.batch_axes}
        weights = {
            value.name for value in self.model.graph.inputs if value.is_initializer() and value.name not in named
        }
        branches = self.analyse().branches if any(node.op_type == "If" for node in self.model.graph) else {}
        if not weights and not branches:
            return self
        model = self.model.clone()
        for value in [value for value in model.graph.inputs if value.name in weights]:
            model.graph.inputs.remove(value)
        if branches:
            inline_alike(normalise(model), branches)
        return replace(self, model=model)

    def notes(self) -> list[str]:
        """Sentences about what was decided here and is not in the declarations.

        Raises:
            RefusedError: as of ``analyse``.
        """
        told = [] if self.native_opset is None else [told_raised(self.native_opset, self.model)]
        batch = self.declarations.batch
        if batch is not None and self.analyse().declarations.batch is None:
            told.append(
                f"axis {batch.axis} of {batch.input} is taken for data, since the model mixes along it: there is one"
                " length for all of it, as with `batch='none'`;"
                f" {arguments(batch=f'{batch.input}:{batch.axis}')} says that it counts rows"
            )
        return [*told, *self.forgotten()]

    def forgotten(self) -> Iterator[str]:
        """What looks like lengths and is not declared; a mask that varies has to be."""
        declared = self.declarations
        known = {*declared.axes, *declared.length_inputs}
        inputs = {value.name or "": value for value in self.model.graph.inputs if not value.is_initializer()}
        for name in suggest(inputs, self.model.graph.outputs).length_inputs:
            if name not in known:
                declare = arguments(length_inputs=[f"{name}={next(iter(declared.symbols))}"])
                yield (
                    f"{name} is taken for data; if it holds lengths, declare it with {declare}, or who runs the result"
                    " has to give both it and the length"
                )


def _of_one_row(fix: str) -> str:
    """What to do, where the model as it is passes with one row."""
    told = "convert with `batch_size=1`, which needs no other export"
    return fix.replace(_BATCH_1, told) if _BATCH_1 in fix else f"{fix}; or {told}" if fix else told


def open_model(model: Model, lengths: str | Sequence[str], **declared: Unpack[Declared]) -> Opened:
    """Read a model and its declarations, in the forms of ``paddable.lengths.declare``.

    Raises:
        UnreadableError: not a model.
        MisuseError: a declaration that does not fit it; the message lists the dynamic axes and suggests one that does.
        TypeError: a declaration that ``Declared`` does not have.
    """
    if unknown := declared.keys() - Declared.__annotations__.keys():
        raise TypeError(
            f"nothing can be declared as {sorted(unknown)[0]!r}; choose {', '.join(Declared.__annotations__)}"
        )
    lengths, bindings = several("lengths", lengths), texts_of(declared, "bindings")
    native, found = read_native(model, bindings, sized=True)
    length_inputs = texts_of(declared, "length_inputs")
    if KEY in found.metadata_props and not length_inputs:
        raise MisuseError(
            "it is padded already",
            where="model" if isinstance(model, onnx.ModelProto) else str(model),
            why="its length input would be taken for data",
            fix="give the native model, or name its length input, such as `length_inputs=['ilens=T']`",
        )
    rate = declared.get("rate")
    declarations = resolve(
        found,
        [parse_length(text) for text in lengths],
        [parse_length_input(text) for text in length_inputs],
        [parse_mask_input(text) for text in texts_of(declared, "mask_inputs")],
        parse_batches(declared.get("batch")),
        declared.get("batch_size"),
        declared.get("keep_dynamic", False),
        dict(parse_shortest(text) for text in texts_of(declared, "shortest")),
    )
    if rate is not None and not (math.isfinite(rate) and rate > 0):
        raise MisuseError(f"{arguments(rate=rate)} is not a rate", fix="give the steps a second, such as `rate=16000`")
    rates = {next(iter(declarations.symbols)): rate} if rate else {}
    return Opened(found, declarations, rates, file_of(model), bindings, native)


def read_native(model: Model, bindings: Sequence[str] = (), *, sized: bool = False) -> tuple[ir.Model, ir.Model]:
    """A model with its bindings, as it was read and in an opset that is understood; one object where it is in one.

    Raises:
        UnreadableError: not a model.
        MisuseError: a binding that does not fit it.
        RefusedError: its opset is too new, or too old and nothing brings it up.
    """
    native = read_model(model, older=True)
    return _bound(native, bindings, _named(model), sized)


def _bound(native: ir.Model, bindings: Sequence[str], name: str, sized: bool) -> tuple[ir.Model, ir.Model]:
    """Native, whose bound inputs have a default, and the model that is bound, in an opset that is understood.

    Native keeps its branches and, ``sized`` apart, its symbolic sizes. ONNX Runtime 1.32 ends the process, or does not
    load it, where a published detector is bound in the file: of its branches the one not taken has no answer then.
    """
    if any(not isinstance(size, int) for value in native.graph.inputs for size in value.shape or ()):
        _forget_inner_shapes(native)
    model = native.clone() if bindings else native
    bound = {value.name: value for value in bind(model, bindings)}
    for value in native.graph.inputs:
        if value.name in bound:
            value.const_value, value.shape = bound[value.name].const_value, bound[value.name].shape
            native.graph.register_initializer(value)
    if sized:
        bind(native, [text for text in bindings if text.partition("=")[0] not in bound])
    return native, raise_opset(model, name)


def _forget_inner_shapes(native: ir.Model) -> None:
    """Drop what the exporter noted of inner shapes, but of operators that nobody else knows.

    Some note the lengths of their example, and ONNX Runtime's optimiser believes them, as inference does.
    """
    for node in (node for node in native.graph if node.domain in ("", "ai.onnx")):
        for output in node.outputs:
            output.shape = output.shape if output.is_graph_output() else None


def told_raised(opset: int, model: ir.Model) -> str:
    """A sentence about a model that was brought up from an older opset."""
    return f"opset {opset} is brought up to {model.opset_imports['']} by onnx's version converter"


def open_as_converted(native: Model, metadata: Metadata) -> Opened:
    """The native model with the declarations that a converted file records.

    Raises:
        UnreadableError: not a model.
        MisuseError: it is not the model that the file was made from.
    """
    original = read_model(native, older=True)
    try:
        original, found = _bound(original, metadata.bindings, _named(native), bool(metadata.symbols))
    except MisuseError:  # the native graph is bound already
        found = raise_opset(original, _named(native))
    has = {value.name for value in found.graph.inputs}
    symbols = metadata.symbols
    own = [LengthDeclaration(owner.input, owner.axis, symbol(name)) for name, owner in symbols.items()]
    batch = metadata.batch
    declarations = resolve(
        found,
        [*own, *(LengthDeclaration(*place) for place in _places(metadata.inputs))],
        [LengthInput(name, parse(text)) for name, text in metadata.length_inputs.items() if name in has],
        [MaskInput(*place, place[0] in metadata.padding_masks) for place in _places(metadata.mask_inputs)],
        [BatchAxis(name, axis) for name, axis in batch.inputs.items()] if batch else None,
        batch.size if batch else None,
        batch is not None and batch.size is None,
        {name: owner.shortest for name, owner in symbols.items() if owner.shortest is not None},
    )
    rates = {name: owner.rate for name, owner in symbols.items() if owner.rate is not None}
    return Opened(found, declarations, rates, file_of(native), metadata.bindings, original)


def _places(axes: Mapping[str, Mapping[int, str]]) -> Iterator[tuple[str, int, Length]]:
    """Input, axis and length of each ragged axis that the metadata lists."""
    for name, lengths in axes.items():
        for axis, text in lengths.items():
            yield name, axis, parse(text)


def _named(model: Model) -> str:
    return model.graph.name or "model" if isinstance(model, onnx.ModelProto) else str(model)


def file_of(model: Model) -> Path | None:
    """The file of a model; None for a model in memory."""
    return None if isinstance(model, onnx.ModelProto) else path_given(model, "model", wanted=_WANTED)
