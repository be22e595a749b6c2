"""What padding does to each operator: one file per operator family, one function per rule."""

from paddable.graph.rules import (
    attention,
    contraction,
    convolution,
    elementwise,
    gathering,
    movement,
    normalisation,
    padding,
    quantisation,
    quantised,
    recurrent,
    reduction,
    refused,
    resampling,
    shapes,
    slicing,
    triangle,
)
from paddable.graph.rules.operation import NoProof, Operation
from paddable.graph.rules.registry import find_rule, known_operators, rule

__all__ = [
    "NoProof",
    "Operation",
    "attention",
    "contraction",
    "convolution",
    "elementwise",
    "find_rule",
    "gathering",
    "known_operators",
    "movement",
    "normalisation",
    "padding",
    "quantisation",
    "quantised",
    "recurrent",
    "reduction",
    "refused",
    "resampling",
    "rule",
    "shapes",
    "slicing",
    "triangle",
]
