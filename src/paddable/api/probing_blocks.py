"""Blocks in a row of which a module has one more or one less than its graph: those behind it have other names then, and
every weight of theirs would be told as changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from paddable.api.probing_entry import below
from paddable.divergence.changed import is_weight
from paddable.divergence.plain import Plain
from paddable.divergence.weights import Fingerprint, fingerprint
from paddable.graph.trace import module_path

__all__ = ["Blocks", "blocks_apart"]


@dataclass(frozen=True)
class Blocks:
    """A block that only one of both has.

    Attributes:
        path: of the list of blocks.
        node: of the graph, where it stands or would stand.
        told: which block, and where.
    """

    path: str
    node: ir.Node
    told: str


def blocks_apart(plain: Plain, module: Any, order: Sequence[str]) -> Blocks | None:
    """The first block that only the module or only the graph has, where all others are the same in their order; a block
    is known by its matrices, not by its name.

    Args:
        plain: the graph.
        module: the module.
        order: the path of every call of a part.
    """
    from torch import nn

    lists = [(path, part) for path, part in module.named_modules() if isinstance(part, nn.ModuleList | nn.Sequential)]
    found = (_apart(plain, path, part, frozenset(order)) for path, part in lists)
    return next((each for each in found if each is not None), None)


def _apart(plain: Plain, path: str, blocks: Any, called: frozenset[str]) -> Blocks | None:
    names = [f"{path}.{index}".lstrip(".") for index in range(len(blocks))]
    first: dict[int, str] = {}
    for name, block in zip(names, blocks, strict=True):
        first.setdefault(id(block), name)
    prints = _telling({first[id(block)]: block for block in blocks if first[id(block)] in called})
    there = _held(plain, path)
    row = [(name, first[id(block)]) for name, block in zip(names, blocks, strict=True) if first[id(block)] in prints]
    where = {name: _place(name, each, there) for name, each in prints.items()}
    kept = list(dict.fromkeys(place for _, name in row if (place := where[name]) is not None))
    missing = [place for place in there if place not in kept]
    seen: Counter[str] = Counter()
    extra: list[tuple[str, str]] = []
    for name, block in row:
        seen[block] += 1
        place = where[block]
        if place is None or seen[block] > max(there[place][each] for each in prints[block]):
            extra.append((name, block))
    if missing and len(there) <= len(row):
        return None  # none is missing: weights changed places
    if len(kept) < 2 or kept != sorted(kept, key=list(there).index) or bool(extra) == bool(missing):
        return None
    if missing:
        moved = next(((name, where[block]) for name, block in row if where[block] not in (None, name)), None)
        told = f"the graph has {missing[0]}, which the module lacks"
        told += f": the weights of the module's {moved[0]} are those of {moved[1]} there" if moved else ""
        nodes = below(plain, missing[0])
        return Blocks(path, next(node for node in nodes if any(map(is_weight, plain.weights(node)))), told)
    name, block = extra[0]
    before = [where[each] for other, each in row[: row.index((name, block))] if where[each] is not None]
    stands = before[-1] if before else kept[0]
    assert stands is not None
    told = f"the module has {name}, whose weights are nowhere in the graph"
    if where[block] is not None:
        told = f"{name} of the module is {block} once more, and the graph has it only once"
    return Blocks(path, below(plain, stands)[-1], told)


def _telling(blocks: dict[str, Any]) -> dict[str, set[Fingerprint]]:
    """By name of a block, its matrices that no other block has. Norms tell nothing: exporters fold them away."""
    prints = {
        name: {
            fingerprint(ir.tensor(each.detach().cpu().numpy()))
            for each in block.parameters()
            if each.ndim > 1 and each.is_floating_point()
        }
        for name, block in blocks.items()
    }
    owners = Counter(each for held in prints.values() for each in held)
    telling = {name: {each for each in held if owners[each] == 1} for name, held in prints.items()}
    return {name: held for name, held in telling.items() if held}


def _held(plain: Plain, path: str) -> dict[str, Counter[Fingerprint]]:
    """By path of a block of the graph, in the order of its number, how many nodes read each weight."""
    depth = path.count(".") + 1 if path else 0
    parts = path.split(".") if path else []
    found: dict[int, Counter[Fingerprint]] = {}
    for node in plain.nodes:
        steps = (module_path(node) or "").split(".")
        weights = [value for value in plain.weights(node) if is_weight(value) and _is_matrix(value)]
        if weights and steps[:depth] == parts and len(steps) > depth and steps[depth].isdigit():
            held = found.setdefault(int(steps[depth]), Counter())
            held.update(plain.fingerprint(value) for value in weights)
    return {".".join([*parts, str(index)]): found[index] for index in sorted(found)}


def _is_matrix(value: ir.Value) -> bool:
    return value.const_value is not None and len(value.const_value.shape) > 1


def _place(name: str, prints: set[Fingerprint], there: dict[str, Counter[Fingerprint]]) -> str | None:
    """The graph's block that holds most of some weights, at least half of them; of several, the one of that name."""
    most = max(there, key=lambda place: (len(prints & there[place].keys()), place == name), default=None)
    return most if most is not None and 2 * len(prints & there[most].keys()) >= len(prints) else None
