"""A module's parameters against a graph's weights, as exporters store them: under another name, transposed, packed by
gate and direction, or with the batch norm behind them folded in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.divergence.changed import is_weight, numbers_apart
from paddable.divergence.layers import but_for_rounding
from paddable.divergence.plain import Plain
from paddable.divergence.weights import fingerprint
from paddable.gates.engine import Array
from paddable.graph.trace import module_path

__all__ = ["ChangedParameter", "Parameters", "compare_parameters", "packed"]

_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""Of each gate of PyTorch, its place in ONNX: iofc for ifgo, zrh for rzn."""


@dataclass(frozen=True)
class ChangedParameter:
    """A parameter that lies in the graph with other numbers.

    Attributes:
        text: which, where and by how much.
        modules: the module that owns it, and the batch norm that is folded into it.
    """

    text: str
    modules: tuple[str, ...]

    def is_below(self, path: str) -> bool:
        """Whether it belongs to a module or one inside it."""
        return any(f"{module}.".startswith(f"{path}.") for module in self.modules)


@dataclass(frozen=True)
class Parameters:
    """What became of a module's parameters.

    Attributes:
        changed: those that lie in the graph with other numbers.
        lost: names of those that nothing in the graph stands for.
        folded: by path of a layer, the batch norm that the graph has in its weights.
    """

    changed: Sequence[ChangedParameter]
    lost: Sequence[str]
    folded: Mapping[str, str]


def packed(plain: Plain) -> list[ir.Value]:
    """The weights of recurrent nodes, which an exporter may leave to nodes to make."""
    recurrent = (node for node in plain.nodes if node.op_type in _GATES)
    return [value for node in recurrent for value in node.inputs[1:4] if value is not None and value.name]


def compare_parameters(
    plain: Plain, module: Any, order: Sequence[str], numbers: Mapping[ir.Value, Array], *, first: bool
) -> Parameters:
    """The parameters that differ, felt by the outputs or not.

    The weight of a parameter's name stands for it, or its part of a recurrent node's, else the only one of its size
    that a node of its module reads.

    Args:
        plain: the graph.
        module: the module.
        order: of the modules, as they end.
        numbers: of the weights that nodes make.
        first: the module is the run in question.
    """
    states = {
        **dict(module.named_parameters()),
        **{name: each for name, each in module.named_buffers() if name.endswith(("running_mean", "running_var"))},
    }
    arrays = {name: each.detach().cpu().numpy().copy() for name, each in states.items()}
    own = {fingerprint(ir.tensor(array)) for array in arrays.values()}
    left: dict[str | None, dict[str | None, ir.Value]] = {}
    for node in plain.nodes:
        for value in plain.weights(node):
            if is_weight(value) and plain.fingerprint(value) not in own:
                left.setdefault(module_path(node), {})[value.name] = value
    named = {name: value for values in left.values() for name, value in values.items()}
    held = {plain.fingerprint(value) for node in plain.nodes for value in plain.weights(node)}
    folds = dict(_folds(module, order))
    inside = _unpacked(plain, module, arrays, numbers)
    changed, lost = [], []
    folded: dict[str, str] = {}
    for name, array in arrays.items():
        if array.size < 2 or fingerprint(ir.tensor(array)) in held:
            continue
        owner = name.rpartition(".")[0]
        fold = folds.get(owner)
        twin = inside.get(name)
        if twin is None:
            paths = (owner, *((fold.path,) if fold is not None else ()))
            values = [named[name]] if name in named else [v for path in paths for v in left.get(path, {}).values()]
            tensors = [value.const_value for value in values if value.const_value is not None]
            twins = [tensor.numpy() for tensor in tensors if tensor.size == array.size]
            twin = twins[0] if len(twins) == 1 else None
        if twin is None:
            lost.append(name)
            continue
        ways = [("", array, twin, _apart(array, twin, first, exact=name not in inside))]
        if fold is not None:
            array = fold.into(name.rpartition(".")[2], array, arrays.get(f"{owner}.bias"))
            ways.append((f", with {fold.path} folded in,", array, twin, _apart(array, twin, first, exact=False)))
        told, _, _, apart = min(ways, key=lambda way: way[3][0] if way[3] is not None else 0)
        if told and fold is not None:
            folded[owner] = fold.path
        if apart is not None:
            modules = (owner, fold.path) if told and fold is not None else (owner,)
            changed.append(ChangedParameter(f"{name}{told} {apart[1]}".rstrip(), modules))
    return Parameters(
        [each for each in changed if each.modules[0] not in folded.values()],
        [name for name in lost if name.rpartition(".")[0] not in folded.values()],
        folded,
    )


def _apart(mine: Array, theirs: Array, first: bool, *, exact: bool) -> tuple[int, str] | None:
    """How many numbers differ, and where; None where none does."""
    theirs = theirs if theirs.shape == mine.shape else theirs.T
    if theirs.shape != mine.shape:
        return mine.size, ""
    if not exact:
        theirs = but_for_rounding(mine, theirs)
    return numbers_apart(*((mine, theirs) if first else (theirs, mine)), mine.dtype == theirs.dtype)


@dataclass(frozen=True)
class _Fold:
    """A batch norm that ends directly behind a layer: exporters fold it into the layer's weights."""

    path: str
    axis: int
    scale: Array
    mean: Array
    shift: Array

    def into(self, kind: str, array: Array, bias: Array | None) -> Array:
        """A weight or bias of the layer with the batch norm in it."""
        if kind == "bias":
            return (array - self.mean) * self.scale + self.shift
        sizes = [1] * array.ndim
        sizes[self.axis] = -1
        return array * self.scale.reshape(sizes)


def _folds(module: Any, order: Sequence[str]) -> Iterator[tuple[str, _Fold]]:
    """By path of a layer, the batch norm directly behind it."""
    from torch import nn
    from torch.nn.modules.batchnorm import _BatchNorm
    from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd

    leaves = [path for path in order if not list(module.get_submodule(path).children())]
    for path, after in pairwise(leaves):
        layer, norm = module.get_submodule(path), module.get_submodule(after)
        if not isinstance(layer, _ConvNd | nn.Linear) or not isinstance(norm, _BatchNorm):
            continue
        mean, variance, axis = norm.running_mean, norm.running_var, 1 if isinstance(layer, _ConvTransposeNd) else 0
        if mean is None or variance is None or layer.weight.shape[axis] != norm.num_features:
            continue
        scale = (variance + norm.eps).rsqrt() * (1 if norm.weight is None else norm.weight)
        parts = (scale, mean, mean * 0 if norm.bias is None else norm.bias)
        yield path, _Fold(after, axis, *(part.detach().cpu().numpy() for part in parts))


def _unpacked(
    plain: Plain, module: Any, arrays: Mapping[str, Array], numbers: Mapping[ir.Value, Array]
) -> dict[str, Array]:
    """By name of a recurrent module's parameter, the numbers that the graph has for it."""
    found: dict[str, Array] = {}
    for path, part in module.named_modules():
        kind = type(part).__name__
        if kind not in _GATES:
            continue
        nodes = [node for node in plain.nodes if node.op_type == kind and (module_path(node) or "") == path]
        for layer, node in enumerate(nodes):
            for place, names in ((1, ("weight_ih",)), (2, ("weight_hh",)), (3, ("bias_ih", "bias_hh"))):
                value = node.inputs[place] if place < len(node.inputs) else None
                if value is None:
                    continue
                array = value.const_value.numpy() if value.const_value is not None else numbers.get(value)
                for direction, half in enumerate(array if array is not None else ()):
                    suffix = f"_l{layer}{'_reverse' if direction else ''}"
                    keys = [f"{path}.{name}{suffix}".lstrip(".") for name in names]
                    pieces = [_in_torch_order(piece, kind) for piece in np.split(half, len(names))]
                    if all(key in arrays and arrays[key].shape == pieces[0].shape for key in keys):
                        found |= zip(keys, _as_added(kind, [arrays[key] for key in keys], pieces), strict=True)
    return found


def _in_torch_order(piece: Array, kind: str) -> Array:
    gates = np.split(piece, len(_GATES[kind]))
    return np.concatenate([gates[place] for place in _GATES[kind]])


def _as_added(kind: str, mine: Sequence[Array], theirs: Sequence[Array]) -> Sequence[Array]:
    """The two biases of a layer, which an exporter may add into one where the cell only ever adds them."""
    if len(mine) < 2 or kind == "GRU" or theirs[1].any():
        return theirs
    return [theirs[0] - mine[1], mine[1]]
