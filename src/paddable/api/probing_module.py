"""``probe`` of a PyTorch module and its ONNX: module by module, since that is what both know by one name.

The module's outputs are caught by hooks. In the graph, a module's output is the last value of the right rank that a
node made below its path; exporters record the path of every node.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.api.probe_given import signature
from paddable.api.probe_places import found_place
from paddable.api.probing_blocks import Blocks, blocks_apart
from paddable.api.probing_entry import Entry, below, entry_that_differs
from paddable.api.probing_parameters import Parameters, compare_parameters
from paddable.api.probing_settings import setting_apart
from paddable.api.probing_trace import Run, run_module, tensors
from paddable.api.versions import versions
from paddable.divergence import TOLERANCE, ForkRecord, Layer, ProbeReport
from paddable.divergence.causes import Cause
from paddable.divergence.changed import counted
from paddable.divergence.fork import region
from paddable.divergence.measure import Measure, measure
from paddable.divergence.pieces import Pieces, on_provider
from paddable.divergence.plain import Plain
from paddable.divergence.regions import Block
from paddable.errors import MisuseError
from paddable.gates.engine import Array
from paddable.graph.io.read import read_model
from paddable.graph.prepare.normalise import normalise
from paddable.graph.trace import module_path, source

__all__ = ["names_module", "probe_module", "refuse_beside_module"]

_SETTINGS = "build the module with the settings that it was exported with, or export again"


def names_module(place: str | os.PathLike[str]) -> bool:
    """Whether a text names a function in a Python file, ``model.py:build``."""
    return ".py:" in os.fspath(place)


def refuse_beside_module(given: Sequence[str]) -> None:
    """Refuse what a module's probe has no use for: nothing that was asked is left out silently.

    Raises:
        MisuseError: something was given.
    """
    if given:
        raise MisuseError(
            f"{', '.join(f'`{name}`' for name in given)} cannot be used with a PyTorch module",
            why="it is compared on the sample that its function returns, on the CPU",
            fix="leave it out, and let the function return another sample where you want one",
        )


def probe_module(
    place: str, graph: str | os.PathLike[str], *, first: bool, tolerance: float | None = None
) -> ProbeReport:
    """Compare the outputs of every module with the values of a native graph.

    Args:
        place: ``FILE.py:FUNCTION``, which returns the module and its sample.
        graph: the ``.onnx`` file.
        first: the module is the run in question, the graph is right where they differ; else the other way round.
        tolerance: error relative to scale from which values differ.

    Raises:
        MisuseError: a padded graph, or a sample that does not fit its inputs.
    """
    from paddable.torch_backends.loading import build_model

    where = found_place(graph, None, None)
    if where.metadata is not None:
        raise MisuseError(
            "a PyTorch module is compared with its native graph, and this one is padded",
            where=str(where.file),
            fix="probe the module against native, and the padded graph against native",
        )
    module, sample = build_model(place)
    plain = Plain(normalise(read_model(where.file)))
    run, training = _run_as_it_is(module, sample)
    calls, results = run.calls, run.results
    feeds = _feeds(plain, sample)
    values = _values_of(plain, calls)
    wanted = [*values.values(), *plain.model.graph.outputs]
    got = Pieces(plain, feeds, on_provider("cpu")).advance(0, len(plain.nodes), wanted)
    parameters = compare_parameters(plain, module, run, first=first)
    for layer, norm in parameters.folded.items():  # what the layer's node makes is the batch norm's result
        if layer in values:
            values.setdefault(norm, values.pop(layer))
    limit = TOLERANCE if tolerance is None else tolerance
    measured = {path: _apart(array, got[values[path]], first) for path, array in calls.items() if path in values}
    found = {path: result for path, result in measured.items() if result is not None}
    outputs: dict[str, float] = {}
    unlike: list[str] = []
    for value, result in zip(plain.model.graph.outputs, results, strict=False):
        apart = _apart(result, got[value], first) if value in got else None
        if apart is not None:
            outputs[str(value.name)] = apart.error
        elif value in got:
            unlike.append(f"{value.name} is {list(result.shape)} in PyTorch and {list(got[value].shape)} in the graph")
    fork = next((path for path, result in found.items() if result.error > limit), None)
    if max(outputs.values(), default=0.0) <= limit:
        fork, training = None, None
    blocks = blocks_apart(plain, module, run.order) if fork is not None and training is None else None
    if blocks is not None:  # by their names, all of their weights differ
        kept = [each for each in parameters.changed if not each.name.startswith(f"{blocks.path}.".lstrip("."))]
        parameters = replace(parameters, changed=kept)

    def enter(path: str) -> Entry | None:
        paths = [*(layer for layer, norm in parameters.folded.items() if norm == path), path]
        return entry_that_differs(plain, feeds, module, run, paths, got[values[path]], limit)

    cause = None
    if fork is None:
        cause = training or _behind(plain, values, outputs, limit, parameters)
        cause = cause or _unplaced(outputs, unlike, limit, traced=bool(found))
    titles = place, where.file.name
    size: Mapping[str, int] = {}
    return ProbeReport(
        one=titles[0 if first else 1],
        other=titles[1 if first else 0],
        steps=size,
        containers=(size, size),
        tolerance=limit,
        differences=(),
        outputs=outputs,
        forks=[_record(plain, module, fork, values, found, parameters, enter, training, blocks)]
        if fork is not None
        else [],
        layers=[
            Layer(path, _node_of(values[path]).op_type, path, str(values[path].name), result.error)
            for path, result in found.items()
        ],
        matched={"nodes": len(plain.nodes), "paired": len(values), "compared values": len(found)},
        cause=cause,
        changed=counted([each.text for each in parameters.changed if not each.setting]) if training is None else "",
        versions={**versions(), "torch": _torch_version()},
    )


def _torch_version() -> str:
    import torch

    return str(torch.__version__)


def _run_as_it_is(module: Any, sample: Any) -> tuple[Run, Cause | None]:
    """The run of the module as its function returned it, and what training mode changes in it; the statistics that a
    run in training mode moves are put back."""
    kept = {name: each.clone() for name, each in module.named_buffers()}
    run = run_module(module, sample)
    parts = {path: part for path, part in module.named_modules() if part.training}
    if not parts:
        return run, None
    for name, each in module.named_buffers():
        each.copy_(kept[name])
    judged = run_module(module.eval(), sample)
    if all(np.array_equal(mine, theirs) for mine, theirs in zip(run.results, judged.results, strict=True)):
        return run, None
    which = "the module" if "" in parts else f"{next(iter(parts))} of the module"
    told = f"{which} is in training mode, where dropout draws and batch norm takes its input's own mean"
    return run, Cause("training", told, "call `.eval()` on the module before it is returned")


def _feeds(plain: Plain, sample: Any) -> dict[str, Array]:
    inputs = signature(plain.model)
    names = list(inputs.dtypes)
    given = tensors(sample)
    by_name = dict(zip(sample, given, strict=False)) if isinstance(sample, Mapping) else {}
    if not set(names) <= set(by_name):
        if len(given) != len(names):
            raise MisuseError(
                f"the sample has {len(given)} tensors, the graph {len(names)} inputs: {', '.join(names)}",
                fix="let the function return a sample with one tensor for each input",
            )
        by_name = dict(zip(names, given, strict=True))
    return {name: np.asarray(by_name[name]).astype(inputs.dtypes[name], copy=False) for name in names}


def _values_of(plain: Plain, calls: Mapping[str, Array]) -> dict[str, ir.Value]:
    """The graph's value for each module: the last one of its rank that a node below the module's path made."""
    last: dict[str, list[ir.Value]] = {}
    for node in plain.nodes:
        path = module_path(node)
        while path:
            last.setdefault(path, []).extend(node.outputs[:1])
            path = path.rpartition(".")[0]
    found = {}
    for path, array in calls.items():
        fitting = [value for value in last.get(path, ()) if value.shape is None or len(value.shape) == array.ndim]
        if fitting:
            found[path] = fitting[-1]
    return found


def _apart(mine: Array, theirs: Array, first: bool) -> Measure | None:
    blocks = Block(mine, None, 1), Block(theirs, None, 1)
    return measure(*(blocks if first else blocks[::-1]))


def _node_of(value: ir.Value) -> ir.Node:
    node = value.producer()
    assert node is not None  # it was found by its node
    return node


def _record(
    plain: Plain,
    root: Any,
    path: str,
    values: Mapping[str, ir.Value],
    found: Mapping[str, Measure],
    parameters: Parameters,
    enter: Callable[[str], Entry | None],
    training: Cause | None,
    blocks: Blocks | None,
) -> ForkRecord:
    order, value, error = list(found), values[path], found[path].error
    agree: dict[ir.Value, str] = {}
    for each in order[: order.index(path)]:
        agree.setdefault(values[each], each)
    nodes = below(plain, path) or [_node_of(value)]
    made, read = region(plain, value, agree.__contains__)
    module: str | None = path
    changed: tuple[ir.Node, Cause] | None
    if blocks is not None:
        changed = blocks.node, Cause("structure", blocks.told, _SETTINGS)
    else:
        changed = _changed_in(made, parameters) or _other_setting(plain, root, path, made, parameters)
    entry = enter(path) if changed is None and training is None else None
    if entry is not None:
        value, error = entry.value, entry.error
        made, read = region(plain, value, agree.__contains__)
        nodes, module = list(made), _forward(made, entry.path, found)
        changed = (
            _node_of(value),
            _cause_in_front(
                entry.path, sorted((agree[each] for each in read if each in agree), key=order.index), module
            ),
        )
    node, cause = changed or (_node_of(value), _cause(path, nodes, parameters))
    line = source(node)
    return ForkRecord(
        node=node.name or "",
        other=path,
        op=node.op_type,
        module=module if node in nodes else module_path(node),
        source=str(line) if line else None,
        value=str(value.name),
        error=error,
        inputs=max((found[agree[each]].error for each in read if each in agree), default=0.0),
        nodes=[n.name or "" for n in nodes],
        others=[path],
        missing=[],
        cause=training or cause,
    )


def _forward(made: Sequence[ir.Node], path: str, found: Collection[str]) -> str | None:
    """The innermost module whose forward made all of the nodes that nothing else reads, such as a mask for all layers;
    None for the root. Where that is a module that was judged itself, the one that puts its result in front of the path.
    """
    own: set[ir.Node] = set()
    for node in reversed(made):
        if node is made[-1] or all(use.node in own for value in node.outputs for use in value.uses()):
            own.add(node)
    forward = _common([module_path(node) or "" for node in made if node in own])
    return (_common([forward, path.rpartition(".")[0]]) if forward in found else forward) or None


def _common(paths: Sequence[str]) -> str:
    """The innermost module that holds all of some."""
    shared: list[str] = []
    for parts in zip(*(path.split(".") for path in paths), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return ".".join(shared)


def _cause_in_front(path: str, agreeing: Sequence[str], forward: str | None) -> Cause:
    """The code between the last modules that agree and one that only reads what differs."""
    where = f"between {', '.join(agreeing)} and {path}" if agreeing else f"in front of {path}"
    inside = f"in the forward of {forward}" if forward is not None else "in the root's forward"
    return Cause(
        "structure",
        f"what {path} reads differs already, and it gives the same from the graph's values: the difference is made "
        f"{where}, {inside}",
        "look there for what the exporter could not see: a Python branch or a number taken from a tensor",
    )


def _changed_in(made: Sequence[ir.Node], parameters: Parameters) -> tuple[ir.Node, Cause] | None:
    """The first of the nodes between the modules that agree and the one that does not that reads a parameter with other
    numbers, and that parameter."""
    for node in made:
        changed = next((each for each in parameters.changed if not set(each.values).isdisjoint(node.inputs)), None)
        if changed is not None:
            if changed.setting:
                return node, Cause("attributes", changed.told, _SETTINGS)
            fix = "load the checkpoint that the graph was exported from, or export again"
            return node, Cause("weights", changed.told, fix)
    return None


def _other_setting(
    plain: Plain, root: Any, path: str, made: Sequence[ir.Node], parameters: Parameters
) -> tuple[ir.Node, Cause] | None:
    """A setting of the module, or of the layer whose node has it folded in, that its node has otherwise."""
    layers = [layer for layer, norm in parameters.folded.items() if norm == path]
    for each in (*layers, path):
        for node in below(plain, each) or made:
            told = setting_apart(root.get_submodule(each), node)
            if told is not None and node in made:
                return node, Cause("attributes", f"{each} has {told}", _SETTINGS)
    return None


def _cause(path: str, nodes: Sequence[ir.Node], parameters: Parameters) -> Cause:
    """A parameter of the module that the graph has none for; else the code."""
    made = "node that was" if len(nodes) == 1 else f"{len(nodes)} nodes that were"
    lost = next((name for name in parameters.lost if name.startswith(f"{path}.")), None)
    if lost is not None:
        return Cause(
            "weights",
            f"parameter {lost} is not among the weights of the {made} exported from {path}",
            "load the checkpoint that the graph was exported from, or export again",
        )
    return Cause(
        "structure",
        f"{path} gives another result in PyTorch than the {made} exported from it",
        "look for what the exporter could not see in its forward: a Python branch or a number taken from a tensor",
    )


def _behind(
    plain: Plain, values: Mapping[str, ir.Value], outputs: Mapping[str, float], limit: float, parameters: Parameters
) -> Cause | None:
    """A parameter with other numbers behind the last modules that agree."""
    known = set(values.values())
    for value in plain.model.graph.outputs:
        if outputs.get(str(value.name), 0.0) > limit:
            changed = _changed_in(region(plain, value, known.__contains__)[0], parameters)
            if changed is not None:
                return changed[1]
    return None


def _unplaced(outputs: Mapping[str, float], unlike: Sequence[str], limit: float, *, traced: bool) -> Cause | None:
    if not outputs:
        told = f"no output could be compared{': ' if unlike else ''}{'; '.join(unlike)}"
        return Cause("unknown", told, "name the graph that was exported from this module")
    if max(outputs.values(), default=0.0) <= limit:
        return None
    if traced:
        return Cause(
            "structure",
            "the outputs differ, and no module does: the difference is made outside of the modules",
            "look in the root's forward, behind the last module",
        )
    return Cause(
        "structure",
        "the outputs differ, and the graph has no module paths to compare by",
        "export with dynamo=True, which records the path of every node",
    )
