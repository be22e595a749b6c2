"""Checkpoints as they lie on disk: FunASR's folder, and a file of tensors.

A FunASR folder holds ``config.yaml``; where ``configuration.json`` is beside it, its ``file_path_metas`` override
single entries (SenseVoiceSmall's config.yaml says ``cmvn_file: null``, its configuration.json says ``am.mvn``).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from pickle import UnpicklingError
from typing import Any

import torch
import yaml
from torch import Tensor

from paddable.audio.cmvn import Cmvn, read_am_mvn
from paddable.errors import UnreadableError
from paddable.families.checkpoints.safetensors_files import read_file, read_index, refuse_pointer
from paddable.families.checkpoints.settings import shown
from paddable.families.checkpoints.weights import FLOATS

__all__ = ["CheckpointFolder", "read_tensors"]

_WRAPPERS = ("state_dict", "model_state_dict", "model")
_PARALLEL = re.compile(r"^(module\.)+")  # one for each DataParallel around the model


@dataclass(frozen=True)
class CheckpointFolder:
    """What a FunASR folder says about itself.

    Attributes:
        root: the folder.
        config: config.yaml with the overrides of configuration.json.
        config_file: where it was read.
    """

    root: Path
    config: Mapping[str, Any]
    config_file: Path

    @classmethod
    def open(cls, root: str | Path) -> CheckpointFolder:
        """Reads the configuration of a folder.

        Raises:
            UnreadableError: no folder, no config.yaml, or one of the two files cannot be parsed.
        """
        root = Path(root)
        if not root.is_dir():
            raise UnreadableError(
                "no such folder", where=str(root), fix="give the folder that holds model.pt and config.yaml"
            )
        said = root / "configuration.json"
        metas = _parse(said, json.loads).get("file_path_metas") or {}
        if not isinstance(metas, Mapping):
            raise UnreadableError(f"file_path_metas is {metas!r}, expected a mapping", where=str(said))
        config_file = _inside(root, metas.get("config") or "config.yaml", "configuration.json: config")
        if not config_file.is_file():
            raise UnreadableError(
                f"no {config_file.name} in it", where=str(root), why="the sizes of the model are unknown"
            )
        overrides = {key: value for key, value in metas.items() if key != "config"}
        return cls(root, _merge(_parse(config_file, yaml.safe_load), overrides), config_file)

    def file(self, *keys: str, default: str) -> Path | None:
        """The file that the entry ``keys`` names, else ``default`` if it lies in the folder, else None.

        Raises:
            UnreadableError: an entry names a file that is not there.
        """
        entry: Any = self.config
        for key in keys:
            entry = entry.get(key) if isinstance(entry, Mapping) else None
        path = _inside(self.root, entry or default, ".".join(keys))
        if os.path.isfile(path):  # Path.is_file raises for a name that is too long for the system
            return path
        if entry is None:
            return None
        raise UnreadableError(f"{'.'.join(keys)} names {shown(entry)}, which is not there", where=str(self.root))

    def cmvn(self, size: int) -> Cmvn | None:
        """Means and scales of ``size`` channels, from the file that ``frontend_conf.cmvn_file`` names or am.mvn.

        Raises:
            UnreadableError: the named file is not there, or holds something else.
        """
        path = self.file("frontend_conf", "cmvn_file", default="am.mvn")
        return read_am_mvn(path, size) if path else None

    def tensors(self) -> dict[str, Tensor]:
        """The weights, from ``init_param`` or model.pt."""
        path = self.file("init_param", default="model.pt")
        if path is None:
            raise UnreadableError("no model.pt in it", where=str(self.root))
        return read_tensors(path)


def read_tensors(path: str | Path) -> dict[str, Tensor]:
    """Reads a ``.pt`` or ``.safetensors`` file, or the index of a sharded one.

    A dict under "state_dict", "model_state_dict" or "model" is unwrapped and any "module." in front of a key removed.
    Floats become float32 (exact from bfloat16 and half); those of 8 bits and less stay, and ``check_weights`` refuses
    them.

    Raises:
        UnreadableError: the file holds something else than tensors, or is damaged.
    """
    path = Path(path)
    try:
        if path.name.endswith(".safetensors.index.json"):
            state = read_index(path)
        elif path.suffix == ".safetensors":
            state = read_file(path)
        else:
            refuse_pointer(path)
            state = torch.load(path, map_location="cpu", weights_only=True)
    except UnreadableError:
        raise
    except UnpicklingError as error:  # its text advises to load with code allowed
        raise _not_tensors_alone(path, str(error)) from error
    except (OSError, RuntimeError, ValueError, KeyError, EOFError) as error:
        raise _damaged(path, str(error)) from error
    return {key: value.float() if value.dtype in FLOATS else value for key, value in _unwrap(state, path).items()}


def _not_tensors_alone(path: Path, told: str) -> UnreadableError:
    code = re.search(r"GLOBAL (\S+)", told) or re.search(r"Unsupported class (\S+)", told)
    if code is None:
        return _damaged(path)
    name = code[1].rstrip(".,")
    return UnreadableError(
        f"it holds code ({name}), not tensors alone, and is not loaded",
        where=str(path),
        why="reading it would run that code on this machine",
        fix="take the weights from the release as safetensors or as a plain dictionary of tensors",
    )


def _damaged(path: Path, told: str = "") -> UnreadableError:
    """A file that is cut off is the usual case, and PyTorch's own words for it are those of its zip reader."""
    what = "not a readable file of tensors"
    if path.suffix in (".safetensors", ".json") or not path.is_file():
        return UnreadableError(what, where=str(path), why=told.strip().split("\n")[0])
    size = path.stat().st_size
    why = f"its {size:,} bytes are cut off, damaged, or of another format"
    return UnreadableError(
        what, where=str(path), why=why, fix="compare its size with the release, and download it again"
    )


def _unwrap(state: Any, path: Path) -> dict[str, Tensor]:
    while isinstance(state, Mapping) and (
        inner := next((k for k in _WRAPPERS if isinstance(state.get(k), Mapping)), "")
    ):
        state = state[inner]
    if not isinstance(state, Mapping) or not state:
        raise UnreadableError("holds no dictionary of tensors", where=str(path))
    kinds = {key: type(value).__name__ for key, value in state.items() if not isinstance(value, Tensor)}
    if other := [f"{key} is of type {kind}" for key, kind in kinds.items()]:
        told = ", ".join(other[:3]) + ", ..." * (len(other) > 3)
        raise UnreadableError(
            f"not all of its {len(state)} entries are tensors: {told}",
            where=str(path),
            fix=f"save the weights alone, or under one of {', '.join(_WRAPPERS)}",
        )
    return {_PARALLEL.sub("", str(key)): value for key, value in state.items()}


def _inside(root: Path, name: object, said_by: str) -> Path:
    """A file that a configuration names; a link is followed, a path to elsewhere is not."""
    text = str(name)
    parts = PureWindowsPath(text)  # knows / and \\ and drives
    if parts.is_absolute() or parts.drive or parts.root or ".." in parts.parts:
        raise UnreadableError(
            f"{said_by} names {shown(name)}, which is outside the folder",
            where=str(root),
            why="it could name any file of this machine",
            fix="put the file into the folder, and its bare name into the configuration",
        )
    return root / text


def _parse(path: Path, parser: Any) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = parser(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UnreadableError("cannot be parsed", where=str(path), why=str(error).replace("\n", " ")) from error
    if not isinstance(content, dict):
        raise UnreadableError("holds no settings", where=str(path))
    return content


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        nested = isinstance(value, Mapping) and isinstance(merged.get(key) or {}, Mapping)
        merged[key] = _merge(merged.get(key) or {}, value) if nested else value
    return merged
