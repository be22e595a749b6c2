"""A small graph, what the compiler has to find in it, and the judgement of both.

A table of examples is the test of a rule file::

    EXAMPLES = {
        "a mean over time": Example("y = ReduceMean <axes = [2]> (x)", "float[1, 2, 1] y", finds="PAD101 ReduceMean"),
    }

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_example(name: str) -> None:
        EXAMPLES[name].check()
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, parser

from paddable.errors import RefusedError
from paddable.lengths import constant, parse
from paddable.padding.facts.facts import Facts

from ..soundness.builder import Tensor
from ..soundness.case import Case
from ..soundness.judge import judge
from ..soundness.runs import Compiled, compile_case

__all__ = ["Example", "claim"]


@dataclass(frozen=True)
class Example:
    """A graph in ONNX's text form, and what holds of it.

    Attributes:
        body: the nodes.
        outputs, inputs: with types. A dimension of one letter is a length, ``batch`` the batch.
        constants: initialisers; one without a value gets numbers of its own (no two alike, none of them 0 or 1).
        finds: each finding as ``PAD102 Conv``, in the order of the graph; without the remedies of any one code the
            answer is another.
        claims: what is known of the first output (see :func:`claim`).
        first: the shortest accepted length of each symbol, where it is not 1. Native has no answer below.
        last: the longest, where there is one.
        guards: the operators at which a remedy is no finding, since it keeps an index or a divisor in range, or a shape
            right: as ``Gather Div``, once a remedy.
        harmless: codes of findings whose remedies make no difference to the inputs that the judge tries.
        refused: a part of the reason, where the graph is refused.
        held: the inputs that hold lengths or masks, as ``l=T`` (a vector of lengths) or ``m:1=T`` (1 at valid steps).
        native: whether ONNX Runtime has the operators; else the graph is compiled, and not run.
        rows: rows of native's batch; 0 where the inputs say ``batch``: three rows, each with lengths of its own.
        opset: of the standard operators.
    """

    body: str
    outputs: str = "float[1, 2, U] y"
    inputs: str = "float[1, 2, T] x"
    constants: str = ""
    finds: str = ""
    claims: str = ""
    first: str = ""
    last: str = ""
    guards: str = ""
    harmless: str = ""
    refused: str = ""
    held: str = ""
    native: bool = True
    rows: int = 1
    opset: int = 18

    @property
    def model(self) -> onnx.ModelProto:
        """The graph with a value for every constant."""
        model = parser.parse_model(
            f'<ir_version: 10, opset_import: ["": {self.opset}, "com.microsoft": 1]>\n'
            f"g ({self.inputs}) => ({self.outputs}) <{self.constants}> {{ {self.body} }}"
        )
        for info in list(model.graph.value_info):
            if not any(info.name == known.name for known in model.graph.initializer):
                kind = info.type.tensor_type
                shape = [d.dim_value for d in kind.shape.dim]
                array = _numbers(int(np.prod(shape)), helper.tensor_dtype_to_np_dtype(kind.elem_type)).reshape(shape)
                model.graph.initializer.append(numpy_helper.from_array(array, info.name))
        del model.graph.value_info[:]
        return model

    @property
    def case(self) -> Case:
        """The graph and its declarations as the judge takes them."""
        model = self.model
        tensors = {i.name: Tensor(i.name, i.type.tensor_type.elem_type, _shape(i)) for i in model.graph.input}
        held = [text.partition("=") for text in self.held.split()]
        inputs = {symbol: tensors.pop(name) for name, _, symbol in held if ":" not in name}
        masks = {symbol: tensors.pop(name.partition(":")[0]) for name, _, symbol in held if ":" in name}
        lengths = [
            f"{i.name}:{axis}={d.dim_param}"
            for i in model.graph.input
            for axis, d in enumerate(i.type.tensor_type.shape.dim)
            if i.name in tensors and re.fullmatch("[A-Z]", d.dim_param)
        ]
        held_lengths = [f"{tensor.name}={symbol}" for symbol, tensor in inputs.items()]
        held_masks = [f"{tensor.name}:1={symbol}" for symbol, tensor in masks.items()]
        data, rows = list(tensors.values()), self.rows or None
        return Case(model, lengths, held_lengths, held_masks, data, True, self.rows or 3, rows, inputs, masks)

    def compiled(self) -> Compiled:
        """The padded model and the analysis that made it."""
        return compile_case(self.case)

    def check(self) -> None:
        """The padded graph gives native's answer, and the compiler knows of it what is stated, no more and no less."""
        case = self.case
        if self.refused:
            with pytest.raises(RefusedError, match=re.escape(self.refused)):
                compile_case(case)
            return
        analysis = self.compiled().analysis
        assert ", ".join(f"{f.code} {f.op}" for f in analysis.findings) == self.finds
        assert " ".join(s.node.op_type for s in analysis.sites for r in s.remedies if not r.code) == self.guards
        assert claim(analysis.values[case.model.graph.output[0].name]) == self.claims
        for output in case.model.graph.output:
            assert analysis.values[output.name].dtype.value == output.type.tensor_type.elem_type
        if not self.native:
            return
        verdict = judge(case)
        assert (verdict.outcome, verdict.reason, verdict.tight) == ("exact", "", "")
        spans = verdict.spans.items()
        assert " ".join(f"{s}={span.first}" for s, span in spans if span.first != 1) == self.first
        assert " ".join(f"{s}={span.last}" for s, span in spans if span.last is not None) == self.last
        for code in dict.fromkeys(re.findall(r"PAD\d+", self.finds)):
            without = judge(replace(case, left_out=frozenset({code})))
            assert (without.outcome == "wrong") != (code in self.harmless), f"without {code}: {without.reason}"


def claim(value: Facts) -> str:
    """What is known of a tensor, in a line.

    ``T 0|finite; -1..1; finite`` says: where T alone is padded the elements are 0, where others are padded too they are
    finite; every element lies in [-1, 1]; the valid ones are finite.
    """
    pads = []
    for i in value.ragged:
        weak, strong = str(value.pads[i].weak), str(value.pads[i].strong)
        pads.append(f"{value.atoms[i]} {weak if weak == strong else f'{weak}|{strong}'}")
    flags = [name for name in ("masked", "image") if getattr(value, name)]
    bounds = [] if (value.low, value.high) == (-math.inf, math.inf) else [f"{value.low:.4g}..{value.high:.4g}"]
    return "; ".join([*pads, *bounds, str(value.valid), *flags])


def _numbers(count: int, dtype: np.dtype) -> np.ndarray:
    if np.issubdtype(dtype, np.floating):
        return np.round(np.random.default_rng(count).uniform(-1.4, 1.4, count), 2).astype(dtype)
    return ((37 * np.arange(count) + 5) % 101).astype(dtype)


def _shape(value: onnx.ValueInfoProto) -> tuple[object, ...]:
    dims = value.type.tensor_type.shape.dim
    return tuple(parse(d.dim_param) if d.dim_param else constant(d.dim_value) for d in dims)
