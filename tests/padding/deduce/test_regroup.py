"""Reshape as regrouping: which factors of the source make up each axis, and why some targets have no proof."""

from __future__ import annotations

import pytest

from paddable.lengths import Length, Span, constant, parse
from paddable.padding.deduce.regroup import Regrouping, regroup
from paddable.padding.deduce.scope import Scope
from paddable.padding.facts.axes import Factor
from paddable.padding.facts.numbers import Product, product

SCOPE = Scope({"T": Span(1, None), "U": Span(1, None)}, rows=None)


def factors(text: str) -> list[Factor]:
    return [factor for part in text.split() for factor in (SCOPE.axis(parse(part)) or (Factor(constant(1)),))]


def size(text: str) -> Length | Product:
    return product(*(parse(part) for part in text.split("x")))


@pytest.mark.parametrize(
    ("source", "target", "axes", "origins"),
    [
        ("2 T", "2 T", "2 | T", "0:1 1:1"), ("2 T", "2xT", "2 T", "0:1 1:1"),
        ("6 T", "2 3 T", "2 | 3 | T", "0:3 0:1 1:1"),
        ("2 3 T", "6 T", "2 3 | T", "0:1 1:1 2:1"), ("2 3 T", "3 2 T", "3 | 2 | T", "None:1 None:1 2:1"),
        ("T 6", "T 2 3", "T | 2 | 3", "0:1 1:3 1:1"), ("2 T 3", "2 3*T", "2 | T 3", "0:1 1:1 2:1"),
        ("6*T", "T 6", "T | 6", "0:6 0:1"), ("6*T", "2*T 3", "2*T | 3", "0:3 0:1"),
        ("6*T U", "T 6 U", "T | 6 | U", "0:6 0:1 1:1"), ("6*T 5", "2*T 3 5", "2*T | 3 | 5", "0:3 0:1 1:1"),
        ("2 T U", "2xTxU", "2 T U", "0:1 1:1 2:1"), ("2 3 T U", "6xTxU", "2 3 T U", "0:1 1:1 2:1 3:1"),
        ("1 T", "T", "T", "1:1"),
        ("T 1", "T", "T", "0:1"), ("T", "1 T 1", " | T | ", "0:1"), ("T U", "T U", "T | U", "0:1 1:1"),
        ("T U", "TxU", "T U", "0:1 1:1"), ("batch 4 T", "4*batch T", "batch 4 | T", "0:1 1:1 2:1"),
        ("batch 4 T", "batch 4xT", "batch | 4 T", "0:1 1:1 2:1"),
        ("12 T", "3 2 2 T", "3 | 2 | 2 | T", "0:4 0:2 0:1 1:1"),
        ("2 3 5 T", "3 2 5 T", "3 | 2 | 5 | T", "None:1 None:1 2:1 3:1"),
        ("4 9 T", "6 6 T", "6 | 6 | T", "None:1 None:1 2:1"), ("2 T", "1 2 T", " | 2 | T", "0:1 1:1"),
    ],
)  # fmt: skip
def test_factors_of_each_axis(source: str, target: str, axes: str, origins: str) -> None:
    found = regroup(SCOPE, factors(source), [size(part) for part in target.split()])
    assert isinstance(found, Regrouping), found
    assert " | ".join(" ".join(map(str, axis)) for axis in found.axes) == axes
    assert " ".join(f"{origin.atom}:{origin.stride}" for origin in found.origins) == origins
    assert [f.ragged for axis in found.axes for f in axis] == [
        bool(f.size.symbols - {"batch"}) for axis in found.axes for f in axis
    ]


@pytest.mark.parametrize(
    ("source", "target", "why"),
    [
        ("2 T", "T", "T does not start at a multiple of 2"), ("T 2", "T", "elements are left over: 2"),
        ("8*T", "8 T", "the padding of 8*T stands at its end, and not behind each of the 8 parts"),
        ("T", "T 2", "exceeds the elements that are left"), ("2 T", "4 T", "cannot be cut into 4"),
        ("T", "9", "the varying size T cannot be cut into 9"), ("4 T", "3 T", "4 elements cannot be regrouped to 3"),
        ("T U", "U T", "the varying size T is neither part nor multiple of U"),
        ("T", "T+1", "neither part nor multiple"),
        ("T 2", "3 T", "cannot be cut into 3"),
    ],
)  # fmt: skip
def test_no_proof(source: str, target: str, why: str) -> None:
    found = regroup(SCOPE, factors(source), [size(part) for part in target.split()])
    assert isinstance(found, str) and why in found, found
