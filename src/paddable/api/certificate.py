"""The ``paddable`` metadata of a converted graph, from its analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddable.api.versions import versions
from paddable.bundle import Batch, Metadata, Remedy, Symbol
from paddable.padding.analysis import Analysis
from paddable.padding.rewrite.rewrite import length_input_name
from paddable.providers.advice import known_advice

__all__ = ["certificate"]


def certificate(
    analysis: Analysis,
    rates: Mapping[str, float],
    container: Mapping[str, int],
    target: str,
    bindings: Sequence[str] = (),
    native_opset: int | None = None,
) -> Metadata:
    """What a reader of the converted graph has to know, but for what the gates measure.

    Args:
        analysis: of the native graph.
        rates: steps a second of each symbol whose rate is known.
        container: steps of each symbol; empty for a symbolic container.
        target: the provider it is made for.
        bindings: inputs and sizes that were fixed first.
        native_opset: of native, where it was brought up to another.
    """
    declared = analysis.declarations
    symbols = {}
    for name, (owner, axis) in declared.symbols.items():
        span = analysis.scope.spans[name]
        symbols[name] = Symbol(
            owner, axis, span.first, span.last, span.step, rates.get(name), declared.shortest.get(name)
        )
    held = {name: str(length) for name, length in declared.length_inputs.items()}
    for name in declared.symbols:
        held.setdefault(length_input_name(analysis, name), name)
    return Metadata(
        symbols=symbols,
        container=dict(container),
        lengths={name: {a: str(size) for a, size in axes.items()} for name, axes in analysis.lengths().items()},
        inputs={
            name: {axis: str(length) for axis, length in axes.items()}
            for name, axes in declared.axes.items()
            if name not in declared.masks
        },
        length_inputs=held,
        mask_inputs={name: {axis: str(length)} for name, (axis, length) in declared.masks.items()},
        batch=_batch(analysis),
        remedies=tuple(Remedy(f.code, f.node, f.remedy) for f in analysis.findings),
        versions=versions(),
        advice={target: known_advice()[target].to_json()},
        bindings=tuple(bindings),
        native_opset=native_opset,
        padding_masks=tuple(sorted(declared.padding_masks)),
    )


def _batch(analysis: Analysis) -> Batch | None:
    """Rows, and their axes. With one row the facts name no batch axis of an output: axis 0 is it, if its size is 1."""
    declared = analysis.declarations
    if declared.batch is None:
        return None
    inputs = {}
    values = {value.name or "": value for value in analysis.model.graph.inputs}
    shape = values[declared.batch.input].shape
    is_open = shape is not None and not isinstance(shape[declared.batch.axis], int)
    for name, value in values.items():
        if name in declared.masks or name in declared.length_inputs or value.shape is None:
            continue
        if name == declared.batch.input or name in declared.batch_axes:
            inputs[name] = declared.batch_axes.get(name, declared.batch.axis)
        elif (
            len(value.shape)
            and 0 not in declared.axes.get(name, {})
            and _counts_rows(value.shape[0], declared.rows, is_open)
        ):
            inputs[name] = 0
    outputs = {}
    for site in analysis.outputs:
        axes = site.value.axes
        rows = [i for i, axis in enumerate(axes) if any(atom.batch for atom in axis)]
        if rows:
            outputs[site.name] = rows[0]
        elif analysis.scope.single_row and axes and axes[0] == ():
            outputs[site.name] = 0
    return Batch(declared.rows, inputs, outputs)


def _counts_rows(size: object, rows: int | None, is_open: bool) -> bool:
    """A fixed size is as many rows by chance where the batch axis is open, but for the one row that exporters fix."""
    return not isinstance(size, int) or (size == rows and (rows == 1 or not is_open))
