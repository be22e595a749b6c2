"""What stays in fp32 in a step graph: what does in the whole, by its weights, and what a stream takes beyond half.

A step graph is traced by itself and its values have names of their own, so what was measured of native says nothing of
them. Utterances are streamed through it in fp32, chunk by chunk, and the range of every value is recorded, states among
them. What fewer bits damage in the whole they damage here too: a node that reads the same weight stays with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx_ir as ir

from paddable.api.measuring import Measured
from paddable.api.running import Lend
from paddable.bundle.state import STEP_METADATA_KEY, StepSpec
from paddable.gates.engine import Array, Engine
from paddable.gates.observe import Observer, watched
from paddable.precision import PRECISIONS
from paddable.precision.ranges import beyond_half, merged

__all__ = ["kept_in_steps"]

_FRAMES = 24
"""Steps of a random utterance, where examples have none."""


def kept_in_steps(
    step: ir.Model, native: ir.Model, precision: str, known: Measured, lend: Lend, *, seed: int = 0
) -> dict[str, str]:
    """Names of values of a step graph that stay in fp32, each with its reason.

    Args:
        step: in fp32; it is not changed.
        native: the whole.
        precision: that the step graph is to have.
        known: what it knows of the whole.
        lend: writes a model to a file for as long as it runs.
        seed: of random steps.
    """
    kept = _by_weight(step, native, known.kept)
    if PRECISIONS[precision].ranges:
        spec = StepSpec.from_json(step.metadata_props[STEP_METADATA_KEY])
        given = [example.arrays[spec.input] for example in known.examples if spec.input in example.arrays]
        model, names = watched(step)
        with lend(step) as plain, lend(model) as file:
            engine, observer = Engine(plain, where="step graph"), Observer(file, names)
            feeds = [feed for steps in given or [_drawn(engine, spec, seed)] for feed in _streamed(engine, spec, steps)]
            kept |= beyond_half(merged(map(observer.ranges, feeds)))
    return kept


def _by_weight(step: ir.Model, native: ir.Model, kept: Mapping[str, str]) -> dict[str, str]:
    """The nodes of the step graph that read a weight of a node that is kept in the whole."""
    nodes = [node for node in native.graph if node.outputs[0].name in kept]
    known = [(weight, kept[str(node.outputs[0].name)]) for node in nodes for weight in _weights(node)]
    found = {}
    for node in step.graph:
        for weight in _weights(node):
            why = [why for other, why in known if other.shape == weight.shape and np.array_equal(other, weight)]
            if why:
                found[str(node.outputs[0].name)] = why[0]
    return found


def _weights(node: ir.Node) -> list[Array]:
    tensors = [value.const_value for value in node.inputs if value is not None and value.is_initializer()]
    return [tensor.numpy() for tensor in tensors if tensor is not None and len(tensor.shape) > 1]


def _drawn(engine: Engine, spec: StepSpec, seed: int) -> Array:
    shape = [_FRAMES if axis == spec.axis else size for axis, size in enumerate(engine.shapes[spec.input])]
    rng = np.random.default_rng(seed)
    if engine.dtypes[spec.input].kind == "f":
        return rng.standard_normal(shape).astype(engine.dtypes[spec.input])
    return rng.integers(spec.low or 0, (spec.high or 0) + 1, shape).astype(engine.dtypes[spec.input])


def _streamed(engine: Engine, spec: StepSpec, steps: Array) -> Iterator[dict[str, Array]]:
    """The inputs of each chunk of an utterance, states among them."""
    states = spec.states.initial()
    for start in range(0, steps.shape[spec.axis], spec.steps):
        part = steps.take(range(start, min(start + spec.steps, steps.shape[spec.axis])), spec.axis)
        count = part.shape[spec.axis]
        widths = [(0, spec.steps - count if axis == spec.axis else 0) for axis in range(part.ndim)]
        feeds = {item.input_name: states[item.name] for item in spec.states}
        feeds |= {spec.input: np.pad(part, widths), "ilens": np.array([count])}
        yield feeds
        answer = engine.run(feeds)
        states = {item.name: answer[item.output_name] for item in spec.states}
