"""``paddable.load``: a bundle or a converted file becomes a model that runs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

from paddable.bundle import CHEAP, KEY, Bundle, Graph, Metadata, read_bundle, read_entries
from paddable.bundle.conform import conforms, type_name
from paddable.bundle.given import path_given
from paddable.errors import MisuseError, PaddableError, PaddableWarning, UnreadableError, arguments
from paddable.providers.advice import known_advice, session_advice
from paddable.providers.session_advice import SessionAdvice
from paddable.runtime.choosing import choose
from paddable.runtime.description import Place, Tried
from paddable.runtime.model import Home, Model
from paddable.runtime.session.graph import GraphSession, Opening
from paddable.runtime.session.native import misfit
from paddable.runtime.session.session import Container

__all__ = ["AUTO", "load"]

AUTO, CPU = "auto", "cpu"


def load(
    path: str | os.PathLike[str],
    provider: str = AUTO,
    *,
    target: str | None = None,
    precision: str | None = None,
    allow_fallback: bool = False,
    allow_tf32: bool = False,
    channels_last: bool = False,
    capture: bool = True,
    device_id: int = 0,
    allow_mixed: bool = False,
    threads: int | None = None,
    native: bool | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Model:
    """Load a converted model for running. Needs numpy and one flavour of onnxruntime.

    Args:
        path: a bundle directory, or one ``.onnx`` file. A file that Paddable did not make is run as it is.
        provider: where to run, such as ``cpu``, ``cuda`` or ``directml``: in the containers made for it. ``auto`` takes
            the first accelerator that has graphs in the bundle and runs them here, warmed up, else the CPU with the
            native graph, which is faster there than any container; ``describe`` of the model says what was chosen.
        target: run the graphs that were made for this target. Default: those for the provider.
        precision: which of a bundle's precisions. Default: fp32 if it is there, else the only one.
        allow_fallback: let the CPU take over when the provider is not there. Never done silently.
        allow_tf32: let products be rounded to 10 bits where the provider can (cuda): faster, and outputs move by about
            4e-4 of scale. Not for a graph that holds its front end.
        channels_last: let the provider plan convolutions with channels last (cuda): an encoder in fp32 with depthwise
            ones takes 2 to 3% less time a call and ten times as long to get ready; in half it gains nothing.
        capture: let the provider capture graphs that were made for it, and replay them (cuda).
        device_id: which of several devices; paddable doctor lists those of DirectML.
        allow_mixed: run although several flavours of onnxruntime are installed, each of which overwrites the others.
        threads: threads inside an operator. Default: ONNX Runtime's choice.
        native: run the bundle's native graph, each row alone, or its containers; a bundle whose native graph does not
            serve runs its containers, and one that has none in the precision runs fp32 and warns. Default: native where
            ``auto`` finds the CPU best, the bundle holds native in the precision (fp32, int8-dynamic), and no target is
            named.
        progress: for ``auto``: told ``containers``, how many are warm and how many there are.

    Raises:
        MisuseError: no such provider or device, the bundle has no graph for it, or TF32 where it does not belong.
        MissingExtraError: no onnxruntime, two of them, or one without the provider.
        UnreadableError: the bundle or the file cannot be read.
    """
    if provider not in (names := (AUTO, *known_advice())):
        raise MisuseError(f"no provider is called {provider!r}", fix=f"choose one of {', '.join(names)}")
    if threads is not None and (type(threads) is not int or threads < 1):
        raise MisuseError(
            f"{arguments(threads=threads)} is no number of threads", fix="give 1 or more, or leave it out"
        )
    place = path_given(
        path,
        "path",
        wanted="the path of a bundle or an .onnx file",
        fix="give `convert` a place with `out`, or write a model in memory with onnx.save, and load that",
    )
    bundle = read_bundle(place, check_below=CHEAP) if place.is_dir() else None
    metadata = bundle.metadata if bundle is not None else _said_by(place)
    tried: tuple[Tried, ...] = ()
    wanted = target or provider
    if auto := provider == AUTO:
        made_for = {graph.target for graph in bundle.graphs} if bundle else set(metadata.advice if metadata else ())
        choices: dict[str, Any] = {
            "target": target,
            "precision": precision,
            "allow_tf32": allow_tf32,
            "channels_last": channels_last,
        }
        choices |= {"device_id": device_id, "capture": capture, "allow_mixed": allow_mixed, "threads": threads}
        tried = choose(str(place), made_for & {target} if target else made_for, choices)
        provider = tried[-1].provider
        wanted = target or (provider if provider in made_for else min(made_for, default=provider))
        if provider == CPU:
            allow_tf32, channels_last, device_id = False, False, 0
    if bundle is not None:
        graphs = _chosen(bundle, str(place), wanted, precision)
        files = [(dict(graph.container), place / graph.file, graph.rows) for graph in graphs]
        own = _said_by(files[0][1]) or metadata  # each precision has its own advice
    else:
        files, own = [(dict(metadata.container) if metadata else {}, place, None)], metadata
    advice = _advice(provider, own, capture, str(place))
    if allow_tf32:
        advice = _with_tf32(advice, bundle, str(place))
    if channels_last:
        advice = _with(advice, "channels_last_options", "choice of where channels lie")
    if device_id and advice.device == "cpu":
        raise MisuseError(f"device {device_id}", why=f"the provider {provider!r} has no numbered devices here")
    opening = Opening(advice, allow_fallback, threads, device_id, allow_mixed)
    opening.available()  # what is missing is told here, and not by the first run
    home = Home(bundle, place, opening) if bundle is not None else None
    containers = [
        Container(steps, partial(GraphSession, file, opening, static=bool(steps)), rows) for steps, file, rows in files
    ]
    captured = advice.static_options and any(container.steps for container in containers)
    open_native, form = None, "captured" if captured else "container"
    if bundle is not None:
        chosen = graphs[0].precision
        in_it = bundle.native_in(chosen)
        if native is None:
            native = auto and provider == CPU and target is None and (chosen == "fp32" or in_it is not None)
    runs_in = graphs[0].precision if bundle is not None else own.precision if own else None
    if native and bundle is not None:
        open_native, why = _native(bundle, in_it or bundle.native, place, opening)
        form = "native" if open_native else form
        if open_native and in_it is None:
            runs_in = "fp32"
            told = f"{place}: native runs in fp32, since the bundle holds no native graph in {chosen}"
            warnings.warn(told, PaddableWarning, stacklevel=2)
        tried = (*tried[:-1], replace(tried[-1], why=f"{tried[-1].why}; {why}")) if tried else ()
    model = Model(containers, metadata, home, open_native, Place(provider, form, tried, runs_in))
    if auto and advice.static:
        model.warm_up(progress)
    return model


def _said_by(file: Path) -> Metadata | None:
    """What a file says of itself; None for one that Paddable did not make."""
    text = read_entries(file).get(KEY)
    return None if text is None else Metadata.loads(text, where=str(file))


def _native(
    bundle: Bundle, file: str | None, folder: Path, opening: Opening
) -> tuple[Callable[[], GraphSession] | None, str]:
    """What opens the native graph of a bundle, None where its containers have to do, and why."""
    if file is None:
        return None, "the bundle holds no native graph"
    open_it = partial(GraphSession, folder / file, opening)
    try:
        first = [open_it()]
    except PaddableError as error:
        return None, f"the native graph does not open: {error}"
    if why := misfit(first[0], bundle.metadata):
        return None, why
    return (
        lambda: first.pop() if first else open_it(),
        "native takes there what a clip needs, a container its full time",
    )


def _advice(provider: str, metadata: Metadata | None, capture: bool, where: str) -> SessionAdvice:
    """What the file says, if it was made for the provider, else what we know of the provider."""
    advice = session_advice(provider)
    made_for_it = metadata is not None and provider in metadata.advice
    for name, said in metadata.advice.items() if metadata is not None else ():
        _check_advice(said, where)
        its = SessionAdvice.from_json(said)
        if name == provider:
            advice = its
        elif not made_for_it:  # what its precision asks for holds elsewhere too
            own = known_advice()[name].config if name in known_advice() else {}
            asked = {key: value for key, value in its.config.items() if key not in own}
            advice = replace(advice, config={**advice.config, **asked})
    return advice if made_for_it and capture else replace(advice, static_options={})


def _check_advice(said: Mapping[str, Any], where: str) -> None:
    """Refuse a value of another type: ONNX Runtime ends the process at some of those."""
    needed = ("name", "execution_provider", "extra")
    for name, hint in get_type_hints(SessionAdvice).items():
        if (name in said or name in needed) and not conforms(said.get(name), hint):
            told = repr(said[name]) if name in said else "missing"
            raise UnreadableError(
                f"the session advice is damaged: {name} is {told}, expected {type_name(hint)}",
                where=where,
                fix="convert the model again",
            )


def _with_tf32(advice: SessionAdvice, bundle: Bundle | None, where: str) -> SessionAdvice:
    with_it = _with(advice, "tf32_options", "TF32")
    if bundle is not None and (bundle.front_end or {}).get("in_graph"):
        raise MisuseError(
            "TF32 with the front end inside the graph",
            where=where,
            why="it keeps 10 bits of each sample, which moves the features of speech by up to 3",
            fix="export with `front_end='numpy'`, or leave TF32 off",
        )
    return with_it


def _with(advice: SessionAdvice, choice: str, told: str) -> SessionAdvice:
    """The advice with what a choice adds to its options, as this version knows it: older files do not say."""
    added: Mapping[str, str] = getattr(known_advice()[advice.name], choice)
    if not added:
        offer = ", ".join(name for name, other in known_advice().items() if getattr(other, choice))
        raise MisuseError(f"the provider {advice.name!r} has no {told}", fix=f"leave it out; {offer} has it")
    return replace(advice, options={**advice.options, **added})


def _chosen(bundle: Bundle, where: str, target: str, precision: str | None) -> list[Graph]:
    made = [graph for graph in bundle.graphs if graph.target == target]
    if all(graph.rows for graph in made):  # those of several rows stand beside those of one, never alone
        session_advice(target)  # which refuses a name that no provider has, and lists those there are
        targets = sorted({graph.target for graph in bundle.graphs})
        raise MisuseError(
            f"the bundle has no graph for {target!r}",
            where=where,
            why=f"it was made for {', '.join(targets) or 'none'}",
            fix=f"convert with {arguments(target=target)}, or give {arguments(target=targets[0])} to run that one"
            if targets
            else "",
        )
    precisions = sorted({graph.precision for graph in made})
    held = ", ".join(precisions)
    if precision is None and len(precisions) > 1 and "fp32" not in precisions:
        raise MisuseError(f"which precision? the bundle has {held}", where=where, fix="pass precision=")
    wanted = ("fp32" if "fp32" in precisions else precisions[0]) if precision is None else precision
    if wanted not in precisions:
        raise MisuseError(
            f"the bundle has no precision {wanted!r} for {target!r}",
            where=where,
            why=f"it holds {held}",
            fix="give one of these, leave it out, or convert the model in a precision that `convert` knows",
        )
    return [graph for graph in made if graph.precision == wanted]
