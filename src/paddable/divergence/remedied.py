"""What a padded graph computes by a remedy's nodes, such as a mean as a masked sum: right, and rounded otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx_ir as ir

from paddable.divergence.cause import Cause
from paddable.divergence.fork import Fork
from paddable.divergence.moving import MOVING
from paddable.divergence.parting import Parting
from paddable.divergence.remedies import of_the_model

__all__ = ["rounded_by_remedy"]

_ROUNDED = {"fp32": 1e-5, "half": 4e-3}
"""Errors up to these are what sums in another order make."""


def rounded_by_remedy(parting: Parting, fork: Fork, others: Sequence[ir.Node]) -> Cause | None:
    """Rounding, where somebody asks for differences that are no larger and a remedy computes; None elsewhere.

    Args:
        parting: both runs.
        fork: where they part.
        others: the nodes of the second graph that make the partner of the fork's value.
    """
    one, other = parting.one, parting.other
    limit = _ROUNDED["fp32" if {one.precision, other.precision} == {"fp32"} else "half"]
    if max(parting.tolerance, parting.errors.get(fork.value, math.inf)) > limit:
        return None
    for side, nodes, which in ((one, fork.nodes, "first"), (other, others, "second")):
        own = set(of_the_model(side, nodes))
        made = [node for node in nodes if node not in own and node.op_type not in _LAYING]
        if made:
            return Cause(
                "rounding",
                f"a remedy of the {which} graph computes this by other nodes ({', '.join(_named(made))}), which round "
                "otherwise",
                f"compare with a tolerance above {limit:g}: less is what sums in another order make",
            )
    return None


_LAYING = frozenset({"And", "Cast", "Equal", "Less", "Not", "Or", "Range", "Shape", "Where", *MOVING})
"""What a remedy makes masks of, and puts them on."""


def _named(nodes: Sequence[ir.Node]) -> list[str]:
    return list(dict.fromkeys(node.op_type for node in nodes))
