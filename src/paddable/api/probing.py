"""``probe``: two runs compared value by value, and the place where they part."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

import onnx

from paddable.api.certificate import certificate
from paddable.api.judging import largest
from paddable.api.opened import Declared, Model, Opened, Progress, open_as_converted, open_model, texts_of
from paddable.api.probe_given import Hearer, Inputs, is_sound, signature
from paddable.api.probe_inputs import draw_inputs
from paddable.api.probe_partners import refuse_other_inputs, refuse_other_sizes
from paddable.api.probe_places import (
    Place,
    found_place,
    in_symbols_of,
    names_apart,
    told_classes,
    told_differences,
    told_size,
)
from paddable.api.probing_module import names_module, probe_module, refuse_beside_module
from paddable.api.seeds import refuse_negative
from paddable.api.versions import versions
from paddable.bundle import Metadata, Symbol, refuse_what_is_there
from paddable.divergence import Known, ProbeReport, Side, find
from paddable.divergence.isolate import CASE
from paddable.divergence.matching import match
from paddable.divergence.pieces import on_provider
from paddable.divergence.plain import Plain
from paddable.errors import MisuseError, PaddableError, RefusedError, arguments
from paddable.findings import Finding
from paddable.gates.engine import Array, Engine, EngineError, asked_of
from paddable.gates.index_limits import index_limits
from paddable.gates.signals import Numbers
from paddable.graph.io.read import read_model
from paddable.graph.io.scratch import letting_go, on_disk
from paddable.graph.io.write import to_proto
from paddable.graph.prepare.normalise import normalise
from paddable.lengths.declare import parse_container, parse_length_input
from paddable.padding.analysis import Analysis
from paddable.precision import session_config
from paddable.providers.advice import session_advice
from paddable.runtime.session.flavours import runtime_version
from paddable.runtime.session.graph import GraphSession, Opening
from paddable.several import several

__all__ = ["probe", "probe_zero_padding"]

_HEAVY = 100_000_000
"""Bytes of a model file from which a run takes every core."""


@on_disk("one", "against")
@letting_go
def probe(
    one: Model,
    against: Model | None = None,
    lengths: str | Sequence[str] = (),
    *,
    at: int | None = None,
    container: str | int | None = None,
    inputs: str | os.PathLike[str] | Mapping[str, Array] | None = None,
    provider: str = "cpu",
    against_provider: str = "cpu",
    precision: str | None = None,
    against_precision: str | None = None,
    tolerance: float | None = None,
    isolate: str | os.PathLike[str] | None = None,
    force: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
    **declared: Unpack[Declared],
) -> ProbeReport:
    """Find the first node at which two runs part.

    Each of the two is an ``.onnx`` file, native or padded, or a bundle. Values are paired by name, by weights, by
    source line and by structure, and compared on the part that is valid in both. One may be a PyTorch module, named as
    ``model.py:build``: it is compared with its native graph, module by module, on its own sample.

    Args:
        one: the run in question; like the other, a file, a bundle, or a model in memory.
        against: what it is compared with. None takes the native model of a bundle, or, on another provider than the
            CPU, the same file on the CPU.
        lengths: the ragged axes of ``against``, such as ``["x:1=T"]``, where neither was made by Paddable.
        at: valid steps of the first symbol; by default as many as ``inputs`` has, or two thirds of the container.
        container: the container of a bundle to probe; of two native models, the size to which the input of the first is
            padded with zeros.
        inputs: a sound file, an ``.npz`` of arrays by input, an ``.npy`` for models of one input, or the arrays;
            random numbers by default. Arrays have to be there for all inputs but lengths and masks, fit them, and be
            finite.
        provider: where the first runs.
        against_provider: where the second runs.
        precision: which of a bundle's precisions is the first run: fp32 where it is there.
        against_precision: the same of the second; without ``against``, of the same bundle.
        tolerance: error relative to scale from which values count as different: 1e-4, with half precision 3e-2.
        isolate: a folder to write the first bad node to, with its real inputs.
        force: replace what is at ``isolate``.
        seed: of random inputs.
        progress: called with (stage, done, total).
        **declared: what else is known of ``against``, such as ``length_inputs=["ilens=T"]``; see ``Declared``.

    Raises:
        UnreadableError: one of them is not a model.
        MisuseError: nothing to compare with, a length, input or seed that does not fit, or a module that raises on its
            sample.
        PaddableError: one of them does not run.
    """
    refuse_negative(seed)
    assert not isinstance(one, onnx.ModelProto) and not isinstance(against, onnx.ModelProto)  # they are on disk
    lengths = several("lengths", lengths)
    if tolerance is not None and not 0 < tolerance < math.inf:
        raise MisuseError(
            f"{tolerance:g} is no tolerance", where="`tolerance`", fix="give an error above 0, such as `tolerance=1e-4`"
        )
    if isolate is not None:
        refuse_what_is_there(isolate, force, CASE)
    if against is not None and names_module(one) and names_module(against):
        raise MisuseError(
            "two PyTorch modules cannot be compared with one another",
            where=f"{os.fspath(one)} and {os.fspath(against)}",
            fix="export one of them, and compare the other with its graph",
        )
    for module, graph in ((one, against), (against, one)):
        if module is not None and graph is not None and names_module(module):
            given_too = {
                "lengths": lengths or None,
                "at": at,
                "container": container,
                "inputs": inputs,
                "provider": provider if provider != "cpu" else None,
                "against_provider": against_provider if against_provider != "cpu" else None,
                "precision": precision,
                "against_precision": against_precision,
                "isolate": isolate,
                **declared,
            }
            refuse_beside_module([name for name, value in given_too.items() if value])
            return probe_module(os.fspath(module), graph, first=module is one, tolerance=tolerance)
    providers = (provider, against_provider)
    first = found_place(one, container, at, precision, provider)
    second = in_symbols_of(first, _second(first, against, providers, container, at, against_precision))
    setup = _setup(first, second, lengths, declared)
    if not setup.metadata.symbols and (at is not None or container is not None):
        raise MisuseError(
            f"{'`at`' if at is not None else '`container`'} counts steps of an axis that nothing declares",
            fix=f"declare the axis, such as {_example(setup.reference)}",
        )
    hearers = _hearers(setup, first, second)
    by_name = isinstance(inputs, Mapping) or (inputs is not None and not is_sound(inputs))
    refuse_other_inputs(hearers, signature(setup.reference.model), setup.metadata, given=by_name)
    given = Inputs.read(inputs, (first, second), hearers, setup.metadata)
    heard = next(iter(given.steps(setup.metadata).values()), None)
    if heard is not None and at is None and container is None and not _holds(first, second, heard):
        first = found_place(one, None, heard, precision, provider)
        second = in_symbols_of(first, _second(first, against, providers, None, heard, against_precision))
        setup = _setup(first, second, lengths, declared)
    steps = _steps(setup, first, second, given, at, container)
    given.check_steps(setup.metadata, steps, setup.own_lengths)
    sizes = _sizes(setup, first, second, steps, container)
    threads = _threads(second.file)
    drawn = setup.reference, setup.metadata, given, sizes, steps, setup.numbers, seed, setup.answer, threads
    fed = draw_inputs(*drawn)
    answers = fed.answers if setup.answer == second.file and sizes[1] == steps and against_provider == "cpu" else None
    both = first.file == second.file
    names = names_apart(first.file, second.file)
    feeds = fed.of(signature(setup.one.model), first.metadata, sizes[0], setup.own_lengths)
    one_side = _side("A", names[0], first, setup.one, feeds, steps, sizes[0], provider, both=both)
    feeds = fed.of(signature(setup.other.model), second.metadata, sizes[1])
    other_side = _side(
        "B", names[1], second, setup.other, feeds, steps, sizes[1], against_provider, both=both, answers=answers
    )
    stage = "compare values"
    differences = [*told_differences(first, second), *told_classes(setup.one, setup.other, setup.metadata.lengths)]
    try:
        return find(
            one_side,
            other_side,
            setup.known,
            findings=setup.analysis.findings if setup.analysis is not None else _recorded(second, setup.other),
            differences=differences,
            notes=[*first.notes, *second.notes, *given.notes],
            tolerance=tolerance,
            untested=[] if setup.metadata.symbols or given.arrays else _open_axes(setup.reference),
            isolate=None if isolate is None else Path(isolate),
            force=force,
            versions={**versions(), "onnxruntime": runtime_version()},
            tick=(lambda done, total: progress(stage, done, total)) if progress is not None else lambda *_: None,
        )
    except EngineError as error:
        if setup.metadata.symbols or given.arrays:
            raise
        raise MisuseError(
            "it does not run with random inputs of 1 step along each axis without a size",
            where=error.where,
            why=error.what,
            fix=f"declare the axis, such as {_example(setup.reference)}, or give `inputs`",
        ) from None


def probe_zero_padding(
    native: str | os.PathLike[str],
    metadata: Metadata,
    container: Mapping[str, int],
    *,
    at: int | None = None,
    inputs: str | os.PathLike[str] | Mapping[str, Array] | None = None,
    seed: int = 0,
) -> ProbeReport:
    """Native in a container with zeros behind its input, against native alone: what padding does without a remedy.

    Args:
        native: the file.
        metadata: of a model that was converted from it.
        container: steps of each symbol.
        at: valid steps of the first symbol.
        inputs: as of ``probe``.
        seed: of random inputs.
    """
    place = Place(Path(native), None)
    opened = open_as_converted(native, metadata)
    analysis = opened.analyse()
    plain = Plain(analysis.model)
    known = Known(analysis.values, lambda a, b: b.name, analysis.scope.single_row)
    source = opened.oracle or to_proto(opened.model).SerializeToString()
    setup = _Setup(
        plain, plain, replace(metadata, container={}), plain, known, analysis, index_limits(analysis), source
    )
    given = Inputs.read(inputs, (place, place), _hearers(setup, place, place), metadata)
    told = ",".join(f"{name}={count}" for name, count in container.items())
    steps = _steps(setup, place, place, given, at, told)
    given.check_steps(setup.metadata, steps)
    fed = draw_inputs(
        plain, metadata, given, (container, steps), steps, setup.numbers, seed, source, _threads(place.file)
    )
    names = signature(plain.model)
    one = _side("A", place.file.name, place, plain, fed.of(names, None, container), steps, container, "cpu", both=True)
    feeds = fed.of(names, None, steps)
    other = _side("B", place.file.name, place, plain, feeds, steps, steps, "cpu", both=True, answers=fed.answers)
    return find(one, other, known, findings=analysis.findings)


def _holds(first: Place, second: Place, steps: int) -> bool:
    """Whether the graphs that were taken of bundles hold so many steps of the first symbol."""
    sizes = [place.metadata.container for place in (first, second) if place.bundle is not None and place.metadata]
    return all(next(iter(size.values()), steps) >= steps for size in sizes)


def _second(
    first: Place,
    against: str | os.PathLike[str] | None,
    providers: tuple[str, str],
    container: str | int | None,
    at: int | None,
    precision: str | None,
) -> Place:
    if against is not None or precision is not None:
        place = against if against is not None else first.folder or first.file
        return found_place(place, container, at, precision, providers[1])
    if providers[0] != providers[1]:
        return first
    if first.native is None:
        raise MisuseError(
            "there is nothing to compare with", where=str(first.file), fix="name the other run with `against`"
        )
    return found_place(first.native, None, None)


@dataclass(frozen=True)
class _Setup:
    """Both graphs, and what is known of what is valid in them.

    Attributes:
        one: the first graph.
        other: the second.
        metadata: what is ragged.
        reference: the graph whose inputs are drawn.
        known: which part of a value is valid.
        analysis: of native, None without one.
        numbers: which numbers native takes.
        answer: the native model as ONNX Runtime reads it.
        own_lengths: of inputs that only the first graph has, the length that each holds.
    """

    one: Plain
    other: Plain
    metadata: Metadata
    reference: Plain
    known: Known
    analysis: Analysis | None
    numbers: Numbers
    answer: Path | bytes
    own_lengths: Mapping[str, str] = field(default_factory=dict)


def _hearers(setup: _Setup, first: Place, second: Place) -> tuple[Hearer, Hearer]:
    derived = frozenset({*setup.metadata.length_inputs, *setup.metadata.mask_inputs})
    one, other = signature(setup.one.model), signature(setup.other.model)
    padded = [place.metadata is not None for place in (first, second)]
    return (
        Hearer(f"A ({first.file.name})", one, derived | setup.own_lengths.keys(), padded[0]),
        Hearer(f"B ({second.file.name})", other, derived, padded[1]),
    )


def _setup(first: Place, second: Place, lengths: Sequence[str], declared: Declared) -> _Setup:
    padded = next((place.metadata for place in (first, second) if place.metadata is not None), None)
    if padded is not None and not lengths:
        setup = _setup_padded(first, second, padded)
        held = {**(second.metadata.length_inputs if second.metadata is not None else {}), **padded.length_inputs}
        return replace(setup, metadata=replace(padded, length_inputs=held))
    if padded is not None:
        raise MisuseError("`lengths` declares what the padded file says itself", fix="leave it out")
    one = _plain(first.file)
    if not lengths:
        other = _plain(second.file)
        return _Setup(one, other, Metadata(symbols={}), other, Known(), None, Numbers({}), second.file)
    declared, own = _split_lengths(declared, one, second.file)
    opened = open_model(second.file, lengths, **declared)
    try:
        analysis = opened.analyse()
    except RefusedError:
        other = _plain(second.file)
        return _Setup(one, other, _declared(opened), other, Known(), None, Numbers({}), second.file, own)
    metadata = certificate(analysis, opened.rates, {}, "cpu", opened.bindings)
    other = Plain(analysis.model)
    if any(node.op_type == "If" for node in one.nodes):  # the analysis puts branches into the graph
        with suppress(PaddableError):
            one = Plain(open_model(first.file, lengths, **declared).analyse().model)
    known = Known(analysis.values, lambda a, b: b.name, analysis.scope.single_row)
    return _Setup(one, other, metadata, other, known, analysis, index_limits(analysis), second.file, own)


def _split_lengths(declared: Declared, one: Plain, other: Path) -> tuple[Declared, dict[str, str]]:
    """The declarations of the second graph, and the length inputs among them that only the first one has."""
    if not (given := texts_of(declared, "length_inputs")):
        return declared, {}
    mine, theirs = ({value.name for value in model.graph.inputs} for model in (one.model, read_model(other)))
    found = [(text, parse_length_input(text)) for text in given]
    own = {held.name: str(held.length) for _, held in found if held.name in mine - theirs}
    kept = [text for text, held in found if held.name not in own]
    return ({**declared, "length_inputs": kept}, own) if own else (declared, {})


def _setup_padded(first: Place, second: Place, metadata: Metadata) -> _Setup:
    """Where one is padded, native says what is valid: it is the other, or lies in the bundle."""
    graphs: dict[Path, Plain] = {}
    native: Opened | None = None
    where: Path | None = None
    for place in (second, first):
        if place.metadata is None:
            try:
                native, where = open_as_converted(place.file, metadata), place.file
                break
            except (MisuseError, RefusedError):  # another project's export of the same weights
                continue
    if native is None:
        for place in (first, second):
            if place.native is not None and place.metadata is not None:
                native, where = open_as_converted(place.native, place.metadata), place.native
                break
    if native is None or where is None:
        one, other = _plain(first.file), _plain(second.file)
        reference = one if first.metadata is not None else other
        source = first.file if first.metadata is not None else second.file
        return _Setup(one, other, metadata, reference, Known(), None, Numbers({}), source)
    analysis = native.analyse()
    graphs[where] = Plain(analysis.model)
    one, other = (graphs.get(place.file) or _plain(place.file) for place in (first, second))
    if where == second.file:
        known = Known(analysis.values, lambda a, b: b.name, analysis.scope.single_row)
    elif where == first.file:
        known = Known(analysis.values, lambda a, b: a.name, analysis.scope.single_row)
    else:
        partner = match(one if first.metadata is not None else other, graphs[where]).values()
        mine = first.metadata is not None
        known = Known(
            analysis.values,
            lambda a, b: found.name if (found := partner.get(a if mine else b)) is not None else None,
            analysis.scope.single_row,
        )
    source = native.oracle or where
    return _Setup(one, other, metadata, graphs[where], known, analysis, index_limits(analysis), source)


def _declared(opened: Opened) -> Metadata:
    """The metadata that the declarations alone give, for a model that is not understood."""
    declared = opened.declarations
    return Metadata(
        symbols={name: Symbol(owner, axis) for name, (owner, axis) in declared.symbols.items()},
        inputs={name: {axis: str(size) for axis, size in axes.items()} for name, axes in declared.axes.items()},
        length_inputs={name: str(size) for name, size in declared.length_inputs.items()},
    )


def _plain(file: Path) -> Plain:
    return Plain(normalise(read_model(file)))


def _steps(
    setup: _Setup, first: Place, second: Place, given: Inputs, at: int | None, container: str | int | None
) -> dict[str, int]:
    """Valid steps of each symbol: as asked, as given, or two thirds of the container."""
    metadata = setup.metadata
    if not metadata.symbols:
        return {}
    steps = given.steps(metadata)
    widest = _widest(setup, first, second, container)
    for position, (name, symbol) in enumerate(metadata.symbols.items()):
        wanted = at if position == 0 and at is not None else steps.get(name)
        if wanted is None:
            room = max(0, 2 * widest[name] // 3 - symbol.min)
            wanted = symbol.min + room - room % symbol.step
        if wanted < symbol.min or (symbol.max is not None and wanted > symbol.max):
            most = f"{symbol.min:,} to {symbol.max:,}" if symbol.max is not None else f"{symbol.min:,} or more"
            raise MisuseError(
                f"{wanted:,} steps of {name} are outside what the model accepts, {most}",
                fix="choose another length with `at`, or another input",
            )
        steps[name] = wanted
    return steps


def _widest(setup: _Setup, first: Place, second: Place, container: str | int | None) -> dict[str, int]:
    """The smallest of the containers, so that one length fits both; the usual one where none is fixed."""
    found = [place.metadata.container for place in (first, second) if place.metadata is not None]
    found = [size for size in found if size]
    if container is not None and not found:
        found = [_parsed(setup, container)]
    if found:
        return {name: min(size[name] for size in found) for name in setup.metadata.symbols}
    if setup.analysis is not None:
        return largest(setup.analysis, ())
    return {name: max(96, 2 * symbol.min) for name, symbol in setup.metadata.symbols.items()}


def _parsed(setup: _Setup, container: str | int) -> Mapping[str, int]:
    rates = {name: symbol.rate for name, symbol in setup.metadata.symbols.items() if symbol.rate is not None}
    return parse_container(container, list(setup.metadata.symbols), rates=rates).steps


def _sizes(
    setup: _Setup, first: Place, second: Place, steps: Mapping[str, int], container: str | int | None
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The steps that each graph is run at."""
    sizes: list[Mapping[str, int]] = []
    padded = any(place.metadata is not None for place in (first, second))
    for position, place in enumerate((first, second)):
        size: Mapping[str, int] = steps
        if place.metadata is not None:
            size = place.metadata.container or _widest(setup, first, second, container)
        elif position == 0 and container is not None and not padded:
            size = _parsed(setup, container)
        if any(steps[name] > size[name] for name in steps):
            largest = place.bundle is not None and container is None  # one that holds them would have been taken
            raise MisuseError(
                f"{told_size(steps)} does not fit the {'largest ' if largest else ''}container of {told_size(size)}",
                where=str(place.folder or place.file),
                fix="choose fewer steps with `at`, a shorter input, or "
                + ("convert it again with a larger container" if largest else "a larger container with `container`"),
            )
        sizes.append(size)
    return sizes[0], sizes[1]


def _open_axes(plain: Plain) -> list[str]:
    """Axes without a size, such as ``x:1``. The first ones are the batch only where an input has another behind it."""
    inputs = signature(plain.model)
    found = {
        name: [axis for axis, size in enumerate(shape) if size is None]
        for name, shape in inputs.shapes.items()
        if not inputs.holds_length(name)
    }
    batch = any(axes[0] == 0 for axes in found.values() if len(axes) > 1)
    return [
        f"{name}:{axis}"
        for name, axes in found.items()
        for axis in axes
        if axis or not batch or len(inputs.shapes[name]) == 1
    ]


def _example(plain: Plain) -> str:
    """How to declare the first axis without a size."""
    first = next(iter(signature(plain.model).dtypes), "x")
    return arguments(lengths=[f"{next(iter(_open_axes(plain)), f'{first}:1')}=T"])


def _recorded(place: Place, plain: Plain) -> list[Finding]:
    """What the file says of its own remedies, at the nodes that they were for or that stand in for those."""
    remedies = place.metadata.remedies if place.metadata is not None else ()
    found = []
    for node in plain.nodes:
        name = node.name or ""
        fitting = [
            remedy
            for remedy in remedies
            if remedy.node and re.fullmatch(rf"{re.escape(remedy.node)}(_[a-zA-Z]\w*)?", name)
        ]
        if fitting:
            remedy = max(fitting, key=lambda remedy: len(remedy.node))
            found.append(Finding(remedy.code, name, node.op_type, "it reads the padding", remedy.remedy))
    return found


def _threads(file: Path) -> int:
    return 0 if file.stat().st_size > _HEAVY else 1


def _side(
    label: str,
    name: str,
    place: Place,
    plain: Plain,
    feeds: Mapping[str, Array],
    steps: Mapping[str, int],
    size: Mapping[str, int],
    provider: str,
    *,
    both: bool,
    answers: Mapping[str, Array] | None = None,
) -> Side:
    threads = _threads(place.file)
    precision = place.precision(plain)
    where = f"{label} ({place.file.name})"
    if place.metadata is None:
        refuse_other_sizes(where, signature(plain.model), feeds)
    title = f"{name} on {provider}" if both or provider != "cpu" else name
    if size != steps:
        title += (" with zeros to " if place.metadata is None else " at ") + ",".join(
            f"{name}={count}" for name, count in size.items()
        )

    def answer() -> Mapping[str, Array]:
        if answers is not None:
            return answers
        if provider == "cpu":
            own = place.metadata is not None and place.metadata.precision == precision
            config = asked_of(place.metadata) if own and place.metadata else session_config(precision)
            return Engine(place.file, config=config, threads=threads, where=where).run(feeds)
        opening = Opening(session_advice(provider))
        return GraphSession(place.file, opening, static=place.metadata is not None).run(feeds)

    run = on_provider(provider, threads, where)
    return Side(title, plain, feeds, run, answer, steps, size, place.metadata, precision, provider)
