"""A residual and the norm behind it, as the one operator that adds, normalises and gives the sum besides."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from paddable.forms.form import CONTRIB, Form, Unfit, array_of, made_by, only_reader, register_domain, sizes, typed
from paddable.linter.new_parts import Parts

__all__ = ["SkipNormalisation"]


@dataclass
class _Sum:
    """A tree of additions: its leaves, the constants among them, and what lies between."""

    leaves: list[ir.Value] = field(default_factory=list)
    biases: list[ir.Value] = field(default_factory=list)
    between: list[ir.Value] = field(default_factory=list)


class SkipNormalisation(Form):
    """Writes a sum and the LayerNormalization of it as SkipLayerNormalization.

    Requires: as of ``Form``; scale and shift are constants of the last axis, the sum has rank 2 or 3.
    Ensures: as of ``Form``; the sum itself is the operator's fourth output where anybody else reads it.
    Modifies: as of ``Form``.

    Biases of the products that are added come along as the operator's own bias, and so cost nothing.
    """

    name = "skip-normalisation"
    anchor = "LayerNormalization"

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        register_domain(model)
        return super().call(model)

    def write(self, node: ir.Node, parts: Parts) -> bool:
        total = node.inputs[0]
        root = made_by(total, "Add")
        shape = sizes(total)
        if root is None or total is None:
            return False
        scale, shift = node.inputs[1], node.inputs[2] if len(node.inputs) > 2 else None
        tree = _leaves(root, shape)
        if len(tree.leaves) < 2:
            return False
        if len(shape) not in (2, 3):
            raise Unfit(f"its sum has rank {len(shape)}")
        axis = node.attributes.get("axis")
        if (axis.as_int() if axis is not None else -1) % len(shape) != len(shape) - 1 or len(node.outputs) > 1:
            raise Unfit("it is not a norm of the last axis alone")
        for value in (scale, shift):
            if value is not None and (array_of(value) is None or sizes(value) != shape[-1:]):
                raise Unfit("its scale or shift is not a constant of the last axis")
        if total.is_graph_output():
            raise Unfit("its sum is an output")
        self.demand_free([total, *tree.between])
        new: list[ir.Node] = []
        first, second = _two(tree.leaves, new)
        operands: list[ir.Value | None] = [first, second, scale, shift]
        if tree.biases:
            bias = np.sum([np.asarray(array_of(value), np.float64) for value in tree.biases], axis=0)
            operands.append(parts.constant(node, f"{node.name}_bias", bias.astype(np.float32)))
        epsilon = node.attributes.get("epsilon")
        attributes = {"epsilon": epsilon.as_float() if epsilon is not None else 1e-5}
        read = len(list(total.uses())) > 1
        skip = ir.node("SkipLayerNormalization", operands, attributes, num_outputs=4 if read else 1, domain=CONTRIB)
        typed(skip.outputs[0], node.outputs[0])
        new.append(skip)
        if read:
            for unused in skip.outputs[1:3]:
                unused.name = ""
            typed(skip.outputs[3], total)
        graph = root.graph
        assert isinstance(graph, ir.Graph)
        results = [skip.outputs[0], skip.outputs[3]] if read else [skip.outputs[0]]
        before = [node.outputs[0], total] if read else [node.outputs[0]]
        parts.replace_all(root, [root, node], new, before, results)
        return True


def _leaves(root: ir.Node, shape: tuple[int, ...]) -> _Sum:
    """What a sum adds up, through sums that nobody else reads."""
    found = _Sum()

    def descend(node: ir.Node) -> None:
        for value in node.inputs:
            if value is None:
                continue
            inner = made_by(value, "Add")
            if array_of(value) is not None and sizes(value) == shape[-1:] and value.dtype == ir.DataType.FLOAT:
                found.biases.append(value)
            elif inner is not None and sizes(value) == shape and only_reader(value) is node:
                found.between.append(value)
                descend(inner)
            else:
                found.leaves.append(value)

    descend(root)
    whole = [value for value in found.leaves if sizes(value) == shape]
    return found if len(whole) == len(found.leaves) else _Sum()


def _two(leaves: list[ir.Value], new: list[ir.Node]) -> tuple[ir.Value, ir.Value]:
    """Two values that add up to all leaves; what came first is the residual and is added last."""
    residual, *others = leaves
    while len(others) > 1:
        new.append(ir.node("Add", others[:2]))
        others = [typed(new[-1].outputs[0], leaves[0]), *others[2:]]
    return others[0], residual
