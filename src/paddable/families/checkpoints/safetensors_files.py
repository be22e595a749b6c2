"""Tensors of a ``model.safetensors``, or of the shards that a ``model.safetensors.index.json`` names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path, PureWindowsPath

from safetensors import SafetensorError, safe_open
from torch import Tensor

from paddable.errors import UnreadableError
from paddable.families.checkpoints.key_report import summarise_keys
from paddable.families.checkpoints.settings import read_json, shown

__all__ = ["INDEX", "read_file", "read_folder", "read_index", "refuse_pointer"]

INDEX = "model.safetensors.index.json"
_SINGLE = "model.safetensors"
_POINTER = b"version https://git-lfs.github.com/spec/"
Wanted = Callable[[str], bool]


def read_folder(folder: Path, wanted: Wanted = lambda key: True) -> dict[str, Tensor]:
    """The wanted tensors of a checkpoint folder, by key, of the types they are stored in.

    Raises:
        UnreadableError: there is neither an index nor a single file; or as :func:`read_index`.
    """
    if (folder / INDEX).is_file():
        return read_index(folder / INDEX, wanted)
    if not (folder / _SINGLE).exists():
        raise UnreadableError(
            f"neither {_SINGLE} nor {INDEX} in it",
            where=str(folder),
            why="the weights are missing",
            fix="download them, or convert other formats to safetensors",
        )
    return read_file(folder / _SINGLE, wanted)


def read_index(index: Path, wanted: Wanted = lambda key: True) -> dict[str, Tensor]:
    """The wanted tensors of the shards of an index; shards that hold none of them are not read.

    Raises:
        UnreadableError: the index is damaged or names a file that lies elsewhere or is absent, a shard is damaged, two
            shards hold the same key, or index and shards contradict each other.
    """
    places = read_json(index).get("weight_map")
    if not isinstance(places, Mapping) or not all(isinstance(file, str) for file in places.values()):
        raise UnreadableError("weight_map is not a table of keys and files", where=str(index))
    tensors: dict[str, Tensor] = {}
    source: dict[str, str] = {}
    for name in sorted({file for key, file in places.items() if wanted(key)}):
        for key, tensor in read_file(_shard(index, name), wanted).items():
            if key in tensors:
                raise UnreadableError(
                    f"{key} is in {source[key]} and in {name}",
                    where=str(index.parent),
                    why="one of the two would be lost",
                    fix="remove the shards of another release",
                )
            tensors[key], source[key] = tensor, name
    _refuse_contradictions(index, {key: file for key, file in places.items() if wanted(key)}, source)
    return tensors


def _refuse_contradictions(index: Path, places: Mapping[str, str], source: Mapping[str, str]) -> None:
    """``places`` says in which file each key should be, ``source`` in which it was found."""
    found = [f"{key} is not in {file}" for key, file in places.items() if key not in source]
    found += [
        f"{key} is in {source[key]}, not in {file}" for key, file in places.items() if source.get(key, file) != file
    ]
    found += [f"{key} of {file} is not in the index" for key, file in source.items() if key not in places]
    if found:
        raise UnreadableError(
            f"index and shards contradict each other: {summarise_keys(found)}",
            where=str(index),
            why="one of them is of another release, and the model's answers would be wrong",
            fix="download the index and its shards again, from one release",
        )


def read_file(file: Path, wanted: Wanted = lambda key: True) -> dict[str, Tensor]:
    """The wanted tensors of one file.

    Raises:
        UnreadableError: not a readable safetensors file.
    """
    refuse_pointer(file)
    try:
        with safe_open(file, framework="pt") as stored:
            return {key: stored.get_tensor(key) for key in stored.keys() if wanted(key)}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError) as error:
        why = "it is a directory" if file.is_dir() else str(error).strip().split("\n")[0]
        raise UnreadableError("not a readable safetensors file", where=str(file), why=why) from error


def refuse_pointer(file: Path) -> None:
    """Raise ``UnreadableError`` for what Git LFS leaves in place of a large file that was not downloaded."""
    if not os.path.isfile(file):
        return
    with file.open("rb") as stored:
        head = stored.read(len(_POINTER))
    if head == _POINTER:
        raise UnreadableError(
            "a Git LFS pointer, not the weights",
            where=str(file),
            why="the repository was cloned without its large files",
            fix="run git lfs pull in it, or download the file by itself",
        )


def _shard(index: Path, name: str) -> Path:
    """A file beside the index. A link is followed (model caches are made of them); a path to elsewhere is not."""
    if name in ("", ".", "..") or PureWindowsPath(name).name != name:  # knows / and \\ and drives
        raise UnreadableError(
            f"it names {shown(name)}",
            where=str(index),
            why="a shard lies beside its index; a path to elsewhere could name any file of this machine",
            fix="put the shards beside the index, and their bare names into it",
        )
    if not os.path.isfile(index.parent / name):  # Path.is_file raises for a name that is too long for the system
        raise UnreadableError(
            f"it names {shown(name)}, which is not there",
            where=str(index),
            why="a part of the weights is missing",
            fix="download it",
        )
    return index.parent / name
