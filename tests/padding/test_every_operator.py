"""Every registered operator has an example in the test file of its rule's file."""

from __future__ import annotations

import importlib

import onnx
import pytest

import paddable.padding.rules  # registers them
from paddable.padding.deduce.registry import find_rule, known_operators

from .example import Example

RULES = paddable.padding.rules.__all__


def _operators(graph: onnx.GraphProto) -> set[tuple[str, str]]:
    found = {(node.domain, node.op_type) for node in graph.node}
    inner = [a.g for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return found.union(*(_operators(part) for part in inner))


@pytest.mark.parametrize("name", RULES)
def test_every_operator_of_a_rule_file_has_an_example(name: str) -> None:
    examples = importlib.import_module(f"..rules.test_{name}", f"{__package__}.rules").EXAMPLES.values()
    assert all(isinstance(example, Example) for example in examples)
    shown = set().union(*(_operators(example.model.graph) for example in examples))
    module = f"paddable.padding.rules.{name}"
    registered = {known for known in known_operators() if find_rule(*known).__module__ == module}
    assert registered
    assert sorted(registered - shown) == []
