"""``convert`` of a model without a ragged axis: every symbolic axis gets its size, and shape arithmetic is folded.

Streaming detectors, enhancers and classifiers of fixed windows have no length to prove anything about: what varies is
the batch, or a chunk that its user chooses. Native and the result must then give the same answer to the same input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.api.building import Padded, fitted
from paddable.api.measuring import Measured
from paddable.api.opened import Model, Opened, file_of, read_native
from paddable.api.running import Lend, Sampled
from paddable.api.versions import versions
from paddable.bundle import Metadata
from paddable.errors import GateFailedError, MisuseError, arguments
from paddable.forms.form import Known
from paddable.gates.engine import Engine, asked_of
from paddable.gates.examples import Example
from paddable.gates.fixed_ties import FixedTies
from paddable.gates.junk import draw
from paddable.gates.oracle import scale
from paddable.lengths.declare import BatchAxis, parse_batches
from paddable.padding.analysis import analyse
from paddable.padding.declaration import Declarations
from paddable.padding.remedies.emitter import Emitter
from paddable.padding.rewrite.specialise import SpecialisePass
from paddable.padding.suggestion import suggest
from paddable.precision import PRECISIONS

__all__ = ["compare_frozen", "frozen", "open_fixed"]

_DRAWS = 4


def open_fixed(
    model: Model, bindings: Sequence[str] = (), batch_size: int | None = None, batch: str | None = None
) -> Opened:
    """Read a model, and give each axis that counts rows its size.

    Args:
        model: a file, or a model in memory.
        bindings: inputs and sizes that are fixed first; see ``bind``.
        batch_size: of the rows; 1 by default.
        batch: the axes that count them, as ``x:0,h:1``, or ``none``; found by names and places by default.

    Raises:
        UnreadableError: not a model.
        MisuseError: a binding that does not fit it, or an axis that stays symbolic; the message names each, and the
            option that gives it a size.
    """
    native, found = read_native(model, bindings)
    _freeze(found, batch_size, batch)
    return Opened(found, Declarations({}), {}, file_of(model), bindings, native)


def _freeze(model: ir.Model, batch_size: int | None, batch: str | None) -> None:
    inputs = {value.name or "": value for value in model.graph.inputs}
    found = suggest(inputs, model.graph.outputs)
    leading = [(name, 0) for name, value in inputs.items() if value.shape and not isinstance(value.shape[0], int)]
    rows = leading if batch_size and not found.batch else found.batch
    if batch is not None:
        rows = [_axis(inputs, place) for place in parse_batches(batch) or ()]
    for name, axis in rows:
        sizes = list(inputs[name].shape or ())
        sizes[axis] = batch_size or 1
        inputs[name].shape = ir.Shape(sizes)
    open_axes = [
        f"{name}:{axis}"
        for name, value in inputs.items()
        for axis, size in enumerate(value.shape or ())
        if not isinstance(size, int)
    ]
    if open_axes:
        given = arguments(bindings=[f"{place}=SIZE" for place in open_axes])
        verb = "varies" if len(open_axes) == 1 else "vary"
        raise MisuseError(
            f"nothing is declared with `lengths`, and {', '.join(open_axes)} {verb}",
            why="an axis of time is declared with `lengths`; an axis that always has one size is given that size",
            fix=f"declare {found.parameters}, or give the size with {given}" if found.options else f"give {given}",
        )


def _axis(inputs: Mapping[str, ir.Value], place: BatchAxis) -> tuple[str, int]:
    """The input and axis that are said to count rows; MisuseError where there is none."""
    shape = inputs[place.input].shape if place.input in inputs else None
    if shape is None or not -len(shape) <= place.axis < len(shape):
        told = ", ".join(f"{name}{list(map(str, value.shape or ()))}" for name, value in inputs.items())
        raise MisuseError(
            f"there is no axis {place.axis} of an input {place.input!r}", where="`batch`", why=f"the inputs are {told}",
            fix="name one of these",
        )  # fmt: skip
    return place.input, place.axis


def frozen(
    model: ir.Model,
    target: str,
    *,
    precision: str = "fp32",
    forms: Sequence[str] | None = None,
    known: Measured | None = None,
    on_message: Callable[[str], None] | None = None,
    lend: Lend | None = None,
) -> Padded:
    """The model with every shape computed, fixed for its target, in its precision.

    Args:
        model: every input has a fixed shape; it is not changed.
        target: the provider whose fixes it gets.
        metadata: of the result.
        forms: names of the forms that it gets; None for those that the target's record names.
        known: what the precision knows of the model.
        on_message: called with a line for each fix that was left out, and for where the nodes run.
        lend: writes a model to a file for as long as a fix is compared on it.

    Raises:
        RefusedError: a size stays unknown, or the target cannot run the graph.
    """
    analysis = analyse(model.clone(), Declarations({}))
    emitter = Emitter(analysis.model, analysis.scope, {}, 1)
    SpecialisePass(analysis.values, emitter.known)(analysis.model)
    known = known or Measured()
    metadata = Metadata(symbols={}, versions=versions(), precision=precision, kept=known.kept, fixed=known.fixed)
    inside = Known(coarse=PRECISIONS[precision].bits < 32, kept={*known.kept, *known.fixed})
    runner = Sampled(None, lend)
    return fitted(analysis.model, metadata, target, runner, "the model", forms, inside, on_message, known.decided)


def compare_frozen(
    native: Path, made: Path, metadata: Metadata, examples: Sequence[Example] | None = None
) -> Mapping[str, Any]:
    """Run both on the same inputs.

    Args:
        native: in fp32.
        made: the result.
        precision: of the result.
        examples: the inputs; random ones of four magnitudes without.

    Returns:
        What ``verified`` of the metadata holds: the number of inputs, and the largest error of scale; and ``ties``, a
        line for each choice among scores, such as ids, that falls the other way where these are a tie, if any does.

    Raises:
        GateFailedError: an output differs.
    """
    before, after = Engine(native, where="native"), Engine(made, config=asked_of(metadata), where="the result")
    worst, allowed = 0.0, PRECISIONS[metadata.precision].moves
    ties: FixedTies | None = None
    rng = np.random.default_rng(0)
    draws = _DRAWS if examples is None else len(examples)
    for count in range(draws):
        given = {} if examples is None else examples[count].arrays
        feeds = dict(given)
        for name, dtype in after.dtypes.items():
            if name in given:
                continue
            sizes = tuple(size if isinstance(size, int) else 1 for size in after.shapes[name])
            if dtype.kind == "f":
                feeds[name] = (draw(rng, sizes, dtype) * 10.0 ** (count - 2)).astype(dtype)
            else:
                feeds[name] = draw(rng, sizes, dtype, high=min(count, 1))
        want, got = before.run(feeds), after.run(feeds)
        if any(not _error(array, got[name]) <= allowed for name, array in want.items()):
            with suppress(ValueError):
                ties = ties or FixedTies(native, made, asked_of(metadata), allowed)
                got = ties.run(feeds)
        for name, array in want.items():
            error = _error(array, got[name])
            worst = max(worst, error)
            if not error <= allowed:
                raise GateFailedError(
                    _parting(array, got[name]) or f"it is {error:.2g} of scale from native, {allowed:.2g} is allowed",
                    where=f"output {name}",
                    why="nothing was written",
                    fix="leave out the target's fixes (no `target`), or report the model",
                )
    return {"inputs": draws, "worst": worst, **({"ties": list(ties.told.values())} if ties and ties.told else {})}


def _parting(want: Any, got: Any) -> str:
    """How an answer differs that has no distance from native's; nothing where it has one."""
    if want.shape != got.shape:
        return f"its shape is {list(got.shape)}, native's {list(want.shape)}"
    if want.dtype.kind != "f":
        return f"{np.count_nonzero(want != got):,} of {want.size:,} numbers are others than native's"
    lost = np.count_nonzero(np.isfinite(want) != np.isfinite(got))
    return f"{lost:,} of {want.size:,} numbers are finite in one and not in the other" if lost else ""


def _error(want: Any, got: Any) -> float:
    if want.shape != got.shape:
        return float("inf")
    if want.dtype.kind != "f":
        return 0.0 if np.array_equal(want, got) else float("inf")
    if not np.array_equal(np.isnan(want), np.isnan(got)):
        return float("inf")
    return float(np.nanmax(np.abs(want.astype(np.float64) - got), initial=0)) / scale(want)
