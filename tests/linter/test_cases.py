"""Published faults, rebuilt: the oracles of the shared cases judge what lint says."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime
import pytest

from paddable.errors import RefusedError
from paddable.findings import Finding
from paddable.graph.io.read import read_model
from paddable.linter import lint_model

pytestmark = pytest.mark.shared


@pytest.fixture
def case(shared: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Loads a case; its exporters are noisy and change global settings of warnings and logging."""
    loaded: list[str] = []

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, shared / "cases" / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # torch.export's strict mode looks the module up
        loaded.append(name)
        spec.loader.exec_module(module)
        return module

    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        yield load
    logging.disable(logging.NOTSET)
    for name in loaded:
        del sys.modules[name]


def lint(path: str) -> list[Finding]:
    return lint_model(read_model(path, for_lint=True))


def said(path: str) -> list[str]:
    """What is wrong and what to do, without the place: the cases' own file names contain the words looked for."""
    return [f"{finding.code} {finding.op} {finding.leak} -> {finding.remedy}" for finding in lint(path)]


@pytest.mark.parametrize(
    "name", ["case_04_length_input_lost", "case_08_data_dependent_length", "case_12_dynamic_reshape_lint"]
)
def test_lint_case(case: Callable[[str], ModuleType], name: str) -> None:
    ok, detail = case(name).check(said)
    assert ok, detail


def test_a_frozen_length_is_flagged_before_it_answers(case: Callable[[str], ModuleType]) -> None:
    def run(path: str, feeds: Mapping[str, np.ndarray]) -> np.ndarray:
        findings = lint(path)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        names = {value.name for value in session.get_inputs()}
        if not names >= feeds.keys() and any(finding.code == "SIG101" for finding in findings):
            frozen = [str(finding) for finding in findings if finding.code in ("SIG101", "SHP105")]
            assert len(frozen) == 3, "the lost input, the comparison and the divisor"
            raise RefusedError("; ".join(frozen), findings=findings)
        assert not [finding for finding in findings if finding.code in ("SIG101", "SIG102", "SHP105")]
        (result,) = session.run(None, dict(feeds))
        return np.asarray(result)

    ok, detail = case("case_09_int_of_tensor_frozen").check(run)
    assert ok, detail
