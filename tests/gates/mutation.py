"""Leaves each finding's remedies out in turn: what moves, and whether ``check`` sees the hole in the padded file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx

from paddable.api.certificate import certificate
from paddable.api.opened import Opened
from paddable.gates.engine import Engine, Source
from paddable.gates.index_limits import index_limits
from paddable.gates.oracle import Oracle, scale
from paddable.gates.signals import Signals
from paddable.graph.io.write import to_proto
from paddable.padding.analysis import Analysis
from paddable.padding.remedies import Remedy
from paddable.padding.rewrite.rewrite import rewrite

NEEDED = 1e-4
"""Of scale: a remedy whose absence moves no valid output by more is not needed."""

Steps = Mapping[str, int]


@dataclass(frozen=True)
class Mutant:
    """A padded graph with the remedies of one finding left out.

    Attributes:
        code: of the finding.
        node: its name.
        op: its type.
        model: the padded graph, container symbolic.
    """

    code: str
    node: str
    op: str
    model: onnx.ModelProto


def remedies_of(analysis: Analysis) -> list[tuple[str, str, str, list[Remedy]]]:
    """Code, node, operator and remedies of each finding, in the order of ``analysis.findings``."""
    found: list[tuple[str, str, str, list[Remedy]]] = []
    for site in analysis.sites:
        codes = dict.fromkeys(remedy.code for remedy in site.remedies if remedy.code)
        for code in codes:
            own = [remedy for remedy in site.remedies if remedy.code == code]
            found.append((code, site.node.name or "", site.node.op_type, own))
    for output in analysis.outputs:
        found += [(remedy.code, output.name, "", [remedy]) for remedy in output.remedies if remedy.code]
    return found


def mutants(opened: Opened) -> Iterator[Mutant]:
    """One graph for each finding; an analysis is used up by ``rewrite``, so each has its own."""
    for number in range(len(remedies_of(opened.analyse()))):
        analysis = opened.analyse()
        code, node, op, remedies = remedies_of(analysis)[number]
        yield Mutant(code, node, op, to_proto(rewrite(analysis, None, leave_out=remedies)))


def padded_symbolic(opened: Opened) -> onnx.ModelProto:
    """The padded graph with every remedy, container symbolic."""
    return to_proto(rewrite(opened.analyse(), None))


class Movement:
    """Compares graphs with native.

    Args:
        opened: the native model.
        native: the same, as ONNX Runtime reads it.
        container: the container of every run.
        lengths: the valid steps to try.
        fillings: which junk stands behind them.
    """

    def __init__(
        self,
        opened: Opened,
        native: Source,
        container: Steps,
        lengths: Sequence[Steps],
        fillings: Sequence[int] = (1,),
    ) -> None:
        analysis = opened.analyse()
        metadata = certificate(analysis, {}, {}, "cpu")
        self.container, self.lengths, self.fillings = container, lengths, fillings
        self.oracle = Oracle(native, metadata)
        rows = (metadata.batch.size if metadata.batch else 1) or 1
        engine = self.oracle.engine
        limits = index_limits(analysis)
        self.signals = Signals(metadata, engine.dtypes, engine.shapes, container, limits, rows, 0)

    def of(self, model: onnx.ModelProto) -> float:
        """The largest difference of a valid output from native, relative to scale; infinite where it is not finite."""
        engine = Engine(model.SerializeToString())
        worst = 0.0
        for steps in self.lengths:
            native = self.oracle.answer(self.signals, 0, steps)
            for filling in self.fillings:
                rows = [steps] * self.signals.rows
                got = engine.run(self.signals.padded(rows, self.container, filling, engine.shapes, engine.dtypes))
                for name, want in native.items():
                    if want.dtype.kind != "f":
                        continue
                    valid = got[name][tuple(slice(size) for size in want.shape)]
                    gap = float(abs(valid - want).max(initial=0.0)) / scale(want)
                    worst = max(worst, gap if gap == gap else float("inf"))
        return worst


def without_names(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy that says nothing of its origin: no metadata, no node names, no source lines."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.metadata_props[:]
    del copy.graph.metadata_props[:]
    for node in copy.graph.node:
        node.name, node.doc_string = "", ""
        del node.metadata_props[:]
    for value in (*copy.graph.value_info, *copy.graph.input, *copy.graph.output):
        value.doc_string = ""
        del value.metadata_props[:]
    return copy
