"""STFT as published front ends write it: without the attribute whose default onnx's own shape inference forgets."""

from __future__ import annotations

import onnx.parser
import pytest

import paddable


@pytest.mark.parametrize("onesided", ["", "<onesided = 1>"])
def test_the_bins_of_an_stft_are_those_of_its_default(onesided: str) -> None:
    window = ", ".join(["1.0"] * 400)
    model = onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["" : 17]>
        m (float[1, 16000, 1] x) => (float[1, 98, 201, 2] y) {{
            step = Constant <value = int64 {{160}}> ()
            window = Constant <value_floats = [{window}]> ()
            size = Constant <value = int64 {{400}}> ()
            z = STFT {onesided} (x, step, window, size)
            y = Mul (z, z)
        }}
    """)
    assert [finding.code for finding in paddable.lint(model, target="directml").findings] == []
