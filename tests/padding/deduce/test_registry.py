"""The rule in docs/guides/add_a_rule.md works as printed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import onnx.parser

from paddable.api import check
from paddable.padding.deduce.registry import find_rule

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "add_a_rule.md"


def test_the_example_rule_is_found_and_used() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(GUIDE), "exec"), {})
    assert find_rule("my.domain", "Cube") is not None
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 17, "my.domain": 1]>
        g (float[1, 2, T] x) => (float[1, 2, N] y) <float[2, 2, 3] w> {
           h = my.domain.Cube (x)
           y = Conv <pads = [1, 1]> (h, w)
        }"""
    )
    weights = next(i for i in model.graph.initializer if i.name == "w") if model.graph.initializer else None
    if weights is None:
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((2, 2, 3), np.float32), "w"))
    report = check(model, ["x:2=T"])
    assert [finding.code for finding in report.findings] == ["PAD102"]
