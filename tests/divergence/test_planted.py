"""Faults that people really made, ten places each in 20 blocks: the probe names the node, with and without names.

Each fault is planted in each place; here with names in every second one and scrambled in the others, and both ways
where PADDABLE_PLANTED asks for all (``.ci/judges planted``).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
import pytest

from . import planted
from .conftest import Find

Model = onnx.ModelProto
PLACES = [0, 1, 3, 5, 8, 10, 13, 15, 18, 19]


@dataclass(frozen=True)
class Fault:
    """One kind of fault.

    Attributes:
        plant: puts it into a place of the padded model.
        node: the node to name; what is missing, where nodes were dropped.
        kind: of the cause.
        code: of the finding.
    """

    plant: Callable[[Model, int], Model]
    node: Callable[[int], str]
    kind: str
    code: str = ""


WEIGHTS = ["q", "k", "v", "out", "memory", "squeeze", "up", "down", "v", "q"]


def _weight(model: Model, k: int) -> Model:
    name = f"block.{k}.{WEIGHTS[PLACES.index(k)]}"
    return planted.changed(model, name, lambda a: np.add(a, 0.05, out=a, where=np.arange(a.size).reshape(a.shape) == 3))


def _cmvn(model: Model, k: int) -> Model:
    at = PLACES.index(k)
    name = "cmvn.shift" if at < 5 else "cmvn.scale"
    return planted.changed(model, name, lambda a: a.__setitem__(at % 5, a[at % 5] + 0.5))


def _prompt(model: Model, k: int) -> Model:
    """Two prompts change places, or one is another row of the table; conversion has made constants of both."""
    at = PLACES.index(k)
    if at == 0:
        return planted.swapped(model, "prompt/concat", 0, 1)
    table = onnx.numpy_helper.to_array(planted.weight_of(planted.native(), "prompts"))
    constant = planted.node_of(model, "prompt/concat").input[at % 2]
    return planted.changed(model, constant, lambda a: np.copyto(a, table[at + 3 + (at == 8)]))


FAULTS = {
    "unmasked convolution": Fault(
        lambda m, k: planted.unmasked(m, f"block.{k}/memory"), lambda k: f"block.{k}/memory", "padding", "PAD102"
    ),
    "mean over the container": Fault(
        lambda m, k: planted.mean_over_container(m, f"block.{k}"), lambda k: f"block.{k}/pool", "padding", "PAD101"
    ),
    "missing key mask": Fault(
        lambda m, k: planted.unmasked(m, f"block.{k}/softmax"), lambda k: f"block.{k}/softmax", "padding", "PAD103"
    ),
    "wrong CMVN": Fault(_cmvn, lambda k: "cmvn/shift" if PLACES.index(k) < 5 else "cmvn/scale", "weights"),
    "swapped prompt": Fault(
        _prompt,
        lambda k: "prompt/concat",
        "weights",
    ),
    "changed weight": Fault(_weight, lambda k: f"block.{k}/{WEIGHTS[PLACES.index(k)]}", "weights"),
}


NAMES = ["named", "scrambled"]


def ways(*faults: str) -> pytest.MarkDecorator:
    """Each fault in each place, and how the nodes are named there."""
    every = [(fault, place, names) for fault in faults for place in PLACES for names in NAMES]
    return pytest.mark.parametrize(
        ("fault", "place", "names"),
        every if os.environ.get("PADDABLE_PLANTED") == "all" else every[::4] + every[3::4],
    )


@ways(*FAULTS)
def test_the_faulty_node_is_named(fault: str, place: int, names: str, padded: Model, probed: Find) -> None:
    wanted = FAULTS[fault]
    model, new = wanted.plant(padded, place), {}
    if names == "scrambled":
        model, new = planted.scrambled(model)
    found = probed(model).fork
    assert found is not None
    node = wanted.node(place)
    assert found.node == new.get(node, node)
    assert found.other == node
    assert found.cause.code == wanted.code
    assert not wanted.kind or found.cause.kind == wanted.kind


@ways("dropped feed-forward")
def test_a_dropped_feed_forward_is_what_is_missing(
    fault: str, place: int, names: str, padded: Model, probed: Find
) -> None:
    if place == planted.BLOCKS - 1:
        place = 17  # the last block's result is the output
    model = planted.without_feed_forward(padded, f"block.{place}")
    if names == "scrambled":
        model, _ = planted.scrambled(model)
    found = probed(model).fork
    assert found is not None
    assert {f"block.{place}/{part}" for part in ("up", "relu", "down")} <= set(found.missing)
    assert {name.partition("/")[0] for name in found.missing} <= {f"block.{place}", f"block.{place + 1}"}
    assert found.cause.kind == "structure"


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("part", ["softmax", "gate", "relu"])
def test_an_operator_that_is_missing_is_told_before_the_padding_that_is_read(
    part: str, names: str, padded: Model, probed: Find
) -> None:
    model = planted.without(padded, f"block.7/{part}")
    if names == "scrambled":
        model, _ = planted.scrambled(model)
    found = probed(model).fork
    assert found is not None
    assert f"block.7/{part}" in found.missing
    assert found.cause.kind == "structure" and "the first graph lacks" in found.cause.text
    assert planted.node_of(padded, f"block.7/{part}").op_type in found.cause.text


@ways("overflow in half")
def test_an_overflow_in_half_is_where_it_begins(
    fault: str, place: int, names: str, native: Model, probed: Find, in_half: Callable[[Model], Model]
) -> None:
    against = planted.loud(native, f"block.{place}")
    model, new = in_half(against), {}
    if names == "scrambled":
        model, new = planted.scrambled(model)
    found = probed(model, against).fork
    assert found is not None
    node = f"block.{place}/up"
    assert found.node == new.get(node, node)
    assert found.cause.kind == "precision"


def test_a_right_model_agrees(padded: Model, probed: Find) -> None:
    report = probed(padded)
    assert report.ok, report.verdict
    assert report.matched["paired"] > 0.9 * len(planted.native().graph.node)


def test_a_right_model_agrees_whatever_its_names(padded: Model, probed: Find) -> None:
    report = probed(planted.scrambled(padded)[0])
    assert report.ok, report.verdict
    assert report.matched["compared values"] > 0.9 * probed(padded).matched["compared values"]
