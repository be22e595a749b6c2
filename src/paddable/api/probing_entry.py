"""What enters the first module whose result differs: where that differs already, the module is right.

A module is judged by the graph's own values: run on them, it gives what its nodes give, so the fault lies in front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from paddable.api.probing_trace import Run, tensors
from paddable.divergence.measure import measure
from paddable.divergence.pieces import Pieces, on_provider
from paddable.divergence.plain import Plain
from paddable.divergence.regions import Block
from paddable.gates.engine import Array
from paddable.graph.trace import module_path

__all__ = ["Entry", "below", "entry_that_differs"]


@dataclass(frozen=True)
class Entry:
    """A value that enters a module's nodes and that the module reads otherwise.

    Attributes:
        path: of the module that reads it.
        value: the graph's.
        error: of the module's input against it.
    """

    path: str
    value: ir.Value
    error: float


def below(plain: Plain, path: str) -> list[ir.Node]:
    """The nodes that were exported from a module and what it calls."""
    parts = path.split(".")
    return [node for node in plain.nodes if (module_path(node) or "").split(".")[: len(parts)] == parts]


def entry_that_differs(
    plain: Plain, feeds: Mapping[str, Array], module: Any, run: Run, paths: Sequence[str], result: Array, limit: float
) -> Entry | None:
    """The input that differs most; None where none does, or where the module differs from its nodes all the same.

    Args:
        plain: the graph.
        feeds: its inputs.
        module: the root module.
        run: of it.
        paths: of the module whose result differs; in front of a norm that is folded into a layer, that of the layer.
        result: the graph's for it.
        limit: error from which values differ.
    """
    import torch
    from torch.utils._pytree import tree_flatten, tree_unflatten

    nodes = dict.fromkeys(node for path in paths for node in below(plain, path))
    read = dict.fromkeys(value for node in nodes for value in plain.inputs(node) if value.producer() not in nodes)
    made = [value for value in read if value.producer() is not None]
    got = Pieces(plain, feeds, on_provider("cpu")).advance(0, len(plain.nodes), made)
    given, shape = tree_flatten(run.entered[paths[0]])
    entries: list[Entry] = []
    for place, each in enumerate(given):
        if not isinstance(each, torch.Tensor) or not each.is_floating_point():
            continue
        mine = tensors(each)[0]
        fitting = [
            Entry(paths[0], value, apart)
            for value in made
            if value in got and got[value].shape == mine.shape and (apart := _error(mine, got[value])) is not None
        ]
        if fitting:
            nearest = min(fitting, key=lambda entry: entry.error)
            entries.append(nearest)
            given[place] = torch.from_numpy(got[nearest.value].copy()).to(each.dtype)
    worst = max(entries, key=lambda entry: entry.error, default=None)
    if worst is None or worst.error <= limit:
        return None
    arguments, keywords = tree_unflatten(given, shape)
    try:
        with torch.no_grad():
            made_again = module.get_submodule(paths[0])(*arguments, **keywords)
            for path in paths[1:]:
                made_again = module.get_submodule(path)(made_again)
    except Exception:  # the module's own code, which may have no answer for other numbers than its sample's
        return None
    again = tensors(made_again)
    error = _error(again[0], result) if again else None
    return worst if error is not None and error <= limit else None


def _error(mine: Array, theirs: Array) -> float | None:
    apart = measure(Block(mine, None, 1), Block(theirs, None, 1))
    return None if apart is None else apart.error
