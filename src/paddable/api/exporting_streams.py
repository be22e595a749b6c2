"""The gate of step graphs: a stream, cut in any way, gives what the whole utterance gives."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from paddable.gates.engine import Array, Engine, Source
from paddable.gates.oracle import scale
from paddable.precision import PRECISIONS, session_config
from paddable.runtime.session.model_file import open_session
from paddable.runtime.session.saturation import asked_here
from paddable.runtime.streaming.step_graph import StepGraph
from paddable.runtime.streaming.stream import Stream

__all__ = ["judge_streams"]

FRAMES = 120
"""Of the random utterance: beyond the attention window of the released codec, 72 frames."""

LEAST, MULTIPLE = 1e-5, 3
"""Allowed: ``LEAST`` of scale, or ``MULTIPLE`` times native's own noise, the optimiser on against off."""


def judge_streams(
    exact: Source, native: Source, step_graphs: Mapping[str, Path], precision: str = "fp32", *, seed: int = 0
) -> dict[str, Any]:
    """Stream one random utterance through the step graphs and compare with the whole, both in a precision.

    Each graph alone with full chunks, then all of them together with chunks of random sizes, 0 included.

    Args:
        exact: the whole-utterance graph in fp32.
        native: the same in ``precision``; ``exact`` itself for fp32.
        step_graphs: by name, files of the same model in ``precision``.
        precision: of ``paddable.precision.PRECISIONS``.
        seed: of codes and chunk sizes.

    Returns:
        ``ok``, ``tolerance`` and ``noise`` relative to scale, and ``rows``: chunking and error.
    """
    config = session_config(precision)
    streams = {name: _stream(path, config) for name, path in step_graphs.items()}
    spec = Stream(list(streams.values())).spec
    random = np.random.default_rng(seed)
    shape = [size if axis != spec.axis else FRAMES for axis, size in enumerate(next(iter(streams.values())).shape)]
    codes = random.integers(spec.low or 0, (spec.high or 0) + 1, shape)
    whole = Engine(native, config=config).run({spec.input: codes})[spec.output]
    plain = Engine(native, optimise=False, config=config).run({spec.input: codes})[spec.output]
    wide = whole if precision == "fp32" else Engine(exact).run({spec.input: codes})[spec.output]
    rows: list[dict[str, Any]] = [
        {"chunks": file, "error": _distance(_pushed(Stream([graph]), codes, [graph.spec.steps]), whole)}
        for file, graph in streams.items()
    ]
    largest = max(graph.spec.steps for graph in streams.values())
    sizes = random.integers(0, 2 * largest + 1, FRAMES).tolist()
    rows.append({"chunks": "random", "error": _distance(_pushed(Stream(list(streams.values())), codes, sizes), whole)})
    cost = _distance(whole, wide)
    noise = max(_distance(plain, whole), cost if PRECISIONS[precision].rounds else 0)
    tolerance = max(LEAST, MULTIPLE * noise)
    ok = all(row["error"] <= tolerance for row in rows)
    told = {"ok": ok, "tolerance": tolerance, "noise": noise, "rows": rows}
    return told if precision == "fp32" else {**told, "precision": {precision: {"error": cost}}}


def _stream(path: Path, config: Mapping[str, str]) -> StepGraph:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    for key, value in asked_here(config).items():
        options.add_session_config_entry(key, value)
    return StepGraph(open_session(path, options, providers=["CPUExecutionProvider"]))


def _pushed(stream: Stream, codes: Array, sizes: list[int]) -> Array:
    """The output of chunks of these sizes; the last size repeats."""
    axis, done, parts = stream.spec.axis, 0, []
    sizes = [*sizes, max(sizes[-1], 1)]
    while done < codes.shape[axis]:
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        parts.append(stream.push(np.take(codes, range(done, min(done + size, codes.shape[axis])), axis)))
        done += size
    return np.concatenate(parts, stream.spec.output_axis)


def _distance(one: Array, other: Array) -> float:
    """Largest difference relative to scale; the largest float (JSON has no infinity) where shapes differ or for NaN."""
    if one.shape != other.shape or not np.isfinite(one).all():
        return sys.float_info.max
    return float(np.abs(one.astype(np.float64) - other).max()) / scale(other)
