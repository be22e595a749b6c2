"""What the parts of the compiler pass to each other are values: nobody changes one that another holds."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import pytest

import paddable.padding
from paddable.padding.analysis import Analysis, OutputSite, Site
from paddable.padding.deduce.context import RuleContext
from paddable.padding.deduce.regroup import _Run
from paddable.padding.facts.facts import Elements, Facts
from paddable.padding.remedies import Remedy

CHANGES = {Analysis, RuleContext, _Run}
"""What a model, one visit of a node, or one reshape is worked out in."""

APART = {Elements, Facts, OutputSite, Site}


def _dataclasses() -> set[type]:
    modules = pkgutil.walk_packages(paddable.padding.__path__, "paddable.padding.")
    found = [value for module in modules for value in vars(importlib.import_module(module.name)).values()]
    return {value for value in found if isinstance(value, type) and dataclasses.is_dataclass(value)}


OWN = (kind for kind in _dataclasses() if kind.__module__.startswith("paddable.padding."))
KINDS = sorted(OWN, key=lambda kind: kind.__qualname__)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__qualname__)
def test_nobody_changes_what_another_holds(kind: type) -> None:
    assert kind.__dataclass_params__.frozen == (kind not in CHANGES)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__qualname__)
def test_what_holds_tensors_or_is_left_out_by_itself_is_no_other_that_says_the_same(kind: type) -> None:
    """Arrays have no single truth to compare by; and two remedies of the same words are two."""
    assert (kind.__eq__ is object.__eq__) == (kind in APART or issubclass(kind, Remedy))
