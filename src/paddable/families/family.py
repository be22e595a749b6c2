"""The torch side of a family: a checkpoint folder to what a bundle is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddable.bundle.state import StateTable
from paddable.families.spec import FamilySpec

if TYPE_CHECKING:
    import onnx
    import onnx_ir as ir

__all__ = ["Described", "Family", "Loaded"]


@dataclass(frozen=True)
class Loaded:
    """A checkpoint in memory, and what belongs to its bundle.

    Attributes:
        export: traces the native graph: one row, any length, no masks; or the file of a graph that is there already.
        rate: steps a second of the ragged axis that the spec names; None where it is no time.
        about: fields of ``Bundle``: ``sample_rate``, ``front_end``, ``units`` and ``settings``.
        classes: of the labels that the model writes; None where it writes no text.
        step_graphs: for each step graph of a stream, by file name, what traces it.
        length: the ragged axis, where the spec does not say it.
        declared: what else is known of the graph, as ``convert`` takes it, such as its length inputs.
        writes: for each class the text that it writes, or its byte, where no file of the checkpoint holds them so.
        found: sentences about what was found out, each with its evidence.
        export_rows: as ``export``, for any number of rows; None where the graph takes one.
    """

    export: Callable[[], onnx.ModelProto | Path]
    rate: float | None
    about: Mapping[str, Any]
    classes: int | None = None
    step_graphs: Mapping[str, Callable[[], ir.Model]] = field(default_factory=dict)
    length: str = ""
    declared: Mapping[str, Any] = field(default_factory=dict)
    writes: Sequence[str | int] | None = None
    found: Sequence[str] = ()
    export_rows: Callable[[], onnx.ModelProto | Path] | None = None


@dataclass(frozen=True)
class Described:
    """What ``inspect`` tells of a checkpoint.

    Attributes:
        dimensions: every size that its configuration gives, and those that follow from it.
        states: of a stream; None where the family has none.
    """

    dimensions: Mapping[str, Any]
    states: StateTable | None = None


@dataclass(frozen=True)
class Family:
    """A family that can be exported; each ``families/<name>/export.py`` holds one as ``FAMILY``.

    Attributes:
        spec: the part that needs no torch.
        load: a checkpoint folder and the choices of ``FamilySpec.chosen`` to what is exported. It raises
            ``UnreadableError`` for a folder that is incomplete or of another model.
        describe: a checkpoint folder to its sizes; it raises as ``load`` does.
    """

    spec: FamilySpec
    load: Callable[[Path, Mapping[str, Any]], Loaded]
    describe: Callable[[Path], Described]
