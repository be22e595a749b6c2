"""What a model must be before anything else looks at it: cheap checks of a stranger's file, each with a way out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

from paddable.errors import RefusedError, UnreadableError

__all__ = ["EXTENSIONS", "NEWEST_OPSET", "OLDEST_OPSET", "check_structure"]

OLDEST_OPSET, NEWEST_OPSET = 11, 24

_ONNX = ("", "ai.onnx")
_KNOWN_DOMAINS = {*_ONNX, "ai.onnx.ml", "com.microsoft"}
"""Domains whose operators have published semantics. An operator without a rule is refused later, where it matters."""

EXTENSIONS: set[tuple[str, str]] = set()
"""Operators of other domains, by domain and name, that are understood: registering a padding rule adds its own."""

_OF_THE_RUNTIME = {"LayerNormalization", "SimplifiedLayerNormalization"}
"""Operators that ONNX Runtime has in the standard domain at every opset, and writes there when it fuses."""


def check_structure(
    model: ModelProto, *, where: str, for_lint: bool = False, any_opset: bool = False, older: bool = False
) -> None:
    """Checks opset, operators, names and signature.

    Args:
        model: the model; its tensors are not looked at.
        where: how messages name it.
        for_lint: accept graph inputs of size 0, and every newer opset that the installed onnx knows.
        any_opset: accept every opset, and graph inputs of size 0.
        older: accept opsets that are older than what is understood.

    Raises:
        UnreadableError: the graph contradicts itself (a name defined twice, or never).
        RefusedError: valid, but outside what is understood.
    """
    understood = (1 if older else OLDEST_OPSET, onnx.defs.onnx_opset_version() if for_lint else NEWEST_OPSET)
    opsets = _opsets(model, where, *((0, 1 << 31) if any_opset else understood))
    local = {(function.domain, function.name) for function in model.functions}
    for function in model.functions:
        _Scope(where, {**opsets, **_imports(function)}, local).check(
            function, set(function.input), f"function {function.name!r}"
        )
    if not for_lint and not any_opset:
        _refuse_empty_inputs(model.graph, where)
    _Scope(where, opsets, local).check(model.graph, set(), "graph")


def _imports(owner: ModelProto | FunctionProto) -> dict[str, int]:
    return {"" if entry.domain in _ONNX else entry.domain: entry.version for entry in owner.opset_import}


def _opsets(model: ModelProto, where: str, oldest: int, newest: int) -> dict[str, int]:
    opsets = _imports(model)
    version = opsets.get("")
    if version is None:
        raise UnreadableError("it declares no ONNX opset", where=where, fix="export the model again")
    if version < oldest:
        raise RefusedError(
            f"opset {version} is older than {oldest}, the oldest that is understood",
            where=where,
            fix="export the model with opset_version=18",
        )
    if version > newest:
        raise RefusedError(
            f"opset {version} is newer than {newest}, the newest whose operators are understood",
            where=where,
            fix="export the model with opset_version=18",
        )
    return opsets


def _refuse_empty_inputs(graph: GraphProto, where: str) -> None:
    initialised = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in value.type.tensor_type.shape.dim]
        if value.name not in initialised and 0 in sizes:
            raise RefusedError(
                f"input {value.name!r} has a dimension of size 0 at axis {sizes.index(0)}",
                where=where,
                why="it carries no data",
                fix="export the model with a non-empty example, or with that axis dynamic",
            )


class _Scope:
    """One walk over a graph and what it nests: every name is defined once and before use, every operator is known."""

    def __init__(self, where: str, opsets: Mapping[str, int], local: set[tuple[str, str]]) -> None:
        self._where, self._opsets, self._local = where, opsets, local

    def check(self, graph: GraphProto | FunctionProto, outer: set[str], title: str) -> None:
        made = self._definitions(graph, title)
        visible = outer | made
        for node in graph.node:
            self._operator(node)
            for name in node.input:
                if name and name not in visible:
                    raise self._broken(f"{_called(node)} reads {name!r}, which nothing produces")
            for attribute in node.attribute:
                self._attribute(node, attribute, visible)
        for value in graph.output:
            name = value if isinstance(value, str) else value.name
            if name not in (visible if isinstance(graph, FunctionProto) else made):
                raise self._broken(f"output {name!r} of the {title} is produced by no node")

    def _definitions(self, graph: GraphProto | FunctionProto, title: str) -> set[str]:
        made: set[str] = set()
        names = [output for node in graph.node for output in node.output if output]
        if isinstance(graph, GraphProto):
            if graph.sparse_initializer:
                sparse = graph.sparse_initializer[0].values.name
                raise self._sparse(f"initialiser {sparse!r}")
            inputs = [value.name for value in graph.input]
            made.update(inputs)
            if len(made) < len(inputs):
                raise self._broken(f"two inputs of the {title} have one name")
            stored = [tensor.name for tensor in graph.initializer]
            if len(set(stored)) < len(stored):
                twice = next(name for name in stored if stored.count(name) > 1)
                raise self._broken(f"initialiser {twice!r} of the {title} is stored twice")
            made.update(stored)
        for name in names:
            if name in made:
                raise self._broken(f"value {name!r} of the {title} is produced twice")
            made.add(name)
        return made

    def _attribute(self, node: NodeProto, attribute: AttributeProto, visible: set[str]) -> None:
        if attribute.type in (AttributeProto.SPARSE_TENSOR, AttributeProto.SPARSE_TENSORS):
            raise self._sparse(_called(node))
        for nested in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            self.check(nested, visible, f"branch {attribute.name!r} of {_called(node)}")

    def _operator(self, node: NodeProto) -> None:
        domain = "" if node.domain in _ONNX else node.domain
        if (node.domain, node.op_type) in self._local:
            return
        if domain == "com.microsoft.nchwc":
            raise RefusedError(
                f"{_called(node)} computes in the blocked layout of one processor",
                where=self._where,
                why="ONNX Runtime wrote the file with every optimisation on",
                fix="save the optimised model at level EXTENDED, or convert the one that it was made from",
            )
        if domain not in _KNOWN_DOMAINS and (domain, node.op_type) not in EXTENSIONS:
            raise RefusedError(
                f"{_called(node)} is a custom operator of {domain!r}",
                where=self._where,
                why="what it does to the padding is unknown",
                fix="export the model with standard operators; a package may add a rule (docs/guides/add_a_rule.md)",
            )
        if domain:
            return
        arity = _arity(node.op_type, self._opsets[""])
        if arity is None and node.op_type in _OF_THE_RUNTIME:
            return
        if arity is None:
            raise RefusedError(
                f"{_called(node)} is not an operator of ONNX opset {self._opsets['']}",
                where=self._where,
                fix="export the model again, or check the opset that it declares",
            )
        if not arity[0] <= len(node.input) <= arity[1]:
            raise self._broken(f"{_called(node)} has {len(node.input)} inputs, {arity[0]} to {arity[1]} are allowed")

    def _broken(self, what: str) -> UnreadableError:
        return UnreadableError(
            what, where=self._where, why="no runtime can run it", fix="export the model again; onnx.checker tells more"
        )

    def _sparse(self, holder: str) -> RefusedError:
        return RefusedError(
            f"{holder} is a sparse tensor", where=self._where, fix="store it dense: no runtime of interest reads it"
        )


def _called(node: NodeProto) -> str:
    name = node.name or next((output for output in node.output if output), "")
    return f"node {name!r} ({node.op_type})"


@cache
def _arity(op_type: str, opset: int) -> tuple[int, int] | None:
    """Least and most inputs of a standard operator, or None when that opset has none of this name."""
    try:
        schema = onnx.defs.get_schema(op_type, opset, "")
    except onnx.defs.SchemaError:
        return None
    return None if schema.deprecated else (schema.min_input, schema.max_input)
