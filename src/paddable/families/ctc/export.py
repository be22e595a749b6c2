"""Any CTC model: a stranger's graph, its labels, and what its bundle says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddable.errors import MisuseError, PaddableError, UnreadableError, arguments
from paddable.families.ctc.graph import CtcGraph, Logits, open_graph, shown
from paddable.families.ctc.labels import Labels, read_labels, written
from paddable.families.ctc.sound import heard_as
from paddable.families.ctc.spec import CTC, REDUCED
from paddable.families.family import Described, Family, Loaded

__all__ = ["FAMILY"]


def _load(source: Path, choices: Mapping[str, Any]) -> Loaded:
    model = _model_of(source)
    labels = _labels_of(source, model, choices["labels"])
    graph, logits, axes, classes = _opened(model, labels, choices)
    text = written(labels, classes, choices["blank"], choices["word_boundary"])
    heard = heard_as(graph, choices)
    sound = graph.sound
    symbol = sound.symbol or ("S" if sound.channels is None else "T")
    found = (
        f"sound: input {sound.name!r}, {shown(sound.axes)}",
        f"logits: output {logits.name!r}, {shown(axes)}, {classes} classes, labelled in {labels.path.name}",
        *text.found,
        *heard.found,
    )
    unit = f"samples at {heard.sample_rate} Hz" if sound.channels is None else "frames of 10 ms"
    return Loaded(
        lambda: model,
        heard.step_rate,
        {
            "sample_rate": heard.sample_rate,
            "units": {symbol: unit},
            "front_end": {
                "kind": heard.kind,
                "in_graph": sound.channels is None,
                "input": sound.name,
                "axes": sound.axes,
                "options": dict(heard.options),
            },
            "settings": {
                "ctc": {"blank": text.blank, "lead": 0.0, "frame": None, "output": logits.name, "axes": axes},
            },
        },
        length=f"{sound.name}:{sound.time}={symbol}",
        declared={
            "length_inputs": [f"{name}={symbol}" for name in graph.length_inputs],
            "mask_inputs": [f"{name}:{axis}={symbol}" for name, axis in graph.mask_inputs.items()],
            "bindings": sound.bindings,
            "batch": f"{sound.name}:{sound.axes.index('B')}" if "B" in sound.axes else "none",
        },
        writes=text.texts,
        found=found,
        export_rows=(lambda: model) if sound.takes_rows else None,
    )


def _opened(model: Path, labels: Labels, choices: Mapping[str, Any]) -> tuple[CtcGraph, Logits, str, int]:
    graph = open_graph(model, choices.get("length"), choices.get("batch"))
    return graph, *graph.logits(labels.count, choices.get("logits"), labels.told)


def _model_of(source: Path) -> Path:
    """The graph of a folder, or the file itself."""
    if source.is_file():
        return source
    if not source.is_dir():
        raise UnreadableError("no such file", where=str(source), fix="give the .onnx, or the folder that holds it")
    if (source / "bundle.json").is_file():
        raise UnreadableError("it is a bundle already", where=str(source), fix="give the model that it was made from")
    found = sorted(source.glob("*.onnx")) or sorted(source.glob("onnx/*.onnx"))
    exact = [path for path in found if not any(word in path.stem for word in REDUCED)]
    if len(exact or found) != 1:
        told = ", ".join(path.name for path in found) or "none"
        raise UnreadableError(f"which .onnx is the model? there are {told}", where=str(source), fix="give that file")
    return (exact or found)[0]


def _labels_of(source: Path, model: Path, asked: str | None) -> Labels:
    folders = [source] if source.is_dir() else [model.parent, model.parent.parent]
    if asked is not None:
        here = (place for place in (Path(asked), *(folder / asked for folder in folders)) if place.is_file())
        return read_labels(next(here, Path(asked)))
    for folder in folders:
        files = dict.fromkeys(path for pattern in CTC.labels for path in sorted(folder.glob(pattern)))
        if files:
            return _alone([*files], source)
    raise MisuseError(
        "where are its labels?",
        where=str(source),
        why="without them its classes are numbers, not text",
        fix=f"say {arguments(labels='tokens.txt')}",
    )


def _alone(files: Sequence[Path], source: Path) -> Labels:
    """The labels of the first file, if no other has as many and says otherwise."""
    first = read_labels(files[0])
    for file in files[1:]:
        try:
            other = read_labels(file)
        except PaddableError:  # of something else, or damaged
            continue
        if other.count == first.count and other.names != first.names:
            place = next(i for i in range(first.count) if first.names.get(i) != other.names.get(i))
            raise MisuseError(
                f"which are its labels, {files[0].name} or {file.name}?",
                where=str(source),
                why=f"class {place} is {first.names.get(place)!r} in one and {other.names.get(place)!r} in the other",
                fix=f"say {arguments(labels=files[0].name)} or {arguments(labels=file.name)}",
            )
    return first


def _describe(folder: Path) -> Described:
    model = _model_of(folder)
    labels = _labels_of(folder, model, None)
    graph, logits, axes, classes = _opened(model, labels, {})
    sound = graph.sound
    return Described(
        {
            "input": sound.name,
            "input_axes": sound.axes,
            "channels": sound.channels,
            "output": logits.name,
            "output_axes": axes,
            "classes": classes,
            "labels": len(labels.names),
        }
    )


FAMILY = Family(CTC, _load, _describe)
