"""``export``: a checkpoint folder of a known family to a bundle.

Stages
1. load: weights and configuration, every key accounted for;
2. export: torch to the native graph, one row and any length;
3. convert: one static graph per container, fixed for the target, all around one weight file, beside ``out``;
4. judge: those files against native (and streams against the whole);
5. write: what the gates measured, labels and settings in bundle.json; then the folder takes its name.

A gate that fails leaves ``<out>.report.json`` and no bundle.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

import onnx_ir as ir

from paddable.api.building import demand_target, padded
from paddable.api.converting import (
    Belongings,
    chosen_precision,
    containers_of,
    finish_bundle,
    keep_bundle,
    keep_native,
    refuse_damaged_weights,
)
from paddable.api.exporting_families import FAMILIES, FRONT_ENDS, Choices, Exported
from paddable.api.exporting_streams import judge_streams
from paddable.api.judging import demand, judged
from paddable.api.opened import Opened, Progress, open_model
from paddable.api.place import scratch
from paddable.api.room import demand_room
from paddable.api.staging import staging
from paddable.bundle import refuse_what_is_there
from paddable.errors import MisuseError
from paddable.gates.lengths import LIMIT
from paddable.graph.io.write import write_model
from paddable.lengths.declare import parse_container
from paddable.precision import in_precision
from paddable.providers.tables import target as table_of

__all__ = ["export"]

STAGES = 5


def export(
    family: str,
    checkpoint: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    containers: Sequence[str | int] = ("5s", "30s"),
    front_end: str | None = None,
    attention: str | None = None,
    short_clips: str | None = None,
    chunks: Sequence[int] | None = None,
    target: str | None = None,
    precision: str | None = None,
    force: bool = False,
    verify: bool = True,
    gate_lengths: int = LIMIT,
    progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Path:
    """Make a bundle from a checkpoint.

    Args:
        family: a name of ``FAMILIES``, such as ``sense-voice``.
        checkpoint: the folder as it was published.
        out: the bundle's directory.
        containers: sizes in seconds (``"30s"``) or in steps of the input.
        front_end: ``in-graph`` (default: the graph takes a waveform), ``numpy`` (it takes features, which
            ``paddable.load`` computes) or ``early`` (of the first public exports of Fun-ASR-Nano).
        attention: of qwen3-asr: ``windowed`` (default, as trained) or ``global``.
        short_clips: of qwen3-asr, clips under 100 frames: ``own`` width (default) or ``padded``.
        chunks: of qwen3-tts-codec: frames of each step graph; 4 and 12 by default.
        target: the execution provider to convert for.
        precision: of the containers and step graphs: ``fp32`` (default), ``fp16`` or ``int8``; native stays in fp32.
        force: replace what is at ``out``.
        verify: judge before writing.
        gate_lengths: how many lengths to try in each container.
        progress: called with (stage, done, total).
        on_message: called with a line for each fix of the target that was left out, and for where the nodes run there.

    Returns:
        ``out``.

    Raises:
        MisuseError: no such family or target, a choice that the family does not have, or ``out`` exists.
        UnreadableError: the checkpoint is incomplete or of another model.
        RefusedError: no proof was found, or the target cannot run a graph.
        GateFailedError: a result differs from native; nothing was written but the report.
    """
    choices = Choices(front_end, attention, short_clips, chunks)
    precision = chosen_precision(precision)
    _refuse_wrong_choices(family, choices)
    place, source = Path(out), Path(checkpoint)
    target = table_of(target).name if target is not None else "cpu"
    refuse_what_is_there(place, force)

    for text in containers:
        if "=" not in str(text):  # a slip is told before minutes of loading; the rate comes with the family
            symbol = "F" if family == "qwen3-tts-codec" else "T" if front_end == "numpy" else "S"
            parse_container(text, [symbol], rates={symbol: 1})

    def done(stages: int) -> None:
        if progress is not None:
            progress("export", stages, STAGES)

    with scratch(place) as folder, staging(place, force=force) as stage:
        # ── Stages 1 and 2: load, export
        done(0)
        exported = FAMILIES[family][0](source, choices)
        opened = _opened_from_disk(exported, folder / "native.onnx")
        exported = replace(exported, native=None)
        gc.collect()  # the exporter's graphs point at each other and at the weights of the torch module
        wanted = containers_of(opened, containers)
        refuse_damaged_weights(opened)
        keep_native(stage, opened)
        demand_room(opened.analyse(), wanted, run=verify)

        # ── Stage 3: convert
        done(2)
        graphs = [
            padded(opened, container, target, precision=precision, on_message=on_message, lend=stage.lending)
            for container in wanted
        ]
        steps = {name: in_precision(graph, precision) for name, graph in exported.step_graphs.items()}
        for name, graph in steps.items():
            demand_target(graph, target, name, on_message)
        belongings = Belongings(steps, exported.assets, {"family": family, **exported.about})
        files = keep_bundle(stage, graphs, belongings)

        # ── Stage 4: judge
        done(3)
        report = judged(opened, files, stage, limit=gate_lengths, progress=progress) if verify else None
        if report is not None and report.ok and steps:
            assert opened.source is not None
            twin = opened.source if precision == "fp32" else stage.lend(in_precision(opened.model, precision))
            places = {name: stage.folder / name for name in steps}
            report = replace(report, streams=judge_streams(opened.source, twin, places, precision))
        if report is not None:
            demand(report, place)

        # ── Stage 5: write
        done(4)
        finish_bundle(stage, files, report, belongings)
    done(5)
    return place


def _opened_from_disk(exported: Exported, file: Path) -> Opened:
    """The native graph, its weights mapped from a file.

    The exporter leaves them in one message, and whoever reads a weight out of a message copies it: a model of 1 GB
    would lie in memory five times.
    """
    assert exported.native is not None
    write_model(ir.from_proto(exported.native), file, external_data=True)
    return open_model(file, [exported.length], rate=exported.rate)


def _refuse_wrong_choices(family: str, choices: Choices) -> None:
    if family not in FAMILIES:
        raise MisuseError(f"no family is called {family!r}", fix=f"choose {', '.join(FAMILIES)}")
    offered = FAMILIES[family][1]
    for choice in fields(choices):
        if getattr(choices, choice.name) is not None and choice.name not in offered:
            option = "--" + choice.name.replace("_", "-")
            raise MisuseError(f"{family} has no choice of {option}", fix=f"leave {option} out")
    allowed = {
        "front_end": FRONT_ENDS,
        "attention": ("windowed", "global"),
        "short_clips": ("own", "padded"),
    }
    for name, words in allowed.items():
        if getattr(choices, name) not in (None, *words):
            raise MisuseError(f"{name} {getattr(choices, name)!r}", fix=f"choose {', '.join(words)}")
    if choices.chunks is not None and (not choices.chunks or min(choices.chunks) < 1):
        raise MisuseError(
            f"chunks of {list(choices.chunks)} frames", fix="ask for at least 1 frame, such as --chunks 4,12"
        )
