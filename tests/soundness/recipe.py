"""A random graph as a short recipe: a seed for its inputs, and a list of steps, each with a seed of its own.

Taking a step out leaves the others as they were, so hypothesis (or a loop) shrinks a failing recipe to the steps that
matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies
from onnx import TensorProto, helper

from paddable.lengths import Length, constant, symbol

from .builder import BATCH, FLOAT, INT64, Builder, Tensor, ragged
from .case import TABLE, Case
from .steps import STEPS
from .steps.normalisation import settle
from .steps.pointwise import activation

__all__ = ["Recipe", "build", "random_recipe", "recipes"]

_LONGEST, _SHORTEST = 260, 4
"""Bounds of the stream's size when the inputs have _TYPICAL steps."""
_TYPICAL = 40


@dataclass(frozen=True)
class Recipe:
    """How to build one graph.

    Attributes:
        seed: decides the opset, the inputs and the batch.
        steps: (name, seed) of each step, in order.
    """

    seed: int
    steps: tuple[tuple[str, int], ...]

    def without(self, index: int) -> Recipe:
        return replace(self, steps=self.steps[:index] + self.steps[index + 1 :])


_SEEDS = 1 << 16


def recipes() -> strategies.SearchStrategy[Recipe]:
    """Recipes as hypothesis draws and shrinks them."""
    one = strategies.tuples(strategies.sampled_from(sorted(STEPS)), strategies.integers(0, _SEEDS))
    return strategies.builds(
        Recipe, strategies.integers(0, _SEEDS), strategies.lists(one, min_size=2, max_size=12).map(tuple)
    )


def random_recipe(number: int, seed: int = 0) -> Recipe:
    """Recipe ``number`` of a long campaign."""
    random = np.random.default_rng([seed, number])
    names = sorted(STEPS)
    count = int(random.integers(2, 13))
    steps = tuple((names[int(random.integers(len(names)))], int(random.integers(_SEEDS))) for _ in range(count))
    return Recipe(int(random.integers(_SEEDS)), steps)


def build(recipe: Recipe) -> Case:
    """The graph of a recipe."""
    random = np.random.default_rng(recipe.seed)
    builder = Builder(random, opset=int(random.integers(11, 25)))
    start = _start(builder)
    x = start.stream
    builder.others.append(x)
    if start.second is not None:
        builder.others.append(start.second)
    for name, seed in recipe.steps:
        builder.random = np.random.default_rng([recipe.seed, seed])
        x = _attempt(builder, name, x)
        builder.others.append(x)
    builder.output(builder.op("Mul", x, builder.floats(1.0)))
    return start.case(builder)


def _attempt(b: Builder, name: str, x: Tensor) -> Tensor:
    """Apply a step unless the stream would become too long or too short."""
    kept = len(b.nodes), len(b.initializers), len(b.outputs)
    result = STEPS[name](b, x)
    sizes = [s.evaluate(dict.fromkeys(s.symbols, _TYPICAL)) for t in (result, *b.outputs[kept[2] :]) for s in t.shape]
    time = [s for s in result.shape if ragged(s)]
    long = max(sizes) > _LONGEST
    short = any(s.evaluate(dict.fromkeys(s.symbols, _TYPICAL)) < _SHORTEST for s in time)
    if long or short or len(time) != 1 or result.rank != 3:
        del b.nodes[kept[0] :], b.initializers[kept[1] :], b.outputs[kept[2] :]
        return x
    if result is not x and b.chance(0.4):
        result = activation(b, result)
    return settle(b, result) if result is not x and b.chance(0.4) else result


# -- inputs ------------------------------------------------------------------------------------------------------------


@dataclass
class _Start:
    """The inputs, and the stream that is made of them."""

    stream: Tensor
    inputs: list[Tensor]
    lengths: list[str]
    batched: bool
    rows: int | None
    native_rows: int | None
    second: Tensor | None = None
    length_inputs: list[str] = field(default_factory=list)
    mask_inputs: list[str] = field(default_factory=list)

    def case(self, b: Builder) -> Case:
        graph = helper.make_graph(
            b.nodes, "random",
            [_info(t) for t in (*self.inputs, *b.lengths.values(), *b.masks.values())],
            [_info(t) for t in b.outputs], b.initializers,
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", b.opset)], ir_version=10)
        return Case(
            model, self.lengths, self.length_inputs, self.mask_inputs, self.inputs, self.batched, self.rows,
            self.native_rows, dict(b.lengths), dict(b.masks),
        )  # fmt: skip


def _info(t: Tensor) -> object:
    return helper.make_tensor_value_info(t.name, t.dtype, [s.constant if s.is_constant else str(s) for s in t.shape])


def _start(b: Builder) -> _Start:
    batched = not b.chance(0.08)
    form = b.pick(["one"] * 7 + ["fixed", "kept", "freed"]) if batched else "one"
    batch: Length = constant(1) if form == "one" else constant(b.between(2, 3)) if form == "fixed" else symbol(BATCH)
    rows = None if form == "kept" else batch.constant if batch.is_constant else 1
    native_rows = batch.constant if batch.is_constant else None
    time = symbol("T")
    x, stream, axis = _input(b, "x", batch, time, batched)
    start = _Start(stream, [x], [f"x:{axis}=T"], batched, rows, native_rows)
    if batched and b.chance(0.3):
        other = b.pick([time, time, symbol("U"), symbol("U"), (time + 1) // 2, time * 2 + 1])
        y, second, axis = _input(b, "y", batch, other, batched)
        start.inputs.append(y)
        start.lengths.append(f"y:{axis}={other}")
        start.second = second
        if other == time:
            start.stream = b.op("Add", stream, second) if b.chance() and stream.shape == second.shape else stream
        # an input that nothing reads has no length: it always reaches an output
        b.output(b.op("Tanh", second))
    if batched and b.chance(0.15):
        b.lengths["T"] = Tensor("steps", INT64, (batch,))
        start.length_inputs.append("steps=T")
    if batched and b.chance(0.15):
        b.masks["T"] = Tensor("mask", INT64, (batch, time))
        start.mask_inputs.append("mask:1=T")
    return start


def _input(b: Builder, name: str, batch: Length, time: Length, batched: bool) -> tuple[Tensor, Tensor, int]:
    """An input, the stream [B, T, C] or [B, C, T] made of it, and its ragged axis."""
    width = b.pick([3, 4, 4, 6])  # two channels, normalised, are plus and minus one
    if not batched:
        x = Tensor(name, FLOAT, (time, constant(width)))
        return x, b.unsqueeze(x, 0), 0
    form = b.pick(["middle", "last", "last", "wave", "codes", "image"])
    if form == "middle":
        x = Tensor(name, FLOAT, (batch, time, constant(width)))
        return x, x, 1
    if form == "last":
        x = Tensor(name, FLOAT, (batch, constant(width), time))
        return x, x, 2
    if form == "wave":
        x = Tensor(name, FLOAT, (batch, time))
        return x, b.linear(b.unsqueeze(x, 2), width), 1
    if form == "codes":
        x = Tensor(name, TensorProto.INT64, (batch, time))
        return x, b.op("Gather", b.weight(TABLE, width), x, shape=[batch, time, width], axis=0), 1
    x = Tensor(name, FLOAT, (batch, constant(2), time, constant(2)))
    turned = b.transpose(x, 0, 2, 1, 3)
    return x, b.reshape(turned, [b.rows(turned), b.free(turned, 1), 4], [batch, time, 4]), 2
