"""What ``probe`` is pointed at: a file, or a graph of a bundle; and whether two of them are one model at all."""

from __future__ import annotations

import json
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from paddable.bundle import KEY, Bundle, Graph, Metadata, read_bundle, read_entries
from paddable.divergence.plain import Plain
from paddable.errors import MisuseError, UnreadableError
from paddable.gates.lift import HALF
from paddable.lengths.declare import parse_container

__all__ = ["Place", "found_place", "told_differences"]

_WEIGHT = 64
"""Elements from which a tensor counts as a weight of the model."""


@dataclass(frozen=True)
class Place:
    """One graph.

    Attributes:
        file: the ``.onnx`` file.
        metadata: what it says of itself; None for a native model.
        bundle: the bundle it lies in, if it was named by the bundle.
        folder: of that bundle.
    """

    file: Path
    metadata: Metadata | None
    bundle: Bundle | None = None
    folder: Path | None = None

    @property
    def native(self) -> Path | None:
        """The native graph of the bundle; also of the bundle that a file lies in."""
        folder = self.folder or self.file.parent
        bundle = self.bundle or (read_bundle(folder, check_below=0) if (folder / "bundle.json").is_file() else None)
        return folder / bundle.native if bundle is not None and bundle.native is not None else None

    def precision(self, plain: Plain) -> str:
        """``fp32``, ``fp16`` or ``int8``: as the metadata says, else as its types tell."""
        if self.metadata is not None and self.metadata.precision != "fp32":
            return self.metadata.precision
        values = (value for node in plain.nodes for value in node.outputs)
        weights = plain.model.graph.initializers.values()
        if any(value.dtype in HALF for value in (*values, *weights)):
            return "fp16"
        return "fp32"


def found_place(path: str | os.PathLike[str], container: str | int | None, at: int | None) -> Place:
    """The graph that a path names.

    Args:
        path: a file or a bundle.
        container: which container of a bundle; the smallest that holds ``at`` steps where None.
        at: valid steps of the first symbol.

    Raises:
        UnreadableError: no such file, or a damaged bundle.
        MisuseError: the bundle has no such container.
    """
    place = Path(path)
    if not place.exists():
        raise UnreadableError("no such file or bundle", where=str(place), fix="check the path")
    if not place.is_dir():
        text = read_entries(place).get(KEY)
        metadata = Metadata.loads(text, where=str(place)) if text is not None else None
        return Place(place, metadata if metadata is not None and metadata.symbols else None)
    bundle = read_bundle(place, check_below=0)
    graph = _chosen(bundle, place, container, at)
    text = read_entries(place / graph.file).get(KEY)
    metadata = Metadata.loads(text, where=graph.file) if text is not None else bundle.metadata
    return Place(place / graph.file, metadata, bundle, place)


def _chosen(bundle: Bundle, place: Path, container: str | int | None, at: int | None) -> Graph:
    symbols = list(bundle.metadata.symbols)
    graphs = sorted(bundle.graphs, key=lambda graph: tuple(graph.container.values()))
    if not graphs:
        raise MisuseError("the bundle has no graph", where=str(place))
    if container is not None:
        rates = {name: symbol.rate for name, symbol in bundle.metadata.symbols.items() if symbol.rate is not None}
        size = parse_container(container, symbols, rates=rates).steps
        found = [graph for graph in graphs if graph.container == size]
        if not found:
            there = ", ".join(str(dict(graph.container)) for graph in graphs)
            raise MisuseError(
                f"the bundle has no container of {dict(size)}", where=str(place), fix=f"choose one of {there}"
            )
        return found[0]
    fitting = [graph for graph in graphs if at is None or not symbols or graph.container.get(symbols[0], at) >= at]
    return (fitting or graphs)[0]


def told_differences(first: Place, second: Place, one: Plain, other: Plain) -> list[str]:
    """What makes them two models and not one: weights, tokens, front ends."""
    told = []
    if "int8" not in (first.precision(one), second.precision(other)):
        mine, theirs = _weights(one), _weights(other)
        shared = sum((mine & theirs).values())
        fewest = min(sum(mine.values()), sum(theirs.values()))
        if fewest and shared < 0.5 * fewest:
            told.append(f"the weights differ: {shared} of {fewest} are in both graphs")
    a, b = first.bundle, second.bundle
    if a is not None and b is not None and a is not b:
        if a.front_end != b.front_end:
            told.append(f"the front ends differ: {json.dumps(a.front_end)} and {json.dumps(b.front_end)}")
        if a.sample_rate != b.sample_rate:
            told.append(f"the sample rates differ: {a.sample_rate} and {b.sample_rate}")
        if a.labels and b.labels and a.files.get(a.labels) != b.files.get(b.labels):
            told.append(f"the token lists differ: {a.labels} and {b.labels}")
    for mine_out, their_out in zip(one.model.graph.outputs, other.model.graph.outputs, strict=False):
        left, right = _classes(mine_out), _classes(their_out)
        if left and right and left != right and mine_out.name == their_out.name:
            told.append(f"output {mine_out.name} has {left} classes in the first and {right} in the second")
    return told


def _weights(plain: Plain) -> Counter[object]:
    large = [
        value
        for value in plain.model.graph.initializers.values()
        if value.const_value is not None
        and value.const_value.size >= _WEIGHT
        and value.const_value.dtype.is_floating_point()
    ]
    with ThreadPoolExecutor() as pool:
        return Counter(pool.map(plain.fingerprint, large))


def _classes(value: ir.Value) -> int | None:
    size = value.shape[-1] if value.shape is not None and len(value.shape) else None
    return size if isinstance(size, int) and size >= _WEIGHT else None
