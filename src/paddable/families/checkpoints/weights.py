"""Tensors into a model: every one is used, of the right shape and type, and finite, or an error names its key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from paddable.errors import UnreadableError
from paddable.families.checkpoints.key_report import summarise_keys

__all__ = ["FLOATS", "by_parameter", "check_weights", "load_weights", "rows_of"]

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
"""Types whose numbers are the weights. Eight bits and less are so only together with a scale beside them."""

Model = TypeVar("Model", bound=nn.Module)


def by_parameter(keys: Iterable[str], rename: Callable[[str], str | None], *, where: str) -> dict[str, str]:
    """The key of a checkpoint for each parameter name.

    Args:
        keys: of the checkpoint.
        rename: a key to a parameter's name; None for a key that the model does not read.
        where: what an error calls the checkpoint.

    Raises:
        UnreadableError: two keys name one parameter.
    """
    found: dict[str, str] = {}
    for key in keys:
        name = rename(key)
        if name is None:
            continue
        if name in found:
            raise UnreadableError(
                f"{found[name]} and {key} are the same weight",
                where=where,
                why="one of the two would be lost",
                fix="keep one of them",
            )
        found[name] = key
    return found


def rows_of(key: str, tensors: Mapping[str, Tensor], *, model: str, where: str) -> int:
    """Rows of a weight that every checkpoint of a model has, where its configuration does not say them: the classes.

    Raises:
        UnreadableError: there is no such weight, or it has no rows.
    """
    if key not in tensors:
        raise UnreadableError(f"no {key} among the weights", where=where, why=f"this is no {model} checkpoint")
    if not tensors[key].dim():
        raise UnreadableError(f"{key} is a single number", where=where, why=f"this is no {model} checkpoint")
    return len(tensors[key])


def load_weights(
    build: Callable[[], Model],
    tensors: Mapping[str, Tensor],
    *,
    where: str,
    ignore: Iterable[str] = (),
    spell: Callable[[str], str] = str,
) -> Model:
    """A model with these tensors, all of them or none, in eval mode.

    Shapes are compared before anything of their size is made: a slip in a configuration must not fill the memory.

    Args:
        build: makes the module, without dropout state or other surprises; called twice, first for its shapes alone.
        tensors: by parameter name.
        where: what an error calls the checkpoint.
        ignore: prefixes of keys that the checkpoint may hold and this model does not use.
        spell: a parameter's name as the checkpoint spells it, for errors.

    Raises:
        UnreadableError: lists every missing, unexpected, wrongly shaped and damaged key.
    """
    prefixes = tuple(ignore)
    given = {key: value for key, value in tensors.items() if not key.startswith(prefixes or ("\0",))}
    with torch.device("meta"):
        shapes = {spell(name): value.shape for name, value in build().state_dict().items()}
    check_weights(shapes, {spell(name): value for name, value in given.items()}, where=where)
    model = build()
    model.load_state_dict(given)
    return model.eval()


def check_weights(shapes: Mapping[str, Sequence[int]], tensors: Mapping[str, Tensor], *, where: str) -> None:
    """Compares what a checkpoint holds with what a model needs.

    Args:
        shapes: of every weight that the model needs, by the checkpoint's key.
        tensors: what there is, by the same keys.
        where: what an error calls the checkpoint.

    Raises:
        UnreadableError: lists every missing, unexpected, wrongly shaped and damaged key.
    """
    missing = [key for key in shapes if key not in tensors]
    unexpected = [key for key in tensors if key not in shapes]
    misshaped = [
        f"{key} {list(tensors[key].shape)} instead of {list(shape)}"
        for key, shape in shapes.items()
        if key in tensors and tuple(tensors[key].shape) != tuple(shape)
    ]
    parts = [
        f"{len(keys)} {name}: {summarise_keys(keys)}"
        for name, keys in (("missing", missing), ("unexpected", unexpected), ("wrongly shaped", misshaped))
        if keys
    ]
    if parts:
        raise UnreadableError(
            "the checkpoint does not fit the model; " + "; ".join(parts),
            where=where,
            why="a model with some of its weights answers without a warning",
            fix="check that configuration and weights come from the same release",
        )
    _refuse_damaged(tensors, where)


def _refuse_damaged(tensors: Mapping[str, Tensor], where: str) -> None:
    other = [f"{key} is {_type(tensor)}" for key, tensor in tensors.items() if tensor.dtype not in FLOATS]
    broken = [key for key, tensor in tensors.items() if tensor.dtype in FLOATS and not _finite(tensor)]
    parts = [f"not floats of 16 bits or more: {summarise_keys(other)}"] * bool(other)
    parts += [f"NaN or infinity in {summarise_keys(broken)}"] * bool(broken)
    if parts:
        raise UnreadableError(
            "; ".join(parts),
            where=where,
            why="the model's answers would be wrong or NaN",
            fix="take the weights as they were published, in fp32, fp16, bf16 or fp64",
        )


def _finite(tensor: Tensor) -> bool:
    return bool(torch.isfinite(tensor.float()).all())  # in float32, which the model is in


def _type(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
