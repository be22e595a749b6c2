"""``inspect`` of a file: inputs and outputs, the length of every value, operators, state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import onnx
import onnx_ir as ir

from paddable.api.checking import texts
from paddable.api.domain import domain
from paddable.api.heads import attention_heads
from paddable.api.inspecting_folder import described, told_states
from paddable.api.opened import Model, open_model
from paddable.api.versions import versions
from paddable.bundle import KEY
from paddable.bundle.state import STEP_METADATA_KEY, StepSpec
from paddable.errors import RefusedError
from paddable.graph.io.read import read_model
from paddable.graph.io.scratch import letting_go
from paddable.padding.facts.axes import axis_size
from paddable.padding.suggestion import suggest

__all__ = ["InspectReport", "inspect_file"]


@dataclass(frozen=True)
class InspectReport:
    """What is in a file.

    Attributes:
        inputs, outputs: name, type, shape.
        values: with declared lengths, the native shape of every computed value.
        attention: heads, width of a head and number of layers of each kind of attention.
        state: pairs of inputs and outputs that carry state from run to run.
        state_bytes: of one stream, for a step graph.
        operators: how often each operator occurs.
        weights: number of weights, and their bytes.
        refusal: why lengths could not be followed to the end, if they could not.
        suggested: what the inputs look like: time axes, batch, lengths, masks, states.
        next_command: a line to run next, ready to be copied.
    """

    inputs: tuple[Mapping[str, Any], ...]
    outputs: tuple[Mapping[str, Any], ...]
    operators: Mapping[str, int]
    weights: Mapping[str, int]
    opsets: Mapping[str, int]
    values: tuple[Mapping[str, Any], ...] = ()
    attention: tuple[Mapping[str, Any], ...] = ()
    state: tuple[Mapping[str, Any], ...] = ()
    state_bytes: int | None = None
    lengths: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    domain: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    padded: bool = False
    refusal: str | None = None
    suggested: Mapping[str, Any] = field(default_factory=dict)
    next_command: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "ok": self.refusal is None,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "attention": list(self.attention),
            "state": list(self.state),
            "state_bytes": self.state_bytes,
            "weights": dict(self.weights),
            "opsets": dict(self.opsets),
            "operators": dict(self.operators),
            "padded": self.padded,
            "domain": {name: dict(limits) for name, limits in self.domain.items()},
            "lengths": {name: {str(a): text for a, text in axes.items()} for name, axes in self.lengths.items()},
            "values": list(self.values),
            "refusal": self.refusal,
            "versions": versions(),
            "suggested": {kind: places for kind, places in self.suggested.items() if places},
            "next": self.next_command,
        }


@letting_go
def inspect_file(model: Model, lengths: Sequence[str] = ()) -> InspectReport:
    """Describe a model; with declared lengths also the length of every value.

    Raises:
        UnreadableError: not a model.
        MisuseError: a declaration that does not fit it.
    """
    found = read_model(model, any_opset=not lengths, older=True)
    step = found.metadata_props.get(STEP_METADATA_KEY)
    states = StepSpec.from_json(step).states if step else None
    stored = [value.const_value for value in found.graph.initializers.values() if value.const_value is not None]
    counted = Counter(f"{node.domain}.{node.op_type}" if node.domain else node.op_type for node in found.graph)
    suggested = suggest({value.name or "": value for value in found.graph.inputs}, found.graph.outputs)
    padded = KEY in found.metadata_props
    report = InspectReport(
        inputs=tuple(described(value) for value in found.graph.inputs),
        outputs=tuple(described(value) for value in found.graph.outputs),
        operators=dict(counted.most_common()),
        weights={
            "tensors": len(stored),
            "numbers": sum(t.size for t in stored),
            "bytes": sum(t.nbytes for t in stored),
        },
        opsets={name or "ai.onnx": version for name, version in found.graph.opset_imports.items()},
        attention=tuple(attention_heads(found)),
        state=told_states(states) if states else tuple(_states(found)),
        state_bytes=states.nbytes if states else None,
        padded=padded,
        suggested=suggested.to_json(),
        next_command=None
        if padded or states or lengths
        else suggested.command("MODEL.onnx" if isinstance(model, onnx.ModelProto) else str(model)),
    )
    if not lengths:
        return report
    opened = open_model(model, lengths)
    try:
        analysis = opened.analyse()
    except RefusedError as refusal:
        return replace(report, refusal=str(refusal))
    values = []
    for node in analysis.model.graph:
        for output in node.outputs:
            facts = analysis.values.get(output.name or "")
            if facts is not None:
                shape = [str(axis_size(axis)) for axis in facts.axes]
                values.append({"value": output.name, "op": node.op_type, "shape": shape})
    return replace(report, values=tuple(values), lengths=texts(analysis), domain=domain(analysis))


def _states(model: ir.Model) -> list[dict[str, Any]]:
    """Inputs ``state_x`` with an output ``next_state_x``."""
    outputs = {value.name for value in model.graph.outputs}
    return [
        described(value)
        for value in model.graph.inputs
        if (value.name or "").startswith("state_") and f"next_{value.name}" in outputs
    ]
