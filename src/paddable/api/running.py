"""Runs models on the CPU for the parts of the library that may not know a runtime: lint and the fixes of a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from paddable.gates.engine import Engine, EngineError
from paddable.graph.io.scratch import scratch_folder
from paddable.graph.io.write import write_model

__all__ = ["Lend", "Sampled", "opened", "run_bytes", "sample_feeds"]

Array = npt.NDArray[Any]
Feed = dict[str, Array]
Lend = Callable[[ir.Model], AbstractContextManager[Path]]


def run_bytes(model: bytes, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Outputs by name of a serialised model."""
    return Engine(model).run(feeds)


class Sampled:
    """Runs a model before and after each fix of a target, on inputs that are drawn when the first fix asks.

    Args:
        container: steps of each symbol when the model was just padded: its length inputs then say "full", and less.
        lend: writes a model to a file that lasts as long as it is run; by default to a folder of its own.
    """

    def __init__(self, container: Mapping[str, int] | None = None, lend: Lend | None = None) -> None:
        self._container, self._lend = container, lend or _alone
        self._drawn: list[Feed] | None = None

    def __call__(self, model: ir.Model, feeds: Sequence[Mapping[str, Array]] = ()) -> list[list[Array]]:
        """Outputs in the order of the graph, for each of ``feeds`` or, where there are none, of the inputs drawn.

        Raises:
            EngineError: it does not load, or does not run on a feed.
        """
        with opened(model, self._lend) as engine:
            if not feeds:
                if self._drawn is None:
                    self._drawn = sample_feeds(engine, self._container)
                feeds = self._drawn
            answers = []
            for feed in feeds:
                results = engine.run({name: array for name, array in feed.items() if name in engine.shapes})
                answers.append([results[name] for name in engine.outputs])
            return answers


@contextmanager
def _alone(model: ir.Model) -> Iterator[Path]:
    with scratch_folder() as folder:
        yield write_model(model, folder / "model.onnx", external_data=True)


@contextmanager
def opened(model: ir.Model, lend: Lend = _alone) -> Iterator[Engine]:
    """A session by way of a file: as bytes, the weights would lie in memory three times, and 2 GiB would be the end."""
    with lend(model) as path:
        try:
            engine = Engine(path, where="model")
        except EngineError as error:  # the file is gone before anybody reads its name
            raise EngineError(error.what.replace(str(path), "the model"), where="model") from None
        try:
            yield engine
        finally:
            engine.close()


def sample_feeds(engine: Engine, container: Mapping[str, int] | None = None) -> list[Feed]:
    """Random inputs that the model accepts, for comparing it before and after a change; none if none is found.

    They differ in size where an axis is free, in scale, and in the integers and booleans: what a change gets wrong at
    one length, or for one number, is not seen at another.

    Args:
        engine: any model. A free axis in front is the batch, unless its input has no other and holds numbers: then it
            is time, as in a waveform.
        container: as of ``Sampled``.
    """
    full = max(container.values()) if container else None
    small = _first(engine, _SMALL, _PARTS if container else _VARIED, 3.0, batch=2, full=full)
    if small is None:
        return []
    large = _first(engine, _LARGE, _FULL, 0.1, batch=1, full=full)
    return [large, small] if large is not None else [small]


_SMALL = (3, 7, 20, 100, 400, 2000, 16000)
_LARGE = (16000, 2000, 400, 100, 20)
"""Sizes tried for the free axes of a model about which nothing is declared; the first at which it runs is taken."""

_MOST = 1 << 26
"""Elements of an input above which it is not tried."""

_FULL = ("full", "few", "one")
_PARTS = ("part", "few", "one")
_VARIED = ("signed", "few", "one", "full")
"""What integers say, likewise: a length, an index (of either sign), a flag."""


def _first(
    engine: Engine, sizes: Sequence[int], integers: Sequence[str], scale: float, batch: int, full: int | None
) -> Feed | None:
    """The first inputs that the model runs on and answers with at least one number."""
    random = np.random.default_rng(batch)
    free = _free_axes(engine)
    varies = any(dtype.kind in "iub" for dtype in engine.dtypes.values())
    tried = (
        (dims, kind)
        for size in (sizes if free else sizes[:1])
        for dims in _dims_of(free, size, batch)
        for kind in (integers if varies else integers[:1])
    )
    for dims, kind in tried:
        shapes = {name: [dims.get(dim, dim) for dim in _keys(name, shape)] for name, shape in engine.shapes.items()}
        if any(prod(shape) > _MOST for shape in shapes.values()):
            continue
        how = kind, scale, full or max(dims.values(), default=1)
        feed = {name: _draw(shape, engine.dtypes[name], how, random) for name, shape in shapes.items()}
        with suppress(EngineError):
            if any(np.size(output) for output in engine.run(feed).values()):
                return feed
    return None


def _keys(name: str, shape: Sequence[Any]) -> list[Any]:
    """The dims of an input: a size, a symbol, or a name of its own for one that has none."""
    return [dim if isinstance(dim, int | str) else f"{name}:{axis}" for axis, dim in enumerate(shape)]


def _free_axes(engine: Engine) -> dict[str, bool]:
    """The free dims, and whether each is a batch."""
    free: dict[str, bool] = {}
    for name, shape in engine.shapes.items():
        leads = len(shape) > 1 or np.issubdtype(engine.dtypes[name], np.integer)
        for axis, dim in enumerate(_keys(name, shape)):
            if isinstance(dim, str):
                free[dim] = free.get(dim, False) or (axis == 0 and leads)
    return free


def _dims_of(free: Mapping[str, bool], size: int, batch: int) -> Iterator[dict[str, int]]:
    """Sizes for the free dims: each its own, then all the same; a batch of several, then of one."""
    lengths = [dim for dim, is_batch in free.items() if not is_batch]
    batches = [dim for dim, is_batch in free.items() if is_batch]
    own = {dim: size + count for count, dim in enumerate(lengths)}
    several = batch if lengths else 4 * batch  # an axis that is alone may be anything
    for count in dict.fromkeys((several, batch, 1)) if batches and batch > 1 else (1,):
        for sizes in (own, dict.fromkeys(lengths, size)) if len(lengths) > 1 else (own,):
            yield {**dict.fromkeys(batches, count), **sizes}
    if batches:  # what leads is not always a batch
        yield dict.fromkeys(free, size)


def _draw(dims: list[int], dtype: np.dtype[Any], how: tuple[str, float, int], random: np.random.Generator) -> Array:
    kind, scale, full = how
    if np.issubdtype(dtype, np.floating):
        return (scale * random.standard_normal(dims)).astype(dtype)
    if dtype == np.bool_:
        return random.random(dims) < 0.5 if kind in ("signed", "few", "part") else np.ones(dims, dtype)
    if dtype.kind == "O":  # strings
        return np.full(dims, "a", dtype)
    is_length = len(dims) <= 1 and kind in ("full", "part")
    if is_length:
        return random.integers(-(-full // 2) if kind == "part" else full, full + 1, dims).astype(dtype)
    if kind == "one":
        return np.ones(dims, dtype)
    return random.integers(-4 if kind == "signed" and dtype.kind == "i" else 0, 4, dims).astype(dtype)
