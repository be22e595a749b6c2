"""Asks every rule about a model."""

from __future__ import annotations

import os
from collections.abc import Sequence

import onnx_ir as ir

from paddable.findings import Finding
from paddable.graph.io.read import read_model
from paddable.graph.prepare.normalise import normalise
from paddable.graph.trace import module_path, source
from paddable.lint.registry import rules
from paddable.lint.rule import Match, Rule
from paddable.lint.subject import LengthAxis, Runner, Subject

__all__ = ["lint_file", "lint_model"]

_GRAVITY = ("error", "warning", "note")


def lint_model(
    model: ir.Model,
    *,
    runner: Runner | None = None,
    declarations: Sequence[LengthAxis] = (),
    weights: bool = False,
    select: Sequence[type[Rule]] | None = None,
) -> list[Finding]:
    """What the rules say about a model.

    Args:
        model: the model; it is not changed.
        runner: runs a serialised model on named inputs; with one, the model is also run at two lengths.
        declarations: the axes that carry time (``.input``, ``.axis``); else every free axis but the batch.
        weights: also ask the rules that read every weight.
        select: the rules to ask, instead of all.

    Returns:
        Errors first; within a severity by code, then in the order of the graph.
    """
    plain = normalise(model.clone())
    subject = Subject(plain, runner=runner, declarations=declarations)
    asked = rules() if select is None else select
    found = [
        _finding(rule, match) for rule in asked if weights or not rule.reads_weights for match in rule().check(subject)
    ]
    return sorted(found, key=lambda finding: _GRAVITY.index(finding.severity))


def lint_file(
    path: str | os.PathLike[str],
    *,
    runner: Runner | None = None,
    declarations: Sequence[LengthAxis] = (),
    weights: bool = False,
) -> list[Finding]:
    """What the rules say about a model file; as `lint_model`.

    Raises:
        Unreadable, Refused: as `paddable.graph.io.read.read_model`.
    """
    return lint_model(read_model(path, for_lint=True), runner=runner, declarations=declarations, weights=weights)


def _finding(rule: type[Rule], match: Match) -> Finding:
    node = match.node
    return Finding(
        code=rule.code,
        node=match.value if node is None else node.name or str(node.outputs[0].name),
        op="" if node is None else node.op_type,
        leak=match.what,
        remedy=match.remedy,
        axis=match.axis,
        module=None if node is None else module_path(node),
        source=None if node is None else source(node),
        severity=match.severity or rule.severity,
    )
