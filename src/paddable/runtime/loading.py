"""``paddable.load``: a bundle or a converted file becomes a model that runs."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from paddable.bundle import KEY, Bundle, Graph, Metadata, providers, read_bundle, read_entries
from paddable.bundle.providers import SessionAdvice
from paddable.errors import Misuse
from paddable.runtime.graph import GraphSession, open_session
from paddable.runtime.model import Home, Model
from paddable.runtime.session import Container

__all__ = ["load"]


def load(
    path: str | os.PathLike[str],
    provider: str = "cpu",
    *,
    target: str | None = None,
    precision: str | None = None,
    allow_fallback: bool = False,
    threads: int | None = None,
) -> Model:
    """Load a converted model for running. Needs numpy and one flavour of onnxruntime.

    Args:
        path: a bundle directory, or one ``.onnx`` file. A file that Paddable did not make is run as it is.
        provider: where to run, such as ``cpu``, ``cuda`` or ``directml``.
        target: run the graphs that were made for this target. Default: those for the provider.
        precision: which of a bundle's precisions. Default: fp32 if it is there, else the only one.
        allow_fallback: let the CPU take over when the provider is not there. Never done silently.
        threads: threads inside an operator. Default: ONNX Runtime's choice.

    Raises:
        Misuse: no such provider, or the bundle has no graph for it.
        MissingExtra: no onnxruntime, two of them, or one without the provider.
        Unreadable: the bundle or the file cannot be read.
    """
    advice = providers.provider(provider)
    place = Path(path)
    home = None
    if place.is_dir():
        bundle = read_bundle(place)
        graphs = _chosen(bundle, str(place), target or provider, precision)
        metadata: Metadata | None = bundle.metadata
        files = [(dict(graph.container), place / graph.file) for graph in graphs]
    else:
        text = read_entries(place).get(KEY)
        metadata = Metadata.loads(text, where=str(place)) if text is not None else None
        files = [(dict(metadata.container) if metadata else {}, place)]
    if metadata and provider in metadata.advice:
        advice = SessionAdvice.from_json(metadata.advice[provider])
    if place.is_dir():
        opener = partial(open_session, advice=advice, allow_fallback=allow_fallback, threads=threads)
        home = Home(bundle, place, opener)
    opened = partial(GraphSession, advice=advice, allow_fallback=allow_fallback, threads=threads)
    return Model([Container(steps, partial(opened, file)) for steps, file in files], metadata, home)


def _chosen(bundle: Bundle, where: str, target: str, precision: str | None) -> list[Graph]:
    made = [graph for graph in bundle.graphs if graph.target == target]
    if not made:
        targets = sorted({graph.target for graph in bundle.graphs})
        raise Misuse(
            f"the bundle has no graph for {target!r}",
            where=where,
            why=f"it was made for {', '.join(targets) or 'none'}",
            fix=f"convert with --target {target}, or pass target={targets[0]!r} to run that one" if targets else "",
        )
    precisions = sorted({graph.precision for graph in made})
    wanted = precision or ("fp32" if "fp32" in precisions else precisions[0])
    if wanted not in precisions or (precision is None and wanted != "fp32" and len(precisions) > 1):
        raise Misuse(f"which precision? the bundle has {', '.join(precisions)}", where=where, fix="pass precision=")
    return [graph for graph in made if graph.precision == wanted]
