"""Settings of a PyTorch module that are attributes of the node that was exported from it."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

__all__ = ["setting_apart"]

_NORM = {"eps": "epsilon"}
_STEPS = {"stride": "strides", "dilation": "dilations", "groups": "group"}

_SETTINGS: dict[str, dict[str, str]] = {
    "BatchNormalization": _NORM,
    "Conv": _STEPS,
    "ConvTranspose": {**_STEPS, "output_padding": "output_padding"},
    "Elu": {"alpha": "alpha"},
    "GroupNormalization": {**_NORM, "num_groups": "num_groups"},
    "InstanceNormalization": _NORM,
    "LayerNormalization": _NORM,
    "LeakyRelu": {"negative_slope": "alpha"},
    "RMSNormalization": _NORM,
}
"""By operator, a module's attribute and the node's."""


def setting_apart(part: Any, node: ir.Node) -> str | None:
    """The first setting that differs, and what it is in both; None where none does, or where the module has children.

    Args:
        part: a module.
        node: one that was exported from it.
    """
    if node.domain or list(part.children()):
        return None
    for name, attribute in _SETTINGS.get(node.op_type, {}).items():
        mine = getattr(part, name, None)
        if mine is None or attribute not in node.attributes:
            continue
        theirs = node.attributes[attribute].value
        left, right = (tuple(each) if isinstance(each, tuple | list) else (each,) for each in (mine, theirs))
        if len(left) != len(right) or not all(isinstance(each, int | float) for each in left):
            continue
        if any(abs(x - y) > 1e-6 * abs(x) for x, y in zip(left, right, strict=True)):
            told = mine if len(left) > 1 else f"{left[0]:g}"
            there = f"{right[0]:g}" if len(right) == 1 else theirs
            return f"{name} {told} in PyTorch, and its {node.op_type} has {there}"
    return None
