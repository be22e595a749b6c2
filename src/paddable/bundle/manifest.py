"""``bundle.json``: what a bundle holds, read and written."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, get_type_hints

from paddable.bundle.conform import conforms, type_name
from paddable.bundle.metadata import KEY, Metadata
from paddable.bundle.onnxfile import read_entries
from paddable.errors import MisuseError, UnreadableError

__all__ = ["CHEAP", "MANIFEST", "Bundle", "Graph", "read_bundle", "read_metadata", "write_bundle"]

MANIFEST = "bundle.json"

CHEAP = 64 << 20
"""Bytes of a file whose SHA-256 takes less than a tenth of a second."""


@dataclass(frozen=True)
class Graph:
    """One converted graph of a bundle.

    Attributes:
        file: its path inside the bundle, ``<target>-<precision>-<C>.onnx``.
        container: steps of each symbol.
        target: the execution provider it was made for.
        precision: the type it computes in.
        rows: how many rows a run takes, where it is not the number that the bundle's metadata says.
    """

    file: str
    container: Mapping[str, int]
    target: str = "cpu"
    precision: str = "fp32"
    rows: int | None = None


@dataclass(frozen=True)
class Bundle:
    """A model in all its containers.

    Attributes:
        metadata: what holds for every graph. Its container is empty: each graph has its own.
        graphs: the converted graphs.
        native: the native graph's file, for verification and for providers that run it fastest.
        family: the model family it was exported from, such as ``sense-voice``; None for a stranger's graph.
        step_graphs: files of step graphs, one per chunk size, when the model streams.
        sample_rate: samples a second, when the model hears sound.
        front_end: what stands between the sound and the first declared input, and its settings.
        settings: what the family's pipeline has to know, such as where the blank of its CTC classes is.
        labels: the file that holds the labels of the outputs, one text asset of the bundle.
        source: the hub, repository and revision that the checkpoint was fetched from; None for one that was there.
        units: what one unit of each length is, such as ``{"logits_length": "frames of 60 ms"}``.
        files: SHA-256 of every file but ``bundle.json``; filled in when the bundle is written.
    """

    metadata: Metadata
    graphs: tuple[Graph, ...]
    native: str | None = None
    family: str | None = None
    step_graphs: tuple[str, ...] = ()
    sample_rate: int | None = None
    front_end: Mapping[str, Any] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    labels: str | None = None
    source: Mapping[str, Any] | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    def native_in(self, precision: str) -> str | None:
        """The native graph's file in a precision; only one that changes native before it is padded has its own."""
        own = f"native-{precision}.onnx"
        return self.native if precision == "fp32" else own if own in self.files else None

    def to_json(self) -> dict[str, Any]:
        """The content of ``bundle.json``: the metadata, and what only a bundle has."""
        graphs = sorted(self.graphs, key=lambda graph: (graph.target, graph.precision, sorted(graph.container.items())))
        of_rows = [graph for graph in graphs if graph.rows is not None]
        return {
            **self.metadata.to_json(),
            "native": self.native,
            "graphs": [_said_of(graph) for graph in graphs if graph.rows is None],
            # apart from the others: who does not know them would give them one row
            **({"row_graphs": [{**_said_of(graph), "rows": graph.rows} for graph in of_rows]} if of_rows else {}),
            "targets": sorted({graph.target for graph in graphs}),
            "precisions": sorted({graph.precision for graph in graphs}),
            "family": self.family,
            "step_graphs": list(self.step_graphs),
            "sample_rate": self.sample_rate,
            "front_end": self.front_end,
            "settings": dict(self.settings),
            "labels": self.labels,
            "source": self.source,
            "units": dict(self.units),
            "files": dict(sorted(self.files.items())),
        }

    @classmethod
    def from_json(cls, data: Any, *, where: str) -> Bundle:
        """Read what ``to_json`` gave.

        Raises:
            UnreadableError: another format, or not of this form, or a file outside the bundle.
        """
        metadata = Metadata.from_json(data, where=where)
        for key, hint in _EXPECTED.items():
            if key in data and not conforms(data[key], hint):
                raise UnreadableError(
                    f"bundle.json: {key} is {_shown(data[key])}, expected {type_name(hint)}",
                    where=where,
                    fix="make the bundle again",
                )
        try:
            bundle = cls(
                metadata=metadata,
                graphs=tuple(
                    map(_graph, (*data["graphs"], *({"rows": 0, **said} for said in data.get("row_graphs", ()))))
                ),
                native=data.get("native"),
                family=data.get("family"),
                step_graphs=tuple(data.get("step_graphs") or ()),
                sample_rate=data.get("sample_rate"),
                front_end=data.get("front_end"),
                settings=dict(data.get("settings", {})),
                labels=data.get("labels"),
                source=data.get("source"),
                units=dict(data.get("units", {})),
                files=dict(data.get("files", {})),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableError(
                f"bundle.json is damaged ({type(error).__name__}: {error})", where=where, fix="make the bundle again"
            ) from error
        named = (
            bundle.native,
            bundle.labels,
            *bundle.step_graphs,
            *bundle.files,
            *(graph.file for graph in bundle.graphs),
        )
        for name in named:
            if name is not None and not _is_inside(name):
                raise UnreadableError(f"bundle.json names the file {name!r}, which is outside the bundle", where=where)
        return bundle


_EXPECTED: Mapping[str, Any] = {
    "graphs": Sequence[Mapping[str, Any]],
    "row_graphs": Sequence[Mapping[str, Any]],
    "native": str | None,
    "family": str | None,
    "step_graphs": Sequence[str],
    "sample_rate": int | None,
    "front_end": Mapping[str, Any] | None,
    "settings": Mapping[str, Any],
    "labels": str | None,
    "source": Mapping[str, Any] | None,
    "units": Mapping[str, str],
    "files": Mapping[str, str],
}


def _graph(said: Mapping[str, Any]) -> Graph:
    graph = Graph(said["file"], said["container"], said["target"], said["precision"], said.get("rows"))
    for name, hint in get_type_hints(Graph).items():
        if not conforms(getattr(graph, name), hint):
            raise ValueError(f"{name} of a graph is {_shown(getattr(graph, name))}, expected {type_name(hint)}")
    if graph.rows is not None and graph.rows < 2:
        raise ValueError(f"rows of a graph is {graph.rows}, expected 2 and more")
    return replace(graph, container=dict(graph.container))


def _said_of(graph: Graph) -> dict[str, Any]:
    return {
        "file": graph.file,
        "container": dict(graph.container),
        "target": graph.target,
        "precision": graph.precision,
    }


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def write_bundle(bundle: Bundle, directory: Path) -> None:
    """Write ``bundle.json`` into a directory that already holds every other file (see ``new_directory``)."""
    files = {
        path.relative_to(directory).as_posix(): _sha256(path)
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
    data = {**bundle.to_json(), "files": files}
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    (directory / MANIFEST).write_text(text + "\n", encoding="utf-8", newline="\n")


def read_bundle(directory: str | os.PathLike[str], *, check_below: float = 0) -> Bundle:
    """Read a bundle's ``bundle.json``.

    Args:
        directory: the bundle.
        check_below: compare the files of fewer bytes with their SHA-256: ``CHEAP`` takes a moment, ``math.inf`` them
            all.

    Raises:
        UnreadableError: no bundle, a damaged one, or one of a newer format.
    """
    path = Path(directory) / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableError(
            "no bundle: bundle.json cannot be read",
            where=str(directory),
            fix="check the path; paddable convert and paddable export write bundles",
        ) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"no JSON ({error})", where=str(path), fix="make the bundle again") from error
    bundle = Bundle.from_json(data, where=str(path))
    _check_files(bundle, Path(directory), check_below)
    return bundle


def read_metadata(path: str | os.PathLike[str]) -> Metadata:
    """The ``paddable`` metadata of a bundle or of one ``.onnx`` file.

    Raises:
        UnreadableError: the file cannot be read, or its metadata is damaged.
        MisuseError: the file was not made by Paddable.
    """
    if os.path.isdir(path):
        return read_bundle(path).metadata
    text = read_entries(path).get(KEY)
    if text is None:
        raise MisuseError("no paddable metadata in the file", where=str(path), fix="make it with paddable convert")
    return Metadata.loads(text, where=str(path))


def _check_files(bundle: Bundle, directory: Path, below: float) -> None:
    for name, expected in bundle.files.items() if below else ():
        path = directory / name
        if not path.is_file():
            raise UnreadableError("a file of the bundle is missing", where=str(path), fix="copy the bundle again")
        if path.stat().st_size < below and _sha256(path) != expected:
            raise UnreadableError(
                "the file is not the one that the bundle was written with",
                where=str(path),
                why="its SHA-256 is not the one in bundle.json",
                fix="copy the bundle again, or make it again",
            )


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and ":" not in path.parts[0]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
