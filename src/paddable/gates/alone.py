"""Gate L: every operator on a ragged axis, cut out with its remedies, junk against junk in its own padding.

The padding of an operand holds what its fact promises and nothing more: the constant, finite junk within the bounds, or
anything. Where two axes are padding at once, only the strong facts hold. The valid part of every output must be bit-
equal whatever the junk is. A relative shift is proven as one unit, so it is cut out as one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from paddable.errors import PaddableError
from paddable.gates.engine import Array, Engine, EngineError
from paddable.gates.junk import FILLINGS, draw, fill
from paddable.gates.regions import Frame
from paddable.gates.report import SiteResult
from paddable.graph.io.write import to_proto
from paddable.lengths import Length
from paddable.padding.analysis import Analysis, Site
from paddable.padding.declaration import Declarations
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.kinds import Kind
from paddable.padding.rewrite.rewrite import length_input_name, rewrite

__all__ = ["judge_alone"]

Steps = Mapping[str, int]

_INDEXING = {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"}
"""Operators whose second operand holds indices into the first."""


def judge_alone(
    analysis: Analysis,
    container: Steps,
    cases: Sequence[Steps],
    *,
    leave_out: frozenset[int] = frozenset(),
    seed: int = 0,
    tick: Callable[[], None] = lambda: None,
) -> list[SiteResult]:
    """Judge every site of an analysis that ``rewrite`` has not used up.

    Args:
        analysis: of the native model.
        container: steps of each symbol.
        cases: lengths to try, shorter than the container.
        leave_out: ids of remedies to skip, for the test of this gate.
        seed: of the data.
        tick: called after each site.
    """
    results = []
    judged: dict[object, SiteResult] = {}
    for unit in _units(analysis.sites):
        look = _look(unit, leave_out)
        if look not in judged:
            judged[look] = _judge(analysis, unit, container, cases, leave_out, seed)
        results.append(replace(judged[look], node=_title(unit)))
        tick()
    return results


def _look(unit: Sequence[Site], leave_out: frozenset[int]) -> object:
    """All that the judgement of a unit depends on, so that equal layers of a stack are judged once.

    That is the operator, its attributes, what is known of operands and outputs, and the remedies. Of a float weight it
    is type and shape: what a valid step reads is told by neither its numbers nor its name.
    """
    (site, *more) = unit
    if more or any(facts is not None and facts.pending is not None for facts in (*site.operands, *site.outputs)):
        return id(site)
    inputs = site.node.inputs
    weights = [None if value is None or value.const_value is None else _plain(value.const_value) for value in inputs]
    with np.printoptions(threshold=sys.maxsize):
        return (
            site.node.op_identifier(),
            repr(sorted((name, _plain(held.value)) for name, held in site.node.attributes.items())),
            tuple(inputs.index(value) for value in inputs),
            tuple(weights),
            repr(site.operands),
            repr(site.outputs),
            repr([remedy for remedy in site.remedies if id(remedy) not in leave_out]),
        )


def _plain(held: object) -> object:
    """An attribute or weight as something to compare."""
    if not isinstance(held, ir.TensorProtocol):
        return held if isinstance(held, str | int | float | bytes | tuple | list) else repr(held)
    small = held.dtype.is_integer() or held.dtype == ir.DataType.BOOL or held.size <= 1
    return str(held.dtype), tuple(held.shape), held.tobytes() if small else b""


def _title(unit: Sequence[Site]) -> str:
    return unit[0].node.name or unit[0].node.op_type


def _units(sites: Sequence[Site]) -> Iterator[list[Site]]:
    """Sites one by one; those of one relative shift together."""
    chain: list[Site] = []
    for site in sites:
        inside = any(value is not None and value.relative is not None for value in (*site.operands, *site.outputs))
        if not inside:
            yield [site]
            continue
        chain.append(site)
        if all(value is None or value.relative is None for value in site.outputs):
            yield chain
            chain = []
    if chain:
        yield chain


def _judge(
    analysis: Analysis,
    unit: Sequence[Site],
    container: Steps,
    cases: Sequence[Steps],
    leave_out: frozenset[int],
    seed: int,
) -> SiteResult:
    place = SiteResult(_title(unit), "+".join(site.node.op_type for site in unit), None)
    rows = analysis.declarations.rows or 2
    try:
        names, engine = _cut_out(analysis, unit, container, rows, leave_out)
    except (PaddableError, AssertionError, KeyError, ValueError) as error:
        told = str(error) if isinstance(error, PaddableError) else f"{type(error).__name__}: {error}"
        return replace(place, detail=f"it cannot be cut out: {told}")
    for number, steps in enumerate(cases):
        lengths = [steps, *(cases[(number + row) % len(cases)] for row in range(1, rows))]
        frame = Frame(container, lengths, analysis.scope.single_row)
        detail = _junk_against_junk(analysis, unit, names, engine, frame, seed + number)
        if detail:
            return replace(
                place, ok=False, detail=f"{detail} at {', '.join(map(_told, lengths))} of {_told(container)}"
            )
    return replace(place, ok=True)


def _told(steps: Steps) -> str:
    return ",".join(f"{name}={count}" for name, count in steps.items())


def _cut_out(
    analysis: Analysis, unit: Sequence[Site], container: Steps, rows: int, leave_out: frozenset[int]
) -> tuple[dict[str, tuple[Facts, Site, int]], Engine]:
    """The unit as a model of its own, mended by ``rewrite`` like the whole.

    Returns:
        Facts, site and position of each input that has to be fed, and a session.
    """
    frame = Frame(container, [container] * rows, analysis.scope.single_row)
    made: dict[ir.Value, ir.Value] = {}
    wanted: dict[str, tuple[Facts, Site, int]] = {}
    inputs: list[ir.Value] = []
    constants: list[ir.Value] = []
    nodes: list[ir.Node] = []
    sites: list[Site] = []
    for site in unit:
        operands: list[ir.Value | None] = []
        for position, value in enumerate(site.node.inputs):
            if value is None:
                operands.append(None)
                continue
            if value not in made:
                facts = site.operands[position]
                copy = ir.Value(name=value.name, const_value=value.const_value)
                if value.const_value is not None and value.name not in analysis.values:
                    copy.type, copy.shape = (
                        ir.TensorType(value.const_value.dtype),
                        ir.Shape(value.const_value.shape.numpy()),
                    )
                    constants.append(copy)
                elif facts is None:
                    raise ValueError(f"nothing is known of {value.name}")
                else:
                    copy.const_value = None
                    copy.type, copy.shape = ir.TensorType(facts.dtype), ir.Shape(frame.shape(facts))
                    inputs.append(copy)
                    wanted[value.name or ""] = facts, site, position
                made[value] = copy
            operands.append(made[value])
        node = ir.Node(
            site.node.domain,
            site.node.op_type,
            operands,
            list(site.node.attributes.values()),
            overload=site.node.overload,
            num_outputs=len(site.node.outputs),
            name=site.node.name,
        )
        for old, new in zip(site.node.outputs, node.outputs, strict=True):
            new.name, new.type = old.name, old.type
            made[old] = new
        nodes.append(node)
        sites.append(Site(node, site.operands, site.remedies, site.outputs))
    outputs = [
        v for v, facts in zip(nodes[-1].outputs, sites[-1].outputs, strict=False) if v.name and facts is not None
    ]
    graph = ir.Graph(
        inputs, outputs, nodes=nodes, initializers=constants, opset_imports=dict(_opsets(analysis)), name="unit"
    )
    model = ir.Model(graph, ir_version=analysis.model.ir_version)
    values = {
        v.name or "": analysis.values[v.name or ""] for v in (*inputs, *made.values()) if v.name in analysis.values
    }
    declared = analysis.declarations
    alone = Analysis(
        model,
        Declarations({}, {}, {}, declared.symbols, declared.batch, rows),
        analysis.scope,
        values,
        sites,
    )
    skipped = [remedy for site in unit for remedy in site.remedies if id(remedy) in leave_out]
    proto = to_proto(rewrite(alone, container, leave_out=skipped))
    return wanted, Engine(proto.SerializeToString(), where="unit")


def _opsets(analysis: Analysis) -> Mapping[str, int]:
    return analysis.model.graph.opset_imports


def _junk_against_junk(
    analysis: Analysis,
    unit: Sequence[Site],
    wanted: Mapping[str, tuple[Facts, Site, int]],
    engine: Engine,
    frame: Frame,
    seed: int,
) -> str:
    """What differs between two fillings, or an empty text."""
    rng = np.random.default_rng(seed)
    feeds = {name: _valid_data(facts, site, position, frame, rng) for name, (facts, site, position) in wanted.items()}
    for name in analysis.declarations.symbols:
        held = np.array([steps[name] for steps in frame.lengths], np.int64)
        title = length_input_name(
            replace(analysis, declarations=replace(analysis.declarations, length_inputs={})), name
        )
        if title in engine.shapes:
            feeds[title] = held
    results = unit[-1].outputs
    reference: dict[str, Array] = {}
    regions = {name: list(frame.regions(facts)) for name, (facts, _, _) in wanted.items()}
    masks = [frame.valid(facts, _clean(facts)) for facts in results if facts is not None]
    for filling in range(FILLINGS):
        filled = {}
        for name, array in feeds.items():
            found = wanted.get(name)
            if found is None:
                filled[name] = array
            else:
                junk = _with_junk(found[0], array, frame, regions[name], filling, rng, feeds)
                filled[name] = _with_places(found[0], junk, frame)
        try:
            got = engine.run(filled)
        except EngineError as error:
            return f"filling {filling}: {error.what}"
        facts_of = [facts for facts in results if facts is not None]
        for (output, array), facts, mask in zip(got.items(), facts_of, masks, strict=False):
            if output.endswith("_length") and output not in {v.name for v in unit[-1].node.outputs}:
                continue
            shape = frame.shape(facts)
            if array.shape != shape:
                return f"output {output} has the shape {array.shape}, its facts say {shape}"
            valid = array[mask]
            same = reference.setdefault(output, valid)
            if not np.array_equal(valid, same, equal_nan=array.dtype.kind == "f"):
                return f"output {output} depends on its padding (filling {filling})"
    return ""


def _clean(facts: Facts) -> dict[int, Length]:
    """Steps that count where a remedy was deferred and never needed: the ones in front of the overlap."""
    pending = facts.pending
    return {} if pending is None or pending.token.done else {pending.atom: pending.clean}


def _valid_data(facts: Facts, site: Site, position: int, frame: Frame, rng: np.random.Generator) -> Array:
    known = frame.contents(facts)
    if known is not None:
        return known
    dtype = facts.dtype.numpy()
    shape = frame.shape(facts)
    if facts.constant is not None:
        return np.full(shape, facts.constant, dtype)
    low, high = facts.low, facts.high
    if dtype.kind in "iu":
        largest = _largest_index(facts, site, position, frame)
        low, high = max(low, -largest - 1), min(high, largest)  # native reads from either end of the axis
        if site.node.op_type in ("Div", "Mod") and position == 1 and low <= 0 <= high:
            low = 1  # native divides by no 0 either
    return draw(rng, shape, dtype, low, high)


def _with_places(facts: Facts, steps: Array, frame: Frame) -> Array:
    """Indices that hold each row's own place in the batch: what was drawn is the step that the row reads."""
    own = facts.own_row
    if own is None or (own.entry is None and own.stride is None):
        return steps
    axis = next(k for k, atoms in enumerate(facts.axes) if any(atom.batch for atom in atoms))
    place = np.arange(steps.shape[axis]).reshape([-1 if k == axis else 1 for k in range(steps.ndim)])
    if own.stride is not None:
        size = frame.physical(own.stride)
        return np.asarray(np.clip(steps, 0, size - 1) + (place * size).astype(steps.dtype))
    result = np.array(steps, copy=True)
    result[..., own.entry : (own.entry or 0) + 1] = place
    return result


def _largest_index(facts: Facts, site: Site, position: int, frame: Frame) -> float:
    """The greatest valid index: of the axis that is read, or of the shortest axis where several are."""
    own = facts.own_row
    if own is not None and own.stride is not None:
        return float(min(frame.valid_size(own.stride, row) for row in range(len(frame.lengths))) - 1)
    data = site.operands[0]
    if site.node.op_type not in _INDEXING or position != 1 or data is None:
        return np.inf
    attribute = site.node.attributes.get("axis")
    several = site.node.op_type.endswith("ND")
    indexed = [axis for axis in data.axes if own is None or not any(atom.batch for atom in axis)]
    axes = indexed if several else [data.axes[(int(attribute.value) if attribute is not None else 0) % data.rank]]
    rows = range(len(frame.lengths))
    sizes = [
        np.prod([frame.valid_size(atom.size, row) for atom in axis], dtype=np.int64) for axis in axes for row in rows
    ]
    return float(min(sizes) - 1)


def _with_junk(
    facts: Facts,
    valid: Array,
    frame: Frame,
    regions: Sequence[tuple[tuple[int, ...], Array]],
    filling: int,
    rng: np.random.Generator,
    feeds: Mapping[str, Array],
) -> Array:
    """The operand with its padding as bad as its facts allow, beside what else is fed."""
    if facts.content is not None and frame.contents(facts) is not None:
        return valid
    result = np.array(valid, copy=True)
    shared = facts.from_sizes and facts.is_integer and not frame.single and not any(a.batch for a in facts.atoms)
    if facts.image or shared:  # copies of valid elements, any of them: an index that serves every row stays in range
        return _with_copies(facts, result, frame, filling)
    for padded, mask in regions:
        kind = facts.kind(padded)
        if kind.scalar in feeds:
            result[mask] = feeds[kind.scalar].item()
            continue
        result[mask] = _promised(kind, facts, int(mask.sum()), result.dtype, filling, rng)
    return result


def _promised(
    kind: Kind, facts: Facts, count: int, dtype: np.dtype[np.generic], filling: int, rng: np.random.Generator
) -> Array:
    if kind.value is not None:
        return np.full(count, kind.value, dtype)
    if not kind.finite:
        return fill(filling, (count,), dtype, rng, 8)
    # Finite junk: all five fillings' finite part, brought within the bounds; different for every filling.
    base = fill(min(filling, 2), (count,), dtype, rng, 8) if filling < 3 else draw(rng, (count,), dtype) * (filling - 2)
    if dtype.kind in "fiu":
        base = np.clip(base, facts.low, facts.high) if dtype.kind == "f" else _within(base, facts)
    return np.asarray(base).astype(dtype)


def _within(base: Array, facts: Facts) -> Array:
    info = np.iinfo(base.dtype)
    low = info.min if facts.low == -np.inf else int(max(facts.low, info.min))
    high = info.max if facts.high == np.inf else int(min(facts.high, info.max))
    return np.clip(base, low, high)


def _with_copies(facts: Facts, result: Array, frame: Frame, filling: int) -> Array:
    mask = frame.valid(facts)
    flat = result[mask]
    if flat.size:
        picks = (np.arange(int((~mask).sum())) * (filling + 1) + filling) % flat.size
        result[~mask] = flat[picks]
    return result
