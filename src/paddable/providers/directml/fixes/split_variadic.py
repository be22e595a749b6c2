"""Fix of DML113."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx_ir as ir

from paddable.linter.fix import NodeFix
from paddable.linter.new_parts import Parts
from paddable.linter.rule import Match
from paddable.linter.site import Site
from paddable.providers.directml.placement import Placement
from paddable.providers.directml.rules.variadic_arithmetic import VariadicArithmetic

__all__ = ["SplitVariadic"]

_NUMPY = {"float": np.float32, "double": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


class SplitVariadic(NodeFix[Placement]):
    """Writes Sum, Mean, Max and Min of n inputs as a chain of nodes with two; Mean as a Sum chain and one product."""

    rule = VariadicArithmetic

    def repair(self, node: ir.Node, site: Site[Placement], match: Match, parts: Parts) -> None:
        step = "Sum" if node.op_type == "Mean" else node.op_type
        chain: list[ir.Node] = []
        result = node.inputs[0]
        assert result is not None
        for value in node.inputs[1:]:
            chain.append(ir.node(step, [result, value]))
            result = chain[-1].outputs[0]
        if node.op_type == "Mean" and len(node.inputs) > 1:
            assert match.node is not None
            dtype = _NUMPY[site.view.dtype(match.node.inputs[0]) or "float"]
            count = parts.constant(node, f"{node.outputs[0].name}_share", np.asarray(1 / len(node.inputs), dtype))
            chain.append(ir.node("Mul", [result, count]))
        elif not chain:
            chain.append(ir.node("Identity", [result]))
        parts.replace(node, chain, [chain[-1].outputs[0]])
