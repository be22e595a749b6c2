"""The gates run on whatever package brings the module ``onnxruntime``."""

from __future__ import annotations

from importlib import metadata

import onnx.parser
import onnxruntime
import pytest

import paddable
from paddable.runtime.session.flavours import runtime_version

TEXT = '<ir_version: 9, opset_import: ["" : 17]> net (float[1, T] x) => (float[1, T] y) { y = Relu (x) }'


def test_convert_with_gates_where_no_plain_onnxruntime_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = metadata.version

    def version(name: str) -> str:
        if name == "onnxruntime":
            raise metadata.PackageNotFoundError(name)
        return asked(name)

    monkeypatch.setattr(metadata, "version", version)
    for module in ("paddable.gates.judge", "paddable.gates.present"):
        monkeypatch.setattr(f"{module}.version", version, raising=False)
    padded = paddable.convert(onnx.parser.parse_model(TEXT), ["x:1=T"], containers=[8], gate_lengths=2)
    assert [output.name for output in padded.graph.output] == ["y", "y_length"]
    assert runtime_version() == onnxruntime.__version__
