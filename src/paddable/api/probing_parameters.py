"""A module's parameters against a graph's weights, as exporters store them: under another name, transposed, packed by
gate and direction, or with the batch norm behind them folded in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.api.probing_pairs import Twin, pair_uses
from paddable.api.probing_trace import Run, Use
from paddable.divergence.changed import numbers_apart, reordered
from paddable.divergence.layers import but_for_rounding
from paddable.divergence.norms import folded_epsilon
from paddable.divergence.plain import Plain
from paddable.divergence.weights import Fingerprint, fingerprint
from paddable.gates.engine import Array
from paddable.graph.trace import module_path

__all__ = ["ChangedParameter", "Parameters", "compare_parameters"]

_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""Of each gate of PyTorch, its place in ONNX: iofc for ifgo, zrh for rzn."""


@dataclass(frozen=True)
class ChangedParameter:
    """A parameter or buffer that lies in the graph with other numbers.

    Attributes:
        name: of it, or of those that one constant of the graph is made of.
        apart: in how many numbers, and where most; of a setting, what it is in both.
        values: what the graph has for it, at each place that reads it.
        setting: it is no parameter, but a number of its module that lies in the graph's weights.
    """

    name: str
    apart: str
    values: tuple[ir.Value, ...]
    setting: bool = False

    @property
    def text(self) -> str:
        """Which, where and by how much."""
        return f"{self.name} {self.apart}".rstrip()

    @property
    def told(self) -> str:
        """The same as a sentence."""
        return self.text if self.setting else f"parameter {self.name} differs {self.apart}".rstrip()


@dataclass(frozen=True)
class Parameters:
    """What became of a module's parameters and buffers.

    Attributes:
        changed: those that lie in the graph with other numbers.
        lost: names of parameters that nothing in the graph stands for.
        folded: by path of a layer, the batch norm that the graph has in its weights.
    """

    changed: Sequence[ChangedParameter]
    lost: Sequence[str]
    folded: Mapping[str, str]


def compare_parameters(plain: Plain, module: Any, run: Run, *, first: bool) -> Parameters:
    """The parameters and buffers that differ, felt by the outputs or not.

    A parameter is compared with the constant that stands at its place in the forward of the module that reads it, in
    the layout that it is read in. One that no such place tells is compared with the weight of its name, or its part of
    a recurrent node's, else it is looked for among all weights, in any order.

    Args:
        plain: the graph.
        module: the module.
        run: of it on its sample.
        first: the module is the run in question.
    """
    parameters = dict(module.named_parameters())
    states = {**parameters, **dict(module.named_buffers())}
    arrays = {name: each.detach().cpu().numpy().copy() for name, each in states.items()}
    arrays = {name: array for name, array in arrays.items() if array.size > 1 or array.dtype.kind == "f"}
    held = {plain.fingerprint(value) for node in plain.nodes for value in plain.weights(node)}
    prints = {name: fingerprint(ir.tensor(array)) for name, array in arrays.items()}
    inside = _unpacked(plain, module, arrays)
    parts = {name: fingerprint(ir.tensor(part)) for name, (_, part) in inside.items()}
    folded: dict[str, str] = {}
    changed: list[ChangedParameter] = []
    lost: list[str] = []
    for path, fold in _folds(module, list(dict.fromkeys(run.order))):
        convolution = fold.node(plain, path)
        if convolution is not None:
            folded[path] = fold.path
            changed += fold.changed(convolution, path, arrays, first)
    settled = {name for name in arrays if name.rpartition(".")[0] in (*folded, *folded.values())}
    for name, (value, twin) in inside.items():
        if name in settled:
            continue
        apart = _apart(arrays[name], twin, first, exact=False)
        if apart is not None:
            text = apart[1] + (_moved(name, prints, parts) or reordered(arrays[name], twin))
            changed.append(ChangedParameter(name, text, (value,)))
    settled |= inside.keys()
    pairs = list(pair_uses(plain, [use for use in run.uses if settled.isdisjoint(use.origins)]))
    paired = {name for use, _ in pairs for name in use.origins}
    pairs += pair_uses(plain, [use for use in run.inner if (settled | paired).isdisjoint(use.origins)])
    changed += _changed_as_read(plain, pairs, arrays, prints, first)
    settled |= {name for use, _ in pairs for name in use.origins}
    named = {value.name: value for node in plain.nodes for value in plain.weights(node)}
    for name in (name for name in arrays if name not in settled):
        stored = named[name].const_value if name in named else None
        if stored is not None and stored.size == arrays[name].size:
            apart = _apart(arrays[name], stored.numpy(), first, exact=True)
            changed += [ChangedParameter(name, apart[1], (named[name],))] if apart is not None else []
        elif name in parameters and arrays[name].size > 1 and prints[name] not in held:
            lost.append(name)
    return Parameters(changed, lost, folded)


def _changed_as_read(
    plain: Plain,
    pairs: Sequence[tuple[Use, Twin]],
    arrays: Mapping[str, Array],
    prints: Mapping[str, Fingerprint],
    first: bool,
) -> Collection[ChangedParameter]:
    """The constants that differ at their place, each told once."""
    places = {
        use.origins[0]: plain.fingerprint(twin.value) for use, twin in pairs if use.whole and len(use.origins) == 1
    }
    found: dict[tuple[str, ...], ChangedParameter] = {}
    for use, twin in pairs:
        apart = _apart_as_read(use, twin, arrays, first)
        if apart is None:
            continue
        name, where = apart
        known = found.get(use.origins)
        values = (*known.values, twin.value) if known is not None else (twin.value,)
        if known is not None and (known.name == name or not use.whole):
            found[use.origins] = replace(known, values=values)
        else:  # a parameter as it is tells more than what is computed of it
            moved = "" if "; " in where else _moved(name, prints, places)
            found[use.origins] = ChangedParameter(name, where + moved, values)
    return found.values()


def _apart_as_read(use: Use, twin: Twin, arrays: Mapping[str, Array], first: bool) -> tuple[str, str] | None:
    """Which parameter differs, and in which numbers, of a constant and the graph's for it."""
    mine, theirs = use.array, twin.array
    if mine.shape != theirs.shape:
        if fingerprint(ir.tensor(mine)) == fingerprint(ir.tensor(theirs)):
            return None  # it lies in a layout of the exporter's own
        squeezed = [n for n in mine.shape if n != 1] == [n for n in theirs.shape if n != 1]
        theirs = theirs.reshape(mine.shape) if squeezed else theirs
    name, *others = use.origins
    own = arrays.get(name)
    alike = own is not None and (use.whole or fingerprint(ir.tensor(mine)) == fingerprint(ir.tensor(own)))
    whole = own is not None and not others and own.size == mine.size and alike
    if whole and own is not None and mine.shape == own.T.shape and not np.array_equal(mine, own):
        mine, theirs = (mine.T, theirs.T) if np.array_equal(mine.T, own) else (mine, theirs)
    apart = _apart(mine, theirs, first, exact=whole, turned=False)
    if apart is None:
        return None
    return name if whole else _made_of(use, theirs, arrays), apart[1] + reordered(mine, theirs)


def _made_of(use: Use, theirs: Array, arrays: Mapping[str, Array]) -> str:
    """Of what a constant is made of, what can have made the difference: the indices where the graph's numbers are all
    in the tables, else the tables."""
    origins = [name for name in use.origins if name in arrays]
    tables = [name for name in origins if arrays[name].dtype.kind == "f"]
    indices = [name for name in origins if name not in tables]
    if tables and np.isin(theirs, np.concatenate([arrays[name].ravel() for name in tables])).all():
        if not indices:
            return f"{' or '.join(tables)}, read at other places,"
        tables = indices
    names = tables or list(use.origins)
    rest = [name for name in use.origins if name not in names]
    how = f"read together with {' and '.join(rest)}" if rest else "as it is read"
    return f"{' or '.join(names)}, {how},"


def _moved(name: str, prints: Mapping[str, Fingerprint], places: Mapping[str, Fingerprint]) -> str:
    """Where the numbers that the graph has for a parameter lie in the module, if they do."""
    held = places.get(name)
    if held is None or name not in prints:
        return ""
    if prints[name] == held:
        return "; they are the same numbers in another order"
    owner = name.rpartition(".")[0]
    others = [other for other, each in prints.items() if each == held]
    near = [other for other in others if other.rpartition(".")[0] == owner and places.get(other) == prints[name]]
    if len(near) == 1:  # such as gain and shift of a norm, which others may have too
        return f"; it is exchanged with {near[0]}"
    if len(others) != 1:
        return ""  # such as ones: they do not tell where they are from
    if places.get(others[0]) == prints[name]:
        return f"; it is exchanged with {others[0]}"
    return f"; in the graph, the numbers of {others[0]} lie in its place"


def _apart(mine: Array, theirs: Array, first: bool, *, exact: bool, turned: bool = True) -> tuple[int, str] | None:
    """How many numbers differ, and where, straight or, where that may be, turned, whichever is nearer; None where none
    does."""
    ways = [way for way in ((theirs, theirs.T) if turned else (theirs,)) if way.shape == mine.shape]
    if not ways:
        return mine.size, ""
    found = []
    for way in ways:
        other = way if exact else but_for_rounding(mine, way)
        apart = numbers_apart(*((mine, other) if first else (other, mine)), mine.dtype == way.dtype)
        if apart is None:
            return None
        found.append(apart)
    return min(found, key=lambda apart: apart[0])


@dataclass(frozen=True)
class _Fold:
    """A batch norm that ends directly behind a layer: exporters fold it into the layer's weights."""

    path: str
    axis: int
    scale: Array
    mean: Array
    shift: Array
    variance: Array
    epsilon: float

    def node(self, plain: Plain, layer: str) -> ir.Node | None:
        """The convolution that has it folded in; None where the graph keeps it as a node, or nothing tells."""
        below = [node for node in plain.nodes if module_path(node) in (layer, self.path)]
        made = [node for node in below if node.op_type in ("Conv", "ConvTranspose")]
        if len(made) != 1 or any(node.op_type == "BatchNormalization" for node in below):
            return None
        return made[0] if all(value is not None and value.const_value for value in made[0].inputs[1:]) else None

    def changed(
        self, node: ir.Node, layer: str, arrays: Mapping[str, Array], first: bool
    ) -> Iterator[ChangedParameter]:
        """What the layer computes with, against the node's weight and bias; named are the parameters that can have made
        the difference."""
        weight, bias = arrays[f"{layer}.weight"], arrays.get(f"{layer}.bias")
        sizes = [1] * weight.ndim
        sizes[self.axis] = -1
        mine = (
            weight * self.scale.reshape(sizes),
            ((0 if bias is None else bias) - self.mean) * self.scale + self.shift,
        )
        held = [value for value in node.inputs[1:] if value is not None]
        theirs = [value.const_value.numpy() for value in held if value.const_value is not None]
        for k, (value, array, twin) in enumerate(zip(held, mine, theirs, strict=False)):
            apart = _apart(array, twin, first, exact=False)
            if apart is None:
                continue
            names = [f"{layer}.weight"]
            if k == 1:
                names = [f"{layer}.bias", f"{self.path}.bias", f"{self.path}.running_mean"]
            elif array.shape == twin.shape and self._only_scaled(array, twin):
                both = (np.moveaxis(each, self.axis, 0) for each in (array, twin))
                held_with = folded_epsilon(self.variance, self.epsilon, *both)
                if held_with is not None:
                    told = f"is {self.epsilon:g} in PyTorch, and {held_with:g} in the weights of {node.op_type}"
                    yield ChangedParameter(f"{self.path}.eps", told, (value,), setting=True)
                    return
                names = [f"{self.path}.weight", f"{self.path}.running_var"]
            told = " or ".join(name for name in names if name in arrays)
            yield ChangedParameter(f"{told}, with {self.path} folded in,", apart[1], (value,))
            return  # what scales the weight moves the bias too

    def _only_scaled(self, mine: Array, theirs: Array) -> bool:
        """Whether one factor for each channel lies between two weights."""
        one, other = (np.moveaxis(each, self.axis, 0).reshape(each.shape[self.axis], -1) for each in (mine, theirs))
        size = (other * other).sum(1, keepdims=True)
        factor = (one * other).sum(1, keepdims=True) / np.where(size == 0, 1, size)
        return one.shape[1] > 1 and bool((but_for_rounding(one, factor * other) == one).all())


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
        given = (scale, mean, mean * 0 if norm.bias is None else norm.bias, variance)
        scales, means, shifts, variances = (part.detach().cpu().numpy() for part in given)
        yield path, _Fold(after, axis, scales, means, shifts, variances, norm.eps)


def _unpacked(plain: Plain, module: Any, arrays: Mapping[str, Array]) -> dict[str, tuple[ir.Value, Array]]:
    """By name of a recurrent module's parameter, what the graph has for it, and the numbers of its part."""
    found: dict[str, tuple[ir.Value, Array]] = {}
    for path, part in module.named_modules():
        kind = type(part).__name__
        if kind not in _GATES:
            continue
        nodes = [node for node in plain.nodes if node.op_type == kind and (module_path(node) or "") == path]
        for layer, node in enumerate(nodes):
            for place, names in ((1, ("weight_ih",)), (2, ("weight_hh",)), (3, ("bias_ih", "bias_hh"))):
                value = node.inputs[place] if place < len(node.inputs) else None
                if value is None or value.const_value is None:
                    continue
                for direction, half in enumerate(value.const_value.numpy()):
                    suffix = f"_l{layer}{'_reverse' if direction else ''}"
                    keys = [f"{path}.{name}{suffix}".lstrip(".") for name in names]
                    pieces = [_in_torch_order(piece, kind) for piece in np.split(half, len(names))]
                    if all(key in arrays and arrays[key].shape == pieces[0].shape for key in keys):
                        parts = _as_added(kind, [arrays[key] for key in keys], pieces)
                        found |= {key: (value, part) for key, part in zip(keys, parts, strict=True)}
    return found


def _in_torch_order(piece: Array, kind: str) -> Array:
    gates = np.split(piece, len(_GATES[kind]))
    return np.concatenate([gates[place] for place in _GATES[kind]])


def _as_added(kind: str, mine: Sequence[Array], theirs: Sequence[Array]) -> Sequence[Array]:
    """The two biases of a layer, which an exporter may add into one where the cell only ever adds them."""
    if len(mine) < 2:
        return theirs
    felt = [_felt(kind, each) for each in (mine, theirs)]
    if (felt[0] == but_for_rounding(*felt)).all():
        return mine
    if kind == "GRU" or theirs[1].any():
        return theirs
    return [theirs[0] - mine[1], mine[1]]


def _felt(kind: str, biases: Sequence[Array]) -> Array:
    """What of the two biases a layer feels: their sum, but for the gate of a GRU that resets in between, its last."""
    read, carried = biases
    reset = len(read) // 3 * 2 if kind == "GRU" else len(read)
    return np.concatenate([(read + carried)[:reset], read[reset:], carried[reset:]])
