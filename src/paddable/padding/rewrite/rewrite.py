"""Applies the remedies of an analysis: the padded model, with a symbolic or a fixed container."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import onnx_ir as ir
from onnx_ir.passes import common

from paddable.errors import MisuseError
from paddable.lengths import Length, constant, symbol
from paddable.padding.analysis import Analysis
from paddable.padding.deduce.scope import BATCH
from paddable.padding.facts.axes import Axes, Axis, axis_size, row_axis
from paddable.padding.facts.facts import Facts
from paddable.padding.remedies import (
    Fill,
    FromEnd,
    GiveRows,
    PadAll,
    Remedy,
    Replace,
    Segment,
    SequenceLengths,
    Spread,
    Take,
    UseLength,
    UseSize,
)
from paddable.padding.remedies.emitter import INT64, Emitter
from paddable.padding.rewrite.simplify import MergeEqualPass, RemoveNeutralPass
from paddable.padding.rewrite.specialise import SpecialisePass

__all__ = ["length_input_name", "rewrite"]

BOOL = ir.DataType.BOOL


def length_input_name(analysis: Analysis, name: str) -> str:
    """The graph input that carries a symbol's run-time length."""
    declared = analysis.declarations
    for held, length in declared.length_inputs.items():
        if length == symbol(name):
            return held
    return "ilens" if len(declared.symbols) == 1 else f"ilens_{name}"


def rewrite(
    analysis: Analysis, container: Mapping[str, int] | None = None, *, leave_out: Collection[Remedy] = ()
) -> ir.Model:
    """Apply every remedy to a copy of the analysed model. The weights are shared.

    Args:
        analysis: it is not changed, so that one analysis serves every container.
        container: steps of each symbol; None keeps the container symbolic.
        leave_out: remedies to skip, for mutation tests only.

    Returns:
        The model, with its length inputs, its remedies, and a ``<output>_length`` after the outputs.
    """
    _check_container(analysis, container)
    return _Rewriter(_copied(analysis), container, leave_out).run()


def _copied(analysis: Analysis) -> Analysis:
    model = analysis.model.clone()
    twins = dict(zip(analysis.model.graph, model.graph, strict=True))
    sites = [replace(site, node=twins[site.node]) for site in analysis.sites if site.node in twins]  # or inlined
    return replace(analysis, model=model, values=dict(analysis.values), sites=sites)


def _check_container(analysis: Analysis, container: Mapping[str, int] | None) -> None:
    for name, steps in (container or {}).items():
        span = analysis.scope.spans[name]
        why = {"min": "", "max": "", "step": "", **analysis.scope.limits.get(name, {})}
        if steps < span.low:
            raise MisuseError(
                f"a container of {steps} steps is smaller than the shortest length that the model accepts, {span.low}",
                why=why["min"],
                fix=f"give at least {name}={span.low}",
            )
        if span.high is not None and steps > span.high:
            raise MisuseError(
                f"a container of {steps} steps is longer than the model allows, {span.high}",
                why=why["max"],
                fix=f"give at most {name}={span.high}",
            )
        if steps % span.step != span.residue:
            raise MisuseError(
                f"a container of {steps} steps does not fit the model's step of {span.step}",
                why=why["step"],
                fix=f"give {name}={steps - (steps - span.residue) % span.step + span.step}",
            )


class _Rewriter:
    def __init__(self, analysis: Analysis, container: Mapping[str, int] | None, leave_out: Collection[Remedy]) -> None:
        self.analysis, self.container = analysis, container
        self.skipped = {id(remedy) for remedy in leave_out}
        self.model, self.graph = analysis.model, analysis.model.graph
        self.emitter = Emitter(self.model, analysis.scope, container, analysis.declarations.rows)
        self.accepted: ir.Value | None = None

    def run(self) -> ir.Model:
        kept = [site.node for site in self.analysis.sites if site.remedies]
        RemoveNeutralPass(self.analysis.values, kept)(self.model)
        self._physical_sizes()
        self._length_inputs()
        self._tail_fill()
        for site in self.analysis.sites:
            self._mend(site.node, site.operands, [r for r in site.remedies if id(r) not in self.skipped])
        self._outputs()
        self.graph.extend(self.emitter.nodes)
        self.graph.sort()
        common.RemoveUnusedNodesPass()(self.model)
        MergeEqualPass()(self.model)
        self._input_shapes()
        self._value_shapes()
        if self.container is not None:
            SpecialisePass(self.analysis.values, self.emitter.known)(self.model)
        return self.model

    # -- inputs ------------------------------------------------------------------------------------------------

    def _inputs(self) -> dict[str, ir.Value]:
        return {value.name or "": value for value in self.graph.inputs}

    def _physical_sizes(self) -> None:
        emitter, declared = self.emitter, self.analysis.declarations
        inputs = self._inputs()
        for name, (owner, axis) in declared.symbols.items():
            if self.container is None:
                emitter.sizes[name] = self._dim(inputs[owner], axis)
        if declared.rows is None:
            assert declared.batch is not None
            emitter.row_count = self._dim(inputs[declared.batch.input], declared.batch.axis)

    def _dim(self, value: ir.Value, axis: int) -> ir.Value:
        emitter = self.emitter
        shape = emitter.once(("shape", value.name), lambda: emitter.op("Shape", value, dtype=INT64))
        return emitter.once(
            ("dim", value.name, axis), lambda: emitter.op("Gather", shape, emitter.constant([axis]), axis=0)
        )

    def _length_inputs(self) -> None:
        """Clamp each length to [0, C]; a length that native refuses is replaced by the shortest it accepts."""
        emitter, declared = self.emitter, self.analysis.declarations
        raw: dict[str, ir.Value] = {}
        accepted: ir.Value | None = None
        rows: int | str = declared.rows if declared.rows is not None else "batch"
        for name in declared.symbols:
            title = length_input_name(self.analysis, name)
            existing = self._inputs().get(title)
            if existing is None:
                existing = ir.Value(name=title, type=ir.TensorType(INT64), shape=ir.Shape([rows]))
                self.graph.inputs.append(existing)
                value = existing
            else:
                value = emitter.op("Reshape", existing, emitter.constant([-1]), name="lengths")
                if existing.dtype != INT64:
                    value = emitter.cast(value, INT64)
            raw[name] = value
        for name in raw:
            raw[name] = value = self._clamped(raw[name], name)
            span = self.analysis.scope.spans[name]
            good = emitter.op("Not", emitter.op("Less", value, emitter.constant([span.low])), dtype=BOOL)
            if span.step > 1:
                rest = emitter.op("Mod", value, emitter.constant([span.step]))
                good = emitter.op("And", good, emitter.op("Equal", rest, emitter.constant([span.residue])))
            accepted = good if accepted is None else emitter.op("And", accepted, good)
        assert accepted is not None
        self.accepted = accepted
        for name in raw:
            span = self.analysis.scope.spans[name]
            emitter.lengths[name] = emitter.where(
                accepted, raw[name], emitter.constant([span.first]), name=f"length_{name}"
            )
        self._held_lengths()

    def _clamped(self, value: ir.Value, name: str) -> ir.Value:
        emitter = self.emitter
        size, zero = emitter.size(symbol(name)), emitter.constant([0])
        low = emitter.where(emitter.op("Less", value, zero), zero, value)
        return emitter.where(emitter.op("Less", size, low), size, low)

    def _held_lengths(self) -> None:
        """The model's own reads of its length input see the clamped length."""
        emitter = self.emitter
        own = set(emitter.nodes)
        for name, length in self.analysis.declarations.length_inputs.items():
            value = self._inputs()[name]
            uses = [u for u in value.uses() if u.node not in own]
            if not uses:
                continue
            replacement = emitter.length(length)
            if value.dtype not in (None, INT64):
                replacement = emitter.cast(replacement, value.dtype)
            rank = len(value.shape) if value.shape is not None else 1
            if rank == 0:
                replacement = emitter.op("Reshape", replacement, emitter.constant(np.array([], dtype=np.int64)))
            elif rank > 1:
                replacement = emitter.unsqueeze(replacement, list(range(1, rank)))
            replacement.dtype = _dtype(value)
            for use in uses:
                use.node.replace_input_with(use.idx, replacement)

    def _tail_fill(self) -> None:
        """Padding steps repeat the last valid one: the image of a valid step is finite wherever native is.

        A row that is not accepted has no valid step: it is all ones, lest its junk become an index out of range.
        """
        emitter, declared = self.emitter, self.analysis.declarations
        inputs = self._inputs()
        for name, axes in declared.axes.items():
            if name in declared.masks:
                continue
            value = inputs[name]
            facts = self.analysis.values[name]
            uses = [u for u in value.uses() if u.node.op_type not in ("Shape", "Size")]
            filled = value
            for axis, length in axes.items():
                segments = (
                    Segment(constant(0), constant(0), constant(0)),
                    Segment(length, length - 1, constant(0), 0),
                )
                filled = self._gather(filled, facts.axes, axis, length, length, segments)
            filled = emitter.select(self._accepted_for(facts), filled, 1, _dtype(value))
            for use in uses:
                use.node.replace_input_with(use.idx, filled)
        for name, (axis, _) in declared.masks.items():
            value = inputs[name]
            facts = self.analysis.values[name]
            position = facts.span(axis).start
            mask = emitter.mask(facts.axes, [position])
            if name in declared.padding_masks:
                mask = emitter.op("Not", mask, dtype=BOOL)
            shape = emitter.shape_vector([emitter.size(axis_size(a)) for a in facts.axes])
            full = emitter.op("Expand", mask, shape)
            made = full if value.dtype == BOOL else emitter.cast(full, _dtype(value))
            value.replace_all_uses_with(made)
            self.graph.inputs.remove(value)

    # -- nodes -------------------------------------------------------------------------------------------------

    def _mend(self, node: ir.Node, operands: Sequence[Facts | None], remedies: Sequence[Remedy]) -> None:
        for remedy in remedies:
            if isinstance(remedy, Take) and remedy.on_output:
                continue
            if isinstance(remedy, Take) and remedy.instead and remedy is remedies[-1]:
                source = node.inputs[remedy.operand]
                assert source is not None
                self._replace(node, self._take(source, remedy))
                return
            if isinstance(remedy, Replace):
                source, facts = node.inputs[0], operands[0]
                assert source is not None
                assert facts is not None
                made = remedy.emit(self.emitter, node, source, facts.axes)
                self._replace(node, *(made if isinstance(made, tuple) else (made,)))
                return
            if isinstance(remedy, SequenceLengths):
                self._sequence_lengths(node, remedy)
            else:
                self._operand(node, remedy)
        for remedy in remedies:
            if isinstance(remedy, Take) and remedy.on_output:
                output = node.outputs[remedy.output]
                own = self._take(output, remedy)
                self._redirect(output, own)
                if remedy.source != remedy.size:  # what is known of the result is not of what it is gathered from
                    self.analysis.values.pop(output.name or "", None)
                    output.shape = None

    def _operand(self, node: ir.Node, remedy: Remedy) -> None:
        index = remedy.operand
        value = node.inputs[index]
        assert value is not None
        if isinstance(remedy, Fill) and remedy.scalar_input is not None:
            scalar = node.inputs[remedy.scalar_input]
            assert scalar is not None
            mask = self.emitter.mask(remedy.axes, remedy.atoms)
            node.replace_input_with(index, self.emitter.select(mask, value, scalar, _dtype(value)))
            return
        node.replace_input_with(index, self._applied(value, remedy))
        if isinstance(remedy, PadAll) and len(node.inputs) > 3:
            node.resize_inputs(3)

    def _applied(self, value: ir.Value, remedy: Remedy) -> ir.Value:
        made = self._made(value, remedy)
        made.dtype = _dtype(value)
        return made

    def _made(self, value: ir.Value, remedy: Remedy) -> ir.Value:
        emitter, dtype = self.emitter, _dtype(value)
        if isinstance(remedy, Fill):
            mask = emitter.mask(remedy.axes, remedy.atoms)
            key = ("fill", value.name, mask.name, remedy.value)
            return emitter.once(key, lambda: emitter.select(mask, value, remedy.value, dtype))
        if isinstance(remedy, FromEnd):
            zero = emitter.constant(np.array(0), dtype)
            counted = emitter.op("Add", value, self._ends(remedy, dtype))
            return emitter.where(emitter.op("Less", value, zero), counted, value, name="index")
        if isinstance(remedy, Spread):
            change = emitter.unsqueeze if remedy.count > 0 else emitter.squeeze
            return change(value, list(range(1, 1 + abs(remedy.count))))
        if isinstance(remedy, GiveRows):
            rows = [emitter.size(symbol(BATCH)) if any(a.batch for a in axis) else 1 for axis in remedy.axes]
            return emitter.op("Expand", emitter.unsqueeze(value, list(range(remedy.added))), emitter.shape_vector(rows))
        if isinstance(remedy, UseLength):
            return emitter.contents(remedy.content, remedy.axes, dtype)
        if isinstance(remedy, UseSize):
            content = remedy.content
            axes = self.analysis.scope.axis
            shape = getattr(getattr(content, "array", None), "shape", ())
            return emitter.contents(content, tuple(axes(int(d)) for d in shape), dtype, as_size=True)
        if isinstance(remedy, Take):
            return self._take(value, remedy)
        raise AssertionError(f"no way to apply {type(remedy).__name__}")

    def _ends(self, remedy: FromEnd, dtype: ir.DataType) -> ir.Value:
        """What a negative index counts from: a scalar, of tuples one for each entry, of rows one for each."""
        emitter, depth = self.emitter, len(remedy.sizes)
        row = row_axis(remedy.axes)
        total: ir.Value | None = None
        for entry, size in enumerate(remedy.sizes):
            if size is None:
                continue
            end = emitter.cast(emitter.length(size), dtype)
            if emitter.scope.single_row:
                end = emitter.op("Squeeze", end)
            else:
                assert row is not None
                end = emitter.unsqueeze(end, list(range(1, len(remedy.axes) - row)))
            if depth > 1:
                end = emitter.op("Mul", end, emitter.constant(np.eye(depth)[entry], dtype))
            total = end if total is None else emitter.op("Add", total, end)
        assert total is not None
        return total

    def _sequence_lengths(self, node: ir.Node, remedy: SequenceLengths) -> None:
        emitter = self.emitter
        lengths = emitter.cast(emitter.length(remedy.size), ir.DataType.INT32)
        rows = axis_size(remedy.batch)
        if rows != (constant(1) if emitter.scope.single_row else symbol(BATCH)):
            atoms = [i for i, a in enumerate(remedy.batch) if a.batch]
            if atoms:
                lengths = emitter.place(lengths, (remedy.batch,), atoms)
            else:
                lengths = emitter.op("Expand", lengths, emitter.size(rows))
        node.resize_inputs(max(len(node.inputs), 5))
        node.replace_input_with(4, lengths)

    def _take(self, value: ir.Value, remedy: Take) -> ir.Value:
        return self._gather(value, remedy.axes, remedy.axis, remedy.size, remedy.source, remedy.segments)

    def _gather(
        self, value: ir.Value, axes: Axes, axis: int, size: Length, source: Length, segments: Sequence[Segment]
    ) -> ir.Value:
        index = self._index(size, source, tuple(segments))
        emitter = self.emitter
        if emitter.scope.single_row or self._serves_every_row(source, segments):
            return emitter.op("Gather", value, index, axis=axis)
        return emitter.gather_rows(value, index, axes, axis)

    @staticmethod
    def _serves_every_row(source: Length, segments: Sequence[Segment]) -> bool:
        """Whether an index map is made of constants and sizes alone, so that its vector has no row axis."""
        native = all(segment.physical == constant(0) for segment in segments)
        numbers = [number for segment in segments for number in (segment.start, segment.native)]
        return all(number.is_constant for number in (*numbers, *([source] if native else [])))

    def _index(self, size: Length, source: Length, segments: tuple[Segment, ...]) -> ir.Value:
        """The index vector of a piecewise affine map, clamped to the source: [size] or [rows, size]."""
        emitter = self.emitter
        shared = self._serves_every_row(source, segments)

        def by_row(number: ir.Value) -> ir.Value:
            return number if shared else emitter.per_row(number)

        def make() -> ir.Value:
            iota = emitter.iota(size)
            result: ir.Value | None = None
            for segment in segments:
                base = by_row(emitter.length(segment.native))
                if segment.physical != constant(0):
                    base = emitter.op("Add", base, emitter.size(segment.physical), dtype=INT64)
                if segment.step == 0:
                    read = base
                else:
                    scaled = iota if segment.step == 1 else emitter.op("Mul", iota, emitter.constant([segment.step]))
                    read = (
                        scaled if segment.native == segment.physical == constant(0) else emitter.op("Add", base, scaled)
                    )
                if result is None:
                    result = read
                else:
                    early = emitter.op("Less", iota, by_row(emitter.length(segment.start)))
                    result = emitter.where(early, result, read)
            assert result is not None
            first, *rest = segments
            if first == Segment(constant(0), constant(0), constant(0)) and rest and all(s.step == 0 for s in rest):
                return result  # an identity, then valid steps repeated: inside the source wherever the index is
            # A map of valid steps onto valid steps is clamped to them, so that its padding repeats one of them.
            native = all(segment.physical == constant(0) for segment in segments)
            count = by_row(emitter.length(source)) if native else emitter.size(source)
            last = emitter.op("Sub", count, emitter.constant([1]), dtype=INT64)
            zero = emitter.constant([0])
            result = emitter.where(emitter.op("Less", result, zero), zero, result)
            return emitter.where(emitter.op("Less", last, result), last, result, name="index")

        return emitter.once(("index", size, source, segments), make)

    def _replace(self, node: ir.Node, *results: ir.Value) -> None:
        for k, result in enumerate(results):
            self._redirect(node.outputs[k], result)
            self._hand_on(node.outputs[k], result)
        self.analysis.model.graph.remove(node, safe=True)

    def _hand_on(self, old: ir.Value, new: ir.Value) -> None:
        """What was made in place of a value has its name, by which its range in a precision and its error are known."""
        if (
            new.producer() in self.emitter.nodes
            and (new.name or "").startswith("paddable/")
            and not new.is_graph_output()
        ):
            new.name, old.name = old.name, self.emitter.names.fresh(f"{old.name}_before")

    def _redirect(self, old: ir.Value, new: ir.Value) -> None:
        new.dtype = new.dtype or _dtype(old)
        made = set(self.emitter.nodes)  # of them, those that read the old value make the new one of it
        for use in list(old.uses()):
            if use.node not in made:
                use.node.replace_input_with(use.idx, new)
        for i, output in enumerate(self.graph.outputs):
            if output is old:
                self.graph.outputs[i] = new
                new.name, old.name = old.name, self.emitter.names.fresh(f"{old.name}_before")

    # -- outputs -----------------------------------------------------------------------------------------------

    def _outputs(self) -> None:
        emitter = self.emitter
        accepted = self.accepted
        assert accepted is not None
        lengths: list[ir.Value] = []
        rows = self.analysis.declarations.rows
        for i, site in enumerate(self.analysis.outputs):
            value = self.graph.outputs[i]
            name, dtype = site.name, _dtype(value)
            for remedy in site.remedies:
                if id(remedy) not in self.skipped:
                    value = self._applied(value, remedy)
            facts = site.value
            inner = self.graph.outputs[i]
            if inner is not value and inner.name == name:  # the name belongs to what is cut to its length
                inner.name = emitter.names.fresh(f"{name}_native")
                self.analysis.values[inner.name] = self.analysis.values[name]
            ragged = list(facts.ragged)
            keep = self._accepted_for(facts)
            if ragged:
                keep = emitter.op("And", keep, emitter.mask(facts.axes, ragged))
            cut = emitter.select(keep, value, 0, dtype, name="cut")
            self._name_output(i, value, cut, name, dtype, facts)
            lengths += self._output_lengths(name, facts)
        for value in lengths:
            value.shape = ir.Shape([rows if rows is not None else "batch"])
            self.graph.outputs.append(value)

    def _accepted_for(self, facts: Facts) -> ir.Value:
        emitter, accepted = self.emitter, self.accepted
        assert accepted is not None
        if emitter.scope.single_row:
            if facts.rank:
                return accepted
            empty = emitter.constant(np.array([], dtype=np.int64))
            return emitter.once("accepted scalar", lambda: emitter.op("Reshape", accepted, empty))
        row = next((i for i, a in enumerate(facts.atoms) if a.batch), None)
        if row is None:
            raise MisuseError("an output has no batch axis, but each row has a length of its own")
        return emitter.place(accepted, facts.axes, [row])

    def _name_output(self, i: int, old: ir.Value, new: ir.Value, name: str, dtype: ir.DataType, facts: Facts) -> None:
        if old.name == name:
            old.name = self.emitter.names.fresh(f"{name}_padded")
            self.analysis.values[old.name] = self.analysis.values.get(name, facts)
        new.name, new.dtype = name, dtype
        new.shape = ir.Shape([self._shape_dim(axis) for axis in facts.axes])
        self.analysis.values[name] = facts
        self.graph.outputs[i] = new

    def _output_lengths(self, name: str, facts: Facts) -> list[ir.Value]:
        emitter = self.emitter
        found: dict[Length, str] = {}
        for axis, atoms in enumerate(facts.axes):
            if any(a.ragged for a in atoms):
                size = facts.size(axis)
                assert isinstance(size, Length)
                if size not in found:
                    found[size] = f"{name}_length" if not found else f"{name}_length_{axis}"
        results = []
        assert self.accepted is not None
        for size, title in found.items():
            value = emitter.where(self.accepted, emitter.length(size), emitter.constant([0]))
            value.name, value.dtype = title, INT64
            results.append(value)
        return results

    # -- shapes ------------------------------------------------------------------------------------------------

    def _shape_dim(self, axis: Axis) -> int | str:
        size = axis_size(axis)
        known = self.emitter.known(size)
        return known if known is not None else str(size)

    def _input_shapes(self) -> None:
        for value in self.graph.inputs:
            if value.shape is not None:
                value.shape = ir.Shape(self._input_dims(value.name or "", value.shape))

    def _input_dims(self, name: str, shape: ir.Shape) -> Iterator[int | str]:
        declared = self.analysis.declarations
        for axis, size in enumerate(shape):
            if axis in declared.axes.get(name, {}):
                yield self._shape_dim(self.analysis.values[name].axes[axis])
            elif isinstance(size, int):
                yield size
            else:
                yield declared.rows if declared.rows is not None else "batch"

    def _value_shapes(self) -> None:
        """Shapes recorded by the exporter are stale; of a static graph, they are proven again."""
        for output in (output for node in self.graph for output in node.outputs if not output.is_graph_output()):
            output.shape = None


def _dtype(value: ir.Value) -> ir.DataType:
    """Of a value of the model: the analysis types what no inference does, and what is made has a type too."""
    assert value.dtype is not None, value
    return value.dtype
