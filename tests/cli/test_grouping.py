"""Twenty-four lines that differ by the number of a layer are one."""

from __future__ import annotations

from dataclasses import replace

from paddable.cli.grouping import lines_of
from paddable.findings import Finding, Source

FIRST = Finding("PAD103", "node_Softmax_12", "Softmax", "attention sees the padding", "mask", source=Source("m.py", 7))


def test_layers_are_one_line() -> None:
    layers = [replace(FIRST, node=f"node_Softmax_{12 + 40 * layer}", module=f"layers.{layer}") for layer in range(24)]
    (line,) = lines_of(layers)
    assert line == f"{FIRST} (24 places, the last node_Softmax_932)"
    (line,) = lines_of([replace(FIRST, node=f"/enc/layers.{layer}/attn/Softmax", source=None) for layer in range(3)])
    assert line.endswith("(3 places, the last /enc/layers.2/attn/Softmax)")


def test_what_differs_otherwise_stays_apart() -> None:
    others = [
        FIRST,
        replace(FIRST, node="node_Softmax_13", leak="a sum over time is divided by the constant 30"),
        replace(FIRST, node="node_Softmax_14", leak="a sum over time is divided by the constant 40"),
        replace(FIRST, node="node_Softmax_15", source=Source("m.py", 8)),
        replace(FIRST, node="node_Softmax_16", severity="note"),
        replace(FIRST, node="node_Mul_17"),
    ]
    assert lines_of(others) == [str(finding) for finding in others]
