"""``inspect`` of a folder: the dimensions of a checkpoint, as configured, or what a bundle holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddable.api.exporting_families import family_of
from paddable.api.versions import versions
from paddable.bundle import read_bundle
from paddable.bundle.manifest import MANIFEST
from paddable.bundle.onnxfile import read_entries
from paddable.bundle.state import STEP_METADATA_KEY, StateTable, StepSpec
from paddable.errors import MissingExtraError, UnreadableError
from paddable.extras import bring
from paddable.families.registry import FAMILIES

if TYPE_CHECKING:
    import onnx_ir as ir

__all__ = ["FolderReport", "described", "inspect_folder", "told_states"]


@dataclass(frozen=True)
class FolderReport:
    """What is in a folder.

    Attributes:
        kind: ``checkpoint`` or ``bundle``.
        family: as ``paddable export`` calls it.
        dimensions: of a checkpoint: every size that its configuration gives, and those that follow from it.
        graphs: of a bundle: its files and their containers.
        inputs, outputs: of a bundle's native graph: name, type, shape.
        attention: likewise: heads, width of a head and number of layers of each kind of attention.
        state: of a stream: name, type, shape, bytes and meaning of each.
        state_bytes: of one stream.
        left_out: why inputs, outputs and attention are not told.
    """

    kind: str
    family: str | None
    dimensions: Mapping[str, Any] = field(default_factory=dict)
    graphs: tuple[Mapping[str, Any], ...] = ()
    inputs: tuple[Mapping[str, Any], ...] = ()
    outputs: tuple[Mapping[str, Any], ...] = ()
    attention: tuple[Mapping[str, Any], ...] = ()
    state: tuple[Mapping[str, Any], ...] = ()
    state_bytes: int | None = None
    left_out: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {"ok": True, **asdict(self), "versions": versions()}


def inspect_folder(folder: Path) -> FolderReport:
    """Describe a checkpoint or a bundle of any family.

    Raises:
        UnreadableError: it is neither.
        MissingExtraError: a checkpoint needs torch.
    """
    if (folder / MANIFEST).is_file():
        return _bundle(folder)
    spec = next((spec for spec in FAMILIES.values() if spec.is_of(folder)), None)
    if spec is None:
        raise UnreadableError(
            "neither a bundle nor a checkpoint that inspect knows",
            where=str(folder),
            why="it holds no bundle.json, and no configuration of a family",
            fix=f"give a bundle, a file, or a folder of {', '.join(FAMILIES)}",
        )
    found = family_of(spec.name).describe(folder)
    told: dict[str, Any] = (
        {"state": told_states(found.states), "state_bytes": found.states.nbytes} if found.states else {}
    )
    return FolderReport("checkpoint", spec.name, found.dimensions, **told)


def told_states(states: StateTable) -> tuple[Mapping[str, Any], ...]:
    """One record a state."""
    return tuple(
        {"name": s.name, "type": s.dtype, "shape": list(s.shape), "bytes": s.nbytes, "meaning": s.meaning}
        for s in states
    )


def described(value: ir.Value) -> dict[str, Any]:
    """Name, type and shape of an input or output."""
    shape = None if value.shape is None else [d if isinstance(d, int) else str(d) for d in value.shape]
    return {"name": value.name, "type": str(value.dtype), "shape": shape}


def _bundle(folder: Path) -> FolderReport:
    bundle = read_bundle(folder)
    graphs: list[Mapping[str, Any]] = [
        {"file": graph.file, "container": dict(graph.container), "target": graph.target, "precision": graph.precision}
        | ({"rows": graph.rows} if graph.rows else {})
        for graph in bundle.graphs
    ]
    states: StateTable | None = None
    for file in bundle.step_graphs:
        spec = StepSpec.from_json(read_entries(folder / file)[STEP_METADATA_KEY])
        graphs.append({"file": file, "container": {"steps of a chunk": spec.steps}})
        states = spec.states
    told: dict[str, Any] = {"state": told_states(states), "state_bytes": states.nbytes} if states else {}
    if bundle.native is not None:
        try:
            told |= _native(folder / bundle.native, bundle.metadata.lengths)
        except MissingExtraError as error:  # where the runtime alone is installed
            told["left_out"] = f"inputs, outputs and attention, as {error}"
    return FolderReport("bundle", bundle.family, graphs=tuple(graphs), **told)


def _native(file: Path, lengths: Mapping[str, Mapping[int, str]]) -> dict[str, Any]:
    model: ir.Model = bring("paddable.graph.io.read", "read_model")(file, older=True)
    graph = model.graph
    inputs, outputs = (tuple(map(described, values)) for values in (graph.inputs, graph.outputs))
    attention = tuple(bring("paddable.api.heads", "attention_heads")(model))
    return {
        "inputs": inputs,
        "outputs": tuple(_with_lengths(output, lengths) for output in outputs),
        "attention": attention,
    }


def _with_lengths(output: Mapping[str, Any], lengths: Mapping[str, Mapping[int, str]]) -> Mapping[str, Any]:
    """Ragged axes as the manifest says them: the native graph's own expressions fill screens."""
    ragged = lengths.get(output["name"], {})
    return {**output, "shape": [ragged.get(axis, size) for axis, size in enumerate(output["shape"] or [])] or None}
