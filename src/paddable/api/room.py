"""Whether there is room for a result: sizes that can be indexed and run here, and a place to write to."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from paddable.bundle import refuse_inside_a_bundle
from paddable.errors import MisuseError
from paddable.graph.io.write import CannotWrite
from paddable.lengths import Length
from paddable.padding.analysis import Analysis
from paddable.padding.facts.facts import Facts
from paddable.padding.facts.numbers import Product

__all__ = ["demand_place", "demand_room", "scratch", "writing_to"]

_MOST_ELEMENTS = 2**31 - 1
_FLOAT = 4
_AT_ONCE = 4
"""Tensors of the largest size that live together in a gate: attention's scores, masked, weighed, and native's own."""


def demand_room(analysis: Analysis, containers: Sequence[Mapping[str, int]], *, run: bool) -> None:
    """Refuse containers whose tensors are too large, before anything of their size is made.

    Args:
        analysis: of the native model.
        containers: steps of each symbol; a symbolic one, ``{}``, has no size.
        run: the gates will run them on this machine.

    Raises:
        MisuseError: a tensor has more than 2^31 - 1 elements, or the gates would not fit this machine's memory.
    """
    memory = _memory() if run else None
    for container in containers:
        if not container:
            continue
        name, count = max(
            ((name, _elements(value, container)) for name, value in analysis.values.items()), key=lambda item: item[1]
        )
        told = ", ".join(f"{symbol}={steps}" for symbol, steps in container.items())
        where = f"container {told}, value {name}"
        if count > _MOST_ELEMENTS:
            raise MisuseError(
                f"it would have {count:,} elements",
                where=where,
                why=f"execution providers index with 32 bits, up to {_MOST_ELEMENTS:,}",
                fix="take a smaller container, and cut longer inputs into pieces",
            )
        if memory is not None and _AT_ONCE * count * _FLOAT > memory:
            raise MisuseError(
                f"it alone takes {count * _FLOAT / 1e9:.1f} GB, too much for gates with {memory / 1e9:.0f} GB",
                where=where,
                fix="take a smaller container, or convert without comparing (--no-verify)",
            )


def demand_place(place: Path, native: Path | None, force: bool) -> None:
    """Refuse a place that holds something else, before any work is done.

    Args:
        place: the file or directory to write.
        native: the model that it is made from; it is never replaced, ``force`` or not.
        force: replace a file that exists.

    Raises:
        MisuseError: it would replace the native model, lies inside a bundle, or exists already.
    """
    if native is not None and place.exists() and place.samefile(native):
        raise MisuseError(
            "it would replace the native model", where=str(place), why="native is the oracle", fix="name another file"
        )
    refuse_inside_a_bundle(place)
    if place.suffix == ".onnx" and place.exists() and not force:
        raise MisuseError("it exists already", where=str(place), fix="name another file, or replace it with --force")


def _elements(value: Facts, container: Mapping[str, int]) -> int:
    sizes = (value.size(axis) for axis in range(value.rank))
    return math.prod(max(0, _at(size, container)) for size in sizes)


def _at(size: Length | Product, container: Mapping[str, int]) -> int:
    factors = size.factors if isinstance(size, Product) else (size,)
    scale = size.scale if isinstance(size, Product) else 1
    return scale * math.prod(
        factor.evaluate({symbol: container.get(symbol, 1) for symbol in factor.symbols}) for factor in factors
    )


def _memory() -> int | None:
    """Bytes of this machine's memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


@contextmanager
def writing_to(place: Path | None) -> Iterator[None]:
    """A block that writes the result, or something temporary on the way to it.

    Raises:
        CannotWrite: the system refused a file in the block; it names ``place``, as the user did, or the folder for
            temporary files where there is none.
    """
    where = place if place is not None else "the folder for temporary files"
    try:
        yield
    except CannotWrite as error:
        raise CannotWrite(error.what, where=str(where), why=error.why, fix=error.fix) from None
    except OSError as error:
        if error.errno is None:  # not the system's
            raise
        raise CannotWrite.because(error, where) from None


@contextmanager
def scratch(place: Path | None) -> Iterator[Path]:
    """A folder for what is judged before it has a name: beside the result, since a temporary file system may be small.

    Raises:
        CannotWrite: as of ``writing_to``.
    """
    beside = None
    if place is not None:
        beside = next((folder for folder in place.absolute().parents if folder.is_dir()), None)
    with (
        writing_to(place),
        tempfile.TemporaryDirectory(prefix=".paddable.", dir=beside, ignore_cleanup_errors=True) as name,
    ):
        yield Path(name)
