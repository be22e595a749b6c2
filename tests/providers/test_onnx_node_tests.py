"""ONNX's own backend node tests give the same numbers before and after every fix.

One case for each operator by default; PADDABLE_ALL_NODE_TESTS=1 runs all of them (minutes).
"""

from __future__ import annotations

import os
import warnings

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx.backend.test.loader import load_model_tests

from paddable.linter.fixing import apply_fixes, relative_change
from paddable.providers.registry import provider

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # numpy, while ONNX computes its expected outputs
    CASES = [case for case in load_model_tests(kind="node") if not case.name.endswith("_expanded")]


def chosen() -> list[object]:
    if os.environ.get("PADDABLE_ALL_NODE_TESTS"):
        return CASES
    first = {"/".join(node.op_type for node in case.model.graph.node): case for case in reversed(CASES)}
    return sorted(first.values(), key=lambda case: case.name)


@pytest.mark.parametrize("case", chosen(), ids=lambda case: case.name)
def test_same_numbers(case, run_on_cpu) -> None:  # type: ignore[no-untyped-def]
    before = ir.from_proto(case.model)
    after, report = apply_fixes(before, [fix(provider("directml").look) for fix in provider("directml").fixes])
    if not report.applied:
        return
    feed = {v.name: np.asarray(x) for v, x in zip(case.model.graph.input, case.data_sets[0][0], strict=True)}
    try:
        (expected,) = run_on_cpu(before, [feed])
    except Exception as error:
        pytest.skip(f"ONNX Runtime's CPU provider cannot run the original: {str(error)[:80]}")
    onnx.checker.check_model(ir.to_proto(after))
    (got,) = run_on_cpu(after, [feed])
    assert max(relative_change(np.asarray(a), np.asarray(b)) for a, b in zip(expected, got, strict=True)) <= 1e-6
