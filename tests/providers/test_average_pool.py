"""AveragePool on DirectML: with zeros of its own in front, the last window is divided as on every other provider."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

from paddable.providers.report import fix_for, lint_for

LENGTHS, KERNELS, STRIDES, BEFORE, BEHIND = (3, 4, 5, 7, 10), (2, 3), (1, 2, 3, 4), (0, 1), (0, 1, 2)
CASES = [case for case in product(LENGTHS, KERNELS, STRIDES, BEFORE, BEHIND) if max(case[3:]) < case[1]]


def pool(length: int | str, kernel: int, stride: int, before: int, behind: int) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 18]> pool (float[1, 1, {length}] x) => (float[1, 1, K] y) {{
            y = AveragePool <kernel_shape = [{kernel}], strides = [{stride}], pads = [{before}, {behind}],
                             ceil_mode = 1, count_include_pad = 1> (x) }}"""
    )


def run(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0])


def test_the_fix_is_exact_wherever_it_is_applied() -> None:
    """Nothing is compared here: a window that would begin in the pads behind is left out, and has to stay so."""
    applied = 0
    for case in CASES:
        model = pool(*case)
        fixed, report = fix_for(ir.from_proto(model), "directml")
        if not report.applied:
            continue
        applied += 1
        x = np.random.default_rng(0).standard_normal((1, 1, case[0])).astype(np.float32)
        np.testing.assert_allclose(run(ir.to_proto(fixed), x), run(model, x), atol=1e-6, err_msg=str(case))
    assert 0.8 * len(CASES) < applied < len(CASES)


@pytest.mark.parametrize(("case", "fixable"), [((33, 8, 8, 0, 0), True), ((3, 3, 3, 0, 1), False)])
def test_what_is_left_is_an_error(case: tuple[int, int, int, int, int], fixable: bool) -> None:
    fixed, _ = fix_for(ir.from_proto(pool(*case)), "directml")
    assert ("DML128" in {finding.code for finding in lint_for(fixed, "directml").findings}) is not fixable


def test_a_size_that_is_not_known_has_no_pads_behind() -> None:
    assert not fix_for(ir.from_proto(pool("T", 3, 2, 0, 1)), "directml")[1].applied
    assert fix_for(ir.from_proto(pool("T", 3, 2, 1, 0)), "directml")[1].applied
