"""The precisions of one conversion: which are asked for, what each knows of native, and the graphs of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from paddable.api.building import Padded, forms_of, in_its_session, padded, precise
from paddable.api.certificate import certificate
from paddable.api.judging import asking_for, largest
from paddable.api.measuring import Measured, measured
from paddable.api.observing import observe
from paddable.api.opened import Opened
from paddable.api.running import Lend
from paddable.bundle import Metadata
from paddable.errors import MisuseError, RefusedError, arguments
from paddable.gates.index_limits import index_limits
from paddable.gates.verdict import class_axis, measures, parse_accept, refuse_immeasurable, without_classes
from paddable.lengths import Length
from paddable.padding.analysis import Analysis
from paddable.padding.facts.axes import axis_size
from paddable.precision import PRECISIONS, before, in_precision
from paddable.precision.half import with_initialisers
from paddable.runtime.speech.sound_input import SoundInput
from paddable.several import several

__all__ = ["Precisions", "chosen_precisions", "measure_native", "padded_in_each"]

_HALVES = {"exact": "fp16", "fast": "fp16-fast"}
"""The precision for each choice of ``half``."""

Precisions = Mapping[str, Measured]
"""By name, in the order of asking."""


def chosen_precisions(
    precision: str | Sequence[str] | None,
    *,
    half: str | None = None,
    keep_dynamic: bool = False,
    examples: str | Path | None = None,
    accept: Sequence[str] = (),
    verify: bool = True,
) -> list[str]:
    """The precisions that were asked for, ``"fp16,int8"`` or a list, each once; fp32 by default.

    Raises:
        MisuseError: no such precision, another than fp32 for a symbolic container, or examples or limits of what is
            accepted, which fp32 has no use for; such limits where nothing is judged; or no examples, for one that fixes
            ranges.
    """
    precision = None if precision is None else ",".join(several("precision", precision))
    found = list(dict.fromkeys(name.strip() for name in ("fp32" if precision is None else precision).split(",")))
    if "" in found:
        raise MisuseError(
            f"{precision!r} names no precision" + ("" if found == [""] else " between two commas or behind the last"),
            fix=f"choose {', '.join(PRECISIONS)}, or leave it out for fp32",
        )
    if half is not None and half not in _HALVES:
        raise MisuseError(f"half is {half!r}", fix=f"choose {' or '.join(_HALVES)}")
    if half is not None and "fp16" not in found:
        raise MisuseError(
            f"{arguments(half=half)} is given, and no precision is fp16",
            fix=f"ask for it with {arguments(precision='fp16')}, or leave `half` out",
        )
    found = [_HALVES[half or "exact"] if name == "fp16" else name for name in found]
    for name in found:
        if name not in PRECISIONS:
            raise MisuseError(f"no precision is called {name!r}", fix=f"choose {', '.join(PRECISIONS)}")
    changed = [name for name in found if name != "fp32"]
    fixed_alone = [name for name in changed if not PRECISIONS[name].first]
    if keep_dynamic and fixed_alone:
        others = [name for name in PRECISIONS if name == "fp32" or PRECISIONS[name].first]
        raise MisuseError(
            f"{fixed_alone[0]} needs a container of a fixed size, and `keep_dynamic=True` is given",
            fix=f"leave `keep_dynamic` out, or take {' or '.join(others)}",
        )
    for given, what in ((examples, "examples are"), (accept, "limits of what is accepted are")):
        if given and not changed:
            fix = "give `precision` too" if precision is None else "ask for another in `precision`"
            raise MisuseError(f"{what} given, and fp32 needs none", fix=f"{fix}, or leave them out")
    fixed = [name for name in found if PRECISIONS[name].fixed]
    if fixed and not examples:
        raise MisuseError(
            f"{fixed[0]} fixes its ranges from examples, and none are given",
            why="what the model will hear beyond a range is cut off",
            fix="give `examples`, inputs or recordings that it will meet",
        )
    if parse_accept(accept) and not verify:
        raise MisuseError(
            f"{arguments(accept=accept)} is given, and nothing is judged",
            why="what is accepted is measured by the gates",
            fix="leave one of `accept` and `verify=False` out",
        )
    return found


def measure_native(
    opened: Opened,
    containers: Sequence[Mapping[str, int]],
    precisions: Sequence[str],
    lend: Lend,
    *,
    examples: str | Path | None = None,
    accept: Sequence[str] = (),
    sound: SoundInput | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Precisions:
    """What each precision knows of native, from one run an example at the length of the largest container.

    Recordings among the examples become an input by ``sound``, where the front end is not in the graph.

    Raises:
        MisuseError: examples that do not fit the model, or limits of what no output has.
        UnreadableError: an example that cannot be read.
    """
    if list(precisions) == ["fp32"]:
        return {"fp32": Measured()}
    limits = parse_accept(accept)
    analysis = opened.analyse()
    metadata = certificate(analysis, opened.rates, {}, "cpu", opened.bindings)
    refuse_immeasurable(limits, _measures_of_outputs(analysis, metadata))
    numbers = index_limits(analysis)
    steps = largest(analysis, [size for size in containers if size])
    found: dict[str, Measured] = {"fp32": Measured()}
    plain = with_initialisers(opened.model)
    natives = {name: before(plain, name) for name in precisions if name != "fp32"}
    for in_half in (True, False):  # native that computes in half is measured in fp32 for those that are not half
        named = [name for name, native in natives.items() if (native is plain) == in_half]
        if named:
            seen = observe(
                natives[named[0]],
                metadata,
                steps,
                lend,
                numbers=numbers,
                examples=examples,
                precisions=named,
                sound=sound,
                smaller=[size for size in containers if size and size != steps],
                on_message=on_message,
            )
            found |= {name: measured(seen, name, limits, on_message) for name in named}
    return {name: found[name] for name in precisions}


def _measures_of_outputs(analysis: Analysis, metadata: Metadata) -> dict[str, set[str]]:
    found = {}
    others = without_classes(metadata)
    for value in analysis.model.graph.outputs:
        facts = analysis.values.get(str(value.name))
        if facts is None:  # a constant
            continue
        sizes = [axis_size(axis) for axis in facts.axes]
        constants = [size.constant if isinstance(size, Length) and size.is_constant else None for size in sizes]
        kind = value.dtype.numpy().kind if value.dtype is not None else "f"
        name = str(value.name)
        found[name] = measures(
            kind, class_axis(constants, others.get(name, ()), frames=bool(metadata.lengths.get(name)))
        )
    return found


def padded_in_each(
    opened: Opened,
    container: Mapping[str, int],
    target: str,
    precisions: Precisions,
    *,
    forms: Sequence[str] | None = None,
    on_message: Callable[[str], None] | None = None,
    lend: Lend | None = None,
) -> list[Padded]:
    """One padded graph in each precision; padding and fixes are the same for all. Arguments as of ``padded``.

    Raises:
        MisuseError, RefusedError: as of ``padded``, and in which precision if not in fp32.
    """
    kept = {value for known in precisions.values() for value in (*known.kept, *known.fixed)}
    coarse = any(PRECISIONS[name].bits < 32 or PRECISIONS[name].fixed for name in precisions)
    exact_in: dict[Sequence[str], Padded] = {}
    found = []
    for name, known in precisions.items():
        wanted = forms_of(target, name) if forms is None else tuple(forms)
        if wanted not in exact_in:
            exact_in[wanted] = padded(
                opened, container, target, forms=wanted, kept=kept, coarse=coarse, on_message=on_message, lend=lend
            )
        made = exact_in[wanted]
        try:
            found.append(made if name == "fp32" else _made(opened, container, target, made, name, known, wanted, lend))
        except (MisuseError, RefusedError) as error:
            raise _of(name, error, [other for other in precisions if other != name]) from None
    return found


def _of(name: str, error: MisuseError | RefusedError, others: Sequence[str]) -> MisuseError | RefusedError:
    """An error of one precision by its name, and what becomes of the others."""
    where = f"{error.where}, in {name}" if error.where else f"in {name}"
    without = f"or leave {name} out: {asking_for(others)} writes the others" if others else ""
    fix = "; ".join(text for text in (error.fix, without) if text)
    if isinstance(error, RefusedError):
        return RefusedError(error.what, where=where, why=error.why, fix=fix, findings=error.findings)
    return MisuseError(error.what, where=where, why=error.why, fix=fix)


def _made(
    opened: Opened,
    container: Mapping[str, int],
    target: str,
    exact: Padded,
    name: str,
    known: Measured,
    forms: Sequence[str] | None,
    lend: Lend | None,
) -> Padded:
    """One padded graph in a precision, from the one in fp32."""
    metadata = replace(exact.metadata, precision=name, kept=known.kept, fixed=known.fixed)
    if not PRECISIONS[name].first:
        return precise(exact.exact, metadata, target, exact.name, decided=known.decided)
    native = in_precision(opened.model, name, known.kept)
    oracle = native if opened.native is opened.model else opened.native
    made = padded(replace(opened, model=native, native=oracle), container, target, forms=forms, lend=lend)
    metadata = in_its_session(replace(made.metadata, precision=name, kept=known.kept), native)
    return Padded(made.model, metadata, exact.model, native, with_initialisers(opened.model))
