"""What ``probe`` is pointed at: a file, or a graph of a bundle; and whether two of them are one model at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import onnx_ir as ir

from paddable.bundle import KEY, Bundle, Graph, Metadata, read_bundle, read_entries
from paddable.divergence.plain import Plain
from paddable.divergence.quantised import fewest_bits
from paddable.errors import MisuseError, UnreadableError
from paddable.gates.lift import HALF
from paddable.lengths import parse, symbol
from paddable.lengths.declare import parse_container

__all__ = [
    "Place",
    "found_place",
    "in_symbols_of",
    "names_apart",
    "told_classes",
    "told_differences",
    "told_size",
]

_CLASSES = 64
"""Size of an output's last axis from which it counts classes."""


@dataclass(frozen=True)
class Place:
    """One graph.

    Attributes:
        file: the ``.onnx`` file.
        metadata: what it says of itself; None for a native model.
        bundle: the bundle it lies in, if it was named by the bundle.
        folder: of that bundle.
        notes: what was chosen for the user.
    """

    file: Path
    metadata: Metadata | None
    bundle: Bundle | None = None
    folder: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def native(self) -> Path | None:
        """The native graph of the bundle; also of the bundle that a file lies in."""
        folder = self.folder or self.file.parent
        bundle = self.bundle or (read_bundle(folder, check_below=0) if (folder / "bundle.json").is_file() else None)
        return folder / bundle.native if bundle is not None and bundle.native is not None else None

    def precision(self, plain: Plain) -> str:
        """``fp32``, ``fp16``, ``int8`` or ``int4``: as the metadata says, else as its nodes and types tell."""
        if self.metadata is not None and self.metadata.precision != "fp32":
            return self.metadata.precision
        bits = fewest_bits(plain)
        if bits is not None:
            return "int8" if bits == 8 else "int4"
        graph = plain.model.graph
        values = (*(value for node in plain.nodes for value in node.outputs), *graph.inputs)
        casts = (node.attributes["to"].value for node in plain.nodes if node.op_type == "Cast")
        types = (*(value.dtype for value in (*values, *graph.initializers.values())), *casts)
        return "fp16" if any(each in HALF for each in types) else "fp32"


def told_size(size: Mapping[str, int]) -> str:
    """Steps of each symbol, such as ``T = 16,000``."""
    return ", ".join(f"{name} = {count:,}" for name, count in size.items())


def found_place(
    path: str | os.PathLike[str],
    container: str | int | None,
    at: int | None,
    precision: str | None = None,
    target: str | None = None,
) -> Place:
    """The graph that a path names.

    Args:
        path: a file or a bundle.
        container: which container of a bundle; the smallest that holds ``at`` steps where None, else the largest.
        at: valid steps of the first symbol.
        precision: which precision of a bundle; fp32 where it is there.
        target: which target's graphs of a bundle are taken where it has them; else those of its first.

    Raises:
        UnreadableError: no such file, or a damaged bundle.
        MisuseError: the bundle has no such container or precision, a precision was chosen of a file, or a Python file
            without its function.
    """
    place = Path(path)
    if not place.exists():
        raise UnreadableError("no such file or bundle", where=str(place), fix="check the path")
    if place.suffix == ".py":
        raise MisuseError(
            "a Python file is no model",
            where=str(place),
            fix=f"name the function that returns the module and its sample, such as {place}:build",
        )
    if not place.is_dir() and precision is not None:
        raise MisuseError("a file has one precision", where=str(place), fix="choose it of a bundle, or name its file")
    if not place.is_dir():
        text = read_entries(place).get(KEY)
        metadata = Metadata.loads(text, where=str(place)) if text is not None else None
        return Place(place, metadata if metadata is not None and metadata.symbols else None)
    bundle = read_bundle(place, check_below=0)
    graph, notes = _chosen(bundle, place, container, at, precision, target)
    text = read_entries(place / graph.file).get(KEY)
    metadata = Metadata.loads(text, where=graph.file) if text is not None else bundle.metadata
    return Place(place / graph.file, metadata, bundle, place, notes)


def in_symbols_of(first: Place, second: Place) -> Place:
    """The second graph with its lengths in the symbols of the first: one symbol where both name one axis of one input.

    Raises:
        MisuseError: the first has a symbol that stands for no axis of the second.
    """
    if first.metadata is None or second.metadata is None:
        return second
    mine, theirs = first.metadata, second.metadata
    known = {(each.input, each.axis): name for name, each in mine.symbols.items()}
    names = {name: known.get((each.input, each.axis), name) for name, each in theirs.symbols.items()}
    held = {names[name]: each for name, each in theirs.symbols.items()}
    if len(held) < len(names) or any(
        name not in held or (held[name].input == each.input and held[name].axis != each.axis)
        for name, each in mine.symbols.items()
    ):
        told = [
            ", ".join(f"{name} ({each.input}, axis {each.axis})" for name, each in said.symbols.items())
            for said in (mine, theirs)
        ]
        raise MisuseError(
            "the two graphs were converted along other axes",
            where=f"{first.file} and {second.file}",
            why=f"the first varies in {told[0]}, the second in {told[1]}",
            fix="convert both with the same declarations",
        )
    if all(old == new for old, new in names.items()):
        return second
    lengths = {old: symbol(new) for old, new in names.items()}

    def renamed(axes: Mapping[str, Mapping[int, str]]) -> dict[str, dict[int, str]]:
        return {
            name: {axis: str(parse(text).substitute(lengths)) for axis, text in sizes.items()}
            for name, sizes in axes.items()
        }

    metadata = replace(
        theirs,
        symbols=held,
        container={names[name]: steps for name, steps in theirs.container.items()},
        lengths=renamed(theirs.lengths),
        inputs=renamed(theirs.inputs),
        length_inputs={name: str(parse(text).substitute(lengths)) for name, text in theirs.length_inputs.items()},
        mask_inputs=renamed(theirs.mask_inputs),
    )
    return replace(second, metadata=metadata)


def _chosen(
    bundle: Bundle,
    place: Path,
    container: str | int | None,
    at: int | None,
    precision: str | None,
    target: str | None,
) -> tuple[Graph, tuple[str, ...]]:
    """One graph of a bundle, and what of the choice was left to us."""
    symbols = list(bundle.metadata.symbols)
    one_row = [graph for graph in bundle.graphs if graph.rows is None]
    graphs = sorted(one_row, key=lambda graph: tuple(graph.container.values()))
    if not graphs:
        raise MisuseError("the bundle has no graph", where=str(place))
    targets = list(dict.fromkeys(graph.target for graph in bundle.graphs))
    chosen = target if target in targets else targets[0]
    graphs = [graph for graph in graphs if graph.target == chosen]
    there = sorted({graph.precision for graph in graphs})
    if precision is not None and precision not in there:
        raise MisuseError(
            f"the bundle has no graph in {precision}", where=str(place), fix=f"choose one of {', '.join(there)}"
        )
    taken = precision or ("fp32" if "fp32" in there else there[0])
    notes: tuple[str, ...] = ()
    if targets[1:]:
        notes += (f"{place.name} was made for {' and '.join(targets)}: the graphs for {chosen} were taken",)
    if precision is None and there[1:]:
        notes += (f"{place.name} holds {' and '.join(there)}: {taken} was taken",)
    graphs = [graph for graph in graphs if graph.precision == taken]
    if container is not None:
        rates = {name: symbol.rate for name, symbol in bundle.metadata.symbols.items() if symbol.rate is not None}
        size = parse_container(container, symbols, rates=rates).steps
        found = [graph for graph in graphs if graph.container == size]
        if not found:
            sizes = "; ".join(dict.fromkeys(told_size(graph.container) for graph in graphs))
            raise MisuseError(
                f"the bundle has no container of {told_size(size)}", where=str(place), fix=f"choose one of {sizes}"
            )
        return found[0], notes
    fitting = [graph for graph in graphs if at is None or not symbols or graph.container.get(symbols[0], at) >= at]
    return (fitting or graphs[-1:])[0], notes


def names_apart(one: Path, other: Path) -> tuple[str, str]:
    """What to call two files: their names, with the folders that tell them apart where those are equal."""
    mine, theirs = one.resolve(), other.resolve()
    parts = 1
    while mine != theirs and mine.parts[-parts:] == theirs.parts[-parts:]:
        parts += 1
    return "/".join(mine.parts[-parts:]), "/".join(theirs.parts[-parts:])


def told_differences(first: Place, second: Place) -> list[str]:
    """What else makes them two models and not one: tokens and front ends."""
    told = []
    a, b = first.bundle, second.bundle
    if a is not None and b is not None and a is not b:
        if a.front_end != b.front_end:
            told.append(f"the front ends differ: {_first_difference(a.front_end, b.front_end)}; {_ONE_EXPORT}")
        if a.sample_rate != b.sample_rate:
            told.append(f"the sample rates differ: {a.sample_rate} and {b.sample_rate}; {_ONE_EXPORT}")
        if a.labels and b.labels and a.files.get(a.labels) != b.files.get(b.labels):
            one_list, other_list = (_tokens(place) for place in (first, second))
            told.append(f"the token lists differ: {_first_difference(one_list, other_list)}; {_ONE_EXPORT}")
    return told


def told_classes(one: Plain, other: Plain, lengths: Mapping[str, Mapping[int, str]]) -> list[str]:
    """Outputs of one name and another number of classes.

    Args:
        one: the first graph.
        other: the second.
        lengths: of each output, the axes whose size follows the length: a container's steps are no classes.
    """
    told = []
    for mine_out, their_out in zip(one.model.graph.outputs, other.model.graph.outputs, strict=False):
        left, right = _classes(mine_out), _classes(their_out)
        ragged = mine_out.shape is not None and len(mine_out.shape) - 1 in lengths.get(mine_out.name or "", {})
        if left and right and left != right and mine_out.name == their_out.name and not ragged:
            told.append(f"output {mine_out.name} has {left} classes in the first and {right} in the second")
    return told


_ONE_EXPORT = "export both from one checkpoint with the same options"


def _tokens(place: Place) -> object:
    """The labels of a bundle: what its JSON says, else its lines."""
    assert place.bundle is not None and place.folder is not None and place.bundle.labels is not None
    text = (place.folder / place.bundle.labels).read_text(encoding="utf-8", errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return text.splitlines()


def _first_difference(mine: object, theirs: object, place: str = "") -> str:
    """The first place where two pieces of plain data differ, and what is there in each."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        name = next(n for n in {**mine, **theirs} if mine.get(n) != theirs.get(n))
        return _first_difference(mine.get(name), theirs.get(name), f"{place}.{name}" if place else str(name))
    if isinstance(mine, list) and isinstance(theirs, list):
        pairs = enumerate(zip(mine, theirs, strict=False))
        index = next((i for i, (a, b) in pairs if a != b), None)
        if index is not None:
            return _first_difference(mine[index], theirs[index], f"{place}[{index}]")
        return f"{place or 'they'} {'has' if place else 'have'} {len(mine):,} and {len(theirs):,} entries"
    told = [json.dumps(each, ensure_ascii=False) for each in (mine, theirs)]
    return f"{place + ' is ' if place else ''}{told[0]} in the first and {told[1]} in the second"


def _classes(value: ir.Value) -> int | None:
    size = value.shape[-1] if value.shape is not None and len(value.shape) else None
    return size if isinstance(size, int) and size >= _CLASSES else None
