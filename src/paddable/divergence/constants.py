"""What a graph makes of its constants alone, computed: one exporter folds it into a weight, another leaves nodes."""

from __future__ import annotations

import onnx_ir as ir

from paddable.divergence.cut import Cutter
from paddable.divergence.moving import MOVING
from paddable.gates.engine import Engine, EngineError
from paddable.graph.prepare.normalise import bodies, reads

__all__ = ["compute_constants", "is_rounded", "made_of", "told"]

_MADE_OF = "paddable.made_of"
"""Under this key a computed constant keeps the name of the weight that it is made of."""

_ROUNDED = "paddable.rounded"
"""This key has a computed constant that is no weight moved or cast."""

_STAYS = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
    | {"DequantizeLinear", "QuantizeLinear", "SequenceConstruct", "SequenceEmpty", "SequenceInsert", "SplitToSequence"}
)
"""Operators that draw, that tell a weight in 8 bits from one in float, or that give a list."""


def compute_constants(model: ir.Model) -> ir.Model:
    """A model in which what constants alone make is a constant: a copy that shares the weights, or the model itself
    where there is nothing to compute or ONNX Runtime cannot.

    Args:
        model: in plain form (`paddable.graph.prepare.normalise`).
    """
    made = _made_of_constants(model.graph)
    if not made:
        return model
    copy = model.clone()
    made = _made_of_constants(copy.graph)
    asked = [value for node in made for value in node.outputs if _is_read(value, made)]
    try:
        numbers = Engine(Cutter(copy).cut(list(made), {}, asked), optimise=False).run({})
    except EngineError:
        return model
    for value in asked:
        tensor = ir.tensor(numbers[str(value.name)], name=value.name)
        constant = ir.Value(
            name=value.name,
            type=ir.TensorType(tensor.dtype),
            shape=ir.Shape(numbers[str(value.name)].shape),
            const_value=tensor,
        )
        maker = value.producer()
        assert maker is not None
        constant.metadata_props[_MADE_OF] = made[maker][1]
        if made[maker][2]:
            constant.metadata_props[_ROUNDED] = "yes"
        value.replace_all_uses_with(constant)
        value.name = None
        copy.graph.register_initializer(constant)
    copy.graph.remove(list(made), safe=True)
    return copy


def told(value: ir.Value) -> str:
    """A constant's name; of a computed one, also that of the weight that it is made of."""
    weight = made_of(value)
    return f"{value.name}, made of {weight}" if weight is not None else str(value.name)


def made_of(value: ir.Value) -> str | None:
    """The name of the largest weight that a computed constant is made of; None for another value."""
    return value.metadata_props.get(_MADE_OF)


def is_rounded(value: ir.Value) -> bool:
    """Whether a constant was computed by more than moves and casts, so that half or 8 bits round it as they do what is
    computed as the model runs."""
    return _ROUNDED in value.metadata_props


def _made_of_constants(graph: ir.Graph) -> dict[ir.Node, tuple[int, str, bool]]:
    """In order, the nodes to compute, each with the size and the name of the largest weight that is in it, and whether
    more than moves and casts made it."""
    found: dict[ir.Node, tuple[int, str, bool]] = {}
    for node in graph:
        if node.op_type in _STAYS or bodies(node) or any(value.is_graph_output() for value in node.outputs):
            continue
        origins = [_origin(value, found) for value in reads(node)]
        known = [origin for origin in origins if origin is not None]
        if known and len(known) == len(origins):
            rounded = node.op_type not in MOVING | {"Cast"} or any(each for _, _, each in known)
            found[node] = (*max(known)[:2], rounded)
    return found


def _origin(value: ir.Value, found: dict[ir.Node, tuple[int, str, bool]]) -> tuple[int, str, bool] | None:
    if value.const_value is not None:
        return value.const_value.size, str(value.name), False
    maker = value.producer()
    return found.get(maker) if maker is not None else None


def _is_read(value: ir.Value, made: dict[ir.Node, tuple[int, str, bool]]) -> bool:
    return any(use.node not in made for use in value.uses())
