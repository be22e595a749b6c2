"""Judges a small graph, written as text, against native, by the checks of tests/soundness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx
import onnx.parser

from paddable.lengths import constant, parse

from ..soundness.builder import Tensor
from ..soundness.case import Case
from ..soundness.judge import Verdict, judge
from ..soundness.runs import compile_case

__all__ = ["assert_exact", "findings_of", "verdict_of"]

BATCH = "batch"


def verdict_of(
    text: str, *lengths: str, opset: int = 17, rows: int | None = 1, kept: bool = False, padded_rows: int = 1
) -> Verdict:
    """What comes of a graph.

    Args:
        text: the graph in ONNX's text form, as ``g (float[1, T, 2] x) => (float[1, T, 2] y) {...}``.
        lengths: declarations such as ``x:1=T``.
        opset: version of the standard operators.
        rows: rows of native's batch, None where the text has ``batch``.
        kept: the batch stays symbolic in the padded model.
        padded_rows: rows of the padded model where native's batch is symbolic and not kept.
    """
    return judge(_case(text, lengths, opset, rows, kept, padded_rows))


def _case(text: str, lengths: Sequence[str], opset: int, rows: int | None, kept: bool, padded_rows: int) -> Case:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}, "com.microsoft": 1]>\n{text}')
    data = [Tensor(i.name, i.type.tensor_type.elem_type, _shape(i)) for i in model.graph.input]
    return Case(model, lengths, (), (), data, True, None if kept else rows or padded_rows, rows)


def assert_exact(
    text: str, *lengths: str, opset: int = 17, rows: int | None = 1, kept: bool = False, padded_rows: int = 1,
    needs: Sequence[str] = (),
) -> None:  # fmt: skip
    """The padded graph gives native's answer at every tried length, container and filling.

    ``needs`` has codes of findings: without the remedies of one of them the answer is another.
    """
    case = _case(text, lengths, opset, rows, kept, padded_rows)
    verdict = judge(case)
    assert verdict.outcome == "exact", verdict.reason
    for code in needs:
        mutant = judge(replace(case, left_out=frozenset({code})))
        assert mutant.outcome == "wrong", f"without {code}: {mutant.outcome}, {mutant.reason}"


def findings_of(text: str, *lengths: str, opset: int = 17) -> list[tuple[str, str]]:
    """Code and operator of each finding of a graph of one row."""
    found = compile_case(_case(text, lengths, opset, 1, False, 1)).analysis.findings
    return [(finding.code, finding.op) for finding in found]


def _shape(value: onnx.ValueInfoProto) -> Sequence[object]:
    dims = value.type.tensor_type.shape.dim
    return tuple(parse(d.dim_param) if d.dim_param else constant(d.dim_value) for d in dims)
