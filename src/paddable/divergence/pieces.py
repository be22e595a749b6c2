"""A graph run piece by piece: every inner value can be looked at, and few are held at a time.

Exposing all values of a model as outputs would hold all of them; running the model again for each would cost as many
runs. Here each node runs once: a piece takes the values that earlier pieces left, and gives those that are looked at
and those that later pieces read. What later pieces read is kept at some places, and from there a value is made again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx_ir as ir

from paddable.divergence.cut import Cutter
from paddable.divergence.fork import region
from paddable.divergence.plain import Plain
from paddable.gates.engine import Array, Engine, EngineError
from paddable.providers.advice import session_advice
from paddable.runtime.session.graph import GraphSession, Opening

__all__ = ["Pieces", "Run", "on_provider"]

_FED = ("Conv", "ConvTranspose", "Gemm", "MatMul")
_LARGE = 1 << 12
"""Elements from which a weight is not copied into a piece."""

_KEPT = 32 << 20
"""Bytes of values between two pieces that are kept of a run, so that what lies behind them can be made again."""

Run: TypeAlias = "Callable[[bytes, Mapping[str, Array]], dict[str, Array]]"
"""Runs a serialised model; all outputs by name."""


def on_provider(provider: str, threads: int = 1, where: str = "") -> Run:
    """Run models on a provider, without ONNX Runtime's optimiser on the CPU: a fused node has no inner values.

    Args:
        provider: its name.
        threads: of one operator on the CPU; 0 takes every core.
        where: what errors call the model.

    Raises:
        MissingExtraError: the installed ONNX Runtime lacks the provider.
    """
    if provider == "cpu":
        return lambda model, feeds: _on_cpu(model, feeds, threads, where)
    opening = Opening(session_advice(provider))

    def run(model: bytes, feeds: Mapping[str, Array]) -> dict[str, Array]:
        with tempfile.TemporaryDirectory(prefix="paddable.", ignore_cleanup_errors=True) as folder:
            file = Path(folder, "piece.onnx")
            file.write_bytes(model)
            return GraphSession(file, opening).run(feeds)

    return run


def _on_cpu(model: bytes, feeds: Mapping[str, Array], threads: int, where: str) -> dict[str, Array]:
    try:
        return Engine(model, optimise=False, threads=threads, where=where).run(feeds)
    except EngineError:  # an operator that only the optimiser's fusion can run
        return Engine(model, threads=threads, where=where).run(feeds)


class Pieces:
    """One run of a graph, advanced node by node in its order.

    Args:
        plain: the graph.
        feeds: its inputs.
        run: runs a piece.
        apart: feed large weights to a piece as they lie in their file, and do not copy them into it. On the CPU alone:
            others compile what is constant.
    """

    def __init__(self, plain: Plain, feeds: Mapping[str, Array], run: Run, *, apart: bool = False) -> None:
        self._plain, self._run, self._cutter, self._apart = plain, run, Cutter(plain.model), apart
        self._last: dict[ir.Value, int] = {}
        for index, node in enumerate(plain.nodes):
            for value in plain.inputs(node):
                self._last[value] = index
        self._fed: dict[ir.Value, Any] = {
            value: feeds[value.name]
            for value in plain.model.graph.inputs
            if value.name is not None and value.name in feeds
        }
        self._held = dict(self._fed)
        self._kept: list[tuple[int, dict[ir.Value, Any]]] = [(0, self._fed)]
        self._before = self._held
        self._taken: dict[ir.Value, Array] = {}

    def advance(self, start: int, stop: int, wanted: Sequence[ir.Value]) -> dict[ir.Value, Array]:
        """Run the nodes ``start`` to ``stop - 1``, the first not yet run.

        Args:
            start: index of the first node.
            stop: index behind the last.
            wanted: outputs of these nodes to look at; none is a sequence, and no later node reads one of theirs.

        Returns:
            The wanted values that the piece computed.

        Raises:
            PaddableError: ONNX Runtime could not load or run the piece.
        """
        self._before = self._held
        nodes = self._plain.nodes[start:stop]
        answers = self._ran(nodes, stop, wanted, self._held)
        made = {value for node in nodes for value in node.outputs}
        self._held = {v: array for v, array in {**self._held, **answers}.items() if self._last.get(v, -1) >= stop}
        self._keep(stop)
        return {value: answers[value] for value in dict.fromkeys(wanted) if value in made}

    def take(
        self, taken: Mapping[ir.Value, Array], start: int, stop: int, wanted: Sequence[ir.Value]
    ) -> dict[ir.Value, Array]:
        """Run the last piece again, with arrays in place of what its nodes make; they stay from now on.

        Args:
            taken: by output of a node, what is read in its place; all outputs that are read.
            start: as of ``advance``.
            stop: likewise.
            wanted: likewise.
        """
        self._taken.update(taken)
        self._held = self._before
        self._kept = [(place, held) for place, held in self._kept if place != stop]
        return self.advance(start, stop, wanted)

    def again(self, wanted: Iterable[ir.Value]) -> dict[ir.Value, Array]:
        """Values of what has run, made again from what was kept in front of them.

        Args:
            wanted: inputs of the graph, or values of nodes that have run.

        Raises:
            PaddableError: ONNX Runtime could not load or run the piece.
        """
        found: dict[ir.Value, Array] = {}
        groups: dict[int, list[ir.Value]] = {}
        for value in dict.fromkeys(wanted):
            maker = value.producer()
            kept = next(
                (held[value] for held in (self._taken, *(held for _, held in self._kept)) if value in held), None
            )
            if kept is not None:
                found[value] = kept
            elif maker is not None:
                place = self._plain.place[maker]
                groups.setdefault(max(k for k, (start, _) in enumerate(self._kept) if start <= place), []).append(value)
        for index, values in groups.items():
            held = {**self._fed, **self._kept[index][1], **self._taken}
            needed = {node for value in values for node in region(self._plain, value, held.__contains__)[0]}
            nodes = sorted(needed, key=self._plain.place.__getitem__)
            found |= self._ran(nodes, len(self._plain.nodes), values, held)
        return found

    def _keep(self, stop: int) -> None:
        """Keep what later pieces read; where that is much, every second of what was kept goes."""
        self._kept.append((stop, self._held))
        while len(self._kept) > 1 and self._bytes() > _KEPT:
            del self._kept[1::2]

    def _bytes(self) -> int:
        arrays = {id(array): array for _, held in self._kept[1:] for array in held.values()}
        return sum(int(array.nbytes) for array in arrays.values())

    def _ran(
        self, nodes: Sequence[ir.Node], stop: int, wanted: Sequence[ir.Value], held: Mapping[ir.Value, Array]
    ) -> dict[ir.Value, Array]:
        """What nodes make that is wanted, or read from ``stop`` on."""
        held = {**held, **self._taken}
        found = {value: self._taken[value] for value in wanted if value in self._taken}
        nodes = [node for node in nodes if self._taken.keys().isdisjoint(node.outputs)]
        made = dict.fromkeys(value for node in nodes for value in node.outputs if value.name)
        lists = self._plain.sequences
        later = [value for value in made if value not in lists and self._last.get(value, -1) >= stop]
        asked = [value for value in dict.fromkeys((*wanted, *later)) if value in made]
        answers: dict[str, Array] = {}
        if asked:
            feeds = {
                str(value.name): held[value]
                for value in dict.fromkeys(v for node in nodes for v in self._plain.inputs(node))
                if value not in made and value in held
            }
            weights = _large(nodes) if self._apart else {}
            try:
                answers = self._run(self.cut(nodes, {**feeds, **weights}, asked), {**feeds, **weights})
            except EngineError:
                if not weights:
                    raise
                answers = self._run(self.cut(nodes, feeds, asked), feeds)
        return found | {value: answers[str(value.name)] for value in asked}

    def cut(self, nodes: Sequence[ir.Node], feeds: Mapping[str, Array], asked: Sequence[ir.Value]) -> bytes:
        """A serialised model of some nodes, with their weights inside.

        Args:
            nodes: in topological order.
            feeds: what they read and nobody among them makes.
            asked: the outputs.
        """
        return self._cutter.cut(nodes, feeds, asked)


def _large(nodes: Sequence[ir.Node]) -> dict[str, Array]:
    """The large weights of products and convolutions, which need not be constant; by name."""
    found = {}
    for node in nodes:
        value = node.inputs[1] if node.op_type in _FED and not node.domain and len(node.inputs) > 1 else None
        tensor = value.const_value if value is not None else None
        if value is None or tensor is None or tensor.dtype != ir.DataType.FLOAT or tensor.size < _LARGE:
            continue
        found[str(value.name)] = np.require(tensor.numpy(), requirements=["A", "C"])
    return found
