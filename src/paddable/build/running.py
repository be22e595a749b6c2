"""Runs models on the CPU for the parts of the library that may not know a runtime: lint and the fixes of a target."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from paddable.gates.engine import Engine, EngineError
from paddable.graph.write import write_model

__all__ = ["run_bytes", "run_model", "sample_feeds"]

Array = npt.NDArray[Any]

_TRIED = (16000, 2000, 400, 100, 20)
"""Sizes tried for the free axes of a model about which nothing is declared."""


def run_bytes(model: bytes, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs by name of a serialised model."""
    return Engine(model).run(feeds)


def run_model(model: ir.Model, feeds: Mapping[str, Array]) -> list[Array]:
    """Outputs in the order of the graph."""
    with _opened(model) as engine:
        results = engine.run({name: array for name, array in feeds.items() if name in engine.shapes})
        return [results[name] for name in engine.outputs]


@contextmanager
def _opened(model: ir.Model) -> Iterator[Engine]:
    """A session by way of a file: as bytes, the weights would lie in memory three times, and 2 GiB would be the end."""
    with tempfile.TemporaryDirectory(prefix="paddable.", ignore_cleanup_errors=True) as folder:
        yield Engine(write_model(model, Path(folder) / "model.onnx", external_data=True))


def sample_feeds(model: ir.Model, container: Mapping[str, int] | None = None) -> list[dict[str, Array]]:
    """Random inputs that the model accepts, for comparing it before and after a change; none if none is found.

    Args:
        model: any model; free axes get the first size at which it runs, leading ones 1.
        container: steps of each symbol when the model was just padded: its length inputs then say "full".
    """
    random = np.random.default_rng(0)
    longest = max((container or {"": 1}).values())
    with suppress(EngineError), _opened(model) as engine:  # no kernel on the CPU: made for a provider that has one
        for size in _TRIED:
            feeds = _feeds(engine, size, longest, random)
            try:
                engine.run(feeds)
            except EngineError:
                continue
            return [feeds]
    return []


def _feeds(engine: Engine, size: int, longest: int, random: np.random.Generator) -> dict[str, Array]:
    feeds = {}
    for name, shape in engine.shapes.items():
        dims = [d if isinstance(d, int) else (1 if i == 0 else size) for i, d in enumerate(shape)]
        dtype = engine.dtypes[name]
        if np.issubdtype(dtype, np.floating):
            feeds[name] = (0.1 * random.standard_normal(dims)).astype(dtype)
        elif dtype == np.bool_:
            feeds[name] = np.ones(dims, dtype=dtype)
        else:
            feeds[name] = np.full(dims, longest if len(dims) <= 1 else 1, dtype=dtype)
    return feeds
